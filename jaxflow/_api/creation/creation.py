"""Tensors from sizes and numbers: zeros, ranges, identity matrices, and the ``*_like`` and ``new_*``."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxflow._api.forms import channels_last_of, invalid_combination
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry
from jaxflow._core.arguments import fits, misfit
from jaxflow._core.aval import aval_of
from jaxflow._core.layout import (
    contiguous_format,
    preserve_format,
    strided,
)
from jaxflow._core.layouts import handler
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.numbers import check_fits, check_fits_filled
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import user_level
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.not_derived import without_derivative
from jaxflow._dispatch.vmap_axes import alike
from jaxflow._ops._support import element_fits
from jaxflow._plans.op import OPS, Out
from jaxflow._publish.composite import composite
from jaxflow._publish.out import dtype_into, write_out
from jaxflow._publish.value_checks import Watch, run_under

from .construct import copied, tensor
from .host_arrays import finished, put
from .placing import device_of, need_memory


def dtype_of(dtype: Any, name: str, default: dtypes.dtype | None = None) -> dtypes.dtype:
    """A ``dtype=`` argument: a dtype, a Python number type, or None for the default dtype."""
    if dtype is None:
        return dtypes.get_default_dtype() if default is None else default
    if type(dtype) is dtypes.dtype:
        return dtype
    found = dtypes.PYTHON_DTYPES.get(dtype) if isinstance(dtype, type) else None
    if found is None:
        raise TypeError(
            f"{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}"
        )
    return found


def size_of(name: str, size: tuple, *, given: bool = True) -> tuple[int, ...]:
    """``f(2, 3)``, ``f((2, 3))`` and ``f(Size)`` alike as a tuple of ints, checked."""
    if not size and not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    out = []
    for i, n in enumerate(size):
        if isinstance(n, (float, str, complex)) or n is None or not hasattr(n, "__index__"):
            raise TypeError(
                f"{name}(): argument 'size' (position 1) must be tuple of ints, not "
                f"{type(n).__name__}" if i == 0 else
                f"{name}(): argument 'size' failed to unpack the object at pos {i + 1} with error "
                f'"type must be tuple of ints,but got {type(n).__name__}"'
            )
        n = n.__index__()
        if not _LEAST <= n <= _MOST:
            raise TypeError(
                f"{name}(): argument 'size' failed to unpack the object at pos {i + 1} with error "
                '"Overflow when unpacking long long"'
            )
        out.append(n)
    return tuple(out)


# What 64 bits hold.
_LEAST, _MOST = -1 << 63, (1 << 63) - 1


def check_size(name: str, size: tuple[int, ...]) -> None:
    """Refuse negative extents, in the words PyTorch has for this factory. RuntimeError."""
    for n in size:
        if n < 0:
            raise RuntimeError(
                "zeros: Dimension size must be non-negative." if name == "zeros" else
                f"Trying to create tensor with negative dimension {n}: {list(size)}"
            )


_MISMATCH = "dtype {result} does not match dtype of out parameter ({out})"
#: Factories give ``out`` their size, as a matter of course.
SIZED = Out(_MISMATCH, resizes=True, lost=True, first=True)
#: Where PyTorch does so by `Tensor.resize_`.
RESIZED = Out(_MISMATCH, resizes="refused", first=True)


def finish(t: Tensor, out: Tensor | None, requires_grad: bool, name: str, rule: Out = SIZED,
           operands: tuple = ()) -> Tensor:
    """What the factory ``name`` returns: its new ``t``, or ``out`` with the same in it.

    As in PyTorch, ``out`` too requires grad afterwards if ``requires_grad`` is true, and else no longer does,
    unless it has a history.
    """
    if out is None:
        return finished(t, requires_grad, name)
    write_out(name, out, t, operands, rule=rule)
    if out._grad_fn is not None:
        return out
    return finished(out.requires_grad_(False) if out._requires_grad else out, requires_grad, name)


_NUMBERS = (int, float, complex)


def filled(size: tuple, value: Any, dtype: dtypes.dtype, device: devices.device) -> Tensor:
    """A contiguous tensor of one number, which the dtype must be able to hold."""
    if value.__class__ in _NUMBERS and value:
        check_fits_filled(value, dtype, math.prod(size))
    elif isinstance(value, Tensor):
        watch = Watch()
        element_fits(watch, value, dtype)
        return run_under(watch, apply, OPS["_full"], (value,), (size, dtype, device))
    return apply(OPS["_full"], (value,), (size, dtype, device))


def _declare(make: Callable, name: str, doc: str, example: str) -> None:
    """Name a factory, and fill in what its docstring leaves open."""
    make.__name__ = make.__qualname__ = name
    make.__doc__ = inspect.cleandoc(make.__doc__ or "").format(doc=doc, example=example)


def _maker(name: str, value: int, doc: str, example: str):
    """``zeros``, ``ones`` and ``empty`` differ in a number."""
    sizes_first = name == "zeros"  # PyTorch looks at them before it looks for memory

    def make(*size: Any, out: Tensor | None = None, dtype: Any = None, layout: Any = strided,
             device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
             memory_format: Any = None, **kwargs: Any) -> Tensor:
        """{doc}

        Args:
            size: the shape: integers one by one, or a tuple or list of them; ``()`` for a 0-d tensor.
            out: a tensor that is filled instead, and resized; its dtype must be ``dtype`` if both are
                given.
            dtype: of the result; None for the default dtype.
            layout: ``torch.strided``; for a sparse layout the tensor has no entries (of ``zeros``,
                                                                                      ``empty``).
            device: where the result lies; None for the default device.
            requires_grad: whether autograd records what is done with the result; floating point and complex
                only.
            pin_memory: of no effect where there is an accelerator, and an error without one.
            memory_format: the order in memory: ``torch.channels_last`` and ``torch.channels_last_3d`` are
                for 4 and 5 dimensions; row by row without one.

        Returns:
            A new tensor of shape ``size``, or ``out``.

        Raises:
            TypeError: when an extent is no integer.
            RuntimeError: for a negative extent, for ``requires_grad`` of integers or bools, and for an
                ``out`` of another dtype than ``dtype``.
            NotImplementedError: for another layout.

        Example:{example}
        """
        given = "size" in kwargs
        if given:
            size = (kwargs.pop("size"),)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        shape = size_of(name, size, given=given)
        if sizes_first:
            check_size(name, shape)
        if layout is not None and layout is not strided and out is None:
            return handler("empty_of")(name, shape, dtype, layout, device, requires_grad)
        need_memory(name, layout, pin_memory, device, out)
        if not sizes_first:
            check_size(name, shape)
        if out is not None and dtype is None:
            dtype = dtype_into(name, out)
        t = filled(shape, value, dtype_of(dtype, name), device_of(device))
        stride = channels_last_of(shape, memory_format)
        if stride is not None:
            t._stride = stride
        return finish(t, out, requires_grad, name, RESIZED if name == "empty" else SIZED)

    _declare(make, name, doc, example)
    return composite("function")(make)


zeros = _maker("zeros", 0, "A tensor of zeros of the given size, of the default dtype unless ``dtype`` is.",
              """
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    >>> torch.zeros((2,), dtype=torch.bool)
    tensor([False, False])""")
ones = _maker("ones", 1, "A tensor of ones of the given size, of the default dtype unless ``dtype`` is.",
             """
    >>> torch.ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    >>> torch.ones((), dtype=torch.int64)
    tensor(1)""")
empty = _maker("empty", 0, "A tensor of the given size whose elements are unspecified (zeros here).", """
    >>> torch.empty(2, 3, dtype=torch.float64).shape
    torch.Size([2, 3])
    >>> torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride()
    (60, 1, 15, 3)""")


def dtype_of_number(value: Any) -> dtypes.dtype:
    """The dtype of a tensor that is made of a number."""
    if isinstance(value, Tensor):  # its number's, in Python
        dtype = value._aval.dtype
        if dtype.is_complex:
            return dtypes.default_complex_dtype()
        if dtype.is_floating_point:
            return dtypes.get_default_dtype()
        return dtype if dtype is dtypes.bool else dtypes.int64
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, (int, np.integer)):
        return dtypes.int64
    return dtypes.default_complex_dtype() if isinstance(value, complex) else (
        dtypes.get_default_dtype()
    )


def _need_number(name: str, value: Any, parameter: str = "fill_value", place: int = 2) -> None:
    """Refuse what PyTorch does not take for a number. TypeError."""
    if not fits("Number", value):
        raise misfit(name, parameter, place, "Number", value)


@composite("function")
def full(size: Any, fill_value: Any, *, out: Tensor | None = None, dtype: Any = None,
         layout: Any = strided, device: Any = None, requires_grad: bool = False,
         pin_memory: bool = False) -> Tensor:
    """A tensor of the given size filled with a number, whose kind decides the dtype.

    Args:
        size: a tuple or list of integers, the shape.
        fill_value: a number, or a 0-d tensor that does not require grad.
        out: a tensor that is filled instead, and resized; its dtype must be ``dtype`` if both are given.
        dtype: of the result; None for bool, int64, the default dtype or the default complex dtype,
            whichever ``fill_value`` is of.
        layout: ``torch.strided``, the only one there is.
        device: where the result lies; None for the default device.
        requires_grad: whether autograd records what is done with the result; floating point and complex
            only.
        pin_memory: of no effect where there is an accelerator, and an error without one.

    Returns:
        A new contiguous tensor of shape ``size``, or ``out``.

    Raises:
        TypeError: for a ``size`` that is no tuple of integers, or a ``fill_value`` that is no number.
        RuntimeError: for a negative extent, or a number that ``dtype`` cannot hold.

    Example:
        >>> torch.full((2, 3), 7)
        tensor([[7, 7, 7],
                [7, 7, 7]])
        >>> torch.full((2,), True)
        tensor([True, True])
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            "full(): argument 'size' (position 1) must be tuple of ints, not "
            f"{type(size).__name__}"
        )
    _need_number("full", fill_value)
    need_memory("full", layout, pin_memory, device, out)
    shape = size_of("full", (size,))
    check_size("full", shape)
    if dtype is None and out is not None:
        kind = dtype_into("full", out)
    else:
        kind = dtype_of(dtype, "full", dtype_of_number(fill_value))
    return finish(filled(shape, fill_value, kind, device_of(device)), out, requires_grad, "full")


