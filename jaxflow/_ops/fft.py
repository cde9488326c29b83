"""Discrete Fourier transforms, for the namespace ``fft``.

XLA transforms the last one to three dimensions; more of them are done in turns. Of PyTorch's three kinds
(complex to complex, real to half of a spectrum, half a spectrum to real) each runs forward and inverse.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.lax import FftType

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import FLOATING
from jaxflow._core.geometry import empty_like_strides
from jaxflow._plans.op import FOUND, OPS, Always, Integers, Out, op, overload

from . import fft_layout
from ._support import category, is_complex, scalar_name

_AT_ONCE = 3  # dimensions that XLA transforms in one operation
_NORMS = (None, "backward", "ortho", "forward")


def _floating(x):
    """``x`` as PyTorch's transforms take it: integers in the default dtype."""
    return x.astype(dtypes.get_default_dtype().np) if category(x) < dtypes.FLOATING else x


def _refuse_half(x) -> None:
    if x.dtype.itemsize == 2 and category(x) == dtypes.FLOATING:
        raise RuntimeError(f"Unsupported dtype {scalar_name(x)}")


def _complex(x):
    return x if is_complex(x) else x.astype(dtypes.from_numpy_dtype(x.dtype).to_complex().np)


def _axis(dim, ndim: int) -> int:
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
        )
    return dim % ndim


def _integers(name, argument, value, many: bool):
    found = value if isinstance(value, tuple) and many else (value,)
    if not all(type(v) is int for v in found):
        what = "tuple of ints" if many else "int"
        kind = next(type(v).__name__ for v in found if type(v) is not int)
        raise TypeError(f"fft_{name}(): argument '{argument}' must be {what}, not {kind}")
    return found


