"""Operations as methods of a module, in whose results an observer can be put."""

from __future__ import annotations

from typing import NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow._functions import add, cat, matmul, mul, relu
from jaxflow.nn import Identity, Module

__all__ = ["FloatFunctional"]


class FloatFunctional(Module):
    """Operations in floating point, whose results go through ``activation_post_process``.

    Example:
        >>> torch.ao.nn.quantized.FloatFunctional().add(torch.ones(2), torch.ones(2))
        tensor([2., 2.])
    """

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> NoReturn:
        """Raises RuntimeError: its methods are called instead."""
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying "
                           "operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """``x + y``."""
        return self.activation_post_process(add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x + y`` with a number, past ``activation_post_process``."""
        return add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x * y``."""
        return self.activation_post_process(mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x * y`` with a number, past ``activation_post_process``."""
        return mul(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """The tensors joined along ``dim``."""
        return self.activation_post_process(cat(x, dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """``relu(x + y)``."""
        return self.activation_post_process(relu(add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """The product of matrices."""
        return self.activation_post_process(matmul(x, y))
