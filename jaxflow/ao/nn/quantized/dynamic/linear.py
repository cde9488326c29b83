"""The linear layer of dynamic quantization."""

from __future__ import annotations

from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow.ao.nn.quantized.linear import Linear as StaticLinear
from jaxflow.ao.nn.quantized.packed import (
    highest,
    observed,
    quantize_weight,
    unsupported,
    weight_observer,
)
from jaxflow.nn import Linear as FloatLinear


class Linear(StaticLinear):
    """A linear layer with a quantized weight, whose float input is rounded at each call.

    With ``x`` and ``w`` as integers: ``(x - x_zero) @ (w - w_zero).T * x_scale * w_scale + bias``; scale and
    zero point of ``x`` fit the range that it has. A weight of half precision is multiplied in float32.

    Args:
        in_features: size of the input's last dimension.
        out_features: size of the output's.
        bias_: whether there is a bias.
        dtype: of the weight: ``torch.qint8`` or ``torch.float16``.

    Example:
        >>> layer = torch.ao.nn.quantized.dynamic.Linear(2, 1)
        >>> layer.set_weight_bias(torch.quantize_per_tensor(torch.ones(1, 2), 0.5, 0, torch.qint8), None)
        >>> layer(torch.tensor([[0.0, 1.27]]))
        tensor([[1.2700]])
    """

    _version = 4

    def __init__(self, in_features: int, out_features: int, bias_: bool = True,
                 dtype: Any = dtypes.qint8) -> None:
        super().__init__(in_features, out_features, bias_, dtype)
        self.version = self._version

    def forward(self, x: Tensor) -> Tensor:
        """``x``, ``(*, in_features)``, to ``(*, out_features)`` in float32."""
        packed = self._packed_params._packed_params
        weight, scale, zero, axis = packed.parts()
        if scale is None:
            return apply(OPS["_linear_half"], (x, weight, packed.bias), (self._relu,))
        return apply(OPS["_linear_dynamic"], (x, weight, scale, zero, packed.bias),
                     (axis, highest(), self._relu))

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        shown = (f"in_features={self.in_features}, out_features={self.out_features}, "
                 f"dtype={self._packed_params.dtype}")
        if self._packed_params.dtype is dtypes.qint8:
            shown += f", qscheme={self.weight().qscheme()}"
        return shown

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Linear:
        """The layer of a float one, by the observer of weights of its ``qconfig``.

        Raises:
            AssertionError: for another layer, and one without ``qconfig``.
            RuntimeError: for an observer of another dtype.
        """
        source = mod[0] if type(mod).__name__ == "LinearReLU" and hasattr(mod, "__getitem__") else mod
        if not isinstance(source, FloatLinear):
            raise unsupported(cls, mod)
        made = weight_observer(mod)
        if made.dtype is dtypes.qint8:
            weight = quantize_weight(source.weight, observed(source.weight, made))
        elif made.dtype is dtypes.float16:
            weight = source.weight.detach().float()
        else:
            raise RuntimeError("Unsupported dtype specified for dynamic quantized Linear!")
        new = cls(source.in_features, source.out_features, dtype=made.dtype)
        new.set_weight_bias(weight, None if source.bias is None else source.bias.detach().float())
        return new