def _places(name, ndim, s, dim):
    """Axes and requested lengths (-1: as they are) of a transform over several dimensions."""
    if dim is not None:
        dims = _integers(name, "dim", dim, True)
        axes = tuple(_axis(d, ndim) for d in dims)
        if len(set(axes)) < len(axes):
            raise RuntimeError("FFT dims must be unique")
        if s is None:
            return axes, (-1,) * len(axes)
        lengths = _integers(name, "s", s, True)
        if len(lengths) != len(axes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        return axes, lengths
    if s is None:
        return tuple(range(ndim)), (-1,) * ndim
    lengths = _integers(name, "s", s, True)
    if len(lengths) > ndim:
        raise RuntimeError(
            f"Got shape with {len(lengths)} values but input tensor only has {ndim} dimensions."
        )
    return tuple(range(ndim - len(lengths), ndim)), lengths


def _resized(x, axis: int, length: int):
    """``x`` cut off, or followed by zeros, along one of its dimensions."""
    have = x.shape[axis]
    if have > length:
        return jax.lax.slice_in_dim(x, 0, length, axis=axis)
    if have < length:
        pads = [(0, 0)] * x.ndim
        pads[axis] = (0, length - have)
        return jnp.pad(x, pads)
    return x


def _grouped(x, axes: tuple, transform):
    """``transform(x, lengths)`` of the last dimensions, for ``axes`` a few at a time."""
    for start in range(0, len(axes), _AT_ONCE):
        some = axes[start : start + _AT_ONCE]
        last = tuple(range(-len(some), 0))
        moved = jnp.moveaxis(x, some, last)
        x = jnp.moveaxis(transform(moved, moved.shape[-len(some):]), last, some)
    return x


def _complex_to_complex(x, axes, lengths, forward):
    kind = FftType.FFT if forward else FftType.IFFT
    return _grouped(_complex(x), axes, lambda y, sizes: jax.lax.fft(y, kind, sizes))


def _real_to_complex(x, axes, lengths, forward):
    half = _AT_ONCE if len(axes) > _AT_ONCE else len(axes)
    x = _grouped(x, axes[-half:], lambda y, sizes: jax.lax.fft(y, FftType.RFFT, sizes))
    x = _complex_to_complex(x, axes[:-half], None, True)
    return x if forward else jnp.conj(x) / math.prod(lengths)


def _complex_to_real(x, axes, lengths, forward):
    half = _AT_ONCE if len(axes) > _AT_ONCE else len(axes)
    x = jnp.conj(_complex(x)) if forward else _complex(x)
    x = _complex_to_complex(x, axes[:-half], None, False)
    x = _grouped(x, axes[-half:],
                 lambda y, sizes: jax.lax.fft(y, FftType.IRFFT, (*sizes[:-1], lengths[-1])))
    return x * math.prod(lengths) if forward else x


def _scaled(x, norm, forward, count):
    """``x``, which is divided by ``count`` if inverse, divided as ``norm`` says."""
    if norm == "ortho":
        return x / math.sqrt(count) if forward else x * math.sqrt(count)
    if norm == "forward":
        return x / count if forward else x * count
    return x


def _checked(length: int) -> int:
    if length < 1:
        raise RuntimeError(f"Invalid number of data points ({length}) specified")
    return length


def _transformed(name, kind, forward, x, axes, wanted, norm):
    if kind is not _complex_to_complex and not axes:
        raise RuntimeError(f"{name.rstrip('2n')}n must transform at least one axis")
    lengths = []
    for i, (axis, length) in enumerate(zip(axes, wanted, strict=True)):
        halved = kind is _complex_to_real and i == len(axes) - 1
        if length == -1:
            have = _checked(x.shape[axis])
            lengths.append(_checked(2 * (have - 1)) if halved else have)
        else:
            lengths.append(_checked(length))
            x = _resized(x, axis, length // 2 + 1 if halved else length)
    _refuse_half(x)
    if norm not in _NORMS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if kind is _real_to_complex and is_complex(x):
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {scalar_name(x)}")
    return _scaled(kind(x, axes, tuple(lengths), forward), norm, forward, math.prod(lengths))


def _prepared(name, kind, x, norm):
    if norm is not None and not isinstance(norm, str):
        raise TypeError(f"fft_{name}(): argument 'norm' must be str, not {type(norm).__name__}")
    if name[-1] == "t":
        _refuse_half(x)
    if kind is _real_to_complex and is_complex(x):
        if name[-1] == "t":
            raise RuntimeError(f"{name} expects a real input tensor, but got {scalar_name(x)}")
        if name[0] == "r":
            raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {scalar_name(x)}")
    return _floating(x)


def _other_kind(result, out, operands):
    return result.category != out.category


def _conjugated(operands):
    """Whether PyTorch conjugates what came out of the transform of a real signal, and writes that."""
    return not operands[0].is_complex()


def _layout(name, kind, forward):
    """How the results of a transform lie; see `fft_layout`."""
    one = name[-1] == "t"

    def strides(operands, shape, **static):
        x = operands[0]
        if one:
            dims, wanted = (static["dim"] % len(shape),), (-1 if static["n"] is None else static["n"],)
        else:
            dims, wanted = _places(name, len(shape), static["s"], static["dim"])
        how = kind
        if one and kind is _complex_to_complex and not x.dtype.is_complex:
            how = _real_to_complex  # the other half of the spectrum is filled in
        elif how is _complex_to_real and wanted[-1] != -1:
            wanted = (*wanted[:-1], wanted[-1] // 2 + 1)
        size, stride = fft_layout.taken(x, dims, wanted, how is not _real_to_complex)
        if how is _complex_to_complex:
            return fft_layout.complex_to_complex(size, stride, dims)
        if how is _complex_to_real:
            if forward and len(dims) == 1:  # a conjugated copy is transformed
                stride = empty_like_strides(size, stride)
            return fft_layout.complex_to_real(size, stride, dims, shape)
        if name[:2] != "ih" or len(dims) == 1:
            return fft_layout.real_to_complex(shape, stride, dims)
        # One dimension first; what comes out is conjugated, and the others are transformed.
        stride = fft_layout.real_to_complex(shape, stride, dims[-1:])
        return fft_layout.complex_to_complex(shape, stride, dims[:-1])

    return strides


def _complex_of_real(dtype):
    return None if dtype.is_complex else dtypes.complex64


#: Of what PyTorch composes the transforms.
_COMPOSED = {_complex_to_complex: "_fft_c2c", _real_to_complex: "_fft_r2c", _complex_to_real: "_fft_c2r"}


def _out(name, kind, shown=False):
    """What ``out=`` must be: complex or floating as the result; a conjugated one has its precision too.

    ``shown`` where the result over one dimension is conjugated last.
    """
    public = {"fft2": "fftn", "ifft2": "fftn", "ifftn": "fftn"}.get(name, name.replace("2", "n"))
    needed = "a floating point" if kind is _complex_to_real else "a complex"
    result: Any = None
    if name[-1] == "t":  # over one dimension this is checked first, except where a complex operand is refused
        result = dtypes.float32 if kind is _complex_to_real else dtypes.complex64
        if kind is _real_to_complex:
            result = _complex_of_real
    rule = Out(f"{public} expects {needed} output tensor, but got {{out}}", refuses=_other_kind, copied=True,
               kind=result, composed=_COMPOSED[_complex_to_complex if name in ("ihfft2", "ihfftn") else kind])
    if name[-1] != "t" or not shown:
        return rule
    return Out(FOUND.text, before=rule, kind=result, lost=True, composed="conj_physical",
               copied=lambda operands: not _conjugated(operands),
               refuses=lambda have, want, operands: _conjugated(operands) and have is not want)


def _body(name, kind, forward):
    if name.endswith("t"):
        def body(input, /, n: int = None, dim: int = -1, norm=None):
            x = _prepared(name, kind, input, norm)
            axis = _axis(*_integers(name, "dim", dim, False), x.ndim)
            length = x.shape[axis] if n is None else _integers(name, "n", n, False)[0]
            if n is None and kind is _complex_to_real:
                length = 2 * (length - 1)
            return _transformed(name, kind, forward, x, (axis,), (_checked(length),), norm)
    elif name.endswith("2"):
        def body(input, /, s: Integers = None, dim: Integers = (-2, -1), norm=None):
            x = _prepared(name, kind, input, norm)
            if dim is None:
                raise TypeError(f"fft_{name}(): argument 'dim' must be tuple of ints, not NoneType")
            return _transformed(name, kind, forward, x, *_places(name, x.ndim, s, dim), norm)
    else:
        def body(input, /, s: Integers = None, dim: Integers = None, norm=None):
            x = _prepared(name, kind, input, norm)
            return _transformed(name, kind, forward, x, *_places(name, x.ndim, s, dim), norm)
    return body


_DOMAINS = {
    "": (_complex_to_complex, True, "The discrete Fourier transform of"),
    "i": (_complex_to_complex, False, "The inverse discrete Fourier transform of"),
    "r": (_real_to_complex, True, "The half of the spectrum that a real signal has, from"),
    "ir": (_complex_to_real, False, "The real signal with a given half of its spectrum, from"),
    "h": (_complex_to_real, True, "The real spectrum of a Hermitian signal, from the half that is given, in"),
    "ih": (_real_to_complex, False, "Half of the Hermitian signal with a given real spectrum, from"),
}
_FORMS = {
    "fft": "one dimension; ``n`` cuts it off or fills it up with zeros before.",
    "fft2": "two dimensions; ``s`` cuts them off or fills them up with zeros before.",
    "fftn": "several dimensions (all, or the last ``len(s)``); ``s`` cuts them off or fills them up with "
            "zeros before, -1 leaves one.",
}
_NODES = {_complex_to_complex: "FftC2CBackward0", _real_to_complex: "FftR2CBackward0",
          _complex_to_real: "FftC2RBackward0"}


def _saves(name, kind):
    one = name.endswith("t")

    def saves(kinds, n=None, s=None, dim=None, **static):
        # PyTorch's transform of real numbers holds them: what it has cut them off to is a view, what it has
        # filled them up to a copy.
        real = kind is _real_to_complex or (name in ("fft", "ifft") and kind is _complex_to_complex)
        if not real or kinds[0].dtype.category != FLOATING:
            return "none"
        shape = kinds[0].shape
        if one:
            filled = n is not None and n > shape[dim]
        else:
            axes, sizes = _places(name, len(shape), s, dim)
            filled = any(size is not None and size > shape[axis] for axis, size in zip(axes, sizes))
        return "own" if filled else ("input",)

    return saves


_DETAILS = """

    Number ``k`` is ``sum(input[j] * exp({sign}2 pi i j k / n))`` over ``j`` from 0 to ``n - 1``{scaled};
    several dimensions are transformed one after the other.

    ``norm`` is ``"backward"`` (None), where the inverse is divided by the number of points, ``"forward"``
    or ``"ortho"`` (by its root, both ways). Integers are transformed in the default dtype. The half of a
    spectrum of ``n`` points has ``n // 2 + 1``; back from it, ``n`` is ``2 * (points - 1)`` unless given.

    Args:
        input: {taken}, of any shape.
        {sizes}
        norm: which of the two directions is divided, as above.
        axis: another name of ``dim``.
        out: where to put the result.

    Returns:
        A {given} tensor of the precision of ``input``. Its shape differs from the input's in ``dim`` only.

    Raises:
        RuntimeError: for half precision, a complex input where a real one is needed, dimensions named
            twice, lengths below 1, an unknown ``norm``.
        IndexError: for a dimension that is not there.

    Example:
        {example}
    """
_SIZES = {
    "fft": """n: how many points; None for as many as ``input`` has, or is the half of.
        dim: the dimension to transform.""",
    "fft2": """s: how many points in each of the two; None for as many as ``input`` has, or is the half of.
        dim: the two dimensions to transform.""",
    "fftn": """s: how many points in each dimension; None for as many as ``input`` has, or is the half of.
        dim: the dimensions to transform; None for all, or for as many of the last as ``s`` names.""",
}
#: By prefix: an input of one dimension, what becomes of it, and the last size that ``(2, 4, 6)`` gets.
_SHOWN = {
    "": ("[1.0, 2.0, 3.0, 4.0]", "tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])", 6),
    "i": ("[4.0, 0.0, 0.0, 0.0]", "tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])", 6),
    "r": ("[1.0, 2.0, 3.0, 4.0]", "tensor([10.+0.j, -2.+2.j, -2.+0.j])", 4),
    "ir": ("[4.0, 0.0, 0.0]", "tensor([1., 1., 1., 1.])", 10),
    "h": ("[1.0, 0.0, 0.0]", "tensor([1., 1., 1., 1.])", 10),
    "ih": ("[4.0, 0.0, 0.0, 0.0]", "tensor([1.-0.j, 1.-0.j, 1.-0.j])", 4),
}


def _doc(name, prefix, form):
    kind, forward, what = _DOMAINS[prefix]
    numbers, shown, last = _SHOWN[prefix]
    if form == "fft":
        example = f">>> torch.fft.{name}(torch.tensor({numbers}))\n        {shown}"
    else:
        example = f">>> torch.fft.{name}(torch.ones(2, 4, 6)).shape\n        torch.Size([2, 4, {last}])"
    details = _DETAILS.format(
        sign="-" if forward else "+", scaled="" if forward else ", divided by ``n``", sizes=_SIZES[form],
        taken="real numbers" if kind is _real_to_complex else "real or complex numbers",
        given="real" if kind is _complex_to_real else "complex", example=example)
    return f"{what} {_FORMS[form]}{details}"


def _conjugates(fn):
    """The body of an op whose results are the conjugates of those of the body ``fn``."""
    @functools.wraps(fn)
    def body(*args, **kwargs):
        return jnp.conj(fn(*args, **kwargs))

    return body


def _declare(name, prefix, form):
    kind, forward, _ = _DOMAINS[prefix]
    fn = _body(name, kind, forward)
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = _doc(name, prefix, form)
    declared = dict(saves=_saves(name, kind), layout=Always(_layout(name, kind, forward)),
                    out=_out(name, kind))
    one, half = form == "fft", prefix == "ih"
    # The inverse over one dimension of real numbers PyTorch shows conjugated: see `_api.fourier`.
    if half or name == "ifft":
        op(name=f"_conjugated_{name}", variants="", grad_name=_NODES[_real_to_complex],
           **declared | dict(out=_out(name, kind, shown=True)))(_conjugates(fn))
    if not (half and one):
        # Over several it transforms what it has conjugated along the others.
        op(namespace="fft", variants="" if half or name in ("fft", "ifft") else "function out",
           grad_name=_NODES[_complex_to_complex if half else kind], **declared)(fn)


for _prefix in _DOMAINS:
    for _form in _FORMS:
        _declare(_form if not _prefix else _prefix + _form, _prefix, _form)

overload(OPS["fft"], "_fft_of_reals", _NODES[_real_to_complex], out=Out(
    OPS["fft"].out.text, refuses=_other_kind, copied=True, kind=dtypes.complex64, composed="_fft_r2c"))
