"""Convolutions of quantized models."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow import nn
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._quantized.parts import fresh, is_quantized, parts_of
from jaxflow.nn import functional as F

from .linear import load_numbers
from .packed import Packed, observed, quantize_weight, unsupported


def _tuple(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


class _Conv(nn.Module):
    """What the convolutions share."""

    _DIMS = 0
    _FLOAT_MODULE: Any = nn.Module
    _relu = False

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        if padding_mode not in ("zeros", "reflect"):
            raise ValueError(f"'padding_mode' {padding_mode} is not supported by quantized convolution")
        if isinstance(padding, str):
            raise NotImplementedError("quantized convolutions take padding in numbers, not as a word")
        if in_channels % groups or out_channels % groups:
            raise ValueError("in_channels and out_channels must be divisible by groups")
        count = self._DIMS
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _tuple(kernel_size, count), _tuple(stride, count)
        self.padding, self.dilation = _tuple(padding, count), _tuple(dilation, count)
        self.transposed, self.output_padding, self.padding_mode = False, (0,) * count, padding_mode
        self.scale, self.zero_point = 1.0, 0
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        weight = functions.quantize_per_tensor(functions.zeros(shape), 1.0, 0, dtypes.qint8)
        self.set_weight_bias(weight, functions.zeros(out_channels) if bias else None)

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Keep a weight, quantized, and a bias."""
        self._packed_params = Packed(w, b)

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        return self._packed_params.unpack()

    def weight(self) -> Tensor:
        """The quantized weight."""
        return self._packed_params.weight

    def bias(self) -> Tensor | None:
        """The bias."""
        return self._packed_params.bias

    def _get_name(self) -> str:
        return f"QuantizedConv{self._DIMS}d"

    def extra_repr(self) -> str:
        shown = (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                 f"stride={self.stride}, scale={self.scale}, zero_point={self.zero_point}")
        if any(self.padding):
            shown += f", padding={self.padding}"
        if any(d != 1 for d in self.dilation):
            shown += f", dilation={self.dilation}"
        if self.groups != 1:
            shown += f", groups={self.groups}"
        if self.bias() is None:
            shown += ", bias=False"
        return shown

    def forward(self, input: Tensor) -> Tensor:
        """``input``, quantized, ``(N, C, ...)``, to a quantized tensor of its dtype."""
        if not is_quantized(input):
            raise NotImplementedError(f"Could not run 'quantized::conv{self._DIMS}d' with arguments from the "
                                      "'CPU' backend: the input is not quantized")
        if input.dim() != self._DIMS + 2:
            raise ValueError(f"Input shape must be `(N, C, {'L' if self._DIMS == 1 else 'H, W'})`!")
        padding = self.padding
        if self.padding_mode != "zeros":
            pairs = [p for n in reversed(padding) for p in (n, n)]
            input = functions.quantize_per_tensor(
                F.pad(input.dequantize(), pairs, mode=self.padding_mode), input.q_scale(),
                input.q_zero_point(), input.dtype)
            padding = (0,) * self._DIMS
        ints, scale, zero, _, dtype = parts_of(input)
        weight, by, at, axis = self._packed_params.parts()
        bias = self._packed_params.bias
        out = apply(OPS["_conv_of_integers"],
                    (ints, weight, by, at, bias, scale, zero, self.scale, self.zero_point),
                    (axis, self._relu, self.stride, padding, self.dilation, self.groups))
        return fresh(out, self.scale, self.zero_point, None, dtype)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"], destination[prefix + "bias"] = self._weight_bias()
        destination[prefix + "scale"] = functions.tensor(self.scale)
        destination[prefix + "zero_point"] = functions.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        load_numbers(self, state_dict, prefix, missing_keys)
        names = [prefix + name for name in ("weight", "bias")]
        missing_keys.extend(name for name in names if name not in state_dict)
        if all(name in state_dict for name in names):
            self.set_weight_bias(*(state_dict[name] for name in names))
        known = {*names, prefix + "scale", prefix + "zero_point"}
        unexpected_keys.extend(name for name in state_dict if name.startswith(prefix) and name not in known)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The layer of a float one that was prepared and has observed its results.

        Raises:
            AssertionError: for another layer, and one that was not prepared.
        """
        made = getattr(mod, "weight_fake_quant", None)
        if made is not None and getattr(mod, "bn", None) is not None:  # which takes part in the weight
            source = mod.with_normalization()
        else:
            source = mod[0] if hasattr(mod, "__getitem__") else mod
        if not isinstance(source, cls._FLOAT_MODULE):
            raise unsupported(cls, mod)
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined.")
        weights = observed(source.weight, made if made is not None else mod.qconfig.weight())
        if weights.dtype is not dtypes.qint8:
            raise AssertionError("Weight observer must have a dtype of qint8")
        new = cls(source.in_channels, source.out_channels, source.kernel_size, source.stride, source.padding,
                  source.dilation, source.groups, source.bias is not None, source.padding_mode)
        bias = None if source.bias is None else source.bias.detach().float()
        new.set_weight_bias(quantize_weight(source.weight, weights), bias)
        scale, zero = mod.activation_post_process.calculate_qparams()
        new.scale, new.zero_point = float(scale), int(zero)
        return new


class Conv1d(_Conv):
    """`torch.nn.Conv1d` whose input, weight and result are quantized.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode: as of
            `torch.nn.Conv1d`; padding in numbers, its mode ``"zeros"`` or ``"reflect"``.
        device, dtype: of no effect.

    Example:
        >>> layer = torch.ao.nn.quantized.Conv1d(1, 1, 2)
        >>> layer.set_weight_bias(torch.quantize_per_tensor(torch.ones(1, 1, 2), 0.5, 0, torch.qint8), None)
        >>> layer(torch.quantize_per_tensor(torch.ones(1, 1, 3), 0.5, 0, torch.quint8)).dequantize()
        tensor([[[2., 2.]]])
    """

    _DIMS, _FLOAT_MODULE = 1, nn.Conv1d


class Conv2d(_Conv):
    """`torch.nn.Conv2d` whose input, weight and result are quantized.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode: as of
            `torch.nn.Conv2d`; padding in numbers, its mode ``"zeros"`` or ``"reflect"``.
        device, dtype: of no effect.

    Example:
        >>> layer = torch.ao.nn.quantized.Conv2d(1, 1, 2)
        >>> weight = torch.quantize_per_tensor(torch.ones(1, 1, 2, 2), 0.5, 0, torch.qint8)
        >>> layer.set_weight_bias(weight, None)
        >>> layer(torch.quantize_per_tensor(torch.ones(1, 1, 2, 3), 0.5, 0, torch.quint8)).dequantize()
        tensor([[[[4., 4.]]]])
    """

    _DIMS, _FLOAT_MODULE = 2, nn.Conv2d
