"""Rounding to the numbers that a quantized tensor can hold, with gradients where nothing is cut off.

NOTE [Fake quantization]
    Jacob et al., 2018, "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
    Inference": a real number ``x`` is held as the integer ``q = round(x / scale) + zero_point``, cut to
    ``quant_min`` .. ``quant_max``, and stands for ``(q - zero_point) * scale``. Fake quantization computes
    that real number. Its gradient is that of the identity where nothing was cut, and 0 elsewhere (the
    straight-through estimator of Bengio, Leonard and Courville, 2013). It is written as a sum of the value,
    without derivative, and of ``x - x``, with the derivative of its first term: `_pass_on`.

Rounding goes to the even number at ties. ``x / scale`` is ``x * (1 / scale)`` with the reciprocal in float32,
as PyTorch computes it, so that the same numbers come out at ties.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import Scalar, op

from ._support import as_dtype, is_float, refuse, wide

#: The kernel that PyTorch names where it refuses a dtype.
_KERNEL = "fake_quantize_tensor_cachemask_kernel_type_handling"
_CHANNELS = "fake_quantize_channel_cachemask_cpu_type_handling"


def along(t, input, axis):
    """Parameters in the shape in which they broadcast against ``input``: one, or one for each channel."""
    if axis is None:
        return t.reshape(())
    return t.reshape((1,) * axis + t.shape + (1,) * (input.ndim - axis - 1))


def _pass_on(value, x, inside):
    """``value`` with the derivative of ``x`` where ``inside`` holds."""
    return stop_gradient(value) + jnp.where(inside, x - stop_gradient(x), 0)


def _rounded(x, scale, zero_point, low, high):
    """Integers (as floats) that stand for ``x``, cut; the zero point; and where nothing was cut."""
    factor = (1 / scale).astype(x.dtype)
    zero = zero_point.astype(x.dtype)
    found = jnp.rint(x * factor + zero) if is_float(zero_point) else jnp.rint(x * factor) + zero
    inside = (found >= low) & (found <= high)
    cut = jnp.where(found >= low, jnp.minimum(found, high), low)  # nan becomes the lowest
    return cut, zero, inside


def _faked(input, scale, zero_point, axis, low, high):
    """The numbers that ``input`` is held as, in its dtype, and where nothing was cut."""
    x = wide(input)
    scale = along(scale.astype(np.float32), input, axis)
    found, zero, inside = _rounded(x, scale, along(zero_point, input, axis), low, high)
    out = (found - zero).astype(np.float32) * scale  # in single precision, of float64 too
    return _pass_on(out.astype(x.dtype), x, inside), inside


@op(variants="", saves="none", layout="preserve", grad_name="FakeQuantizePerTensorAffineCachemaskBackward0")
def _fake_quantize(input, /, scale: Scalar, zero_point: Scalar, quant_min: int, quant_max: int):
    """``input`` rounded to multiples of a scale given as a number: NOTE [Fake quantization]."""
    refuse(_KERNEL, input, BOOL, INTEGER, COMPLEX)
    out, _ = _faked(input, scale, zero_point, None, quant_min, quant_max)
    return as_dtype(out, input.dtype)


@op(variants="", saves="none", layout="preserve",
    grad_name="FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0")
def _fake_quantize_by_tensors(input, scale, zero_point, enabled=None, /, *, quant_min, quant_max):
    """The same by a scale in a tensor of one element; ``input`` as it is where ``enabled`` is 0."""
    refuse(_KERNEL, input, BOOL, INTEGER, COMPLEX)
    out, _ = _faked(input, scale, zero_point.astype(np.int64), None, quant_min, quant_max)
    out = as_dtype(out, input.dtype)
    return out if enabled is None else jnp.where(enabled.reshape(()) > 0, out, input)


@op(variants="", saves="none", layout="preserve", grad_name="FakeQuantizePerChannelAffineCachemaskBackward0")
def _fake_quantize_channels(input, scale, zero_point, /, *, axis, quant_min, quant_max):
    """The same by a scale for each channel."""
    refuse(_CHANNELS, input, BOOL, INTEGER, COMPLEX)
    out, _ = _faked(input, scale, zero_point, axis, quant_min, quant_max)
    return as_dtype(out, input.dtype)


def _learned(input, scale, zero_point, axis, low, high, factor):
    """Fake quantization whose scale and zero point have gradients: of one, or one for each channel.

    Esser et al., 2020, "Learned Step Size Quantization", and Bhalgat et al., 2020, "LSQ+": where a number is
    cut, the derivative by the scale is the integer that it is cut to less the zero point, and that by the
    zero point is minus the scale; elsewhere they are what rounding changed, in scales, and 0. Both are
    multiplied by ``factor``.
    """
    refuse(_KERNEL if axis is None else _CHANNELS, input, BOOL, INTEGER, COMPLEX)
    x = wide(input)
    step = along(scale, input, axis)
    by = stop_gradient(step).astype(np.float32)
    zero = along(stop_gradient(zero_point), input, axis)
    zero = jnp.clip(jnp.rint(zero), low, high).astype(np.int64)
    found, at, inside = _rounded(stop_gradient(x), by, zero, low, high)
    by = by.astype(x.dtype)
    out = (found - at) * by
    rounded = jnp.where(inside, (out - stop_gradient(x)) / by, found - at)
    moved = jnp.where(inside, 0, -by)
    out = _pass_on(out, x, inside)
    for parameter, slope in ((step, rounded), (along(zero_point, input, axis), moved)):
        if is_float(parameter):
            parameter = parameter.astype(x.dtype)
            out = out + (parameter - stop_gradient(parameter)) * stop_gradient(slope * factor)
    return as_dtype(out, input.dtype)


@op(name="_fake_quantize_learnable", variants="", layout="preserve",
    grad_name="FakeQuantizeLearnablePerTensorAffineBackward0")
def learnable(input, scale, zero_point, /, *, quant_min, quant_max, grad_factor):
    """`_learned` with one scale."""
    return _learned(input, scale, zero_point, None, quant_min, quant_max, grad_factor)


@op(name="_fake_quantize_learnable_channels", variants="", layout="preserve",
    grad_name="FakeQuantizeLearnablePerChannelAffineBackward0")
def learnable_channels(input, scale, zero_point, /, *, axis, quant_min, quant_max, grad_factor):
    """`_learned` with a scale for each channel."""
    return _learned(input, scale, zero_point, axis, quant_min, quant_max, grad_factor)


# ------------------------------------------------------------------------------ scales from ranges

#: Scales below this are raised to it, as the library does that PyTorch quantizes with on x86.
_SMALLEST = 6.1e-5


def scale_and_zero(low, high, quant_min, quant_max, symmetric):
    """Scale (float64) and zero point (float64, an integer) with which ``low`` .. ``high`` fits the integers.

    The range is widened to hold 0, which has to be one of the numbers. The zero point is taken from that end
    of the range from which it comes out more exactly, and rounded. Jacob, 2017, "Building a quantization
    paradigm from first principles" (gemmlowp, `doc/quantization.md`); FBGEMM's `ChooseQuantizationParams`,
    by which a symmetric range with numbers on both sides of 0 has its zero point in the middle.
    """
    low, high = low.astype(np.float64), high.astype(np.float64)
    both = (low < 0) & (high > 0) if symmetric else None
    if symmetric:
        least, most = -((quant_max - quant_min) // 2 + 1), (quant_max - quant_min) // 2
        widest = jnp.maximum(jnp.abs(low / least), jnp.abs(high / most))
        # These are floats where FBGEMM computes them.
        low = jnp.where(both, (widest * least).astype(np.float32).astype(np.float64), low)
        high = jnp.where(both, (widest * most).astype(np.float32).astype(np.float64), high)
    low, high = jnp.minimum(low, 0), jnp.maximum(high, 0)
    steps = quant_max - quant_min
    scale = (high - low) / steps
    single = scale.astype(np.float32)
    scale = jnp.where((single == 0) | jnp.isinf(1 / single), 0.1, scale)
    small = scale < _SMALLEST
    grown = _SMALLEST / scale
    scale, low, high = (jnp.where(small, a, b) for a, b in (
        (_SMALLEST, scale), (low * grown, low), (high * grown, high)))
    from_low = jnp.abs(float(quant_min)) - jnp.abs(low / scale)
    from_high = jnp.abs(float(quant_max)) - jnp.abs(high / scale)
    zero = jnp.where(from_low < from_high, quant_min - low / scale, quant_max - high / scale)
    if symmetric:
        zero = jnp.where(both, (quant_min + quant_max) / 2, zero)
    return scale, jnp.rint(jnp.clip(zero, quant_min, quant_max))


@op(variants="", differentiable=(True, False, False, False, False), saves="none",
    grad_name="FusedMovingAvgObsFqHelperBackward0")
def _observed_and_faked(input, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, /, *,
                        averaging: Scalar, quant_min, quant_max, axis, symmetric):
    """Fake quantization by a range that follows the input, and the range, scale and zero point afterwards.

    Where ``observer_on`` is not 0, the range moves by the part ``averaging`` towards that of ``input`` (an
    infinite one is replaced); where ``fake_quant_on`` is not 0, scale and zero point are made from the range.
    """
    refuse(_KERNEL, input, BOOL, INTEGER, COMPLEX)
    x = stop_gradient(input)
    others = None if axis is None else tuple(d for d in range(input.ndim) if d != axis)
    on, faking = observer_on.reshape(()) > 0, fake_quant_on.reshape(()) > 0

    def moved(running, seen):
        seen = seen.astype(running.dtype).reshape(running.shape)
        part = averaging.astype(running.dtype)
        new = jnp.where(jnp.isinf(running), seen, running + part * (seen - running))
        return jnp.where(on, new, running)

    low, high = moved(running_min, jnp.min(x, others)), moved(running_max, jnp.max(x, others))
    by, zero = scale_and_zero(low, high, quant_min, quant_max, symmetric)
    by = jnp.where(faking, by.astype(scale.dtype).reshape(scale.shape), scale)
    zero = jnp.where(faking, zero.astype(zero_point.dtype).reshape(zero_point.shape), zero_point)
    out, _ = _faked(input, by, zero, axis, quant_min, quant_max)
    return jnp.where(faking, as_dtype(out, input.dtype), input), low, high, by, zero
