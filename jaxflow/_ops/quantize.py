"""Numbers as the integers of a quantized tensor, and back; products of such integers.

Products of integers are computed in float32, of the integers less their zero points. That is exact as long
as sums stay below 2**24 (more than a thousand products of 7 and 8 bits), rounded as any sum beyond, and as
quick as any product of matrices; XLA and NumPy multiply matrices of integers without blocking.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import Scalar, op

from ._support import as_dtype, is_float
from .conv import CONVOLUTION
from .fake_quantize import along, scale_and_zero


def _to_integers(x, scale, zero_point, ints):
    """``round(x / scale) + zero_point``, cut to what the integer type holds; nan becomes the highest."""
    limits = np.iinfo(ints)
    scale = scale.astype(np.float32)
    factor = jnp.where(scale == 0, np.float32(1), 1 / scale)
    moved = x * factor
    zero = zero_point.astype(np.float32)
    if ints.itemsize == 4:  # whose highest number is no float32
        moved, zero = moved.astype(np.float64), zero_point.astype(np.float64)
    found = jnp.rint(moved + zero) if is_float(zero_point) else jnp.rint(moved) + zero
    highest = np.asarray(limits.max, found.dtype)
    return jnp.where(found < highest, jnp.maximum(found, limits.min), highest).astype(ints)


@op(variants="", differentiable=False, layout="preserve")
def _quantize(input, scale, zero_point, /, *, axis, ints):
    """The integers of type ``ints`` that stand for ``input``, with one scale or one for each channel."""
    return _to_integers(input, along(scale, input, axis), along(zero_point, input, axis), ints.np)


def _numbers(ints, scale, zero_point, axis=None):
    """What integers stand for: ``(ints - zero_point) * scale`` in float32."""
    wide = np.float64 if ints.dtype.itemsize == 4 else np.float32
    moved = ints.astype(wide) - along(zero_point, ints, axis).astype(wide)
    return moved.astype(np.float32) * along(scale, ints, axis).astype(np.float32)


@op(variants="", differentiable=False, layout="preserve")
def _dequantize(ints, scale, zero_point, /, *, axis):
    """The numbers that integers stand for, in float32."""
    return _numbers(ints, scale, zero_point, axis)


@op(variants="", differentiable=False)
def _scale_of_range(input, /, *, low, high):
    """Scale (float64) and zero point (int64) by which all of ``input`` fits into ``low`` .. ``high``."""
    x = input.astype(np.float32)
    scale, zero = scale_and_zero(jnp.min(x), jnp.max(x), low, high, False)
    return scale, zero.astype(np.int64)


@op(variants="", differentiable=False)
def _scale_of_bounds(low, high, /, *, quant_min, quant_max):
    """Scale (float64) and zero point (int64) by which the range of two numbers fits; see `scale_and_zero`."""
    scale, zero = scale_and_zero(low, high, quant_min, quant_max, False)
    return scale, zero.astype(np.int64)


# ------------------------------------------------------------------------------------- products


def centred(ints, zero_point, axis=None):
    """Integers less their zero point, as float32."""
    return ints.astype(np.float32) - along(zero_point, ints, axis).astype(np.float32)


def rounded_in(x, bits_low, bits_high):
    """Activations as whole numbers less their zero point, and their scale, by their range."""
    x = x.astype(np.float32)
    if not x.size:
        return x, jnp.ones((), np.float32)
    scale, zero = scale_and_zero(jnp.min(x), jnp.max(x), bits_low, bits_high, False)
    scale, zero = scale.astype(np.float32), zero.astype(np.float32)
    found = jnp.clip(jnp.rint(x * (1 / scale)) + zero, bits_low, bits_high)
    return found - zero, scale


@op(variants="", differentiable=False)
def _linear_dynamic(input, weight, scale, zero_point, bias=None, /, *, axis, high, relu):
    """``input @ weight.T + bias`` with ``weight`` in integers and ``input`` rounded to 0 .. ``high``.

    Scale and zero point of the input are those of its range at this call.
    """
    x, by = rounded_in(input, 0, high)
    out = x @ centred(weight, zero_point, axis).T
    out = out * (by * scale.astype(np.float32).reshape(-1))
    out = out if bias is None else out + bias.astype(np.float32)
    return jnp.maximum(out, 0) if relu else out


@op(variants="", differentiable=False)
def _linear_half(input, weight, bias=None, /, *, relu):
    """``input @ weight.T + bias`` in float32, with ``weight`` in half precision."""
    out = input @ weight.astype(np.float32).T
    out = out if bias is None else out + bias
    return jnp.maximum(out, 0) if relu else out


def _finished(out, bias, relu, scale, zero_point, ints):
    """Numbers with a bias, perhaps cut at 0, as integers."""
    out = out if bias is None else out + bias.astype(np.float32)
    out = jnp.maximum(out, 0) if relu else out
    return _to_integers(out, scale, zero_point, ints)


@op(variants="", differentiable=False)
def _linear_of_integers(input, weight, weight_scale, weight_zero, bias=None, /, *, scale: Scalar,
                        zero_point: Scalar, out_scale: Scalar, out_zero: Scalar, axis, relu):
    """``input @ weight.T + bias`` of integers, as integers of the input's type."""
    out = centred(input, zero_point) @ centred(weight, weight_zero, axis).T
    out = out * (scale.astype(np.float32) * weight_scale.astype(np.float32).reshape(-1))
    return _finished(out, bias, relu, out_scale, out_zero, input.dtype)


@op(variants="", differentiable=False)
def _conv_of_integers(input, weight, weight_scale, weight_zero, bias=None, /, *, scale: Scalar,
                      zero_point: Scalar, out_scale: Scalar, out_zero: Scalar, axis, relu, stride, padding,
                      dilation, groups):
    """The convolution of integers, as integers of the input's type; padding stands for 0."""
    x, w = centred(input, zero_point), centred(weight, weight_zero, axis)
    out = CONVOLUTION.fn(x, w, None, stride, tuple((p, p) for p in padding), dilation, groups)
    by = (scale.astype(np.float32) * weight_scale.astype(np.float32)).reshape(-1)
    spread = (-1,) + (1,) * (input.ndim - 2)
    out = out * by.reshape(spread)
    bias = None if bias is None else bias.reshape(spread)
    return as_dtype(_finished(out, bias, relu, out_scale, out_zero, input.dtype), input.dtype)