@composite("function")
def fill(input: Tensor, value: Any) -> Tensor:
    """A copy of ``input`` with every element replaced by a number (or 0-d tensor)."""
    if not isinstance(value, Tensor):
        check_fits_filled(value, input._aval.dtype, input._aval.numel)
    return apply(OPS["_filled"], (input, value))


@composite("function")
def scalar_tensor(s: Any, *, dtype: Any = None, layout: Any = strided, device: Any = None,
                  requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A 0-d tensor of a number, of the default dtype."""
    _need_number("scalar_tensor", s, "s", 1)
    need_memory("scalar_tensor", None, pin_memory, device)  # PyTorch takes any layout
    t = filled((), s, dtype_of(dtype, "scalar_tensor"), device_of(device))
    return finish(t, None, requires_grad, "scalar_tensor")


@composite("function")
def empty_strided(size: Any, stride: Any, *, dtype: Any = None, layout: Any = strided,
                  device: Any = None, requires_grad: bool = False,
                  pin_memory: bool = False) -> Tensor:
    """An unspecified tensor (zeros here) of the given size and strides."""
    need_memory("empty_strided", layout, pin_memory, device)
    kind, where = dtype_of(dtype, "empty_strided"), device_of(device)
    return finish(_strided("empty_strided", size, stride, kind, where), None, requires_grad, "empty_strided")


def _strided(name: str, size: Any, stride: Any, kind: dtypes.dtype, where: devices.device) -> Tensor:
    """Zeros whose memory, gaps included, is laid out by ``stride``."""
    shape, stride = size_of(name, (size,)), size_of(name, (stride,))
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    check_size(name, shape)
    if geometry.is_non_overlapping_and_dense(shape, stride):
        t = filled(shape, 0, kind, where)
        t._stride = None if stride == geometry.contiguous_strides(shape) else stride
        return t
    return filled((geometry.storage_extent(shape, stride),), 0, kind, where).as_strided(shape, stride)


@composite("function")
def empty_permuted(size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = strided,
                   device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """An unspecified tensor (zeros here) whose dimensions lie in memory in the order ``physical_layout``.

    Raises:
        RuntimeError: unless ``physical_layout`` names each dimension once, the outermost first.
    """
    need_memory("empty_permuted", layout, pin_memory, device)
    shape, order = size_of("empty_permuted", (size,)), size_of("empty_permuted", (physical_layout,))
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) "
            f"= {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for i, d in enumerate(order):
        if not 0 <= d < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {d} at "
                f"index {i}).  NB: negative dims not currently supported; file an issue if you want it."
            )
        if d in order[:i]:
            raise RuntimeError("Duplicate dim not allowed")
    check_size("empty_permuted", shape)
    stride = [0] * len(shape)
    for d, step in zip(order, geometry.contiguous_strides(tuple(shape[d] for d in order))):
        stride[d] = step
    t = _strided("empty_permuted", shape, tuple(stride), dtype_of(dtype, "empty_permuted"), device_of(device))
    return finish(t, None, requires_grad, "empty_permuted")


# ------------------------------------------------------------------------------------------- ranges


def _plain_number(value: Any) -> Any:
    """A number argument as a Python number: 0-d tensors and NumPy scalars are read."""
    if isinstance(value, Tensor):
        return value.item()
    return value.item() if isinstance(value, np.generic) else value


def _check_edges(start: Any, end: Any) -> None:
    for edge in (start, end):
        if isinstance(edge, float) and not math.isfinite(edge):
            raise RuntimeError(f"unsupported range: {start} -> {end}")


def _range_size(start: Any, end: Any, step: Any, inclusive: bool) -> int:
    if not (step > 0 or step < 0):
        raise RuntimeError("step must be nonzero")
    _check_edges(start, end)
    if (end < start and step > 0) or (end > start and step < 0):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if inclusive:
        return int((end - start) / step) + 1
    if all(isinstance(x, int) for x in (start, end, step)):
        return max(0, -((start - end) // step))
    return math.ceil((end - start) / step)


def _in_line(t: Tensor, ends: tuple, out: Tensor | None, requires_grad: bool, name: str) -> Tensor:
    """As `finish`; an ``out`` of as many elements is filled row by row in the shape that it has."""
    if out is None:
        return finished(t, requires_grad, name)
    if out._aval.numel == t._aval.numel:
        t = t.reshape(out._aval.shape)
    elif name == "arange" and out._aval.numel:
        warnings.warn(
            f"The number of elements in the out tensor of shape {list(out._aval.shape)} is {out._aval.numel} "
            f"which does not match the computed number of elements {t._aval.numel}. Note that this may occur "
            "as a result of rounding error. The out tensor will be resized to a tensor of shape "
            f"({t._aval.numel},).", stacklevel=user_level(),
        )
    operands = tuple([end for end in ends if isinstance(end, Tensor)])
    t = without_derivative(t, f"aten::{name}", *operands)
    return finish(t, out, requires_grad, name, operands=operands)


def _range(name, start, end, step, inclusive, out, dtype, device, requires_grad):
    start, end, step = map(_plain_number, (start, end, step))
    if any(isinstance(x, complex) for x in (start, end, step)):
        raise RuntimeError("value cannot be converted to type double without overflow")
    floating = any(isinstance(x, float) for x in (start, end, step))
    if dtype is None and out is not None:
        dtype = dtype_into(name, out)
    whole = dtypes.get_default_dtype() if floating or inclusive else dtypes.int64
    kind = dtype_of(dtype, name, whole)
    if kind is dtypes.bool or kind.is_complex:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{kind.scalar_name}'")
    if kind is dtypes.int64 or inclusive and kind.category == dtypes.INTEGER:
        _check_edges(start, end)
        if step and not int(step):
            raise ValueError("step must be nonzero")
        start, end, step = int(start), int(end), int(step)
    size = _range_size(start, end, step, inclusive)
    if kind.category == dtypes.INTEGER and size:  # of other integers the numbers as given say how many
        start, step = int(start), int(step)
    t = apply(OPS["_arange"], (start, step), (size, kind, device_of(device)))
    return _in_line(t, (), out, requires_grad, name)


@composite("function")
def arange(start: Any = None, end: Any = None, step: Any = 1, *, out: Tensor | None = None,
           dtype: Any = None, layout: Any = strided, device: Any = None,
           requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """The numbers from ``start`` (0) up to ``end``, ``step`` apart; int64 unless one is a float.

    Element ``i`` is ``start + i * step``; there are ``ceil((end - start) / step)`` of them, and ``end`` is
    not one. With floats rounding may decide whether there is one more: see `linspace`.

    Args:
        start: the first number; with one argument alone that is ``end``, and ``start`` is 0.
        end: where to stop before.
        step: the distance between neighbours, which may be negative, but not 0.
        out: a tensor that is filled instead; one of another number of elements is resized, with a warning.
        dtype: of the result, real and not bool; None for int64, or the default dtype if a number is a
            float.
        layout: ``torch.strided``, the only one there is.
        device: where the result lies; None for the default device.
        requires_grad: whether autograd records what is done with the result; floating point only.
        pin_memory: of no effect where there is an accelerator, and an error without one.

    Returns:
        A new tensor of one dimension, or ``out``.

    Raises:
        RuntimeError: when ``step`` is 0 or leads away from ``end``, or an end is not finite.
        NotImplementedError: for bool and complex dtypes.

    Example:
        >>> torch.arange(4)
        tensor([0, 1, 2, 3])
        >>> torch.arange(7, 1, -2)
        tensor([7, 5, 3])
        >>> torch.arange(0, 1, 0.5)
        tensor([0.0000, 0.5000])
    """
    need_memory("arange", layout, pin_memory, device, out)
    if end is None:
        _need_number("arange", start, "end", 1)
        start, end = 0, start
    elif start is None:
        start = 0
    if not (fits("Number", start) and fits("Number", end) and fits("Number", step)):
        raise invalid_combination("arange", (start, end, step), {})
    return _range("arange", start, end, step, False, out, dtype, device, requires_grad)


@composite("function")
def range(start: Any = 0, end: Any = None, step: Any = 1, *, out: Tensor | None = None,
          dtype: Any = None, layout: Any = strided, device: Any = None,
          requires_grad: bool = False) -> Tensor:
    """Like `arange` with the end included; PyTorch deprecates it."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values "
        "in [start, end).", stacklevel=2,
    )
    need_memory("range", layout, False, device, out)
    return _range("range", start, end, step, True, out, dtype, device, requires_grad)


