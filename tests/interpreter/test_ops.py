"""Plans of operations and of their backward passes, interpreted and compiled: every eighth row.

All of them: ``python -m tests.interpreter``; on PyTorch's own samples and more dtypes: ``python -m
compat_tests.interpreted``.
"""

import numpy as np

import jaxflow as torch
from jaxflow._exec.numpy.lower import whole_of
from jaxflow._interpreter import lower, table
from jaxflow._interpreter.kernels import KERNELS
from jaxflow._plans.op import OPS
from jaxflow._transforms.vjp import vjp_of

from .held import held_against_xla
from .rows import ALL, hold


def test_a_sample_of_all_operations():
    held = hold(list(ALL)[::8])
    assert held.plans > 80
    assert held.misfits == []


def test_the_comparison_can_fail(monkeypatch):
    monkeypatch.setitem(table.RULES, "tanh", table.Rule(lambda site: np.sin, compact=True))
    held = hold(["tanh"])
    assert held.misfits and "tanh" in held.misfits[0]


def whole_operations():
    """Calls of all operations that have a kernel of their own, and a backward of each."""
    F = torch.nn.functional
    x = torch.linspace(-2, 3, 24).reshape(4, 6).requires_grad_()
    d = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(2, 3, 2).requires_grad_()
    at = torch.tensor([[1, 0, 3, 1, 2, 2], [1, 1, 0, 0, -1 % 4, 3]])
    yield torch.cat((x, x[:2] * 2, x[1:]), 0), torch.cat((x.detach(), x * 3), -1), torch.cat((d, d), 1)
    yield torch.stack((x, x * 2)), torch.stack((x, x.detach(), -x), -1), torch.stack((d[0, 0, 0], d[0, 0, 1]))
    yield x.gather(0, at), x.gather(1, at[:, :1]), d.gather(-2, torch.ones(1, 4, 2, dtype=torch.long)), \
        x[0].gather(0, at[0, :2])
    yield F.embedding(at[0], x), F.embedding(at, x, padding_idx=1), F.embedding(torch.tensor(2), x), \
        F.embedding(at, x, padding_idx=0)
    for f in torch.softmax, torch.log_softmax:
        yield f(x, -1), f(x, 0), f(d, 1), f(x[0], 0), f(x * torch.tensor([1e30] * 5 + [float("inf")]), 1)
    long = torch.ones(20, requires_grad=True)
    yield *x.unbind(1), *d.chunk(2, 1), *x.split([1, 3], 0)[1:], *x.split(1, 1), *long.split(2)
    p = torch.softmax(x.detach(), -1)
    for seed in range(5):
        torch.manual_seed(seed - 2)
        torch.multinomial(p, 1), torch.multinomial(p[0], 1), torch.multinomial(p[:1, :2], 1)


def test_kernels_of_whole_operations(counters):
    with torch.execution("eager"), held_against_xla() as held:
        for outputs in whole_operations():
            for k, out in enumerate(outputs):
                out.backward(torch.linspace(-1, 2 + k, out.numel(), dtype=out.dtype).reshape(out.shape))
    assert held.misfits == []
    # The cat of one episode is run by its own trace; of a split only the backward is.
    assert held.whole == {*KERNELS}


def test_an_index_out_of_range_is_left_to_the_primitives():
    x, at = torch.ones(3, 4, requires_grad=True), torch.tensor([[2], [5], [1]])
    with torch.execution("eager"):
        x.gather(1, torch.zeros(3, 1, dtype=torch.long)).sum().backward()
    # There may be plans for tensors of these shapes and other dtypes, which would not take these numbers.
    plan = next(p for p in OPS["gather"].plans.values() if [*p.kinds] == [x._aval, at._aval])
    back = vjp_of(plan, (True, False)).plan
    one = np.ones((3, 1), np.float32)
    for p, arrays in (plan, (x.detach().numpy(), at.numpy())), (back, (at.numpy(), one)):
        np.testing.assert_array_equal(whole_of(p)(*arrays)[0], lower(p.jaxpr)(*arrays)[0])


def test_joining_any_number_of_tensors_traces_nothing(monkeypatch):
    """As an episode of another length does; for XLA it is traced when it is compiled."""
    from jaxflow._plans import planning
    from jaxflow._transforms import vjp

    traced, make, finish = [], planning.Traced, vjp.finish_vjp

    rows = [torch.ones(1, 3, requires_grad=True) for _ in range(23)]
    cotangents = torch.arange(69.0).reshape(23, 3), torch.zeros(1, 23, 3)
    with torch.execution("deferred"), monkeypatch.context() as m:
        m.setattr(planning, "Traced", lambda name, *rest: traced.append(name) or make(name, *rest))
        m.setattr(vjp, "finish_vjp", lambda plan, *rest: traced.append(plan.name) or finish(plan, *rest))
        joined, stacked = torch.cat(rows), torch.stack(rows, 1)
        torch.autograd.backward((joined, stacked), cotangents)
        assert joined.shape == (23, 3) and stacked.shape == (1, 23, 3) and not {"cat", "stack"} & {*traced}
    assert rows[22].grad.tolist() == [[66.0, 67.0, 68.0]] and joined.grad_fn.name() == "CatBackward0"
    with torch.execution("eager"):  # through XLA
        joined = torch.cat([row * 2 for row in rows])
        joined.backward(cotangents[0])
    assert rows[22].grad.tolist() == [[66.0 * 3, 67.0 * 3, 68.0 * 3]]
