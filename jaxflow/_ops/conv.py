"""Convolutions and their transposes.

On a CPU, XLA runs the plain two-dimensional convolution with a library kernel. What it has no
kernel for is slow by orders of magnitude, so these are put in terms of what it has. Measured on
two cores, forward / forward with gradient, in ms:

- 1x1, 32x64x16x16: 0.60 / 2.97 as convolution, 0.29 / 0.97 as a product of matrices
- depthwise 3x3, 16x64x56x56: 68 / 94 grouped, 1.2 / 32 as a sum of shifted products
- 4 groups, 16x64x28x28: 8.9 / 407 grouped, 1.5 / 2.9 group by group
- three dimensions, 4x16x16x16x16: 24 / 164 direct, 3.6 / 9.9 as a sum over depth of
  two-dimensional ones
- transposed 2x2 with stride 2, 16x64x32x32: 4.6 / 403 with a dilated input, 2.2 / 25 as one
  convolution for each phase of the output

Gradients are jax's own. Explicit forms of the weight gradient (one product a tap, shifted views of
a flat padded array, im2col) cost 1.3 to 5 times its processor time at every size from 32x32x32x32
to 32x512x4x4, Winograd's form with tiles of 2x2 between 0.7 and 4 times.

NOTE [Channels last inside]
    XLA's kernel needs channels last, and left to itself XLA puts a transpose on each side of every
    convolution. Here these transposes are written out, and batch norm and pooling have them too: between
    two such operations they cancel. Elementwise operations in between (``relu``, the addition of a
    residual) are moved to the other side by XLA, but only where every reader of a transposed array can be
    moved, in one pass: an elementwise body reads its operand once, or compares it with a constant.
    The gradient of the weight reads the input with the channels first and the batch last, an order so
    far from the one in memory that each element is fetched for itself. Left to itself XLA computes
    whatever chain of elementwise operations made the input (norm, ``relu``, residuals) again inside that
    transpose, and fetches the elements of all its operands so: `materialized` has it read the finished
    input.
    Depthwise convolutions, sums of shifted slices, are twice as quick with the channels first.
"""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import FLOATING, type_name
from jaxflow._core.jax_compat import SymbolicZero
from jaxflow._core.promotion import can_cast, promote_types, result_type
from jaxflow._plans.op import op, overload

from ._layouts import convolved
from ._support import category, is_bool, is_complex, is_float, refuse, scalar_name, wide
from ._window import channels_first, channels_last, pad_at, pad_last, shifted, taps
from ._xla import materialized, on_cpu
from .matmul import contract

_LAST = {1: ("NHC", "HIO", "NHC"), 2: ("NHWC", "HWIO", "NHWC")}
_LAYOUTS = {1: ("NCH", "OIH", "NCH"), 2: ("NCHW", "OIHW", "NCHW"), 3: ("NCDHW", "OIDHW", "NCDHW")}


def _xla_conv(x, w, stride, pads, dilation, groups=1, input_dilation=None):
    spatial = x.ndim - 2
    # PyTorch allows float32 convolutions to use reduced precision on GPUs; products of float64 and
    # everything on a CPU are exact either way.
    return jax.lax.conv_general_dilated(
        x, w, stride, pads, lhs_dilation=input_dilation or (1,) * spatial, rhs_dilation=dilation,
        dimension_numbers=_LAYOUTS[spatial], feature_group_count=groups,
    )