def _check_steps(name: str, start: Any, end: Any, steps: int) -> int:
    if isinstance(steps, float):
        raise invalid_combination(name, (start, end, steps), {})
    for which, edge in (("start", start), ("end", end)):
        if isinstance(edge, Tensor) and edge._aval.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {which} with "
                f"{edge._aval.ndim} dimension(s)."
            )
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return steps


def _line_dtype(name: str, dtype: Any, out: Tensor | None, *ends: Any) -> dtypes.dtype:
    if dtype is None and out is not None:
        return dtype_into(name, out)
    wants_complex = any(
        e._aval.dtype.is_complex if isinstance(e, Tensor) else isinstance(e, complex) for e in ends
    )
    if not wants_complex:
        return dtype_of(dtype, name, dtypes.get_default_dtype())
    default = dtypes.default_complex_dtype()
    kind = dtype_of(dtype, name, default)
    if not kind.is_complex:
        raise RuntimeError(f"torch.{name}(): inferred dtype {default.c_name} can't be safely cast to passed "
                           f"dtype {kind.scalar_name}")
    return kind


def _ends_fit(watch: Watch, kind: dtypes.dtype, *ends: Any) -> None:
    """``kind`` can hold the ends of a line of several numbers, or the only number of one."""
    for end in ends:
        if isinstance(end, Tensor):
            element_fits(watch, end, kind)
        else:
            check_fits_filled(end, kind, len(ends))


