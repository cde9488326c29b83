"""Writes by index, mask or diagonal into tensors that show an element several times (``expand``).

PyTorch writes there one element after the other, in memory; so does this: what is written is found by its
places in the storage, and written to the storage laid out flat. `apply_inplace` comes here where it would
refuse.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._api.indexing.indexing import gather
from jaxflow._core.commit import commit
from jaxflow._core.geometry import storage_extent
from jaxflow._core.tensor import Tensor, version_cell
from jaxflow._core.warning import user_level
from jaxflow._dispatch.dispatch import apply, plan_of, strides_of
from jaxflow._ops._strided import positions
from jaxflow._plans.op import OPS
from jaxflow._writes.inplace import BY_PLACES, SHARED, apply_inplace

_WORDS = (
    "Use of {} on expanded tensors is deprecated. Please clone() the tensor before performing this "
    "operation. This also applies to advanced indexing e.g. {}"
)


def _warn(name: str, example: str) -> None:
    warnings.warn(_WORDS.format(name, example), UserWarning, stacklevel=user_level())


def _places(t: Tensor) -> np.ndarray:
    """For each element shown its place in `_flat`."""
    return positions(t._aval.shape, strides_of(t), 0)


def _flat(t: Tensor) -> Tensor:
    """The storage from the first to the last element that ``t`` shows, each once."""
    extent = storage_extent(t._aval.shape, strides_of(t))
    return t.as_strided((extent,), (1,), plan_of(t).offset)


def _positions(t: Tensor) -> Tensor:
    return put(_places(t), t._aval.device)


def _fill(t: Tensor, places: Tensor, value: Any) -> Tensor:
    """Write one number at places in the storage."""
    apply_inplace(OPS["index_fill"], (_flat(t), places.reshape(-1), value), (0,))
    return t


def _index_put(op: Any, args: tuple, static: tuple) -> Tensor:
    _warn("index_put_", "tensor[indices] = tensor")
    t, value, *indices = args
    dims, accumulate = static
    where = gather(_positions(t), dims, indices)
    value = value if value._aval.shape == where._aval.shape else value.expand(where._aval.shape)
    apply_inplace(OPS["_index_put"], (_flat(t), value, where), ((0,), accumulate))
    return t


def _masked_write(op: Any, args: tuple, static: tuple) -> Tensor:
    _warn("index_put_", "tensor[indices] = tensor")
    return _masked_fill(op, args, static)


def _masked_fill(op: Any, args: tuple, static: tuple) -> Tensor:
    _warn("masked_fill_", "tensor[mask] = scalar")
    t, mask, value = args
    return _fill(t, _positions(t)[mask.expand(t._aval.shape)], value)


def _index_fill(op: Any, args: tuple, static: tuple) -> Tensor:
    _warn("index_fill_", "tensor[mask] = scalar")
    t, index, value = args
    return _fill(t, apply(OPS["index_select"], (_positions(t), index), static), value)


def _triangle(op: Any, args: tuple, static: tuple) -> Tensor:
    """Write 0 where the operation does so to a tensor of ones."""
    t = args[0]
    changed = apply(op, (put(np.full(t._aval.shape, 1), t._aval.device),), static).numpy() != 1
    return _fill(t, put(_places(t)[changed], t._aval.device), 0)


def _copy(op: Any, args: tuple, static: tuple) -> Tensor:
    """A tensor copied into itself: nothing to do, but it counts as a write. RuntimeError for another."""
    t, source = args
    if source is not t:
        raise RuntimeError(SHARED)
    cell = version_cell(t)
    commit([(list.__setitem__, cell, 0, cell[0] + 1)])
    return t


BY_PLACES.update(
    _copy=_copy, _index_put=_index_put, _masked_write=_masked_write, masked_fill=_masked_fill,
    index_fill=_index_fill, tril=_triangle, triu=_triangle,
)
