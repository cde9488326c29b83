"""Distances and similarities of vectors."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class PairwiseDistance(Module):
    """Norm of the difference of two vectors.

    ``(sum_i |x1_i - x2_i + eps|**p) ** (1 / p)`` along the last dimension; the largest
    ``|x1_i - x2_i + eps|`` for ``p = inf``, and the number of those that are not zero for ``p = 0``.

    The inputs are ``(N, D)`` or ``(D,)``, broadcast with each other, floating point or complex; the result
    is ``(N,)`` or a number, real, with a last dimension of size 1 if ``keepdim``.

    Args:
        p: which norm.
        eps: added to the difference.
        keepdim: keep the last dimension, of size one.

    Raises:
        RuntimeError: when called with shapes that do not broadcast.

    Example:
        >>> x1, x2 = torch.tensor([[3.0, 4.0], [1.0, 1.0]]), torch.zeros(2, 2)
        >>> nn.PairwiseDistance(p=1, eps=0.0)(x1, x2)
        tensor([7., 2.])
        >>> nn.PairwiseDistance(p=math.inf, eps=0.0, keepdim=True)(x1, x2)
        tensor([[4.],
                [1.]])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """``(N, D)`` or ``(D,)`` twice to ``(N,)`` or a number."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """Cosine of the angle between two vectors.

    ``sum_i x1_i * x2_i / (max(|x1|, eps) * max(|x2|, eps))``, where ``|x|`` is the square root of
    ``sum_i x_i**2``: 1 for vectors of the same direction, 0 for those at right angles, -1 for opposite
    ones.

    The inputs broadcast with each other, and one of them is floating point; the result is their common
    shape without dimension ``dim``.

    Args:
        dim: dimension of the vectors.
        eps: smallest length to divide by, zero or more.

    Raises:
        RuntimeError: when called with shapes that do not broadcast, with two tensors of integers, or with
            complex numbers; and for an ``eps`` below zero.
        IndexError: when called with tensors that have no dimension ``dim``.

    Example:
        >>> x1 = torch.tensor([[2.0, 0.0], [1.0, 0.0], [-2.0, 0.0]])
        >>> x2 = torch.tensor([[4.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        >>> nn.CosineSimilarity(dim=1)(x1, x2)
        tensor([ 1.,  0., -1.])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Two tensors that broadcast to one of a dimension less."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