def conv(x, w, stride, pads, dilation, groups):
    """Convolution of ``(N, C, ...)`` with ``(O, C / groups, ...)``; see the first lines of this file."""
    if is_complex(x):
        return _complex_conv(x, w, stride, pads, dilation, groups)
    if not on_cpu() or 0 in x.shape or 0 in w.shape:
        return _xla_conv(x, w, stride, pads, dilation, groups)
    if not is_float(x):
        return _tap_conv(x, w, stride, pads, dilation, groups)
    if groups > 1:
        if w.shape[1] == 1:
            return _depthwise(x, w, stride, pads, dilation, groups)
        if groups <= 128:
            parts = zip(jnp.split(x, groups, 1), jnp.split(w, groups, 0))
            return jnp.concatenate([conv(a, b, stride, pads, dilation, 1) for a, b in parts], 1)
        return _xla_conv(x, w, stride, pads, dilation, groups)
    if math.prod(w.shape[2:]) == 1:
        return _pointwise(x, w, stride, pads)
    if x.ndim == 5:
        return _by_depth(x, w, stride, pads, dilation)
    return _channels_last_conv(x, w, stride, pads, dilation)


def _channels_last_conv(x, w, stride, pads, dilation):
    """The convolution XLA has a kernel for; see NOTE [Channels last inside]."""

    def product(x, w):
        return jax.lax.conv_general_dilated(
            x, w, stride, pads, rhs_dilation=dilation, dimension_numbers=_LAST[x.ndim - 2]
        )

    @jax.custom_jvp
    def plain(x, w):
        return product(x, _outputs_last(w))

    def tangent(primals, tangents):
        (x, w), (dx, dw) = primals, tangents
        total = []
        if not isinstance(dx, SymbolicZero):
            total.append(product(dx, _outputs_last(w)))
        if not isinstance(dw, SymbolicZero):
            total.append(product(materialized(x), _outputs_last_in_blocks(dw)))
        out = plain(x, w)
        return out, sum(total[1:], total[0]) if total else jnp.zeros_like(out)

    plain.defjvp(tangent, symbolic_zeros=True)
    return channels_first(plain(channels_last(x), w))


def _outputs_last(w):
    """``(O, I, ...)`` as ``(..., I, O)``."""
    return w.transpose(*range(2, w.ndim), 1, 0)


