"""From a list of samples to a batch.

Whatever is known on the host is put together there, by NumPy, in one piece: a batch is then one
transfer and no recorded operation.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._views.reading import shown_on_host

from ..._host import from_host

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _rebuilt(original: Any, items: Any) -> Any:
    """``items`` in a container like ``original``: a changed copy where its type allows one.

    A mutable container may carry more than its items, so it is copied, not made anew; one whose
    type refuses both becomes a plain dict or list.
    """
    try:
        if isinstance(original, MutableMapping):
            clone = copy.copy(original)
            clone.update(items)
            return clone
        if isinstance(original, MutableSequence):
            clone = copy.copy(original)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(original)(items)
    except TypeError:
        return items


def _holds_text_or_objects(dtype: np.dtype) -> bool:
    return dtype.kind in "SaUO"


def default_convert(data: Any) -> Any:
    """``data`` with every NumPy array and scalar in it as a tensor; the rest stays as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray):
        return data if _holds_text_or_objects(data.dtype) else functions.as_tensor(data)
    if isinstance(data, np.generic):
        return data if isinstance(data, np.str_ | np.bytes_) else functions.as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        items = [default_convert(item) for item in data]
        return type(data)(*items) if hasattr(data, "_fields") else items
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _rebuilt(data, [default_convert(item) for item in data])
    return data


def collate(batch: Sequence, *, collate_fn_map: dict | None = None) -> Any:
    """Put samples together, type by type.

    Args:
        batch: samples alike in structure.
        collate_fn_map: function ``(batch, *, collate_fn_map)`` for a type or a tuple of types; the
            first that fits is used, an exact match before all others.

    Raises:
        TypeError: for samples of a type that neither the map nor the containers cover.
        RuntimeError: for sequences of different lengths.
    """
    elem = batch[0]
    if collate_fn_map is not None:
        function = _find(type(elem), elem, collate_fn_map)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)

    def together(samples: Sequence) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(elem, Mapping):
        return _rebuilt(elem, {key: together([d[key] for d in batch]) for key in elem})
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return type(elem)(*map(together, zip(*batch)))
    if isinstance(elem, Sequence):
        if any(len(other) != len(elem) for other in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        items = [together(samples) for samples in zip(*batch)]
        return items if isinstance(elem, tuple) else _rebuilt(elem, items)
    if is_torchs(elem):
        raise refusal("default_collate")
    raise TypeError(default_collate_err_msg_format.format(type(elem)))


def _find(cls: type, elem: Any, functions: dict) -> Callable | None:
    if cls in functions:
        return functions[cls]
    return next((fn for types, fn in functions.items() if isinstance(elem, types)), None)


def _stack(arrays: Sequence) -> Any:
    """The tensor of equally shaped arrays along a new first dimension; None if they are not."""
    first = arrays[0]
    if any(a.shape != first.shape or a.dtype != first.dtype for a in arrays):
        return None
    return from_host(np.stack(arrays))


def collate_tensor_fn(batch: Sequence, *, collate_fn_map: dict | None = None) -> Any:
    """Tensors of one shape, stacked."""
    if not any(t.requires_grad for t in batch):
        arrays = [shown_on_host(t) for t in batch]
        if all(a is not None for a in arrays):
            stacked = _stack(arrays)
            if stacked is not None:
                return stacked
    return functions.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Sequence, *, collate_fn_map: dict | None = None) -> Any:
    """NumPy arrays of one shape, stacked."""
    dtype = batch[0].dtype
    if _holds_text_or_objects(dtype):
        raise TypeError(default_collate_err_msg_format.format(dtype))
    if dtype.isnative and dtype.kind in "biufc":
        stacked = _stack(batch)
        if stacked is not None:
            return stacked
    return collate([functions.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence, *, collate_fn_map: dict | None = None) -> Any:
    """NumPy scalars, as a tensor of their dtype."""
    return functions.as_tensor(np.asarray(batch))


def collate_float_fn(batch: Sequence, *, collate_fn_map: dict | None = None) -> Any:
    """Python floats, as a float64 tensor."""
    return functions.tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Sequence, *, collate_fn_map: dict | None = None) -> Any:
    """Python integers or bools, as a tensor."""
    return functions.tensor(batch)


def collate_str_fn(batch: Sequence, *, collate_fn_map: dict | None = None) -> Any:
    """Text, as it is."""
    return batch


default_collate_fn_map: dict = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Sequence) -> Any:
    """A batch of samples: tensors, arrays and numbers become tensors with a new first dimension.

    Raises:
        TypeError: for samples of another type.
        RuntimeError: for samples of different sizes.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
