"""Writes that reach a part of a large memory which others share: what goes where in it.

NOTE [Written in part]
    A write computes all that a tensor is to show, and puts that there: where memory is shared with NumPy, in
    one copy (NOTE [Host-shared storages]). Of a large memory in which an operation names a few places that is
    all of the memory, twice. So for the operations here it is found out beforehand which places they reach
    and what is there afterwards. Those that combine what is there with something (``index_add_``) are done by
    the same operation on a copy of the places alone, counted anew from 0. The store is one call of
    ``ndarray.__setitem__``, so that it is whole or not at all as any other.

    None of these functions refuses anything: a call has passed the operation's own checks before, and a write
    that they do not handle is done in the usual way.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from operator import setitem
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU
from jaxflow._core.indexing import gathering
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.shared import HostValue
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import SMALL, Value
from jaxflow._dispatch.dispatch import plan_for
from jaxflow._exec.numpy.immediate import interpret
from jaxflow._exec.program import LEAST, MOST
from jaxflow._exec.run import run
from jaxflow._plans.op import Op
from jaxflow._views.host_shared import shown_of
from jaxflow._views.values import live_value_of

# So many times the elements that are written a memory has to have for this to be worth it.
_WORTH = 4


def reached(t: Any) -> HostValue | None:
    """The large memory of the host's that ``t`` shows, as it lies there; None if it shows none."""
    if not isinstance(t, Tensor) or t._aval.nbytes <= SMALL:
        return None
    held = t._storage.value
    if held.__class__ is not HostValue:
        return None
    view = t._view
    if view is None:
        return held
    return None if view.plan.overlaps else shown_of(held, view.plan)


def settle(args: tuple) -> None:
    """Have the operands of a write computed, if it is one to memory of the host's.

    Their Program runs before the write returns, so no check about them can be left to it.
    """
    target = args[0]
    if isinstance(target, Tensor) and target._storage.value.__class__ is HostValue:
        for a in args[1:]:
            if isinstance(a, Tensor):
                value = live_value_of(a)
                if value.__class__ is Value:
                    value.settled()


def part_of(op: Op, args: tuple, static: tuple) -> tuple | None:
    """The store that does ``op`` in the memory of ``args[0]``; None where all of it is to be written anew.

    Raises what the operation's own checks raise.
    """
    find = _PARTS.get(op.name)
    if find is None or WATCHERS:
        return None
    target = reached(args[0])
    if target is None:
        return None
    operands = []
    for a in args[1:]:
        found = _array_of(a, op.name == "_copy") if isinstance(a, Tensor) else _number(a)
        if found is None and a is not None:
            return None
        operands.append(found)
    plan_for(op, args, static, args[0]._aval)
    found = find(_Call(op, target.live.view()), *operands, **op.named(static))
    return None if found is None else (setitem, *found)


def _array_of(t: Tensor, where_it_lies: bool) -> np.ndarray | None:
    value = live_value_of(t)
    if value.aval.device is not CPU:
        return None
    if value.__class__ is HostValue:
        return value.live if where_it_lies and t._aval.dtype is not dtypes.bool else value.copied()
    if value.__class__ is not Value:
        return None
    array = value.settled()
    return None if isinstance(array, jax.core.Tracer) else np.asarray(array)


def _number(a: Any) -> Any:
    """A number as operations take them; None for all else."""
    if a.__class__ is int:
        return a if LEAST <= a <= MOST else None
    return a if a.__class__ in (bool, float, complex) else None