def _outputs_last_in_blocks(w, block=16):
    """The same through a finished array of blocks, a cache line wide; for its transpose.

    The gradient of the weight comes with the outputs last and leaves with them first. In one pass each
    element is fetched from another cache line, thousands apart, and the lines are gone before their next
    elements are wanted. Small weights stay in the cache.
    """
    outputs, inputs, *kernel = w.shape
    if outputs % block or w.size < 1 << 18:
        return _outputs_last(w)
    w = materialized(w.reshape(outputs // block, block, -1).transpose(0, 2, 1))
    return _outputs_last(w.transpose(0, 2, 1).reshape(outputs, inputs, *kernel))


def _out_sizes(x, w, stride, pads, dilation):
    return tuple(
        (n + a + b - d * (k - 1) - 1) // s + 1
        for n, (a, b), d, k, s in zip(x.shape[2:], pads, dilation, w.shape[2:], stride)
    )


def _pointwise(x, w, stride, pads):
    """A kernel of one element: a product of matrices over the channels."""
    last = pad_at(channels_last(x), pads, 0, 1)
    last = last[(slice(None), *(slice(None, None, s) for s in stride))]
    out = contract(last.reshape(-1, x.shape[1]), w.reshape(w.shape[:2]), (1,), (1,))
    return channels_first(out.reshape(*last.shape[:-1], w.shape[0]))


def _depthwise(x, w, stride, pads, dilation, groups):
    """One input channel a group: a sum of shifted inputs, each times one weight a channel."""
    out = _out_sizes(x, w, stride, pads, dilation)
    per_group = w.shape[0] // groups

    # In jax.lax: jax.numpy takes half as long again to trace what has as many terms as the kernel elements.
    def product(x, w, seen=lambda x: x):
        x = jax.lax.expand_dims(pad_last(x, pads, 0), (2,))
        w = jax.lax.reshape(w, (groups, per_group, *w.shape[2:]))
        shape = x.shape[0], groups, per_group, *out
        total = None
        for tap in taps(w.shape[2:]):
            factor = jax.lax.slice(w, (0, 0, *tap), (groups, per_group, *(k + 1 for k in tap)))
            factor = jax.lax.broadcast_in_dim(factor, shape, tuple(range(1, len(shape))))
            part = seen(shifted(x, tap, dilation, stride, out))
            if per_group > 1:
                part = jax.lax.broadcast_in_dim(part, shape, tuple(range(len(shape))))
            part = jax.lax.mul(part, factor)
            total = part if total is None else jax.lax.add(total, part)
        return jax.lax.reshape(total, (x.shape[0], groups * per_group, *out))

    # The derivative is the product again. Only the barrier differs: a sum over shifted slices is
    # seventy times slower where XLA fuses the slicing into it (the gradient of the weight).
    @jax.custom_jvp
    def fused(x, w):
        return product(x, w)

    @fused.defjvp
    def tangent(primals, tangents):
        (x, w), (dx, dw) = primals, tangents
        return fused(x, w), product(dx, w) + product(x, dw, jax.lax.optimization_barrier)

    return fused(x, w)


def _by_depth(x, w, stride, pads, dilation):
    """Three dimensions as a sum over the kernel's depth, with the output's depth in the batch."""
    depth = _out_sizes(x, w, stride, pads, dilation)[0]
    x = pad_last(x, (pads[0], (0, 0), (0, 0)), 0)
    total = 0
    for k in range(w.shape[2]):
        start = k * dilation[0]
        layer = x[:, :, start : start + (depth - 1) * stride[0] + 1 : stride[0]]
        layer = jnp.moveaxis(layer, 2, 1).reshape(-1, x.shape[1], *x.shape[3:])
        total = total + conv(layer, w[:, :, k], stride[1:], pads[1:], dilation[1:], 1)
    return jnp.moveaxis(total.reshape(x.shape[0], depth, *total.shape[1:]), 1, 2)


def _tap_conv(x, w, stride, pads, dilation, groups):
    """Integers: one product of matrices a tap."""
    out = _out_sizes(x, w, stride, pads, dilation)
    x = pad_last(x, pads, 0)
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    w = w.reshape(groups, -1, *w.shape[1:])
    total = 0
    for tap in taps(w.shape[3:]):
        seen = shifted(x, tap, dilation, stride, out)
        total = total + jnp.einsum("ngc...,goc->ngo...", seen, w[(..., *tap)])
    return total.reshape(x.shape[0], -1, *out)


def _complex_conv(x, w, *how):
    return _of_parts(lambda x, w: conv(x, w, *how), x, w)


def conv_transpose(x, w, stride, padding, output_padding, dilation, groups):
    """Transposed convolution of ``(N, C, ...)`` with ``(C, O / groups, ...)``."""
    if groups > 1:
        parts = zip(jnp.split(x, groups, 1), jnp.split(w, groups, 0))
        how = (stride, padding, output_padding, dilation, 1)
        return jnp.concatenate([conv_transpose(a, b, *how) for a, b in parts], 1)
    # Where output o of the full correlation with the flipped kernel starts and ends in the input.
    pads = tuple(
        (d * (k - 1) - p, d * (k - 1) - p + extra)
        for d, k, p, extra in zip(dilation, w.shape[2:], padding, output_padding)
    )
    flipped = jnp.flip(w, range(2, w.ndim)).swapaxes(0, 1)
    ones = (1,) * len(stride)
    if stride == ones:
        return conv(x, flipped, ones, pads, dilation, 1)
    phases = math.prod(stride)
    if dilation != ones or phases > 64 or is_complex(x) or not on_cpu() or 0 in x.shape:
        if is_complex(x):
            return _complex_transpose(x, w, stride, padding, output_padding, dilation)
        return _xla_conv(x, flipped, ones, pads, dilation, input_dilation=stride)
    return _by_phase(x, flipped, stride, pads)


def _complex_transpose(x, w, *how):
    return _of_parts(lambda x, w: conv_transpose(x, w, *how, 1), x, w)


def _of_parts(product, x, w):
    """A complex product of four real ones: with three, the imaginary part would lose digits."""
    real = product(x.real, w.real) - product(x.imag, w.imag)
    return jax.lax.complex(real, product(x.real, w.imag) + product(x.imag, w.real))


def _by_phase(x, flipped, stride, pads):
    """Outputs whose index has one remainder modulo the stride use one part of the kernel only.

    The stretched input has ``x[i]`` at ``i * stride``. Output ``o`` reads it at ``o - before + k``,
    so with ``o = m * stride + r`` only the ``k`` congruent to ``before - r`` matter: a plain
    convolution.
    """
    out = tuple((n - 1) * s + 1 + a + b - k + 1
                for n, s, (a, b), k in zip(x.shape[2:], stride, pads, flipped.shape[2:]))
    per_phase = tuple(-(-n // s) for n, s in zip(out, stride))
    ones = (1,) * len(stride)
    parts = []
    for phase in itertools.product(*map(range, stride)):
        starts = [(a - r) % s for (a, _), r, s in zip(pads, phase, stride)]
        part = flipped[(..., *(slice(k, None, s) for k, s in zip(starts, stride)))]
        if 0 in part.shape:
            parts.append(jnp.zeros((x.shape[0], flipped.shape[0], *per_phase), x.dtype))
            continue
        window = []
        for (a, _), r, k, s, n, m, size in zip(
            pads, phase, starts, stride, x.shape[2:], per_phase, part.shape[2:]
        ):
            before = -((r - a + k) // s)  # the first output of the phase starts this far outside
            window.append((before, m + size - 1 - n - before))
        parts.append(conv(x, part, ones, tuple(window), ones, 1))
    grid = jnp.stack(parts, -1).reshape(*parts[0].shape, *stride)
    spatial = len(stride)
    order = [0, 1]
    for d in range(spatial):
        order += [2 + d, 2 + spatial + d]
    full = [m * s for m, s in zip(per_phase, stride)]
    full = grid.transpose(order).reshape(*parts[0].shape[:2], *full)
    return full[(slice(None), slice(None), *map(slice, out))]


# --------------------------------------------------------------------------------------- the ops


def _by_onednn(input, weight, groups) -> bool:
    """Whether PyTorch gives this convolution of its default dtype to oneDNN, whose check has other words."""
    sizes, kernel = _as_image(input.shape[2:]), _as_image(weight.shape[2:])
    large = math.prod((*input.shape[:2], *sizes[:2])) > 20480
    return input.dtype == np.float32 and (
        groups > 1 or min(kernel[-2:]) > 3 or input.shape[0] > 1 or large)


def _check_by_onednn(input, **parameters) -> None:
    for name, x in parameters.items():
        if x is not None and x.dtype != input.dtype:
            raise RuntimeError(
                f"Input type ({_type_name(input)}) and {name} type ({_type_name(x)}) should be the same or "
                f"input should be a MKLDNN tensor and {name} is a dense tensor"
            )


def _type_name(x) -> str:
    return type_name(dtypes.from_numpy_dtype(x.dtype))


def _check_same_dtype(input, weight) -> None:
    if input.dtype != weight.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_name(input)} but found {scalar_name(weight)}"
        )


def _check_integers(kernel, input, *taken) -> None:
    """Refuse bools and the integers that PyTorch's kernel does not take."""
    if category(input) < FLOATING and input.dtype not in taken:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(input)}'")


_LONG = np.dtype(np.int64)
_TAKEN = tuple(np.dtype(kind) for kind in (np.uint8, np.int8, np.int16, np.int32, np.int64))


def _as_image(sizes):
    """The sizes as PyTorch shows them: a signal is one row of an image."""
    return [1, *sizes] if len(sizes) == 1 else list(sizes)


def _of_nothing(input, weight, outputs, sizes):
    """PyTorch's answer for no batch or no channels: a product of the input and a number, or no number.

    So dtypes may differ. None where there is something to convolve.
    """
    batch, channels, *spatial = input.shape
    if batch and channels:
        if 0 in spatial:
            raise RuntimeError("Only zero batch or zero channel inputs are supported, but got input shape: "
                               f"{[batch, channels, *_as_image(spatial)]}")
        return None
    if channels and 0 in weight.shape:
        raise IndexError("select(): index 0 out of range for tensor of size [0] at dimension 0")
    mine, other = (dtypes.from_numpy_dtype(x.dtype) for x in (input, weight))
    dtype = result_type(((mine, "tensor"), (other, "zerodim" if channels else "tensor")))
    return jnp.zeros((batch, outputs if channels else 0, *sizes), dtype.np)


def _check_kernel_elements(input, weight, groups, what) -> None:
    """Refuse a weight without elements, in the words of what PyTorch would give the ``what`` to."""
    if 0 not in weight.shape:
        return
    if _by_onednn(input, weight, groups):
        raise RuntimeError(
            f"could not create a primitive descriptor for the {what} forward propagation primitive")
    sizes = _as_image(weight.shape[2:])
    shape = [weight.shape[0] // groups, weight.shape[1], *sizes]  # of one group
    if len(sizes) == 3 and what == "deconvolution":
        raise RuntimeError(
            "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width) "
            f"tensor expected for weight, but got: {shape}")
    if 0 in sizes:
        shown = (f": {' x '.join(map(str, sizes))} (TxHxW)" if len(sizes) == 3
                 else f" kernel_height: {sizes[0]} kernel_width: {sizes[1]}")
        raise RuntimeError(f"kernel size should be greater than zero, but got{shown}")
    raise RuntimeError(f"non-empty 2D or 4D weight tensor expected, but got: {shape}")


def _check_bias(weight, bias, channels, given) -> None:
    if bias is not None and bias.shape != (channels,):
        raise RuntimeError(
            f"Given {given}weight of size {list(weight.shape)}, expected bias to be 1-dimensional "
            f"with {channels} elements, but got bias of size {list(bias.shape)} instead"
        )


def _check_kernel(input, weight, pads, dilation) -> None:
    padded = [n + a + b for n, (a, b) in zip(input.shape[2:], pads)]
    kernel = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:])]
    if any(n < k for n, k in zip(padded, kernel)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel "
            f"size: ({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual "
            "input size"
        )


