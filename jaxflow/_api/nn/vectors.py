"""Functions of vectors along one dimension: lengths, angles, distances."""

from __future__ import annotations

from jaxflow._api.forms import given_out
from jaxflow._api.reduce.norms_named import norm_over
from jaxflow._api.settings.defaults import result_type
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite


@composite("function", namespace="nn.functional")
def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """``input`` divided by its norm along a dimension.

    ``input / max(norm(input, p, dim), eps)``.

    Args:
        input: floating point or complex.
        p: which norm.
        dim: which dimension.
        eps: smallest norm to divide by.
        out: where to put the result.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        RuntimeError: for integers and bools.
        IndexError: for a dimension that is not there: one vector needs ``dim=0``.

    Example:
        >>> F.normalize(torch.tensor([[0.0, 2.0], [-8.0, 0.0], [0.0, 0.0]]))
        tensor([[ 0.,  1.],
                [-1.,  0.],
                [ 0.,  0.]])
        >>> F.normalize(torch.tensor([1.0, 3.0]), p=1, dim=0)
        tensor([0.2500, 0.7500])
    """
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{input.dtype.scalar_name}"
        )
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    result = input / length
    return given_out("div", out, result, (input, length))


@composite(variants="function", aliases=("nn.functional.cosine_similarity",))
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8, *,
                      axis: int | None = None) -> Tensor:
    """Cosine of the angle between two vectors along a dimension, broadcast.

    ``sum(x1 * x2) / (max(norm(x1), eps) * max(norm(x2), eps))``

    Args:
        x1: floating point, of any shape.
        x2: likewise, of a shape that broadcasts with that of ``x1``; one of the two may be of integers.
        dim: which dimension of the broadcast shape.
        eps: smallest length to divide by; not negative.
        axis: another name of ``dim``.

    Returns:
        The cosines, of the broadcast shape without ``dim``, in the dtype that both promote to.

    Raises:
        RuntimeError: when the shapes do not broadcast, when both are integers, for complex numbers, and for
            an ``eps`` below zero.
        IndexError: for a dimension that is not there.

    Example:
        >>> x1 = torch.tensor([[1.0, 0.0], [0.0, 4.0]])
        >>> F.cosine_similarity(x1, torch.tensor([[3.0, 0.0], [0.0, -2.0]]))
        tensor([ 1., -1.])
        >>> F.cosine_similarity(torch.ones(5, 1, 8), torch.ones(7, 8), dim=-1).shape
        torch.Size([5, 7])
    """
    dim = dim if axis is None else axis
    common = result_type(x1, x2) if x1.dtype is not x2.dtype else x1.dtype
    if not common.is_floating_point:
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is "
            f"{common.scalar_name}"
        )
    if not eps >= 0:  # nan neither
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    if x1.shape != x2.shape:
        shape = broadcast_shapes(x1.shape, x2.shape)
        x1, x2 = x1.expand(shape), x2.expand(shape)
    if x1.dtype is not x2.dtype:
        # Of the tensors as broadcast: one that had no dimensions counts like the other now.
        common = result_type(x1, x2)
        x1, x2 = (x if x.dtype.is_floating_point else x.to(common) for x in (x1, x2))

    def unit(x: Tensor) -> Tensor:
        length = x.norm(2, dim, keepdim=True).clone()
        # The bound on the length is a constant of the gradient, as in PyTorch.
        length.detach().clamp_min_(eps)
        return x / length

    return (unit(x1) * unit(x2)).sum(dim)


@composite(variants="function", aliases=("nn.functional.pairwise_distance",))
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False, *,
    keepdims: bool = False,
) -> Tensor:
    """Norm of ``x1 - x2 + eps`` along the last dimension, broadcast.

    Args:
        x1: floating point.
        x2: likewise.
        p: which norm.
        eps: added to the difference.
        keepdim: keep the last dimension, of size one.
    """
    return norm_over(x1 - x2 + float(eps), p, (-1,), keepdim or keepdims)