@composite("function")
def linspace(start: Any, end: Any, steps: Any, *, out: Tensor | None = None, dtype: Any = None,
             layout: Any = strided, device: Any = None, requires_grad: bool = False,
             pin_memory: bool = False) -> Tensor:
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included.

    Element ``i`` is ``start + i * (end - start) / (steps - 1)``.

    Args:
        start: the first number, or a 0-d tensor.
        end: the last number, or a 0-d tensor.
        steps: how many numbers; with 1 it is ``start`` alone.
        out: a tensor that is filled instead, and resized if it has another number of elements.
        dtype: of the result; None for the default dtype (complex if an end is). Integers are rounded
            towards 0.
        layout: ``torch.strided``, the only one there is.
        device: where the result lies; None for the default device.
        requires_grad: whether autograd records what is done with the result; floating point and complex
            only.
        pin_memory: of no effect where there is an accelerator, and an error without one.

    Returns:
        A new tensor of shape ``(steps,)``, or ``out``.

    Raises:
        RuntimeError: if the dtype cannot hold one of the ends, or ``steps`` is negative.

    Example:
        >>> torch.linspace(0, 2, 5)
        tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000])
        >>> torch.linspace(6, 0, 4, dtype=torch.int64)
        tensor([6, 4, 2, 0])
    """
    steps = _check_steps("linspace", start, end, steps)
    need_memory("linspace", layout, pin_memory, device, out)
    kind = _line_dtype("linspace", dtype, out, start, end)
    static = (steps, kind, device_of(device))
    watch = Watch()
    _ends_fit(watch, kind, *(start, end)[:steps])
    t = run_under(watch, apply, OPS["_linspace"], (start, end), static)
    return _in_line(t, (start, end), out, requires_grad, "linspace")


@composite("function")
def logspace(start: Any, end: Any, steps: Any, base: float = 10.0, *, out: Tensor | None = None,
             dtype: Any = None, layout: Any = strided, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """``base`` to the power of ``steps`` evenly spaced numbers from ``start`` to ``end``.

    Raises:
        RuntimeError: if the dtype cannot hold one of the ends (of a single step: its power).
    """
    steps = _check_steps("logspace", start, end, steps)
    need_memory("logspace", layout, pin_memory, device, out)
    kind = _line_dtype("logspace", dtype, out, start, end)
    static = (steps, base, kind, device_of(device))
    watch = Watch()
    if steps > 1:
        _ends_fit(watch, kind, start, end)
    elif steps and not isinstance(start, Tensor):
        check_fits_filled(_power(base, start, kind.is_complex), kind, 1)
    t = run_under(watch, apply, OPS["_logspace"], (start, end), static)
    return _in_line(t, (start, end), out, requires_grad, "logspace")


def _power(base: float, exponent: Any, may_be_complex: bool) -> Any:
    """A power as PyTorch computes a single one: in doubles, or in complex doubles."""
    if not may_be_complex:
        check_fits(exponent, dtypes.float64)
        exponent = float(exponent.real)
    with np.errstate(all="ignore"):  # an overflow is an infinity, as in C
        return np.power(np.asarray(base, type(exponent)), exponent).item()


#: Where an argument that is left out is another form than one that is None.
_LEFT_OUT: Any = object()


@composite("function")
def eye(n: int, m: Any = _LEFT_OUT, *, out: Tensor | None = None, dtype: Any = None,
        layout: Any = strided, device: Any = None, requires_grad: bool = False,
        pin_memory: bool = False) -> Tensor:
    """A matrix of ``n`` rows and ``m`` (``n``) columns with ones on its diagonal.

    Args:
        n: how many rows.
        m: how many columns; left out, as many as rows.
        out: a tensor that is filled instead, and resized; its dtype must be ``dtype`` if both are given.
        dtype: of the result; None for the default dtype.
        layout: ``torch.strided``, the only one there is.
        device: where the result lies; None for the default device.
        requires_grad: whether autograd records what is done with the result; floating point and complex
            only.
        pin_memory: of no effect where there is an accelerator, and an error without one.

    Returns:
        A new tensor of shape ``(n, m)``, or ``out``.

    Raises:
        RuntimeError: for a negative number of rows or columns.

    Example:
        >>> torch.eye(2, 3, dtype=torch.int64)
        tensor([[1, 0, 0],
                [0, 1, 0]])
    """
    need_memory("eye", layout, pin_memory, device, out)
    if m is _LEFT_OUT:
        m = n
    elif not fits("int", m):
        raise invalid_combination("eye", (n, m), {})
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    t = apply(OPS["_eye"], (), (n, m, dtype_of(dtype, "eye"), device_of(device)))
    return finish(t, out, requires_grad, "eye")


def _triangle_indices(name, fn, row, col, offset, dtype, device):
    kind = dtype_of(dtype, name, dtypes.int64)
    if kind not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.scalar_name}'")
    below = _clipped_sum(row, offset + (fn is np.tril_indices), col)
    count = below if fn is np.tril_indices else row * col - below
    where = device_of(device)
    check_sizes(name, [aval_of((2, count), kind, devices.CPU)])
    return put(np.array(fn(row, offset, col), kind.np).reshape(2, -1), where)


def _check_rectangle(row, col):
    for what, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{what} must be non-negative, got{n}")


def _clipped_sum(rows: int, first: int, most: int) -> int:
    """The sum of ``first + r``, held between 0 and ``most``, over the rows ``r``."""
    start = min(max(-first, 0), rows)
    stop = max(min(most - first, rows), start)
    return (stop - start) * (2 * first + start + stop - 1) // 2 + (rows - stop) * most


@composite("function")
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None,
                 layout: Any = strided, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Row and column indices, in two rows, of the part of a matrix not above a diagonal; int64."""
    _check_rectangle(row, col)
    need_memory("tril_indices", layout, pin_memory, device)
    t = _triangle_indices("tril_indices", np.tril_indices, row, col, offset, dtype, device)
    return finish(t, None, requires_grad, "tril_indices")