def _check_channels(input, weight, channels, given) -> None:
    if input.shape[1] != channels:
        raise RuntimeError(
            f"Given {given}, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {channels} channels, but got {input.shape[1]} channels "
            "instead"
        )


def _check_outputs(weight, groups):
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(weight.shape)} instead"
        )


def _convolution(input, weight, bias=None, /, stride=(), padding=(), dilation=(), groups: int = 1):
    """Convolution of ``(N, C, ...)`` with ``(O, C / groups, ...)``; one ``(before, after)`` pair a
    dimension in ``padding``.
    """
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight"
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    out_channels = weight.shape[0]
    _check_outputs(weight, groups)
    if out_channels % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{list(weight.shape)}] instead"
        )
    _check_channels(input, weight, weight.shape[1] * groups, f"groups={groups}")
    _check_bias(weight, bias, out_channels, "")
    _check_kernel(input, weight, padding, dilation)
    sizes = _out_sizes(input, weight, stride, padding, dilation)
    nothing = _of_nothing(input, weight, weight.shape[0], sizes)
    if nothing is not None:
        return nothing
    if _by_onednn(input, weight, groups):
        _check_by_onednn(input, weight=weight, bias=bias)
    _check_kernel_elements(input, weight, groups, "convolution")
    if any(d > 1 for d in dilation):
        _check_integers("slow_conv_dilated<>", input, _LONG)
    else:
        _check_integers("compute_columns3d" if input.ndim == 5 else "slow_conv2d_cpu", input, *_TAKEN)
    _check_same_dtype(input, weight)
    x, w, dtype = _to_accumulate(input, weight)
    return _biased(conv(x, w, stride, padding, dilation, groups), bias, dtype)


