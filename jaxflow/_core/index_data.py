"""Index data that is not a tensor (lists, ranges, NumPy arrays) as arrays of int64, bool or uint8.

PyTorch reads such data with rules of its own, which are not those of ``torch.tensor``: whatever is
not bool or uint8 throughout becomes int64, floats are truncated, and a list may hold tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .inner import module_of

INT64_MAX = 2**63 - 1
_MOST_DIMS = 128  # of nested sequences: one that holds itself has no end
_HEAP_TYPE = 1 << 9  # CPython's flag for classes made by a class statement


def type_name(value: Any) -> str:
    """The name CPython's own errors use: only a compiled class is shown with its module."""
    kind = type(value)
    if module_of(kind).partition(".")[0] == "jaxflow":
        return f"torch.{kind.__name__}"  # the like of it is compiled in PyTorch
    if kind.__module__ == "builtins" or kind.__flags__ & _HEAP_TYPE:
        return kind.__name__
    return f"{kind.__module__}.{kind.__qualname__}"


def is_sequence(value: Any) -> bool:
    """Whether Python's C interface calls ``value`` a sequence: it has items, and is no mapping."""
    if isinstance(value, (list, tuple, range, str, np.ndarray)):
        return True
    if not hasattr(type(value), "__getitem__") or isinstance(value, (dict, np.generic)):
        return False
    return getattr(value, "shape", None) != ()  # as of a jax array, which has no items then


def to_int64(value: int) -> int:
    """``value`` as it is; raises ValueError where it does not fit 64 bits."""
    if not -INT64_MAX - 1 <= value <= INT64_MAX:
        raise ValueError("Overflow when unpacking long long")
    return value


def index_array(data: Any, tensor_type: type, dtype_name: Callable[[Any], str]) -> np.ndarray:
    """The index array ``data`` means: bool, uint8 (masks both) or int64.

    ``data`` is a NumPy array or any nesting of sequences, whose innermost items are numbers or
    one-element tensors; ``dtype_name(tensor)`` must give names like ``"int64"``. Raises TypeError,
    ValueError or RuntimeError, in PyTorch's words, for ragged nesting and for other items.
    """
    if isinstance(data, np.ndarray):
        return _from_numpy(data)
    if isinstance(data, (list, tuple, range)) and all(type(item) is int for item in data):
        return np.array([to_int64(item) for item in data], np.int64)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    kind = _kind(data, tensor_type, dtype_name) if len(data) else "int64"
    # Empty lists are read as floats at first; nothing is left of that but the shape.
    dtype = np.dtype(kind if kind in ("bool", "uint8") else "int64")
    shape = _shape(data, tensor_type)
    out = np.empty(shape, dtype)
    if out.size:
        _fill(out, data, shape, tensor_type)
    return out


def _from_numpy(data: np.ndarray) -> np.ndarray:
    if data.dtype.kind not in "biufc":
        name = data.dtype.type.__name__
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{name}. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
            "uint32, uint16, uint8, and bool."
        )
    if data.dtype in (np.bool_, np.uint8):
        return data
    return (data.real if data.dtype.kind == "c" else data).astype(np.int64)


def _kind(data: Any, tensor_type: type, dtype_name: Callable, depth: int = 0) -> str | None:
    """``"bool"`` or ``"uint8"`` where all items are that, else another word; checks every item."""
    if isinstance(data, tensor_type):
        return dtype_name(data)
    if isinstance(data, (np.ndarray, np.generic)):
        return data.dtype.name
    if isinstance(data, bool):
        return "bool"
    if isinstance(data, (int, float, complex)):
        return "number"
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {type_name(data)}")
    if depth > _MOST_DIMS or any(item is data for item in data):
        raise TypeError("new(): self-referential lists are incompatible")
    kinds = {_kind(item, tensor_type, dtype_name, depth + 1) for item in data}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _shape(data: Any, tensor_type: type) -> tuple[int, ...]:
    """The shape that the first items promise; the others are held against it later."""
    shape = []
    while is_sequence(data) and not isinstance(data, tensor_type):
        shape.append(len(data))
        if not shape[-1]:
            break
        data = data[0]
    return tuple(shape)


def _fill(out: np.ndarray, data: Any, shape: tuple[int, ...], tensor_type: type) -> None:
    depth = len(shape) - out.ndim
    if not is_sequence(data) or isinstance(data, tensor_type):
        raise TypeError("not a sequence")
    if len(data) != out.shape[0]:
        raise ValueError(
            f"expected sequence of length {out.shape[0]} at dim {depth} (got {len(data)})"
        )
    for i, item in enumerate(data):
        if out.ndim > 1:
            _fill(out[i], item, shape, tensor_type)
        else:
            out[i] = _item(item, out.dtype)


def _item(item: Any, dtype: np.dtype) -> int | bool:
    if dtype == np.bool_:
        return bool(item)
    if isinstance(item, float):
        if not math.isfinite(item):
            raise RuntimeError("value cannot be converted to type int64 without overflow")
        return int(item)
    if not hasattr(type(item), "__index__"):
        raise TypeError(f"'{type_name(item)}' object cannot be interpreted as an integer")
    return to_int64(item.__index__())