@composite("function")
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None,
                 layout: Any = strided, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Row and column indices, in two rows, of the part of a matrix not below a diagonal; int64."""
    _check_rectangle(row, col)
    need_memory("triu_indices", layout, pin_memory, device)
    t = _triangle_indices("triu_indices", np.triu_indices, row, col, offset, dtype, device)
    return finish(t, None, requires_grad, "triu_indices")


# ------------------------------------------------------------------------------ like another tensor


def _like(name, input, value, dtype, device, requires_grad, memory_format):
    aval = input._aval
    kind = dtype_of(dtype, name, aval.dtype)
    where = aval.device if device is None else devices.resolve(device)[0]
    t = filled(aval.shape, value, kind, where)
    return laid_out_like(input, t, name, memory_format, requires_grad)


def strides_like(input: Tensor, memory_format: Any = preserve_format) -> tuple[int, ...] | None:
    """The strides of a new tensor of the form of ``input``; None where it is contiguous."""
    shape = input._aval.shape
    stride = channels_last_of(shape, memory_format)
    if stride is None and input._stride is not None and memory_format is not contiguous_format:
        stride = geometry.empty_like_strides(shape, input._stride)
    return None if stride == geometry.contiguous_strides(shape) else stride


def laid_out_like(input: Tensor, t: Tensor, name: str, memory_format: Any, requires_grad: bool) -> Tensor:
    """What the factory ``name`` returns of its new, contiguous ``t`` of the size of ``input``."""
    stride = strides_like(input, memory_format)
    if stride is not None:
        t._stride = stride
    return finished(alike(t, input), requires_grad, name)


def _like_maker(name: str, value: int, doc: str, example: str):
    def make(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False,
             memory_format: Any = preserve_format) -> Tensor:
        """{doc}

        Args:
            input: the tensor whose form is taken; its elements are not read.
            dtype: of the result; None for that of ``input``.
            layout: None for that of ``input``; of a sparse layout the result has no entries.
            device: where the result lies; None for where ``input`` does.
            requires_grad: whether autograd records what is done with the result; floating point and complex
                only.
            pin_memory: of no effect where there is an accelerator, and an error without one.
            memory_format: the order in memory; ``torch.preserve_format`` for that of ``input``.

        Returns:
            A new tensor of the shape of ``input``. It has no autograd history, and requires grad only if
            ``requires_grad`` is true.

        Raises:
            TypeError: for an ``input`` that is no tensor.
            RuntimeError: for ``requires_grad`` of integers or bools.
            NotImplementedError: for another layout.

        Example:{example}
        """
        where = input._aval.device if device is None else device
        if layout is not None and layout is not strided and name in ("zeros_like", "empty_like"):
            return handler("empty_of")(name.removesuffix("_like"), input._aval.shape,
                                       dtype or input._aval.dtype,
                                       layout, where, requires_grad)
        need_memory(name, layout, pin_memory, where)
        return _like(name, input, value, dtype, device, requires_grad, memory_format)

    _declare(make, name, doc, example)
    return composite("function")(make)


zeros_like = _like_maker("zeros_like", 0, "Zeros of the size, dtype, device and layout of ``input``.", """
    >>> torch.zeros_like(torch.tensor([[1, 2], [3, 4]]))
    tensor([[0, 0],
            [0, 0]])
    >>> torch.zeros_like(torch.ones(2, 3).t()).stride()
    (1, 3)""")
ones_like = _like_maker("ones_like", 1, "Ones of the size, dtype, device and layout of ``input``.", """
    >>> torch.ones_like(torch.tensor([5, 6]))
    tensor([1, 1])
    >>> torch.ones_like(torch.tensor([5, 6]), dtype=torch.float32)
    tensor([1., 1.])""")
empty_like = _like_maker("empty_like", 0, "An unspecified tensor (here zeros) like ``input``.", """
    >>> t = torch.empty_like(torch.zeros(2, 3, dtype=torch.float64))
    >>> t.shape, t.dtype
    (torch.Size([2, 3]), torch.float64)""")


@composite("function")
def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None,
              device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
              memory_format: Any = preserve_format) -> Tensor:
    """A number repeated over the size, dtype, device and layout of ``input``.

    Args:
        input: the tensor whose form is taken; its elements are not read.
        fill_value: a number, or a 0-d tensor that does not require grad; converted to the dtype.
        dtype: of the result; None for that of ``input``.
        layout: ``torch.strided`` or None; there is no other.
        device: where the result lies; None for where ``input`` does.
        requires_grad: whether autograd records what is done with the result; floating point and complex
            only.
        pin_memory: of no effect where there is an accelerator, and an error without one.
        memory_format: the order in memory; ``torch.preserve_format`` for that of ``input``.

    Returns:
        A new tensor of the shape of ``input``.

    Raises:
        TypeError: for an ``input`` that is no tensor, or a ``fill_value`` that is no number.
        RuntimeError: for a number that the dtype cannot hold.

    Example:
        >>> torch.full_like(torch.zeros(2), 2.5)
        tensor([2.5000, 2.5000])
        >>> torch.full_like(torch.arange(3), 2.5)
        tensor([2, 2, 2])
    """
    _need_number("full_like", fill_value)
    need_memory("full_like", layout, pin_memory, input._aval.device if device is None else device)
    return _like("full_like", input, fill_value, dtype, device, requires_grad, memory_format)


def _new_maker(name: str, value: int, doc: str, example: str):
    def make(self: Tensor, *size: Any, dtype: Any = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any) -> Tensor:
        """{doc}

        Args:
            size: the shape: integers one by one, or a tuple or list of them.
            dtype: of the result; None for that of ``self``.
            layout: ``torch.strided`` or None; there is no other.
            device: where the result lies; None for where ``self`` does.
            requires_grad: whether autograd records what is done with the result; floating point and complex
                only.
            pin_memory: of no effect where there is an accelerator, and an error without one.

        Returns:
            A new contiguous tensor of shape ``size``. It has no autograd history, and requires grad only if
            ``requires_grad`` is true.

        Raises:
            TypeError: when an extent is no integer.
            RuntimeError: for a negative extent, and for ``requires_grad`` of integers or bools.

        Example:{example}
        """
        given = "size" in kwargs
        shape = size_of(name, (kwargs["size"],) if given else size, given=given)
        kind = dtype_of(dtype, name, self._aval.dtype)
        where = self._aval.device if device is None else devices.resolve(device)[0]
        need_memory(name, layout, pin_memory, where)
        check_size(name, shape)
        return finish(alike(filled(shape, value, kind, where), self), None, requires_grad, name)

    _declare(make, name, doc, example)
    return composite("method")(make)


new_zeros = _new_maker("new_zeros", 0, "Zeros of the given size with the dtype and device of ``self``.", """
    >>> torch.tensor([1, 2]).new_zeros(2, 3)
    tensor([[0, 0, 0],
            [0, 0, 0]])""")
new_ones = _new_maker("new_ones", 1, "Ones of the given size with the dtype and device of ``self``.", """
    >>> torch.tensor([True]).new_ones((2,))
    tensor([True, True])
    >>> torch.tensor([True]).new_ones((2,), dtype=torch.float32)
    tensor([1., 1.])""")
new_empty = _new_maker("new_empty", 0, "An unspecified tensor (here zeros) with the dtype of ``self``.", """
    >>> t = torch.zeros(2, dtype=torch.float64).new_empty(3, 4)
    >>> t.shape, t.dtype
    (torch.Size([3, 4]), torch.float64)""")


@composite("method")
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None,
             device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A number repeated over the given size, with the dtype and device of ``self``.

    Args:
        size: a tuple or list of integers, the shape.
        fill_value: a number, or a 0-d tensor that does not require grad; converted to the dtype.
        dtype: of the result; None for that of ``self``.
        layout: ``torch.strided`` or None; there is no other.
        device: where the result lies; None for where ``self`` does.
        requires_grad: whether autograd records what is done with the result; floating point and complex
            only.
        pin_memory: of no effect where there is an accelerator, and an error without one.

    Returns:
        A new contiguous tensor of shape ``size``. Its elements do not depend on those of ``self``.

    Raises:
        TypeError: for a ``fill_value`` that is no number.
        RuntimeError: for a negative extent, or a number that the dtype cannot hold.

    Example:
        >>> torch.tensor([1, 2]).new_full((2, 2), 3)
        tensor([[3, 3],
                [3, 3]])
    """
    _need_number("new_full", fill_value)
    shape = size_of("new_full", (size,))
    kind = dtype_of(dtype, "new_full", self._aval.dtype)
    where = self._aval.device if device is None else devices.resolve(device)[0]
    need_memory("new_full", layout, pin_memory, where)
    check_size("new_full", shape)
    return finish(alike(filled(shape, fill_value, kind, where), self), None, requires_grad, "new_full")


@composite("method")
def new_empty_strided(self: Tensor, size: Any, stride: Any, dtype: Any = None, layout: Any = None,
                      device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """An unspecified tensor (zeros here) of the given size and strides, with the dtype of ``self``."""
    kind = dtype_of(dtype, "new_empty_strided", self._aval.dtype)
    where = self._aval.device if device is None else devices.resolve(device)[0]
    need_memory("new_empty_strided", layout, pin_memory, where)
    t = alike(_strided("new_empty_strided", size, stride, kind, where), self)
    return finish(t, None, requires_grad, "new_empty_strided")


@composite("method")
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None,
               requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of ``data``, with the dtype and device of ``self``."""
    kind = dtype_of(dtype, "new_tensor", self._aval.dtype)
    where = self._aval.device if device is None else device
    if isinstance(data, Tensor):
        t = copied(data, kind, where, "tensor.new_tensor")
        return finished(t, requires_grad, "new_tensor")
    return tensor(data, dtype=kind, device=where, requires_grad=requires_grad)