def _convolution_saves(kinds, padding, **static):
    """Both, for each gradient: one formula gives all. What PyTorch pads first, unevenly, is a copy."""
    return ("weight",) if any(before != behind for before, behind in padding) else ("input", "weight")


CONVOLUTION = op(
    name="_convolution", variants="", grad_name="ConvolutionBackward0", recomputes=("weight",),
    layout=convolved, saves=_convolution_saves,
)(_convolution)
# PyTorch composes a complex convolution of real ones.
COMPLEX_CONVOLUTION = op(
    name="_convolution_complex", variants="", grad_name="AddBackward0", layout=convolved,
    saves=_convolution_saves,
)(_convolution)


def _to_accumulate(input, weight):
    """Input and kernel as they are multiplied, and the dtype of the result.

    On a CPU, PyTorch rounds half precision once, after the bias; accelerators multiply it as it is.
    """
    if on_cpu():
        return wide(input), wide(weight), input.dtype
    return input, weight, input.dtype


def _biased(out, bias, dtype):
    if bias is not None:
        out = out + bias.astype(out.dtype).reshape(1, -1, *(1,) * (out.ndim - 2))
    return out.astype(dtype)


def _check_added(input, bias) -> None:
    """Refuse a bias that PyTorch cannot add in place to a result of the input's dtype."""
    have, dtype = (dtypes.from_numpy_dtype(x.dtype) for x in (input, bias))
    wanted = promote_types(have, dtype)
    if not can_cast(wanted, have):
        raise RuntimeError(f"result type {wanted.scalar_name} can't be cast to the desired output type "
                           f"{have.scalar_name}")


