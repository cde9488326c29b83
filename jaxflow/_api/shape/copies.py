"""Copies, casts, moves between devices, and the writes that replace every element."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any

import jax
import numpy as np

from jaxflow._api.creation.placing import need_accelerator, warn_device
from jaxflow._api.forms import channels_last_of
from jaxflow._api.legacy.types import tensortype
from jaxflow._api.storage.typed import TypedStorage
from jaxflow._api.storage.untyped import UntypedStorage
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry
from jaxflow._core.aval import aval_of
from jaxflow._core.fields import init_history, rebind
from jaxflow._core.graph import node_class
from jaxflow._core.layout import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from jaxflow._core.layouts import HANDLERS, has_parts
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.modes import Changed
from jaxflow._core.numbers import check_fits, check_fits_filled
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, version_cell
from jaxflow._core.value import Storage, Value
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply, share
from jaxflow._dispatch.not_derived import NotDerived
from jaxflow._dispatch.viewing import is_inference, show
from jaxflow._memory.storage_bytes import physical_bytes
from jaxflow._plans.op import OPS
from jaxflow._plans.planning import build
from jaxflow._publish.composite import composite
from jaxflow._views.history import edge_of, history_rows, refreshed
from jaxflow._views.values import value_of
from jaxflow._writes.inplace import apply_inplace, check_writable
from jaxflow._writes.resizing import in_place
from jaxflow._writes.writes import write

from . import views
from .conjugates import as_marked, is_conj, is_neg
from .views import ints


@composite()
def clone(input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """A copy of the elements, with autograd history; later writes to either do not show in the other.

    Args:
        input: a tensor of any shape and dtype.
        memory_format: the order in memory; ``torch.preserve_format`` for that of ``input`` if it leaves no
            gaps.

    Returns:
        A tensor of the same shape, dtype and device, through which gradients flow to ``input``. For a copy
        without history use ``input.detach().clone()``.

    Raises:
        RuntimeError: for a channels-last format with other than 4 (or 5) dimensions.

    Example:
        >>> t = torch.tensor([1, 2])
        >>> copy = t.clone()
        >>> copy[0] = 9
        >>> t
        tensor([1, 2])
        >>> torch.zeros(2, 3).t().clone().stride()
        (1, 3)
    """
    new = share(OPS["clone"], input)
    new._stride = strides_of_copy(input, memory_format)
    return new


def strides_of_copy(t: Tensor, wanted) -> tuple[int, ...] | None:
    """The strides of a copy of ``t`` in a memory format; None for contiguous."""
    if wanted is contiguous_format:
        return None
    stride = channels_last_of(t._aval.shape, wanted)
    if stride is not None:
        return None if stride == geometry.contiguous_strides(t._aval.shape) else stride
    if t._stride is None:
        return None
    stride = geometry.empty_like_strides(t._aval.shape, t._stride)
    return None if stride == geometry.contiguous_strides(t._aval.shape) else stride


@composite("method")
def contiguous(self: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """The tensor itself if its elements lie in the given order without gaps, else a copy that does.

    Args:
        memory_format: the order in memory: row by row by default, or ``torch.channels_last`` (4 dimensions)
            and ``torch.channels_last_3d`` (5 dimensions).

    Returns:
        ``self``, or a copy with the same elements, through which gradients flow.

    Raises:
        RuntimeError: for a channels-last format with another number of dimensions.

    Example:
        >>> t = torch.zeros(2, 3)
        >>> t.contiguous() is t
        True
        >>> t.t().stride(), t.t().contiguous().stride()
        ((1, 3), (2, 1))
    """
    if self.is_contiguous(memory_format):
        return self
    return clone(self, memory_format=memory_format)


@composite("method")
def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of ``other``, converted and broadcast, into this tensor.

    Args:
        other: a tensor of any dtype and device that broadcasts to the shape of ``self``, or a number.
        non_blocking: accepted, and of no effect: transfers are XLA's.

    Returns:
        ``self``. Gradients flow to ``other``.

    Raises:
        RuntimeError: when ``other`` does not broadcast to the shape of ``self``, when ``self`` is a leaf
            that requires grad (use ``torch.no_grad()``), or shows an element several times.
        TypeError: for what is neither a tensor nor a number.

    Example:
        >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
    """
    if not isinstance(other, Tensor):
        if not isinstance(other, (int, float, complex)):
            raise TypeError(
                f"copy_(): argument 'other' (position 1) must be Tensor, not {other.__class__.__name__}"
            )
    elif other._aval.device is not self._aval.device:
        other = _moved(other, self._aval.device)
    warn_of_real_part(other, self)
    return apply_inplace(OPS["_copy"], (self, other))


