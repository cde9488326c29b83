"""What an index expression means: view steps, and then a gather or scatter by index arrays.

`parse` reads anything PyTorch accepts between brackets. The integers, slices, ``...`` and ``None``
in it become a chain of view operations; tensors, lists and masks are left over, each with the
dimension of the resulting view that it indexes. The functions below it answer what shape and
strides the gather has. Nothing here computes on arrays or imports Tensor.

The index arrays broadcast together, and the result has their shape in place of the dimensions
they index when these are neighbours in the view, else in front. Integers are no index arrays
here: they are selected away first, so unlike in NumPy they never separate or join others.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .geometry import (
    Ints,
    Layout,
    broadcast_shapes,
    compute_view_strides,
    expand_geometry,
    preserve_strides,
    wrap_dim,
)
from .index_data import INT64_MAX, index_array, is_sequence, to_int64, type_name

Step = tuple


class Advanced(NamedTuple):
    """An index array: ``index`` (int32 or int64, or a mask) applies from dimension ``dim`` on.

    ``index`` is the caller's tensor, or a NumPy array where the user gave data. A mask is bool or
    uint8 and covers as many dimensions as it has; its nonzero positions are the indices.
    """

    dim: int
    index: Any
    mask: bool


class Parsed(NamedTuple):
    """A meaning: ``steps`` to take in turn, the ``size`` of the view they give, and what to gather.

    A step is ``("select", dim, index)``, ``("slice", dim, start, stop, step)`` with clamped bounds
    (start None where it was left out),
    ``("unsqueeze", dim)`` or ``("alias",)``. ``advanced`` is ordered by dimension.
    """

    steps: tuple[Step, ...]
    size: Ints
    advanced: tuple[Advanced, ...]


class Tensors(NamedTuple):
    """How to look at tensors: their class (with ``shape`` and ``item()``), and names of dtypes.

    ``traced`` says whether a tensor has no numbers (inside ``jax.jit``), ``batched`` whether it has others in
    each example (inside ``vmap``), and ``of_jax`` makes a tensor of a jax array and returns None for anything
    else.
    """

    type: type
    dtype_name: Callable[[Any], str]
    traced: Callable[[Any], bool] = lambda tensor: False
    of_jax: Callable[[Any], Any] = lambda item: None
    batched: Callable[[Any], bool] = lambda tensor: False


def parse(index: Any, size: Ints, tensors: Tensors, *, writing: bool = False,
          filling: bool = False, sooner: Callable[[tuple[Step, ...]], Any] | None = None) -> Parsed:
    """Read ``x[index]`` for an ``x`` of this ``size``; ``writing`` for ``x[index] = ...``.

    ``filling`` says that one number is written; a mask of another type than bool is then refused.
    ``sooner`` gets the steps to the view before an index array is refused, to refuse a write to that view.

    Zero-dimensional integer tensors are read with ``item()``; traced ones, beside no
    larger tensor, are gathered by, and batched ones are index arrays like any other, as in PyTorch.
    Raises IndexError, TypeError or ValueError in PyTorch's words. The one index that writes nothing
    at all, a bare ``False``, is the caller's to catch.
    """
    if type(index) is int and size:
        return Parsed((_select(index, 0, size, 0),), size[1:], ())
    reader = _Reader(size, tensors)
    if isinstance(index, slice):
        if not size:
            _bounds(index, 0)  # what is no slice at all is refused first
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        reader.slice(index, keep_full=not writing)
    elif _is_integer(index):
        if not size and index == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        reader.select(operator.index(index))
    else:
        reader.read_all(_as_tuple(index, tensors.type))
    advanced = tuple(reader.advanced)
    if reader.traced is not None and any(len(a.index.shape) for a in advanced):
        reader.traced.item()  # beside those it would have to be a number; jax's error says that it is not
    steps = tuple(reader.steps)
    if not steps and not advanced and not writing:
        steps = (("alias",),)
    try:
        _check_types(advanced, reader.size, tensors, filling and len(advanced) == 1)
    except (IndexError, RuntimeError):
        if sooner is not None:
            sooner(steps)
        raise
    return Parsed(steps, tuple(reader.size), advanced)


def plain_steps(index: Any, size: Ints, *, writing: bool = False) -> tuple[Step, ...] | None:
    """The steps to ``x[index]`` for an ``x`` of this ``size``, as `parse` gives them, but quicker.

    None for what only `parse` reads: index arrays, numbers of other types, and everything that is refused.
    """
    items = index if index.__class__ is tuple else (index,)
    alone = index.__class__ is slice and not writing  # then it is a step even where it takes everything
    steps: list[Step] = []
    left, dim = list(size), 0
    for item in items:
        kind = item.__class__
        if kind is slice:
            start, stop, step = item.start, item.stop, item.step
            if dim >= len(left) or not (
                start.__class__ in _PLAIN and stop.__class__ in _PLAIN and step.__class__ in _PLAIN
            ) or (step is not None and step < 1):
                return None
            extent = left[dim]
            if alone or start or step not in _ONE or (stop is not None and stop < extent):
                low, high, step = item.indices(extent)
                high = max(low, high)
                steps.append(("slice", dim, None if start is None else low, high, min(step, INT64_MAX)))
                left[dim] = len(range(low, high, step))
            dim += 1
        elif kind is int:
            if dim >= len(left) or not -left[dim] <= item < left[dim]:
                return None
            steps.append(("select", dim, item + left[dim] if item < 0 else item))
            del left[dim]
        elif item is None:
            steps.append(("unsqueeze", dim))
            left.insert(dim, 1)
            dim += 1
        elif item is Ellipsis:
            kinds = [i.__class__ for i in items]
            spanned = len(size) - kinds.count(int) - kinds.count(slice)
            if spanned < 0 or kinds.count(kind) > 1:
                return None
            dim += spanned
        else:
            return None
    return tuple(steps) if steps or writing else _WHOLE


_PLAIN, _ONE = frozenset((int, type(None))), (None, 1)
_WHOLE = (("alias",),)


def parse_arrays(indices: Any, size: Ints, tensors: Tensors) -> tuple[Advanced, ...]:
    """Read the index tensors of ``index_put``, one after the other from dimension 0 on.

    Unlike between brackets, a zero-dimensional tensor is an index array like any other.
    """
    reader = _Reader(size, tensors)
    for position, index in enumerate(indices):
        if not isinstance(index, tensors.type):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got {type_name(index)}"
            )
        reader.keep(index)
    advanced = tuple(reader.advanced)
    _check_types(advanced, size, tensors)
    return advanced


class _Reader:
    """Walks the items of an index, keeping the size of the view so far and the next dimension."""

    def __init__(self, size: Ints, tensors: Tensors) -> None:
        self.given = size
        self.size = list(size)
        self.tensors = tensors
        self.dim = 0
        self.position = 0
        self.traced: Any = None
        self.steps: list[Step] = []
        self.advanced: list[Advanced] = []

    def read_all(self, items: tuple) -> None:
        needed = sum(self._consumes(item) for item in items)
        if needed > len(self.given):
            raise IndexError(f"too many indices for tensor of dimension {len(self.given)}")
        for self.position, item in enumerate(items):
            self.read(item, needed)

    def _consumes(self, item: Any) -> int:
        """How many dimensions of the tensor an item uses up; a nested list counts once."""
        if item is None or item is Ellipsis or isinstance(item, bool):
            return 0
        if isinstance(item, self.tensors.type) and self._is_mask(item):
            return len(item.shape)
        return 1

    def _is_mask(self, index: Any) -> bool:
        if isinstance(index, np.ndarray):
            return index.dtype in (np.bool_, np.uint8)
        return self.tensors.dtype_name(index) in ("bool", "uint8")

    def read(self, item: Any, needed: int) -> None:
        if isinstance(item, slice):
            self.slice(item)
        elif item is Ellipsis:
            self.dim += len(self.given) - needed
        elif item is None:
            self.unsqueeze()
        elif isinstance(item, bool):
            self.truth(item)
        elif _is_integer(item):
            self.select(operator.index(item))
        elif isinstance(item, self.tensors.type):
            self.array(item)
        elif (tensor := self.tensors.of_jax(item)) is not None:
            self.array(tensor)
        elif is_sequence(item):
            self.array(index_array(item, self.tensors.type, self.tensors.dtype_name))
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type_name(item)})"
            )

    def select(self, index: int) -> None:
        if self.size:
            wrap_dim(self.dim, len(self.size))  # a second ``...`` may have left the tensor
        self.steps.append(_select(index, self.dim, self.size, self.position))
        del self.size[self.dim]

    def slice(self, item: slice, keep_full: bool = False) -> None:
        extent = self.size[wrap_dim(self.dim, len(self.size))]
        start, stop, step, all_of_it = _bounds(item, extent)
        if keep_full or not all_of_it:
            # A start left out is not the number 0: see NOTE [Where a view starts].
            first = None if item.start is None else start
            self.steps.append(("slice", self.dim, first, stop, step))
            self.size[self.dim] = len(range(start, stop, step))
        self.dim += 1

    def unsqueeze(self) -> None:
        wrap_dim(self.dim, len(self.size) + 1)
        self.steps.append(("unsqueeze", self.dim))
        self.size.insert(self.dim, 1)
        self.dim += 1

    def truth(self, value: bool) -> None:
        """True and False index a new dimension of size 1: they keep it or empty it."""
        self.advanced.append(Advanced(self.dim, np.zeros(int(value), np.int64), False))
        self.unsqueeze()

    def array(self, index: Any) -> None:
        if not len(index.shape):
            if not isinstance(index, np.ndarray) and self.tensors.batched(index):
                self.keep(index)
                return
            if self._is_mask(index):
                self.truth(bool(index.item()))
                return
            if isinstance(index, np.ndarray) or "int" in self.tensors.dtype_name(index):
                if not isinstance(index, np.ndarray) and self.tensors.traced(index):
                    self.traced = index
                    self.keep(index)
                    return
                self.select(int(index.item()))
                return
        self.keep(index)

    def keep(self, index: Any) -> None:
        mask = self._is_mask(index)
        self.advanced.append(Advanced(self.dim, index, mask))
        self.dim += len(index.shape) if mask else 1


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _select(index: int, dim: int, size, position: int) -> Step:
    """A select step; its error gives the item's position for a dimension, as PyTorch's does."""
    extent = size[dim] if dim < len(size) else 0
    if not -extent <= to_int64(index) < extent:
        raise IndexError(
            f"index {index} is out of bounds for dimension {position} with size {extent}"
        )
    return ("select", dim, index + extent if index < 0 else index)


def _bounds(item: slice, extent: int) -> tuple[int, int, int, bool]:
    """The slice's bounds, clamped so that ``range`` of them lists the positions it takes.

    Last comes whether PyTorch sees that it takes everything: a negative bound hides that.
    """
    step = 1 if item.step is None else _bound(item.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        raise ValueError("step must be greater than zero")
    start = 0 if item.start is None else _bound(item.start)
    stop = extent if item.stop is None else _bound(item.stop)
    all_of_it = start == 0 and stop >= extent and step == 1
    start, stop, _ = slice(start, stop).indices(extent)
    return start, max(start, stop), min(step, INT64_MAX), all_of_it


def _bound(value: Any) -> int:
    if not hasattr(type(value), "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return operator.index(value)


def _as_tuple(index: Any, tensor_type: type) -> tuple:
    """The items of a tuple, or of a short list that holds more than numbers; else ``index`` alone.

    That a list may stand for a tuple is what NumPy once did; PyTorch warns of it and still does it.
    """
    if isinstance(index, tuple):
        return index
    if isinstance(index, (tensor_type, np.ndarray)) or not is_sequence(index) or len(index) >= 32:
        return (index,)
    special = (tensor_type, slice)
    if any(i is None or i is Ellipsis or isinstance(i, special) or is_sequence(i) for i in index):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
            "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will "
            "be interpreted as tensor index, x[torch.tensor(seq)], which will result either in an "
            "error or a different result",
            UserWarning,
            stacklevel=4,
        )
        return tuple(index)
    return (index,)


def _check_types(advanced: tuple[Advanced, ...], size, tensors: Tensors,
                 filling: bool = False) -> None:
    """Refuse index arrays of other types, and masks that do not fit the dimensions they cover."""
    for _, index, _ in advanced:
        if not isinstance(index, np.ndarray):
            name = tensors.dtype_name(index)
            if name not in ("int64", "int32", "bool", "uint8"):
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    for first, index, mask in advanced:
        if first >= len(size):
            raise IndexError(
                f"too many indices for tensor of dimension {len(size)} (got {first + 1})"
            )
        if not mask:
            continue
        of_bytes = np.uint8 == index.dtype if isinstance(index, np.ndarray) else (
            tensors.dtype_name(index) == "uint8"
        )
        if of_bytes and not filling:
            warnings.warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
                "instead.",
                UserWarning,
                stacklevel=4,
            )
        for offset, extent in enumerate(index.shape):
            at = first + offset
            if at >= len(size) or size[at] != extent:
                raise IndexError(
                    f"The shape of the mask {list(index.shape)} at index {offset} does not match "
                    f"the shape of the indexed tensor {list(size)} at index {at}"
                )
        if of_bytes and filling:
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )


class Gathering(NamedTuple):
    """The shape of a gather: the view's dimensions ``dims`` give way to ``shape`` at ``position``.

    ``rest`` are the dimensions kept, in order; ``size`` is the shape of the result.
    """

    dims: Ints
    shape: Ints
    position: int
    rest: Ints
    size: Ints


def gathering(size: Ints, dims: Ints, shapes: tuple[Ints, ...]) -> Gathering:
    """What a gather from a view of ``size`` along ``dims`` by arrays of ``shapes`` looks like.

    Raises IndexError where the index shapes do not broadcast or a dimension has nothing to index.
    """
    try:
        shape = broadcast_shapes(*shapes)
    except RuntimeError:
        listed = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            f"{listed}"
        ) from None
    if 0 not in shape and any(size[d] == 0 for d in dims):
        raise IndexError("index is out of bounds for dimension with size 0")
    neighbours = dims[-1] - dims[0] == len(dims) - 1
    position = dims[0] if neighbours else 0
    rest = tuple(d for d in range(len(size)) if d not in dims)
    kept = tuple(size[d] for d in rest)
    return Gathering(dims, shape, position, rest, kept[:position] + shape + kept[position:])


def gathered_strides(g: Gathering, source: Layout, indices: list[Layout]) -> Ints:
    """Strides of the result, given the layouts of the view and of the index arrays."""
    size, stride = source
    before, after = g.position, len(g.rest) - g.position
    kept = [stride[d] for d in g.rest]
    operands = [(g.size, (*kept[:before], *(0 for _ in g.shape), *kept[before:]))]
    padded = (1,) * before + g.shape + (1,) * after
    for layout in indices:
        expanded = expand_geometry(*layout, g.shape)
        operands.append((padded, compute_view_strides(*expanded, padded)))
    return preserve_strides(*operands)


#: The bounds of what must not be zero. No range of indices is that empty.
NONZERO = (1, -1)
#: Behind two bounds: infinities and nan may lie outside of them.
FINITE = "finite"


def refuse_outside(arrays: Sequence[np.ndarray], bounds: Sequence[tuple],
                   error: Callable[[Any, int], Exception], spared: int | None = None) -> None:
    """Raise ``error(value, k)`` for the first element of the ``k``-th array outside its two bounds.

    What is first counts in the shape all broadcast to; ``spared`` is never outside. Outside of `NONZERO` is
    zero alone; bounds with `FINITE` behind them do not apply to infinities and nan. Of a complex array the
    larger part of each number counts, without its sign.
    """
    if len(arrays) == 1 and arrays[0].size:  # the usual case, and nothing wrong
        if arrays[0].dtype.kind == "c":
            arrays = [np.maximum(np.abs(arrays[0].real), np.abs(arrays[0].imag))]
        low, high = bounds[0][:2]
        if np.minimum.reduce(arrays[0], None) >= low and np.maximum.reduce(arrays[0], None) <= high:
            return
    wrong = []
    for a, (low, high, *which) in zip(arrays, bounds, strict=True):
        outside = a == 0 if (low, high) == NONZERO else ~((a >= low) & (a <= high))
        if which:
            outside &= np.isfinite(a)
        wrong.append(outside if spared is None else outside & (a != spared))
    if any(np.any(outside) for outside in wrong):
        spread = np.stack(np.broadcast_arrays(*wrong), -1).reshape(-1)
        position, k = divmod(int(spread.argmax()), len(arrays))
        raise error(np.broadcast_arrays(*arrays)[k].reshape(-1)[position], k)


def check_bounds(arrays: Sequence, g: Gathering, size: Ints,
                 ask: Callable[..., None] = refuse_outside) -> None:
    """Refuse index values outside the view's ``size``; ``arrays`` are in the order of ``dims``.

    ``ask`` is the function that checks the values; ``arrays`` are of any kind that it can read.
    """
    if prod(g.size):
        sizes = [size[d] for d in g.dims]
        ask(arrays, [(-n, n - 1) for n in sizes], lambda value, k: IndexError(
            f"index {value} is out of bounds for dimension {k} with size {sizes[k]}"
        ))


def strip_leading_ones(size: Ints) -> Ints:
    """``size`` without the ones in front: what an assigned value's shape counts as."""
    for dim, extent in enumerate(size):
        if extent != 1:
            return tuple(size[dim:])
    return ()


def check_value_shape(value: Ints, result: Ints) -> None:
    """Refuse to write a value of this shape into a gather's result if it does not expand to it."""
    extra = max(len(value) - len(result), 0)
    if all(n == 1 for n in value[:extra]):
        value = value[extra:]
    fits = len(value) <= len(result) and all(
        n in (1, m) for n, m in zip(reversed(value), reversed(result), strict=False)
    )
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value)} cannot be broadcast to indexing "
            f"result of shape {list(result)}"
        )