@op(name="_convolution_transposed", variants="", grad_name="ConvolutionBackward0", recomputes=("weight",),
    layout=convolved, saves=("input", "weight"))
def convolution_transposed(
    input, weight, bias=None, /, stride=(), padding=(), output_padding=(), groups=1, dilation=()
):
    """Transposed convolution of ``(N, C, ...)`` with ``(C, O / groups, ...)``."""
    _check_outputs(weight, groups)
    _check_channels(input, weight, weight.shape[0], "transposed=1")
    _check_bias(weight, bias, weight.shape[1] * groups, "transposed=1, ")
    out = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, s, p, d, k, e in zip(
        input.shape[2:], stride, padding, dilation, weight.shape[2:], output_padding)]
    if 0 in input.shape[:2] and min(out) < 0 and not (input.shape[1] and 0 in weight.shape):
        shape = [*input.shape[:1], weight.shape[1] * groups, *_as_image(out)]
        at = next(k for k, n in enumerate(shape) if n < 0)
        raise RuntimeError(f"invalid shape dimension {shape[at]} at index {at} of shape {shape}")
    nothing = _of_nothing(input, weight, weight.shape[1] * groups, out)
    if nothing is not None:
        return nothing
    if any(e >= max(s, d) for e, s, d in zip(output_padding, stride, dilation)):
        # A signal is one row of an image.
        axes, row = ("depth", "height", "width")[-max(len(stride), 2) :], len(stride) == 1
        named = [f"{what}_{axis}: {value}"
                 for what, values in (("output_padding", (*(0,) * row, *output_padding)),
                                      ("stride", (*(1,) * row, *stride)),
                                      ("dilation", (*(1,) * row, *dilation)))
                 for axis, value in zip(axes, values)]
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            + " ".join(named)
        )
    if _by_onednn(input, weight, groups):
        _check_by_onednn(input, weight=weight, bias=bias)
    if any(n <= 0 for n in out):
        have, want = (" x ".join(map(str, _as_image(sizes))) for sizes in (input.shape[2:], out))
        raise RuntimeError(f"Given input size per channel: ({have}). Calculated output size per channel: "
                           f"({want}). Output size is too small")
    _check_kernel_elements(input, weight, groups, "deconvolution")
    _check_integers(f"slow_conv_transpose{max(input.ndim - 2, 2)}d_out_cpu", input, _LONG)
    _check_same_dtype(input, weight)
    if bias is not None:
        if input.ndim == 5:
            _check_same_dtype(input, bias)
        _check_added(input, bias)
    x, w, dtype = _to_accumulate(input, weight)
    y = conv_transpose(x, w, stride, padding, output_padding, dilation, groups)
    return _biased(y, bias, dtype)