class _Call(NamedTuple):
    """An operation, and the elements that it is to write to."""

    op: Op
    live: np.ndarray

    def again(self, target: np.ndarray, *operands: Any, **static: Any) -> np.ndarray:
        """The same operation on other elements, by other operands."""
        args = [_tensor(x) if isinstance(x, np.ndarray) else x for x in (target, *operands)]
        plan = plan_for(self.op, tuple(args), tuple([static[name] for name in self.op.static_names]),
                        args[0]._aval)
        values = [x._storage.value if isinstance(x, Tensor) else x for x in args if x is not None]
        made = interpret(plan, values, any_size=True)
        return np.asarray((run(plan, values) if made is None else made)[0].settled())

    def corner(self) -> np.ndarray:
        """One element, in as many dimensions."""
        return self.live[(slice(1),) * self.live.ndim]

    def along(self, axis: int, at: np.ndarray) -> tuple:
        """The subscript of the slices that ``at`` names."""
        return (*(slice(None),) * axis, at)

    def is_worth(self, count: int) -> bool:
        """Whether so many elements are a small part."""
        return count * _WORTH <= self.live.size

    def at_positions(self, flat: np.ndarray) -> tuple:
        """The array and the subscript of these positions in the order of the dimensions."""
        if self.live.flags.c_contiguous:
            return self.live.reshape(-1), flat
        return self.live, np.unravel_index(flat, self.live.shape)


def _tensor(array: np.ndarray) -> Tensor:
    array = np.array(array, order="C")
    return make(Value(aval_of(array.shape, dtypes.from_numpy_dtype(array.dtype), CPU), array))


def _within(index: np.ndarray, extent: int) -> np.ndarray | None:
    """Indices counted from the beginning, in a row; None if one is out of range."""
    at = index.reshape(-1).astype(np.int64)
    at[at < 0] += extent
    return at if not at.size or (at.min() >= 0 and at.max() < extent) else None


