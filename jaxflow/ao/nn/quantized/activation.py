"""Activations of quantized models whose results have a scale of their own."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow import nn
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F

from .linear import load_numbers


def requantized(x: Tensor, like: Tensor, scale: Any, zero_point: Any) -> Tensor:
    """Numbers as a quantized tensor of the dtype of ``like``."""
    return functions.quantize_per_tensor(x, float(scale), int(zero_point), like.dtype)


class ReLU6(nn.ReLU):
    """``min(max(x, 0), 6)`` of a quantized tensor.

    Args:
        inplace: whether to write into the input.

    Example:
        >>> q = torch.quantize_per_tensor(torch.tensor([-1.0, 9.0]), 0.5, 10, torch.quint8)
        >>> torch.ao.nn.quantized.ReLU6()(q).dequantize()
        tensor([0., 6.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The function of each element."""
        return F.relu6(input, self.inplace)

    def _get_name(self) -> str:
        return "QuantizedReLU6"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> ReLU6:
        """The layer of a float one."""
        return ReLU6(mod.inplace)


class Dropout(nn.Dropout):
    """The input as it is: quantized models are not trained.

    Args:
        p: kept.

    Example:
        >>> torch.ao.nn.quantized.Dropout()(torch.ones(1))
        tensor([1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input``."""
        return input

    def _get_name(self) -> str:
        return "QuantizedDropout"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Dropout:
        """The layer of a float one."""
        return cls(mod.p, mod.inplace)


class _Rescaled(nn.Module):
    """A function of the numbers, rounded with scale and zero point of the layer."""

    _NAME = ""

    def __init__(self, scale: float, zero_point: int) -> None:
        super().__init__()
        self.scale, self.zero_point = scale, zero_point

    def _function(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        """The function of each element, quantized."""
        return requantized(self._function(input.dequantize()), input, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return self._NAME

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = functions.tensor(float(self.scale))
        destination[prefix + "zero_point"] = functions.tensor(int(self.zero_point))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        load_numbers(self, state_dict, prefix, missing_keys)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys,
                                      unexpected_keys, error_msgs)

    @classmethod
    def _options(cls, mod: Any) -> tuple:
        return ()

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The layer of a float one that was prepared and has observed its results."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return cls(float(scale), int(zero_point), *cls._options(mod))


class Hardswish(_Rescaled):
    """`torch.nn.Hardswish` of a quantized tensor.

    Args:
        scale, zero_point: of the result.
    """

    _NAME = "QuantizedHardswish"

    def _function(self, x: Tensor) -> Tensor:
        return F.hardswish(x)


class Sigmoid(_Rescaled):
    """`torch.nn.Sigmoid` of a quantized tensor.

    Args:
        output_scale, output_zero_point: of the result.
    """

    _NAME = "Sigmoid"

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__(output_scale, output_zero_point)

    def _function(self, x: Tensor) -> Tensor:
        return functions.sigmoid(x)


class ELU(_Rescaled):
    """`torch.nn.ELU` of a quantized tensor.

    Args:
        scale, zero_point: of the result.
        alpha: as of `torch.nn.ELU`.
    """

    _NAME = "QuantizedELU"

    def __init__(self, scale: float, zero_point: int, alpha: float = 1.0) -> None:
        super().__init__(scale, zero_point)
        self.alpha = alpha

    def _function(self, x: Tensor) -> Tensor:
        return F.elu(x, self.alpha)

    @classmethod
    def _options(cls, mod: Any) -> tuple:
        return (mod.alpha,)


class LeakyReLU(_Rescaled):
    """`torch.nn.LeakyReLU` of a quantized tensor.

    Args:
        scale, zero_point: of the result.
        negative_slope: as of `torch.nn.LeakyReLU`.
        inplace: refused with True.
    """

    _NAME = "QuantizedLeakyReLU"

    def __init__(self, scale: float, zero_point: int, negative_slope: float = 1e-2,
                 inplace: bool = False) -> None:
        if inplace:
            raise NotImplementedError("the quantized LeakyReLU is not done in place")
        super().__init__(scale, zero_point)
        self.negative_slope = negative_slope

    def _function(self, x: Tensor) -> Tensor:
        return F.leaky_relu(x, self.negative_slope)

    @classmethod
    def _options(cls, mod: Any) -> tuple:
        return (mod.negative_slope,)


class Softmax(_Rescaled):
    """`torch.nn.Softmax` of a quantized tensor.

    Args:
        dim: as of `torch.nn.Softmax`.
        scale, zero_point: of the result.
    """

    _NAME = "QuantizedSoftmax"

    def __init__(self, dim: int | None = None, scale: float = 1.0, zero_point: int = 0) -> None:
        super().__init__(scale, zero_point)
        self.dim = dim

    def _function(self, x: Tensor) -> Tensor:
        return F.softmax(x, self.dim, _stacklevel=4)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Softmax:
        """The layer of a float one that was prepared and has observed its results."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return cls(mod.dim, float(scale), int(zero_point))
