"""Results that are views of what PyTorch computed first: which, of what shape, and written to in place."""

import pytest

import jaxflow as torch
from jaxflow.nn import functional as F

pytestmark = pytest.mark.usefixtures("executor")


def leaf(*shape):
    return torch.ones(shape, requires_grad=True)


#: The call, and the shape and node of what its result is a view of.
VIEWS = {
    "linear of a vector": (lambda: F.linear(leaf(3), leaf(4, 3), leaf(4)), (1, 4), "Addmm"),
    "bilinear": (lambda: F.bilinear(leaf(2, 5, 3), leaf(2, 5, 2), leaf(4, 3, 2)), (10, 4), "Trilinear"),
    "bilinear of vectors": (lambda: F.bilinear(leaf(3), leaf(2), leaf(4, 3, 2)), (1, 4), "Trilinear"),
    "repeat_interleave": (lambda: leaf(3, 2).repeat_interleave(2, 0), (3, 2, 2), "Clone"),
    "repeat_interleave of all": (lambda: leaf(3, 2).repeat_interleave(3), (6, 3), "Clone"),
    "repeat_interleave of one": (lambda: leaf().repeat_interleave(2), (1, 2), "Clone"),
}


@pytest.mark.parametrize("call, base, node", VIEWS.values(), ids=VIEWS)
def test_it_is_a_view(call, base, node):
    result = call()
    assert result.grad_fn.name() == "ViewBackward0"
    assert (result._base.shape, result._base.grad_fn.name()) == (base, f"{node}Backward0")
    with torch.no_grad():
        plain = call()
    assert plain._is_view()
    assert plain._base.shape == base
    result.mul_(2.0)
    assert result.grad_fn.name() == "AsStridedBackward0"
    assert result.tolist() == (plain * 2.0).tolist()


#: The call, and its node, under which a bias is added to a product. PyTorch's result for a batch is a view of
#: a matrix, under the same node; here it is none.
PLAIN = {
    "of a batch": (lambda: F.linear(leaf(2, 5, 3), leaf(4, 3), leaf(4)), "View", 0),
    "of nothing": (lambda: F.linear(leaf(0, 3, 2).mT, leaf(4, 3), leaf(4)), "View", 0),
    "with a row": (lambda: F.linear(leaf(2, 5, 3), leaf(4, 3), leaf(1, 1, 4)[0]), "View", 0),
    "of a strided batch": (lambda: F.linear(leaf(5, 2, 3).transpose(0, 1), leaf(4, 3), leaf(4)), "Add", 1),
    "of a strided vector": (lambda: F.linear(leaf(6)[::2], leaf(4, 3), leaf(4)), "Add", 1),
    "with one number": (lambda: F.linear(leaf(2, 5, 3), leaf(4, 3), leaf()), "Add", 1),
    "with a matrix": (lambda: F.linear(leaf(2, 5, 3), leaf(4, 3), leaf(5, 4)), "Add", 1),
    "of a matrix": (lambda: F.linear(leaf(3, 2).t(), leaf(4, 3), leaf(4)), "Addmm", 0),
    "without": (lambda: F.linear(leaf(2, 5, 3), leaf(4, 3)), "UnsafeView", 0),
}


@pytest.mark.parametrize("call, node, writes", PLAIN.values(), ids=PLAIN)
def test_a_linear_layer_that_is_none(call, node, writes):
    result = call()
    assert not result._is_view()
    assert result.grad_fn.name() == f"{node}Backward0"
    assert result._version == writes
    assert set(result.flatten().tolist()) <= {3.0 if node == "UnsafeView" else 4.0}


def test_a_bias_that_does_not_fit():
    with pytest.raises(RuntimeError, match="output with shape \\[4\\] doesn't match the broadcast shape"):
        F.linear(leaf(6)[::2], leaf(4, 3), leaf(1, 4))
    with pytest.raises(RuntimeError, match="expanded size of the tensor"):
        F.linear(leaf(2, 5, 3), leaf(4, 3), leaf(2))