def warn_of_real_part(src: Any, target: Tensor) -> None:
    """PyTorch's warning where complex numbers are written into a real tensor."""
    dtype = target._aval.dtype
    if dtype.is_complex or dtype is dtypes.bool:
        return
    if src._aval.dtype.is_complex if isinstance(src, Tensor) else isinstance(src, complex):
        warn_once("Casting complex values to real discards the imaginary part")


@composite("function method")
def fill_(input: Tensor, value: Any) -> Tensor:
    """Write one number (or 0-d tensor) into every element.

    Args:
        input: the tensor that is written to.
        value: a number or a 0-d tensor, converted to the dtype of ``input``.

    Returns:
        ``input``. Gradients flow to ``value`` if that is a tensor, and no longer to what was there before.

    Raises:
        RuntimeError: for a tensor with dimensions, a number that the dtype cannot hold, and when ``input``
            is a leaf that requires grad (use ``torch.no_grad()``).

    Example:
        >>> torch.zeros(3).fill_(2)
        tensor([2., 2., 2.])
        >>> t = torch.zeros(2, 3, dtype=torch.int64)
        >>> _ = t[:, 1].fill_(torch.tensor(7))
        >>> t
        tensor([[0, 7, 0],
                [0, 7, 0]])
    """
    if not isinstance(value, Tensor):
        check_fits_filled(value, input._aval.dtype, input._aval.numel)
    warn_of_real_part(value, input)
    return apply_inplace(OPS["_fill"], (input, value))


@composite("function method")
def zero_(input: Tensor) -> Tensor:
    """Write zero into every element.

    Args:
        input: the tensor that is written to, of any dtype.

    Returns:
        ``input``.

    Raises:
        RuntimeError: when ``input`` is a leaf that requires grad (use ``torch.no_grad()``).

    Example:
        >>> t = torch.tensor([[1, 2], [3, 4]])
        >>> _ = t[0].zero_()
        >>> t
        tensor([[0, 0],
                [3, 4]])
    """
    return apply_inplace(OPS["_zero"], (input,))