COMPLEX_TRANSPOSED = overload(
    convolution_transposed, "_convolution_transposed_complex", "AddBackward0")


# ------------------------------------------------------------------------------- unfold and fold


def _blocks(size, kernel, dilation, padding, stride):
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1
                 for n, k, d, p, s in zip(size, kernel, dilation, padding, stride))


@op(name="_im2col", variants="", grad_name="Im2ColBackward0")
def im2col(input, /, kernel=(), dilation=(), padding=(), stride=()):
    """Sliding blocks of ``(N, C, H, W)`` as columns ``(N, C * kh * kw, blocks)``; ``N`` may
    lack.
    """
    if 0 in input.shape[1 if input.ndim == 4 else 0 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    if input.ndim == 3:
        return im2col.fn(input[None], kernel, dilation, padding, stride)[0]
    size = input.shape[2:]
    out = _blocks(size, kernel, dilation, padding, stride)
    if min(out) < 1:
        raise RuntimeError(
            f"Given input with spatial size {size}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, calculated shape of the array of sliding blocks as {out}, but its "
            "components must be at least one."
        )
    if not (is_float(input) or is_complex(input) or input.dtype == np.bool_):
        refuse("im2col_out_cpu", input, 1)
    x = pad_last(input, [(p, p) for p in padding], 0)
    columns = jnp.stack([shifted(x, tap, dilation, stride, out) for tap in taps(kernel)], 2)
    return columns.reshape(x.shape[0], x.shape[1] * math.prod(kernel), math.prod(out))


@op(name="_col2im", variants="", grad_name="Col2ImBackward0")
def col2im(input, /, size=(), kernel=(), dilation=(), padding=(), stride=()):
    """The sum of overlapping columns put back in place: the transpose of `im2col`."""
    if input.ndim == 2:
        return col2im.fn(input[None], size, kernel, dilation, padding, stride)[0]
    area = math.prod(kernel)
    if input.shape[1] % area:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={input.shape[1]} and kernel_size={kernel}."
        )
    out = _blocks(size, kernel, dilation, padding, stride)
    if input.shape[2] != math.prod(out):
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, expected size of input's dimension 2 to match "
            "the "
            f"calculated number of sliding blocks {out[0]} * {out[1]} = {math.prod(out)}, but got "
            f"input.size(2)={input.shape[2]}."
        )
    if min(out) < 1:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
            f"stride={stride}, calculated shape of the array of sliding blocks as {out}, which is too small "
            "(non-positive)"
        )
    if is_bool(input):
        return col2im.fn(input.astype(np.float32), size, kernel, dilation, padding, stride) != 0
    refuse("col2im_out_cpu", input, 1)
    n, channels = input.shape[0], input.shape[1] // area
    columns = input.reshape(n, channels, area, *out)
    full = tuple(s + 2 * p for s, p in zip(size, padding))
    total = jnp.zeros((n, channels, *full), input.dtype)
    for k, tap in enumerate(taps(kernel)):
        where = tuple(slice(t * d, t * d + (m - 1) * s + 1, s)
                      for t, d, m, s in zip(tap, dilation, out, stride))
        total = total.at[(slice(None), slice(None), *where)].add(columns[:, :, k])
    return total[(..., *(slice(p, p + s) for p, s in zip(padding, size)))]


