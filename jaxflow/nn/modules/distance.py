"""Distances and similarities of vectors."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class PairwiseDistance(Module):
    """Norm of the difference of two vectors.

    Args:
        p: which norm.
        eps: added to the difference.
        keepdim: keep the last dimension, of size one.
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """``(N, D)`` or ``(D,)`` twice to ``(N,)`` or a number."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """Cosine of the angle between two vectors.

    Args:
        dim: dimension of the vectors.
        eps: smallest length to divide by.
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Two tensors that broadcast to one of a dimension less."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
