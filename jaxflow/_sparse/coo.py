"""Sparse tensors in coordinates: their parts, and how these are made, read, merged and looked up."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jax.core import Tracer

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.layout import layout as Layout
from jaxflow._core.layout import sparse_coo
from jaxflow._core.layouts import PartsStorage, has_parts
from jaxflow._core.levels import LEVELS
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, make_view
from jaxflow._core.value import Untracked
from jaxflow._publish.overrides import install_overrides
from jaxflow._views.values import value_of

from .nodes import recorded


class Coo(NamedTuple):
    """The parts of a tensor in coordinates.

    Attributes:
        indices: int64, ``(sparse_dim, nnz)``.
        values: ``(nnz, *dense)``.
        coalesced: whether each place comes once, and in order.
    """

    indices: Tensor
    values: Tensor
    coalesced: bool
    layout: Layout = sparse_coo


def check_plain(values: Tensor) -> None:
    """Refuse what would be lost in a sparse tensor: examples of ``vmap``, tangents, tracers of jax."""
    if state.axes:
        raise NotImplementedError("there are no sparse tensors inside of vmap: use dense ones there")
    if LEVELS and values._tangents:
        raise NotImplementedError(
            "sparse tensors have no tangents: forward mode needs dense tensors, use to_dense()")
    value = value_of(values)
    if value.producer is None and isinstance(value.array, Tracer):
        raise NotImplementedError(
            "there are no sparse tensors inside of jax.jit, jax.grad and jax.vmap: use dense ones there")


def fresh(shape: tuple[int, ...], parts: Any) -> Tensor:
    """A new tensor of these parts, which have no history; public functions look for such from now on."""
    install_overrides()
    values, storage = parts.values, PartsStorage(parts)
    if state.inference:
        storage.version = Untracked((0,))
    return make_view(storage, aval_of(tuple(shape), values.dtype, values.device), None, None)


def assembled(indices: Tensor, values: Tensor, shape: tuple[int, ...], coalesced: bool = False,
              name: str = "SparseCooTensorWithDimsAndTensors") -> Tensor:
    """The tensor that has ``values`` at ``indices``; see NOTE [Gradients through parts]."""
    check_plain(values)
    t = fresh(shape, Coo(indices, values.detach(), coalesced or values.shape[0] < 2))
    return recorded(t, name, [(values, lambda grad: at_places(grad, indices))])


def parts_of(t: Tensor) -> Coo:
    """The parts of a tensor in coordinates, without history."""
    return t._storage.parts


def entries(t: Tensor, name: str = "Values") -> Tensor:
    """The values of ``t`` with their history, to compute with."""
    parts, shape = parts_of(t), t._aval.shape
    if not (t.requires_grad and state.grad):
        return parts.values
    return recorded(make(value_of(parts.values)), name, [(t, lambda grad: of_entries(grad, parts, shape))])


def of_entries(values: Tensor, parts: Coo, shape: tuple[int, ...]) -> Tensor:
    """The gradient of a tensor whose entries have the gradients ``values``: each place comes once."""
    if parts.coalesced:
        return assembled(parts.indices, values, shape, True)
    indices, first = _places_once(parts.indices, shape)
    return assembled(indices, values.index_select(0, first), shape, True)


def sparse_shape(t: Tensor) -> tuple[int, ...]:
    """The extents of the sparse dimensions."""
    return t._aval.shape[: parts_of(t).indices.shape[0]]


def dense_shape(t: Tensor) -> tuple[int, ...]:
    """The extents of the dense dimensions."""
    return t._aval.shape[parts_of(t).indices.shape[0]:]


# ---------------------------------------------------------------------------------------- places in a row


def flat(indices: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Places as single numbers, in row-major order: ``(nnz,)`` of ``(sparse_dim, nnz)``."""
    total = F.zeros(indices.shape[1], dtype=dtypes.int64, device=indices.device)
    for row, extent in zip(indices.unbind(0), shape):
        total = total * extent + row
    return total


def places(t: Tensor) -> Tensor:
    """`flat` of the indices of a tensor."""
    return flat(parts_of(t).indices, sparse_shape(t))


