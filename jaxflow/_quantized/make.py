"""Making quantized tensors: of numbers, and of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS

from .parts import fresh, integers


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _check_type(dtype: Any, what: str = "new_qtensor") -> None:
    if dtype not in dtypes.QUANTIZED:
        name = getattr(dtype, "scalar_name", dtype)
        raise RuntimeError(f"ScalarType {name} is not supported in {what}.")


def _check_zero(function: str, lowest: int, highest: int, dtype: dtypes.dtype) -> None:
    limits = np.iinfo(dtypes.QUANTIZED[dtype].np)
    for zero, wrong, where in ((highest, highest > limits.max, "above upper"),
                               (lowest, lowest < limits.min, "below lower")):
        if wrong:
            raise RuntimeError(f"{function} zero_point {zero} is {where} bound.")


def _check_float(x: Tensor) -> None:
    if x.dtype is not dtypes.float32:
        raise RuntimeError(f"Quantize only works on Float Tensor, got {x.dtype.scalar_name}")


def quantize_per_tensor(input: Any, scale: Any, zero_point: Any, dtype: Any) -> Any:
    """`torch.quantize_per_tensor`: of one tensor, or of a list with a scale each."""
    if isinstance(input, (list, tuple)):
        pairs = zip(input, scale.tolist(), zero_point.tolist(), strict=True)
        return tuple(quantize_per_tensor(x, s, z, dtype) for x, s, z in pairs)
    scale, zero_point = float(_number(scale)), int(_number(zero_point))
    _check_type(dtype)
    _check_float(input)
    _check_zero("quantize_tensor_per_tensor_affine", zero_point, zero_point, dtype)
    return fresh(integers(input, scale, zero_point, None, dtype), scale, zero_point, None, dtype)


def _channels(scales: Tensor, zero_points: Tensor, axis: int, shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Copies of scales and zero points as a quantized tensor keeps them. RuntimeError if they do not fit."""
    if not 0 <= axis < len(shape):
        raise RuntimeError("Channel axis out of range in per channel affine quantization. Got: "
                           f"{axis}Expected: [0, {len(shape)})")
    if scales.ndim != 1 or zero_points.ndim != 1:
        raise RuntimeError("scale and zero_points tensors must have dimension 1")
    if scales.numel() != zero_points.numel():
        raise RuntimeError("number of elements in scales and zero_points must match")
    if scales.numel() != shape[axis]:
        raise RuntimeError(f"length of scales must equal to channel, expected {shape[axis]} got, "
                           f"{scales.numel()}")
    floating = zero_points.dtype.is_floating_point
    kinds = (dtypes.float32, dtypes.float32) if floating else (dtypes.float64, dtypes.int64)
    return tuple(t.detach().to(kind, copy=True) for t, kind in zip((scales, zero_points), kinds, strict=True))


def quantize_per_channel(input: Tensor, scales: Tensor, zero_points: Tensor, axis: int,
                         dtype: Any) -> Tensor:
    """`torch.quantize_per_channel`."""
    _check_type(dtype)
    _check_float(input)
    if zero_points.numel() and not zero_points.dtype.is_floating_point:
        _check_zero("quantize_tensor_per_channel_affine", zero_points.min().item(), zero_points.max().item(),
                    dtype)
    scales, zero_points = _channels(scales, zero_points, axis, input.shape)
    return fresh(integers(input, scales, zero_points, axis, dtype), scales, zero_points, axis, dtype)


#: The integers into which activations are rounded: all of the type, or a bit less.
_RANGES = {dtypes.quint8: ((0, 255), (0, 127)), dtypes.qint8: ((-128, 127), (-64, 63))}


def quantize_per_tensor_dynamic(input: Tensor, dtype: Any, reduce_range: bool) -> Tensor:
    """`torch.quantize_per_tensor_dynamic`."""
    if dtype is dtypes.float16:
        return input.to(dtypes.float16)
    if dtype not in _RANGES:
        raise RuntimeError(f"dtype {getattr(dtype, 'scalar_name', dtype)}not supported")
    if not input.numel():
        raise RuntimeError("min(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                           "the reduction dim with the 'dim' argument.")
    scale, zero = apply(OPS["_scale_of_range"], (input.detach(),), _RANGES[dtype][bool(reduce_range)])
    return quantize_per_tensor(input, scale, zero, dtype)


#: The type of a quantized tensor by that of its integers.
_BY_INTEGERS = {ints: dtype for dtype, ints in dtypes.QUANTIZED.items()}


def _type_of(ints: Tensor) -> dtypes.dtype:
    found = _BY_INTEGERS.get(ints.dtype)
    if found is None:
        raise RuntimeError("Creation of quantized tensor requires quantized dtype like torch.quint8")
    return found


def of_integers(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """`torch._make_per_tensor_quantized_tensor`."""
    dtype = _type_of(input)
    return fresh(input.clone(), float(scale), int(zero_point), None, dtype)


def of_integers_by_channel(input: Tensor, scale: Tensor, zero_point: Tensor, axis: int) -> Tensor:
    """`torch._make_per_channel_quantized_tensor`."""
    dtype = _type_of(input)
    scale, zero_point = _channels(scale, zero_point, axis, input.shape)
    return fresh(input.clone(), scale, zero_point, axis, dtype)


def rebuilt(ints: Tensor, dtype: dtypes.dtype, params: tuple) -> Tensor:
    """The quantized tensor of a checkpoint: its integers, and what is kept of how it was quantized."""
    _check_type(dtype)
    scheme, scale, zero_point, *axis = params
    if scheme.name == "per_tensor_affine":
        return fresh(ints, float(scale), int(zero_point), None, dtype)
    if scheme.name not in ("per_channel_affine", "per_channel_affine_float_qparams"):
        raise RuntimeError(f"Can't deserialize quantized tensor with qscheme {scheme}")
    scale, zero_point = (t if isinstance(t, Tensor) else F.tensor(t, dtype=kind) for t, kind in (
        (scale, dtypes.float64), (zero_point, dtypes.int64)))
    return fresh(ints, *_channels(scale, zero_point, axis[0], ints.shape), axis[0], dtype)


def empty(size: Sequence[int], dtype: Any, scale: float, zero_point: int, device: Any) -> Tensor:
    """`torch._empty_affine_quantized`: zeros in its integers."""
    if dtype not in dtypes.QUANTIZED:
        raise RuntimeError("Creation of quantized tensor requires quantized dtype like torch.quint8")
    ints = F.zeros(tuple(size), dtype=dtypes.QUANTIZED[dtype], device=device)
    return fresh(ints, float(scale), int(zero_point), None, dtype)


def empty_by_channel(size: Sequence[int], dtype: Any, scales: Tensor, zero_points: Tensor, axis: int,
                     device: Any) -> Tensor:
    """`torch._empty_per_channel_affine_quantized`: zeros in its integers."""
    if dtype not in dtypes.QUANTIZED:
        raise RuntimeError("Creation of quantized tensor requires quantized dtype like torch.quint8")
    ints = F.zeros(tuple(size), dtype=dtypes.QUANTIZED[dtype], device=device)
    return fresh(ints, *_channels(scales, zero_points, axis, ints.shape), axis, dtype)
