"""Linear layers of quantized models."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._quantized.parts import fresh, is_quantized, parts_of
from jaxflow.nn import Linear as FloatLinear
from jaxflow.nn import Module

from .packed import Packed, observed, quantize_weight, unsupported


class LinearPackedParams(Module):
    """Weight and bias of a quantized linear layer, as they are saved.

    Args:
        dtype: ``torch.qint8``, or ``torch.float16`` for a weight of half precision.

    Example:
        >>> torch.ao.nn.quantized.LinearPackedParams()._weight_bias()[1] is None
        True
    """

    _version = 3

    def __init__(self, dtype: Any = dtypes.qint8) -> None:
        super().__init__()
        if dtype not in (dtypes.qint8, dtypes.float16):
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")
        self.dtype = dtype
        weight = functions.zeros(1, 1)
        if dtype is dtypes.qint8:
            weight = functions.quantize_per_tensor(weight, 1.0, 0, dtypes.qint8)
        self.set_weight_bias(weight, None)

    def set_weight_bias(self, weight: Tensor, bias: Tensor | None) -> None:
        """Keep these."""
        self._packed_params = Packed(weight, bias, self.dtype is dtypes.float16)

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        return self._packed_params.unpack()

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._weight_bias()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        found = [prefix + name for name in ("dtype", "_packed_params")]
        if found[0] in state_dict:
            self.dtype = state_dict[found[0]]
        if found[1] in state_dict:
            self.set_weight_bias(*state_dict[found[1]])
        missing_keys.extend(name for name in found if name not in state_dict)
        unexpected_keys.extend(name for name in state_dict if name.startswith(prefix) and name not in found)

    def __repr__(self) -> str:
        return repr(self._weight_bias())


def load_numbers(module: Any, state_dict: Any, prefix: str, missing_keys: list) -> None:
    """Take scale and zero point out of a checkpoint, in which they are tensors."""
    for name, kind in (("scale", float), ("zero_point", int)):
        if prefix + name in state_dict:
            setattr(module, name, kind(state_dict[prefix + name]))
        else:
            missing_keys.append(prefix + name)


class Linear(Module):
    """A linear layer whose input, weight and result are quantized.

    Args:
        in_features: size of the input's last dimension.
        out_features: size of the output's.
        bias_: whether there is a bias.
        dtype: of the weight: ``torch.qint8``, or ``torch.float16`` for dynamic layers.

    Raises:
        RuntimeError: for another dtype; and when called with a tensor that is not quantized.

    Example:
        >>> layer = torch.ao.nn.quantized.Linear(2, 1)
        >>> layer.set_weight_bias(torch.quantize_per_tensor(torch.ones(1, 2), 0.5, 0, torch.qint8), None)
        >>> x = torch.quantize_per_tensor(torch.tensor([[1.0, 2.0]]), 0.1, 0, torch.quint8)
        >>> layer(x).dequantize()
        tensor([[3.]])
    """

    _version = 3
    _FLOAT_MODULE: Any = FloatLinear
    _relu = False

    def __init__(self, in_features: int, out_features: int, bias_: bool = True,
                 dtype: Any = dtypes.qint8) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.scale, self.zero_point = 1.0, 0
        bias = functions.zeros(out_features) if bias_ else None
        weight = functions.zeros(out_features, in_features)
        if dtype is dtypes.qint8:
            weight = functions.quantize_per_tensor(weight, 1.0, 0, dtypes.qint8)
        self._packed_params = LinearPackedParams(dtype)
        self._packed_params.set_weight_bias(weight, bias)

    def _get_name(self) -> str:
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, out_features={self.out_features}, scale={self.scale}, "
                f"zero_point={self.zero_point}, qscheme={self.weight().qscheme()}")

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"  # without the packed weight

    def forward(self, x: Tensor) -> Tensor:
        """``x``, quantized, ``(*, in_features)``, to a quantized ``(*, out_features)`` of its dtype."""
        if not is_quantized(x):
            raise NotImplementedError("Could not run 'quantized::linear' with arguments from the 'CPU' "
                                      "backend: the input is not quantized")
        ints, scale, zero, _, dtype = parts_of(x)
        packed = self._packed_params._packed_params
        weight, by, at, axis = packed.parts()
        out = apply(OPS["_linear_of_integers"],
                    (ints, weight, by, at, packed.bias, scale, zero, self.scale, self.zero_point),
                    (axis, self._relu))
        return fresh(out, self.scale, self.zero_point, None, dtype)

    def weight(self) -> Tensor:
        """The quantized weight."""
        return self._packed_params._weight_bias()[0]

    def bias(self) -> Tensor | None:
        """The bias."""
        return self._packed_params._weight_bias()[1]

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        return self._packed_params._weight_bias()

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Keep a weight, quantized, and a bias."""
        self._packed_params.set_weight_bias(w, b)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = functions.tensor(self.scale)
        destination[prefix + "zero_point"] = functions.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        load_numbers(self, state_dict, prefix, missing_keys)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys,
                                      unexpected_keys, error_msgs)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Linear:
        """The layer of a float one that was prepared and has observed its results.

        Raises:
            AssertionError: for another layer, and one that was not prepared.
        """
        source = mod[0] if type(mod).__name__ == "LinearReLU" and hasattr(mod, "__getitem__") else mod
        if not isinstance(source, FloatLinear):
            raise unsupported(cls, mod)
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        made = getattr(mod, "weight_fake_quant", None)
        weights = observed(source.weight, mod.qconfig.weight() if made is None else made)
        scale, zero = mod.activation_post_process.calculate_qparams()
        if weights.dtype is not dtypes.qint8:
            raise AssertionError("Weight observer must have dtype torch.qint8")
        new = cls(source.in_features, source.out_features, dtype=dtypes.qint8)
        bias = None if source.bias is None else source.bias.detach().float()
        new.set_weight_bias(quantize_weight(source.weight, weights), bias)
        new.scale, new.zero_point = float(scale), int(zero)
        return new