@composite("method")
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; with ``wrap`` a tall matrix has several."""
    check_fits(fill_value, self._aval.dtype)
    shape = self._aval.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and any(n != shape[0] for n in shape):
        raise RuntimeError("all dimensions of input must be of equal length")
    steps, count = self.stride(), min(shape)
    step, start = sum(steps), self.storage_offset()
    self.as_strided((count,), (step,), start).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        further = -(-math.prod(shape) // (shape[1] + 1)) - count
        start += steps[0] * (shape[1] + 1)
        self.as_strided((further,), (step,), start).fill_(fill_value)
    return self


@composite("method")
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None,
         stride: Any = None) -> Tensor:
    """Make this tensor show the storage of ``source`` (nothing without one), as it does or strided anew.

    The source may be a storage, too: it is shown as a row of elements unless a size is given, and grows to
    hold that if it is too small.
    """
    if isinstance(source, UntypedStorage | TypedStorage):
        source, size = _on_storage(source, self._aval.dtype, storage_offset, size, stride), None
    if source is None:
        source = apply(OPS["_full"], (None,), ((0,), self._aval.dtype, self._aval.device))
    elif size is not None:
        size = ints((size,))
        stride = geometry.contiguous_strides(size) if stride is None else stride
        source = source.as_strided(size, stride, storage_offset)
    if source._aval.dtype is not self._aval.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source._aval.dtype.name} to a tensor of type "
            f"{self._aval.dtype.name}"
        )
    recorded = state.grad and (refreshed(self)._requires_grad or refreshed(source)._requires_grad)
    check_writable(self, recorded, (self, source), uniform=True)
    edges = tuple(edge_of(t) if t._requires_grad else None for t in (self, source)) if recorded else ()
    rows = [_written(version_cell(self))]
    if recorded:
        rows += history_rows(self, NotDerived("set_", edges, source._aval), 0)
    show(self, as_marked(source, is_conj(self), is_neg(self)), *rows)
    return self


def _on_storage(storage: UntypedStorage | TypedStorage, dtype: dtypes.dtype, offset: int, size: Any,
                stride: Any) -> Tensor:
    kind = getattr(storage, "dtype", dtype)
    if kind is not dtype:
        raise RuntimeError(
            f"Expected a Storage of type {dtype.scalar_name.lower()} or an UntypedStorage, but got type "
            f"{kind.scalar_name} for argument 1 'storage'")
    untyped = storage.untyped()
    if size is None:
        return untyped.elements(dtype)
    size = ints((size,))
    stride = geometry.contiguous_strides(size) if stride is None else ints((stride,))
    needed = geometry.storage_extent(size, stride, offset) * dtype.itemsize
    if needed > untyped.nbytes():
        untyped.resize_(needed)
    return untyped.tensor(dtype, offset, size, stride)


def _written(cell: list) -> tuple:
    """The row that counts one more write."""
    return list.__setitem__, cell, 0, cell[0] + 1


def take_over(t: Tensor, source: Tensor) -> None:
    """Point ``t`` at the storage, layout and aval of ``source``; its autograd history stays."""
    rebind(t, source._storage, source._aval, source._stride, source._view)


# --------------------------------------------------------------------------------- dtypes, devices


def _cast(t: Tensor, dtype: dtypes.dtype, wanted_format: Any) -> Tensor:
    new = apply(OPS["_to_dtype"], (t,), (dtype,))
    new._stride = strides_of_copy(t, wanted_format)
    return new


NO_DATA = "Cannot copy out of meta tensor; no data!"


def _moved(t: Tensor, device: devices.device) -> Tensor:
    """A copy on another device. The move runs at once: a Program lives on one device.

    Raises NotImplementedError for a meta tensor, which has no data.
    """
    if t._aval.device.type == "meta":
        raise NotImplementedError(NO_DATA)
    aval = aval_of(t._aval.shape, t._aval.dtype, device)
    value = Value(aval, jax.device_put(value_of(t).get(), devices.resolve(device)[1]))
    new = make(value)
    if t._requires_grad and state.grad:
        op = OPS["_to_dtype"]
        plan = build(op, (t._aval,), (t._aval.dtype,))
        node = plan.node(plan, [None], [edge_of(t)], (True,), None)
        init_history(new, node, 0)
    return new


def suggested_format(t: Tensor) -> Any:
    """The memory format that results made of a tensor have."""
    if t._stride is None or not geometry.suggests_channels_last(t._aval.shape, t._stride):
        return contiguous_format
    return channels_last if t._aval.ndim == 4 else channels_last_3d


def convert(t: Tensor, dtype: Any, device: Any, copy: bool, wanted_format: Any) -> Tensor:
    """``t`` as ``dtype`` on ``device``: itself if it is that already, unless ``copy``."""
    if HANDLERS and has_parts(t):
        return HANDLERS["convert"](t, dtype, device, copy)
    out, dtype = t, dtypes.given_dtype(dtype)
    if device is not None:
        where = devices.resolve(device)[0]
        if where is not t._aval.device:
            out = _moved(t, where)
    if dtype is not None and dtype is not out._aval.dtype:
        if out._aval.dtype.is_complex and not dtype.is_complex and dtype is not dtypes.bool:
            warn_once("Casting complex values to real discards the imaginary part")
        return _cast(out, dtype, wanted_format)
    if (copy and out is t) or (
            wanted_format is not preserve_format and suggested_format(out) is not wanted_format):
        new = share(OPS["_to_copy"], out)
        new._stride = strides_of_copy(out, wanted_format)
        return new
    return out


@composite("method")
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor as another dtype, on another device, or like another tensor; itself if nothing changes.

    Accepts ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` and ``to(other)``, with ``non_blocking``,
    ``copy`` and ``memory_format``.

    Args:
        args: a dtype, a device (a ``torch.device``, its name or its number), a device and a dtype, or a
            tensor whose dtype and device are taken; then ``non_blocking`` and ``copy``.
        kwargs: the same by name: ``dtype``, ``device``, ``other``, ``non_blocking`` (accepted, and of no
            effect), ``copy`` (True for a copy in any case) and ``memory_format``.

    Returns:
        ``self`` if nothing changes and ``copy`` is not set, else a copy, through which gradients flow.
        Floats become integers by leaving out what is behind the point.

    Raises:
        AssertionError: for ``"cuda"`` where there is no GPU.
        RuntimeError: for a string that names no device.
        NotImplementedError: for a meta tensor, which has no data, and another device.
        TypeError: for a keyword that there is not.

    Example:
        >>> t = torch.tensor([1.5, -2.5])
        >>> t.to(torch.int64)
        tensor([ 1, -2])
        >>> t.to("cpu") is t, t.to("cpu", copy=True) is t
        (True, False)
        >>> t.to(torch.zeros(1, dtype=torch.float64)).dtype
        torch.float64
    """
    dtype, device = kwargs.pop("dtype", None), kwargs.pop("device", None)
    copy = kwargs.pop("copy", False)
    kwargs.pop("non_blocking", None)
    wanted_format = kwargs.pop("memory_format", None) or preserve_format
    other = kwargs.pop("other", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    flags = []
    for a in args:
        if isinstance(a, Tensor):
            other = a
        elif isinstance(dtypes.given_dtype(a), dtypes.dtype):
            dtype = a
        elif isinstance(a, bool):
            flags.append(a)
        elif isinstance(a, memory_format):
            wanted_format = a
        elif a is not None:
            device = a
    if len(flags) > 1:
        copy = flags[1]
    if other is not None:
        dtype, device = other._aval.dtype, other._aval.device
    return convert(self, dtype, device, copy, wanted_format)


@composite("function", name="_to_copy", namespace="ops.aten")
def to_copy(self: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None,
            pin_memory: bool = False, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """A copy of the elements as another dtype, on another device; in the same layout unless one is given."""
    return convert(self, dtype, device, True, memory_format or preserve_format)


_CONVERTER_DOC = """

Args:
    memory_format: the order in memory; ``torch.preserve_format`` for that of ``self``.

Returns:
    ``self`` if it has this dtype already, else a converted copy of the same shape.
    {more}

Example:
    >>> torch.tensor({given}).{name}()
    {shown}
"""


def _converter(name: str, dtype: dtypes.dtype, given: str, shown: str, more: str) -> None:
    def method(self, memory_format: Any = preserve_format):
        return convert(self, dtype, None, False, memory_format)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"``self.to(torch.{dtype.name})``." + _CONVERTER_DOC.format(
        name=name, given=given, shown=shown, more=more)
    composite("method")(method)


_TO_FLOATS = "Of complex numbers the imaginary parts are left out. Gradients flow through it."
_TO_HALVES = "Numbers are rounded. Gradients flow through it."
_TO_INTEGERS = "What is behind the point is left out. The result has no gradient."
_TO_BOOLS = "Zero becomes False, all else True. The result has no gradient."
_TO_COMPLEX = "Imaginary parts of real numbers are 0. Gradients flow through it."
for _name, _dtype, _given, _shown, _more in (
    ("float", dtypes.float32, "[1, 2]", "tensor([1., 2.])", _TO_FLOATS),
    ("double", dtypes.float64, "[1, 2]", "tensor([1., 2.], dtype=torch.float64)", _TO_FLOATS),
    ("half", dtypes.float16, "[1.5, 1e6]", "tensor([1.5000,    inf], dtype=torch.float16)", _TO_HALVES),
    ("bfloat16", dtypes.bfloat16, "[1.5, 257.0]", "tensor([  1.5000, 256.0000], dtype=torch.bfloat16)",
     _TO_HALVES),
    ("long", dtypes.int64, "[2.75, -2.75]", "tensor([ 2, -2])", _TO_INTEGERS),
    ("int", dtypes.int32, "[2.75, -2.75]", "tensor([ 2, -2], dtype=torch.int32)", _TO_INTEGERS),
    ("short", dtypes.int16, "[2.75, -2.75]", "tensor([ 2, -2], dtype=torch.int16)", _TO_INTEGERS),
    ("char", dtypes.int8, "[2.75, -2.75]", "tensor([ 2, -2], dtype=torch.int8)", _TO_INTEGERS),
    ("byte", dtypes.uint8, "[2.75, 255.0]", "tensor([  2, 255], dtype=torch.uint8)", _TO_INTEGERS),
    ("bool", dtypes.bool, "[0.0, 0.5, -2.0]", "tensor([False,  True,  True])", _TO_BOOLS),
    ("cfloat", dtypes.cfloat, "[1.0, 2.0]", "tensor([1.+0.j, 2.+0.j])", _TO_COMPLEX),
    ("cdouble", dtypes.cdouble, "[1.0, 2.0]", "tensor([1.+0.j, 2.+0.j], dtype=torch.complex128)",
     _TO_COMPLEX),
):
    _converter(_name, _dtype, _given, _shown, _more)


@composite("method")
def chalf(self: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """Refused: XLA has no complex numbers of half precision. NotImplementedError."""
    raise NotImplementedError(
        "chalf() is not supported: XLA has no type for torch.complex32; use cfloat(), of torch.complex64"
    )


@composite("method")
def type(self: Tensor, dtype: Any = None, non_blocking: bool = False):
    """The type's name (``torch.FloatTensor``), or the tensor as another dtype (a dtype or such a name).

    Args:
        dtype: a dtype, or a type such as ``torch.IntTensor`` or its name; None to get the name.
        non_blocking: accepted, and of no effect.

    Returns:
        A string without ``dtype``; else a tensor: ``self`` if it has that dtype, or a converted copy.

    Raises:
        ValueError: for what is no such type.

    Example:
        >>> t = torch.tensor([1.5])
        >>> t.type()
        'torch.FloatTensor'
        >>> t.type(torch.int64)
        tensor([1])
        >>> t.type("torch.IntTensor")
        tensor([1], dtype=torch.int32)
    """
    if dtype is None:
        return legacy_name(self._aval)
    if isinstance(dtype, str):
        for candidate in dtypes.ALL.values():
            if dtype.removeprefix("torch.").removeprefix("cuda.") == f"{candidate.scalar_name}Tensor":
                return convert(self, candidate, None, False, preserve_format)
        raise ValueError(f"invalid type: '{dtype}'")
    if isinstance(dtype, tensortype):
        return convert(self, dtype.dtype, dtype._place, False, preserve_format)
    if dtype in dtypes.PYTHON_DTYPES:
        raise ValueError(f"invalid type: '{dtype.__name__}'")
    return convert(self, dtype, None, False, preserve_format)


def legacy_name(aval) -> str:
    """PyTorch's old type name of an aval."""
    where = "" if aval.device.type == "cpu" else f"{aval.device.type}."
    return f"torch.{where}{aval.dtype.scalar_name}Tensor"


@composite("method")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` with the dtype and device of ``other``.

    Args:
        other: the tensor whose dtype and device are taken.

    Returns:
        ``self`` if it has these already, else a converted copy, through which gradients flow: the same as
        ``self.to(other)``.

    Example:
        >>> torch.tensor([1, 2]).type_as(torch.zeros(1))
        tensor([1., 2.])
    """
    return convert(self, other._aval.dtype, other._aval.device, False, preserve_format)


@composite("method")
def cpu(self: Tensor, memory_format: Any = preserve_format) -> Tensor:
    """The tensor on the host; itself if it is there.

    Args:
        memory_format: the order in memory; ``torch.preserve_format`` for that of ``self``.

    Returns:
        ``self`` if it is on the CPU in that order, else a copy, through which gradients flow.

    Raises:
        NotImplementedError: for a meta tensor, which has no data.

    Example:
        >>> t = torch.tensor([1, 2])
        >>> t.cpu() is t
        True
    """
    return convert(self, None, "cpu", False, memory_format)


@composite("method")
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False,
         memory_format: Any = preserve_format) -> Tensor:
    """The tensor on a GPU. Raises PyTorch's error where there is none.

    Args:
        device: which GPU, a ``torch.device`` or its name; None for the current one.
        non_blocking: accepted, and of no effect: transfers are XLA's.
        memory_format: the order in memory; ``torch.preserve_format`` for that of ``self``.

    Returns:
        ``self`` if it is there, else a copy, through which gradients flow.

    Raises:
        AssertionError: where there is no GPU.

    Example:
        >>> t = torch.tensor([1, 2])
        >>> if torch.cuda.is_available():
        ...     t = t.cuda()
        >>> t.tolist()
        [1, 2]
    """
    return convert(self, None, "cuda" if device is None else device, False, memory_format)


@composite("method")
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """The tensor itself: XLA manages transfers, and there is no pinned memory.

    RuntimeError for a tensor that is not on the host, and where there is no accelerator to pin it for.
    """
    need_accelerator("Tensor", self._aval.device, device)
    return self


@composite("function", name="_pin_memory", namespace="ops.aten")
def copied_to_pinned(self: Tensor, device: Any = None) -> Tensor:
    """A copy, where ``pin_memory`` gives the tensor itself; refused where that is."""
    return convert(pin_memory(self, device), None, None, True, preserve_format)


@composite("method")
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Always False; see ``pin_memory``."""
    if device is not None:
        warn_device("Tensor.is_pinned")
    return False


# -------------------------------------------------------------------------------- changing metadata


def _replace(self: Tensor, new: Tensor) -> None:
    """Overwrite all elements with those of a fresh result of the same shape and dtype; no history."""
    if new._aval is not self._aval:
        raise RuntimeError(f"cannot replace {self._aval!r} by {new._aval!r}")
    Changed(state, grad=False).run(write, self, new.detach() if new._requires_grad else new)


Tensor._replace_ = _replace


@composite("method")
def resize_(self: Tensor, *shape: Any, size: Any = None, memory_format: Any = contiguous_format) -> Tensor:
    """Change the shape in place; elements are kept in memory order, new ones are zero."""
    size = ints(shape if size is None else (size,))
    tracked = not (state.inference or is_inference(self))
    if tracked and self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if size == self._aval.shape and memory_format is contiguous_format:
        return self
    check_writable(self, False, uniform=True)
    aval = aval_of(size, self._aval.dtype, self._aval.device)
    check_sizes("resize_", [aval])
    stride = channels_last_of(size, memory_format)
    view = in_place(self, size, stride)
    if view is not None:
        row = _written(version_cell(self))
        rebind(self, view._storage, view._aval, view._stride, view._view, row)
        return self
    contiguous = geometry.contiguous_strides(size)
    storage = Storage(_grown(self, aval, stride or contiguous))
    storage.version = version_cell(self)
    rebind(self, storage, aval, None if stride == contiguous else stride, None, _written(storage.version))
    return self


def _grown(t: Tensor, aval: Any, stride: tuple[int, ...]) -> Value:
    """The memory that ``t`` has for itself, and zeros after it, shown in a larger shape."""
    memory = np.zeros(math.prod(aval.shape), aval.dtype.np)
    before = physical_bytes(t).view(memory.dtype)
    memory[: before.size] = before
    array = np.lib.stride_tricks.as_strided(memory, aval.shape, [n * memory.itemsize for n in stride])
    return Value(aval, jax.device_put(np.ascontiguousarray(array), devices.resolve(aval.device)[1]))


@composite("function method")
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = contiguous_format) -> Tensor:
    """Change the shape of ``input`` to that of another tensor; see `Tensor.resize_`."""
    if memory_format is preserve_format:
        memory_format = contiguous_format
    return input.resize_(the_template._aval.shape, memory_format=memory_format)


@composite("method")
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """The elements in another shape; deprecated in favour of ``reshape`` and ``resize_``.

    Args:
        sizes: the new shape: integers one by one, or a tuple or list of them, with as many elements.

    Returns:
        A view of a contiguous tensor, else a copy.

    Raises:
        RuntimeError: when the number of elements is another.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.arange(4).resize(2, 2)
        tensor([[0, 1],
                [2, 3]])
    """
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    return _resized(self, ints(sizes))


@composite("method")
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The elements in the shape of another tensor; deprecated in favour of ``reshape``."""
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    return _resized(self, tensor._aval.shape)


def _resized(t: Tensor, size: tuple[int, ...]) -> Tensor:
    total = math.prod(size)
    if total != t._aval.numel:
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, size))} ({total} elements in total), but the given "
            f"tensor has a size of {'x'.join(map(str, t._aval.shape))} ({t._aval.numel} elements). "
            "autograd's resize can only change the shape of a given tensor, while preserving the number of "
            "elements. "
        )
    return t.contiguous().view(size)


_METADATA_DOC = """

No element is copied or changed. Other tensors on the storage, such as the one that ``input`` is a view of,
stay as they are.

Args:
    input: the tensor that is changed.{arguments}

Returns:
    ``input``.

Raises:
    RuntimeError: when ``input`` is a leaf that requires grad, and whatever ``{name}`` refuses.

Example:
    >>> t = torch.zeros({shape})
    >>> _ = t.{name}_({call})
    >>> t.shape
    torch.Size({shown})
"""


def _inplace_metadata(name: str, arguments: str, shape: str, call: str, shown: str) -> None:
    """``t_()`` and its like: the tensor itself becomes the view of what it showed."""
    forms = 3 if name == "squeeze" else 1  # PyTorch numbers their nodes after those of the view op

    def method(self, *args, **kwargs):
        def check() -> None:
            check_writable(self, refreshed(self)._requires_grad, (self,), uniform=True)

        try:
            view = getattr(self, name)(*args, **kwargs)
        except (IndexError, RuntimeError):
            check()  # PyTorch looks at dimensions only where the tensor may be changed
            raise
        check()
        info, old = view._view, self._view
        if old is None or old.base is None:
            info.base = info.base_plan = None  # it shows its own storage in another way, and is no view
        if old is not None:
            info.origin, info.own = old.origin, old.own
        else:
            info.origin = None
        info.version = version_cell(self)
        rows = [_written(info.version), (setattr, self, "_tangents", view._tangents)]
        if view._grad_fn is not None:
            node = view._grad_fn
            kind, number = node.name().split("Backward")
            node.__class__ = node_class(f"{kind}Backward{int(number) + forms}")
            rows += history_rows(self, node, 0)
            info.seen_version = info.version[0] + 1
        rebind(self, view._storage, view._aval, view._stride, info, *rows)
        return self

    method.__name__ = method.__qualname__ = name + "_"
    doc = f"In-place ``{name}``: changes how this tensor shows its storage." + _METADATA_DOC
    method.__doc__ = doc.format(name=name, arguments=arguments, shape=shape, call=call, shown=shown)
    method.__signature__ = inspect.signature(getattr(views, "transpose" if name == "swapdims" else name))
    composite("function method" if name == "as_strided" else "method")(method)


_SWAPPED = """
    {0}0: one dimension; negative counts from the last.
    {0}1: the other one."""
_SQUEEZED = """
    dim: a dimension or a tuple of them, which goes if its size is 1; None for all of size 1.
    axis: another name of ``dim``."""
_UNSQUEEZED = """
    dim: the place of the new dimension of size 1; negative counts from the last.
    axis: another name of ``dim``."""
_STRIDED = """
    size: the new shape.
    stride: how many elements lie between neighbours, for each dimension.
    storage_offset: where in the storage the tensor starts, in elements; None to keep that."""
for _name, _arguments, _shape, _call, _shown in (
    ("t", "", "2, 3", "", "[3, 2]"),
    ("transpose", _SWAPPED.format("dim"), "2, 3, 4", "0, -1", "[4, 3, 2]"),
    ("squeeze", _SQUEEZED, "1, 3, 1", "0", "[3, 1]"),
    ("unsqueeze", _UNSQUEEZED, "2, 3", "-1", "[2, 3, 1]"),
    ("swapaxes", _SWAPPED.format("axis"), "2, 3, 4", "0, -1", "[4, 3, 2]"),
    ("swapdims", _SWAPPED.format("dim"), "2, 3, 4", "0, -1", "[4, 3, 2]"),
    ("as_strided", _STRIDED, "6", "(2, 2), (3, 1)", "[2, 2]"),
):
    _inplace_metadata(_name, _arguments, _shape, _call, _shown)