def _counted_anew(at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different ones of ``at``; as many as it has, of which these are the first; which each was."""
    places, which = np.unique(at, return_inverse=True)
    return places, np.resize(places, at.shape), which.reshape(at.shape)


# ------------------------------------------------------------------------------------- everywhere


def _everywhere(call, *value):
    return call.live, Ellipsis, call.again(call.corner(), *value)


def _copy(call, source):
    if not isinstance(source, np.ndarray):
        return _everywhere(call, source)
    return (call.live, Ellipsis, source) if source.dtype == call.live.dtype else None


# ------------------------------------------------------------------------------- where a mask holds


def _mask_subscript(mask: np.ndarray, shape: tuple) -> tuple:
    """The subscript of the elements of that shape where ``mask``, broadcast to it, holds."""
    wide = (1,) * (len(shape) - mask.ndim) + mask.shape
    first, end = 0, len(shape)
    while end > 1 and wide[end - 1] == 1:
        end -= 1
    while first < end - 1 and wide[first] == 1:
        first += 1
    return (*(slice(None),) * first, np.broadcast_to(mask.reshape(wide[first:end]), shape[first:end]))


def _masked_fill(call, mask, value):
    one = call.again(call.corner(), np.ones((1,) * mask.ndim, np.bool_), value)
    return call.live, _mask_subscript(mask, call.live.shape), one.reshape(())


def _masked_scatter(call, mask, source):
    if not source.size:
        return None
    everywhere = np.broadcast_to(mask, call.live.shape)
    return call.live, everywhere, source.reshape(-1)[: np.count_nonzero(everywhere)]


# -------------------------------------------------------------------------- where index arrays point


def _index_put(call, values, *indices, dims, accumulate):
    live = call.live
    g = gathering(live.shape, dims, tuple([i.shape for i in indices]))
    count, start = prod(g.shape), g.position
    ats = [_within(np.broadcast_to(i, g.shape), live.shape[d]) for d, i in zip(dims, indices)]
    if any([at is None for at in ats]) or not call.is_worth(prod(g.size)):
        return None
    values = values.reshape(values.shape[max(values.ndim - len(g.size), 0) :])
    joined = (*g.size[:start], count, *g.size[start + len(g.shape) :])
    values = np.broadcast_to(values, g.size).reshape(joined)

    def subscript(arrays):
        at: list = [slice(None)] * live.ndim
        for d, array in zip(dims, arrays):
            at[d] = array
        return tuple(at)

    if not accumulate:
        return live, subscript(ats), values
    extents = [live.shape[d] for d in dims]
    places, all_of_them, which = _counted_anew(np.ravel_multi_index(ats, extents))
    there = live[subscript(np.unravel_index(all_of_them, extents))]
    new = call.again(there, values, which, dims=(start,), accumulate=True)
    return (live, subscript(np.unravel_index(places, extents)),
            new[call.along(start, slice(len(places)))])


def _slices(call, dim, index):
    """The axis and the indices of slices along it; None where they are most of the memory."""
    live = call.live
    axis = dim % live.ndim
    at = _within(index, live.shape[axis])
    return None if at is None or not call.is_worth(live.size // live.shape[axis] * at.size) else (axis, at)


def _index_fill(call, index, value, *, dim):
    found = _slices(call, dim, index)
    if found is None:
        return None
    one = call.again(call.corner(), np.zeros((1,), index.dtype), value, dim=dim)
    return call.live, call.along(*found), one


def _index_copy(call, index, source, *, dim):
    found = _slices(call, dim, index)
    if found is None:
        return None
    axis, at = found
    shape = list(call.live.shape)
    shape[axis] = at.size
    return call.live, call.along(axis, at), np.broadcast_to(source, shape)


def _index_combine(call, index, source, *numbers, dim, **static):
    found = _slices(call, dim, index)
    if found is None:
        return None
    axis, at = found
    places, all_of_them, which = _counted_anew(at)
    there = call.live[call.along(axis, all_of_them)]
    new = call.again(there, which.astype(index.dtype), source, *numbers, dim=axis, **static)
    return call.live, call.along(axis, places), new[call.along(axis, slice(len(places)))]


def _scatter_places(call, dim, index):
    """The positions of the elements that an index along a dimension names."""
    live = call.live
    axis = dim % live.ndim
    if index.ndim != live.ndim or not index.size or not call.is_worth(index.size):
        return None
    at = _within(index, live.shape[axis])
    if at is None:
        return None
    everywhere = list(np.ogrid[tuple([slice(n) for n in index.shape])])
    everywhere[axis] = at.reshape(index.shape)
    return np.ravel_multi_index(np.broadcast_arrays(*everywhere), live.shape).reshape(-1)


def _covered(source: np.ndarray, index: np.ndarray) -> np.ndarray:
    return source[tuple([slice(n) for n in index.shape])].reshape(-1)


def _scatter(call, index, source, *, dim):
    at = _scatter_places(call, dim, index)
    if at is None:
        return None
    if isinstance(source, np.ndarray) and source.ndim:
        return *call.at_positions(at), _covered(source, index)
    one = call.again(call.corner(), np.zeros((1,) * index.ndim, index.dtype), source, dim=dim)
    return *call.at_positions(at), one.reshape(())


def _scatter_combine(call, index, source, *, dim, **static):
    at = _scatter_places(call, dim, index)
    if at is None:
        return None
    if isinstance(source, np.ndarray) and source.ndim:
        source = _covered(source, index)
    places, all_of_them, which = _counted_anew(at)
    array, there = call.at_positions(all_of_them)
    new = call.again(array[there], which.astype(index.dtype), source, dim=0, **static)
    return *call.at_positions(places), new[: len(places)]


def _put(call, index, source, *, accumulate):
    at = _within(index, call.live.size)
    if at is None or not call.is_worth(at.size):
        return None
    source = source.reshape(-1)
    if not accumulate:
        return *call.at_positions(at), source
    places, all_of_them, which = _counted_anew(at)
    array, there = call.at_positions(all_of_them)
    new = call.again(array[there], which, source, accumulate=True)
    return *call.at_positions(places), new[: len(places)]


#: By the name of an operation what finds its part: the array, the subscript, and what is to be there.
_PARTS: dict[str, Callable[..., tuple | None]] = {
    "_zero": _everywhere, "_fill": _everywhere, "_assign": _everywhere, "_copy": _copy,
    "masked_fill": _masked_fill, "_masked_write": _masked_fill, "masked_scatter": _masked_scatter,
    "_index_put": _index_put, "index_fill": _index_fill, "index_copy": _index_copy,
    "index_add": _index_combine, "index_reduce": _index_combine,
    "scatter_src": _scatter, "scatter_value": _scatter, "scatter_add": _scatter_combine,
    "scatter_reduce": _scatter_combine, "scatter_reduce_src": _scatter_combine,
    "scatter_reduce_value": _scatter_combine, "put": _put,
}
