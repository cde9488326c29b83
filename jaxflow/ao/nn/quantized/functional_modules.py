"""Operations as methods of a module, in whose results an observer can be put."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow._functions import (
    _make_per_tensor_quantized_tensor,
    add,
    cat,
    matmul,
    mul,
    quantize_per_tensor,
    relu,
    tensor,
)
from jaxflow.nn import Identity, Module

from .linear import load_numbers


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


class FXFloatFunctional(FloatFunctional):
    """`FloatFunctional` under the name that PyTorch's graph mode has for it."""


class QFunctional(Module):
    """Operations on quantized tensors as methods of a module, which has scale and zero point of the results.

    An operation is computed with the numbers in float32, and the result is rounded.

    Example:
        >>> q = torch.quantize_per_tensor(torch.tensor([1.0, 2.0]), 1.0, 0, torch.quint8)
        >>> torch.ao.nn.quantized.QFunctional().add(q, q).dequantize()
        tensor([2., 4.])
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.zero_point = 1.0, 0
        self.activation_post_process = Identity()

    def _get_name(self) -> str:
        return "QFunctional"

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Tensor) -> NoReturn:
        """Raises RuntimeError: its methods are called instead."""
        raise RuntimeError("Functional is not intended to use the 'forward'. Please use the underlying "
                           "operation")

    def _rounded(self, x: Tensor, like: Tensor) -> Tensor:
        return self.activation_post_process(
            quantize_per_tensor(x, self.scale, self.zero_point, like.dtype))

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """``x + y``."""
        return self._rounded(add(x.dequantize(), y.dequantize()), x)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x + y`` with a number: its scale is that of ``x``."""
        return quantize_per_tensor(add(x.dequantize(), y), x.q_scale(), x.q_zero_point(), x.dtype)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """``x * y``."""
        return self._rounded(mul(x.dequantize(), y.dequantize()), x)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``x * y`` with a positive number: the scale is multiplied, the integers stay."""
        if y <= 0:
            raise NotImplementedError("mul_scalar() of quantized tensors takes positive numbers; use mul()")
        return _make_per_tensor_quantized_tensor(x.int_repr(), x.q_scale() * y, x.q_zero_point())

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """The tensors joined along ``dim``."""
        return self._rounded(cat([t.dequantize() for t in x], dim), x[0])

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """``relu(x + y)``."""
        return self._rounded(relu(add(x.dequantize(), y.dequantize())), x)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """The product of matrices."""
        return self._rounded(matmul(x.dequantize(), y.dequantize()), x)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = tensor(self.scale)
        destination[prefix + "zero_point"] = tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        load_numbers(self, state_dict, prefix, missing_keys)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys,
                                      unexpected_keys, error_msgs)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> QFunctional:
        """The module of a `FloatFunctional` that was prepared and has observed its results."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        new = cls()
        new.scale, new.zero_point = float(scale), int(zero_point)
        return new
