"""The order in which ``einsum`` multiplies several operands."""

import jax
import numpy as np
import pytest

import jaxflow
from jaxflow.backends import opt_einsum

pytestmark = pytest.mark.usefixtures("executor")


@pytest.fixture(autouse=True)
def as_it_was():
    yield
    opt_einsum.enabled, opt_einsum.strategy = True, "auto"


def shapes_of_products(order):
    """What a chain of matrices is made of, by the results of the products in its jaxpr."""
    body = jaxflow._dispatch.op.OPS["_einsum"].fn
    arrays = [np.ones(s, np.float32) for s in ((2, 9), (9, 9), (9, 9), (9, 1))]
    made = jax.make_jaxpr(lambda *a: body(*a, equation="ij,jk,kl,lm->im", order=order))(*arrays)
    flat = [e for eqn in made.eqns for e in (eqn.params["jaxpr"].eqns if "jaxpr" in eqn.params else [eqn])]
    return [e.outvars[0].aval.shape for e in flat if e.primitive.name == "dot_general"]


def test_the_strategy_decides():
    operands = [jaxflow.arange(float(np.prod(s))).reshape(s).sin() for s in ((2, 9), (9, 9), (9, 9), (9, 1))]
    results = []
    for enabled, strategy in ((True, "auto"), (True, "optimal"), (True, "greedy"), (False, "auto")):
        opt_einsum.enabled, opt_einsum.strategy = enabled, strategy
        results.append(jaxflow.einsum("ij,jk,kl,lm->im", *operands))
    for r in results[1:]:
        assert jaxflow.allclose(r, results[0], atol=1e-5)
    assert opt_einsum.is_available() and opt_einsum.get_opt_einsum().contract_path


def test_without_it_from_left_to_right():
    from jaxflow._api import einsum

    opt_einsum.enabled = False
    sizes = [{2, 9}, {2, 9}, {2, 1}]
    assert [{*s} for s in shapes_of_products(einsum._order(4))] == sizes
    opt_einsum.enabled = True
    assert einsum._order(4) == "auto" and [{*s} for s in shapes_of_products("optimal")] != sizes
