"""The order in which ``einsum`` multiplies several operands, and what its result is a view of."""

import numpy as np
import pytest

import jaxflow
from jaxflow.backends import opt_einsum

pytestmark = pytest.mark.usefixtures("executor")


@pytest.fixture(autouse=True)
def as_it_was():
    yield
    opt_einsum.enabled, opt_einsum.strategy = True, "auto"


def shapes_of_products(*operands):
    """The shapes of the products that a chain of four matrices is made of, the last one first."""
    result = jaxflow.einsum("ij,jk,kl,lm->im", *[x.requires_grad_() for x in operands])
    found, waiting = [], [result._base.grad_fn]
    while waiting:
        node = waiting.pop()
        if node.name() == "BmmBackward0":
            found.append(node._input_metadata[0].shape)
        waiting += [n for n, _ in node.next_functions if n is not None]
    return found


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
    operands = [jaxflow.ones(shape) for shape in ((2, 9), (9, 9), (9, 9), (9, 1))]
    assert [{*s} for s in shapes_of_products(*operands)] == [{1, 2}, {1, 9}, {1, 9}]
    opt_einsum.enabled = False
    assert [{*s} for s in shapes_of_products(*operands)] == [{1, 2}, {1, 2, 9}, {1, 2, 9}]


#: The equation, the operands' shapes, the result's strides, and the shape and node of what it is a view of.
VIEWS = [
    ("ij,jk", ((2, 3), (3, 4)), (4, 1), (1, 2, 4), "BmmBackward0"),
    ("ij,jk->ki", ((2, 3), (3, 4)), (2, 1), (1, 4, 2), "BmmBackward0"),
    ("bij,bjk->ibk", ((2, 3, 4), (2, 4, 5)), (5, 15, 1), (2, 3, 5), "BmmBackward0"),
    ("...ij,...jk", ((3, 4), (2, 4, 5)), (5, 10, 1), (1, 3, 10), "BmmBackward0"),
    ("i,i", ((0,), (0,)), (), (1, 1, 1), "BmmBackward0"),
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5)), (1, 2), (1, 5, 2), "BmmBackward0"),
    ("ij,k->i", ((2, 3), (4,)), (1,), (2, 1, 1), "MulBackward0"),
    ("i,i->", ((1,), (3,)), (), (1,), "MulBackward0"),
    ("bi,bj->ijb", ((2, 3), (2, 4)), (4, 1, 12), None, "MulBackward0"),
    ("ij,j->ji", ((2, 3), (3,)), (1, 3), None, "MulBackward0"),
    (",->", ((), ()), (), None, "MulBackward0"),
]


@pytest.mark.parametrize("equation, shapes, strides, base, node", VIEWS, ids=[v[0] for v in VIEWS])
def test_what_is_summed_is_a_view_of_its_last_product(equation, shapes, strides, base, node):
    operands = [jaxflow.arange(1.0, 1 + np.prod(s)).reshape(s).requires_grad_() for s in shapes]
    result = jaxflow.einsum(equation, *operands)
    np.testing.assert_allclose(result.detach(), np.einsum(equation, *(t.detach() for t in operands)))
    assert result.stride() == strides
    assert result._is_view() is (base is not None)
    if base is None:
        assert result.grad_fn.name() == node
        return
    assert result.grad_fn.name() == "ViewBackward0"
    assert (result._base.shape, result._base.grad_fn.name()) == (base, node)
    result.mul_(2.0)
    assert result.grad_fn.name() == "AsStridedBackward0"
    assert result._base.grad_fn.name() == "torch::autograd::CopySlices"


def test_integers_are_summed_in_int64_and_no_two_dtypes_multiplied():
    small = jaxflow.ones((2, 3), dtype=jaxflow.int32)
    assert jaxflow.einsum("ij,k->i", small, jaxflow.ones(4, dtype=jaxflow.int32)).dtype is jaxflow.int64
    with pytest.raises(RuntimeError, match="expected scalar type Long but found Int"):
        jaxflow.einsum("ij,jk->k", small, jaxflow.ones((3, 4), dtype=jaxflow.int32))
    assert jaxflow.einsum("ij,jk->k", small[:, :0], small.new_ones(0, 4)).dtype is jaxflow.int32


def test_bools_have_no_products_that_are_summed():
    bools = jaxflow.ones((2, 2), dtype=jaxflow.bool)
    assert jaxflow.einsum("ij,ij->ij", bools, bools).dtype is jaxflow.bool
    assert jaxflow.einsum("ij,jk", bools[:, :0], bools[:0]).tolist() == [[False] * 2] * 2
    with pytest.raises(NotImplementedError, match="\"bmm\" not implemented for 'Bool'"):
        jaxflow.einsum("ij,jk", bools, bools)
