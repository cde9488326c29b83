"""Parametrizations: lengths apart from directions, a largest singular value of 1, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import functional as F
from jaxflow.nn.modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from jaxflow.nn.modules.module import Module

from ._orthogonal import orthogonal as orthogonal
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """A tensor of its lengths along ``dim`` and of what gives its directions."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return functions._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return functions.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let a tensor of ``module``, which is returned, be a length times a direction for each slice.

    Salimans and Kingma, "Weight Normalization", 2016. ``original0`` holds the lengths, ``original1`` the
    directions; checkpoints with the older names ``name_g`` and ``name_v`` load.

    Args:
        module: whose tensor it is.
        name: the tensor's.
        dim: the dimension whose slices have a length each; None for one length of all.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict, prefix: str, *further: Any) -> None:
        for i, end in enumerate("gv"):
            old = f"{prefix}{name}_{end}"
            if old in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """A matrix over its largest singular value, by power iteration; a vector over its length."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but "
                             f"got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            rows, columns = matrix.shape
            self.register_buffer("_u", F.normalize(matrix.new_empty(rows).normal_(0, 1), dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(matrix.new_empty(columns).normal_(0, 1), dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @no_grad()
    def _iterate(self, matrix: Tensor, count: int) -> None:
        for _ in range(count):
            self._u.copy_(F.normalize(functions.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(functions.mv(matrix.H, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        # Copies: the next call in training moves the vectors before this one's backward.
        u, v = self._u.clone(), self._v.clone()
        return weight / functions.vdot(u, functions.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:
    """Divide a tensor of ``module``, which is returned, by its largest singular value.

    Miyato et al., "Spectral Normalization for Generative Adversarial Networks", 2018. Each call in training
    goes on with the power iteration, whose vectors are buffers.

    Args:
        module: whose tensor it is.
        name: the tensor's.
        n_power_iterations: steps of the iteration in each call.
        eps: the least length that is divided by.
        dim: the dimension of the matrix's rows; default 0, and 1 for transposed convolutions.

    Raises:
        ValueError: for a name that the module does not have, and fewer than one step.
        IndexError: for a dimension that the tensor does not have.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