def unflat(numbers: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The coordinates of what `flat` made single numbers of."""
    rows = []
    for extent in reversed(shape):
        rows.append(numbers % extent)
        numbers = F.div(numbers, extent, rounding_mode="floor")
    if not rows:
        return F.zeros((0, numbers.shape[0]), dtype=dtypes.int64, device=numbers.device)
    return F.stack(rows[::-1])


def summed(values: Tensor, places: Tensor, count: int) -> Tensor:
    """The sums of the values of each place below ``count``; of bools whether one of them is true."""
    if values.dtype is dtypes.bool:
        return summed(values.to(dtypes.int32), places, count) != 0
    return values.new_zeros((count, *values.shape[1:])).index_add(0, places, values)


def merged(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Indices and values with each place once, in order: those of the same place are added."""
    if indices.shape[1] < 2:
        return indices, values
    numbers, places = F.unique(flat(indices, shape), return_inverse=True)
    return unflat(numbers, shape), summed(values, places, numbers.shape[0])


def _places_once(indices: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Each place once, in order, and an entry that has it."""
    shape = shape[: indices.shape[0]]
    numbers, places = F.unique(flat(indices, shape), return_inverse=True)
    count, nnz = numbers.shape[0], indices.shape[1]
    own = F.arange(nnz, device=indices.device)
    first = own.new_full((count,), nnz).scatter_reduce(0, places, own, "amin")
    return unflat(numbers, shape), first


def coalesce(t: Tensor) -> Tensor:
    """``t`` with each place once, in order; ``t`` itself where it is so already."""
    parts = parts_of(t)
    if parts.coalesced:
        return t
    shape = sparse_shape(t)
    return assembled(*merged(parts.indices, entries(t), shape), t._aval.shape, True, "Coalesce")


# ------------------------------------------------------------------------------------------- looking up


def _places_in(t: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values of the coalesced ``t``; which of them stand at the places ``wanted``, and whether one does."""
    numbers = flat(parts_of(t).indices, sparse_shape(t))
    where = F.searchsorted(numbers, wanted).clamp(max=numbers.shape[0] - 1)
    return entries(t), where, numbers.index_select(0, where) == wanted


def at_places(t: Tensor, indices: Tensor) -> Tensor:
    """The elements of ``t``, dense or sparse, at sparse places: ``(nnz, *dense)``, zero where none is."""
    count = indices.shape[0]
    if not has_parts(t):
        shape = t._aval.shape
        rows = t.reshape((math.prod(shape[:count]), *shape[count:]))
        return rows.index_select(0, flat(indices, shape[:count]))
    parts = parts_of(t)
    if parts.indices is indices and parts.coalesced:
        return entries(t)
    if parts.indices.shape[0] != count:
        return at_places(dense(t), indices)
    t = coalesce(t)
    if not parts_of(t).values.shape[0]:
        return parts_of(t).values.new_zeros((indices.shape[1], *dense_shape(t)))
    values, where, there = _places_in(t, flat(indices, sparse_shape(t)))
    found = values.index_select(0, where)
    there = there.reshape((-1, *(1,) * (found.dim() - 1)))
    return F.where(there, found, F.zeros_like(found))


def shared_places(t: Tensor, indices: Tensor) -> Tensor:
    """Which of the places, by their numbers, have an entry in ``t``."""
    t = coalesce(t)
    if not parts_of(t).values.shape[0]:
        return F.zeros(0, dtype=dtypes.int64, device=indices.device)
    there = _places_in(t, flat(indices, sparse_shape(t)))[2]
    return there.nonzero().squeeze(1)


def dense(t: Tensor) -> Tensor:
    """``t`` with its zeros; its gradient is that of its entries."""
    if not has_parts(t):
        return t
    shape, parts = sparse_shape(t), parts_of(t)
    rows = summed(parts.values, flat(parts.indices, shape), math.prod(shape))

    def back(grad: Tensor) -> Tensor:
        return of_entries(at_places(grad, parts.indices), parts, t._aval.shape)

    return recorded(rows.reshape(t._aval.shape), "ToDense", [(t, back)])


def without_grad(work: Any, *args: Any) -> Any:
    """What ``work(*args)`` returns, with nothing recorded."""
    return Changed(state, grad=False).run(work, *args)
