"""What making a plan costs: how often the bodies of operations are run by jax's tracing."""

import jaxflow
from jaxflow._dispatch.op import OPS


def test_a_body_is_traced_once_however_it_is_used(executor, monkeypatch):
    op, runs = OPS["hypot"], []
    body = op.fn

    def counted(*args):
        runs.append(1)
        return body(*args)

    monkeypatch.setattr(op, "fn", counted)
    monkeypatch.setattr(op, "plans", {})
    x = jaxflow.tensor([3.0, 4.0, 5.0, 6.0, 7.0], dtype=jaxflow.float64)
    y = jaxflow.hypot(x, x)
    assert len(runs) == 1
    y.tolist()
    (jaxflow.hypot(x, x) + 1).tolist()
    plan = next(iter(op.plans.values()))
    assert plan.jaxpr is plan.jaxpr
    assert plan.jaxpr.out_avals[0].shape == (5,)
    assert len(runs) == 1
