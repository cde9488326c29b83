"""Weights and biases as quantized layers keep them."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.tensor import Tensor
from jaxflow._quantized.parts import is_quantized, parts_of
from jaxflow.backends import quantized as engines


def highest() -> int:
    """The highest integer of activations in dynamic quantization: of 7 bits but with ``qnnpack``."""
    return 255 if engines.engine == "qnnpack" else 127


class Packed:
    """A weight, quantized or in half precision, and a bias.

    Args:
        weight: qint8, or float32 to be kept in half precision.
        bias: float32, or None.
        half: whether the weight is kept in half precision.
    """

    __slots__ = ("_half", "_weight", "bias")

    def __init__(self, weight: Tensor, bias: Tensor | None, half: bool = False) -> None:
        if not half and not is_quantized(weight):
            raise RuntimeError("expected a quantized weight, and got one of " + str(weight.dtype))
        if not half and weight.dtype is not dtypes.qint8:
            raise RuntimeError(f"The weight scalar type is {weight.dtype}, where torch.qint8 is needed")
        self._half = half
        self._weight = weight.detach().to(dtypes.float16) if half else weight
        self.bias = None if bias is None else bias.detach()

    @property
    def weight(self) -> Tensor:
        """The quantized weight; one of half precision in float32."""
        return self._weight.to(dtypes.float32) if self._half else self._weight

    def unpack(self) -> tuple[Tensor, Tensor | None]:
        """Weight and bias."""
        return self.weight, self.bias

    def parts(self) -> tuple[Any, Any, Any, int | None]:
        """The integers, scale, zero point and axis; of half precision the weight alone."""
        if self._half:
            return self._weight, None, None, None
        ints, scale, zero_point, axis, _ = parts_of(self._weight)
        return ints, scale, zero_point, axis

    def __repr__(self) -> str:
        return repr(self.unpack())

    def __reduce__(self) -> tuple:
        return Packed, (self.weight, self.bias, self._half)


def quantize_weight(weight: Tensor, observer: Any) -> Tensor:
    """A float weight as a quantized one, by scale and zero point of what observed it."""
    scale, zero = observer.calculate_qparams()
    weight = weight.detach().float()
    if observer.qscheme in (layouts.per_tensor_symmetric, layouts.per_tensor_affine):
        return functions.quantize_per_tensor(weight, scale.item(), int(zero.item()), observer.dtype)
    axis = observer.ch_axis
    floating = observer.qscheme is layouts.per_channel_affine_float_qparams
    kinds = (dtypes.float32, dtypes.float32) if floating else (dtypes.float64, dtypes.int64)
    return functions.quantize_per_channel(weight, scale.to(kinds[0]), zero.to(kinds[1]), axis, observer.dtype)


def observed(weight: Tensor, made: Any) -> Any:
    """An observer that has seen a weight; fake quantization that was trained is taken as it is."""
    made(weight.detach().float())
    return made


def weight_observer(mod: Any) -> Any:
    """What observes the weight of a layer, by its ``qconfig``; AssertionError where it has none."""
    config = getattr(mod, "qconfig", None)
    if config is None or config.weight is None:
        raise AssertionError("Input float module must have qconfig defined")
    return config.weight()


def unsupported(kind: type, mod: Any) -> AssertionError:
    """The error of a layer that another class is made of."""
    return AssertionError(f"{kind.__module__}.{kind.__name__}.from_float only works for the layers that it "
                          f"stands for, got {type(mod).__name__}")
