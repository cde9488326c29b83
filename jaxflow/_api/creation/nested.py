"""Nested sequences as host arrays: their shape, their common dtype, and their numbers.

The shape is that of the first elements all the way down, where a tensor counts as one number; the
dtype is what the dtypes of all elements promote to. Both are known before any number is converted.
"""

from __future__ import annotations

import operator
from typing import Any

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.promotion import promote_types
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import array_of, is_torchs
from jaxflow._core.warning import warn_once

# What numbers need no second look.
_PLAIN = frozenset((bool, int, float, complex))

# The most dimensions that sequences may have.
_MOST = 128


def from_nested(data: Any, dtype: dtypes.dtype | None) -> tuple[np.ndarray, dtypes.dtype]:
    """The numbers in ``data`` in the widest type of their kind, and the dtype to convert them to.

    Raises:
        ValueError: for ragged sequences, and tensors of several elements among numbers.
        TypeError: for what is no number.
        RuntimeError: for objects of which no dtype is known.
    """
    sizes = _sizes(data)
    target = dtype or _infer(data)
    if 0 in sizes:
        return np.zeros(sizes, target.np), target
    numbers = _numbers(data, sizes, 0, target)
    kind = _widest(numbers)
    if kind is int:
        return _integers(numbers, target), target
    if kind is complex and target.category in (dtypes.INTEGER, dtypes.FLOATING):
        raise _no_number(1j, target)
    return np.array(numbers, {bool: np.bool_, float: np.float64, complex: np.complex128}[kind]), target


def numpy_dtype(array: np.ndarray | np.generic) -> dtypes.dtype:
    """The dtype of a tensor with these elements. TypeError for elements tensors cannot have."""
    if array.dtype == object or array.dtype.kind in "USOMm":
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype.type.__module__}."
            f"{array.dtype.type.__name__}. The only supported types are: float64, float32, float16, "
            "complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    return dtypes.from_numpy_dtype(array.dtype)


def _is_sequence(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return True
    if isinstance(x, (np.ndarray, jax.Array)):
        return x.ndim > 0
    return not isinstance(x, (Tensor, dict, np.generic)) and (
        hasattr(x, "__len__") and hasattr(x, "__getitem__") and not is_torchs(x)
    )


def _sizes(data: Any) -> list[int]:
    sizes: list[int] = []
    while _is_sequence(data) and not (isinstance(data, str) and not sizes):
        if isinstance(data, str):
            raise ValueError("too many dimensions 'str'")
        sizes.append(len(data))
        if len(sizes) > _MOST:  # a list that holds itself has no end
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not len(data):
            break
        try:
            data = data[0]
        except Exception as error:  # a memoryview of several dimensions, for one
            name = type(data).__name__
            raise ValueError(f"could not determine the shape of object type '{name}'") from error
    if sizes and isinstance(data, str):
        raise ValueError("too many dimensions 'str'")
    return sizes


def _infer(data: Any, depth: int = 0) -> dtypes.dtype:
    if isinstance(data, (np.ndarray, np.generic)):
        return numpy_dtype(data)
    if isinstance(data, Tensor):
        return data._aval.dtype
    if isinstance(data, jax.Array):
        return dtypes.from_numpy_dtype(data.dtype)
    if isinstance(data, bool):
        return dtypes.bool
    if isinstance(data, int):
        return dtypes.int64
    if isinstance(data, float):
        return dtypes.get_default_dtype()
    if isinstance(data, complex):
        return dtypes.default_complex_dtype()
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if is_torchs(data):
        return dtypes.from_numpy_dtype(array_of(data).dtype)
    if not _is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {_type_name(data)}")
    if not len(data):
        return dtypes.get_default_dtype()
    kinds = set(map(type, data))
    if kinds <= _PLAIN:
        found = [_infer(kind()) for kind in kinds]
    elif depth > _MOST or any(x is data for x in data):
        raise TypeError("new(): self-referential lists are incompatible")
    else:
        found = [_infer(x, depth + 1) for x in data]
    result = found[0]
    for other in found[1:]:
        result = promote_types(result, other)
    return result


def _numbers(data: Any, sizes: list[int], depth: int, target: dtypes.dtype) -> Any:
    """``data`` as nested lists of Python numbers. Raises where it is not of these sizes."""
    if depth == len(sizes):
        return _number(data, target)
    if isinstance(data, Tensor) or is_torchs(data):
        data = data.tolist()
    if not _is_sequence(data):
        raise TypeError("not a sequence")
    if len(data) != sizes[depth]:
        raise ValueError(f"expected sequence of length {sizes[depth]} at dim {depth} (got {len(data)})")
    if isinstance(data, (np.ndarray, jax.Array)) and data.ndim == len(sizes) - depth:
        data = np.asarray(data).tolist()
    if depth + 1 == len(sizes) and _PLAIN.issuperset(map(type, data)):
        return list(data)
    if isinstance(data, (list, tuple)) and any(type(x) is np.ndarray for x in data):
        warn_once(
            "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
            "converting the list to a single numpy.ndarray with numpy.array() before converting to a "
            "tensor.", UserWarning,
        )
    return [_numbers(x, sizes, depth + 1, target) for x in data]


def _number(x: Any, target: dtypes.dtype) -> Any:
    if type(x) in _PLAIN:
        return x
    if isinstance(x, (np.bool_, float)) and target.category != dtypes.INTEGER:
        return x.item() if isinstance(x, np.generic) else float(x)
    if isinstance(x, float):
        return float(x)
    if target.category == dtypes.COMPLEX:
        convert, able = complex, hasattr(x, "__complex__") or hasattr(x, "__float__")
    elif target.category == dtypes.FLOATING:
        convert, able = float, hasattr(x, "__float__")
    else:
        convert, able = operator.index, hasattr(x, "__index__")
    if not able and not hasattr(x, "__index__"):
        raise _no_number(x, target)
    return convert(x)


def _no_number(x: Any, target: dtypes.dtype) -> TypeError:
    if target.category in (dtypes.FLOATING, dtypes.COMPLEX):
        return TypeError(f"must be real number, not {_type_name(x)}")
    return TypeError(f"'{_type_name(x)}' object cannot be interpreted as an integer")


def _type_name(x: Any) -> str:
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _integers(data: Any, dtype: dtypes.dtype) -> np.ndarray:
    try:
        return np.array(data, dtype=np.int64)
    except OverflowError:
        if dtype.is_floating_point or dtype.is_complex:
            return np.array(data, dtype=np.float64)
        if dtype is dtypes.bool:
            return np.array(data, dtype=object) != 0
        if dtype is dtypes.uint64:
            array = np.array(data, dtype=object)
            if (array < 0).any():
                raise OverflowError("can't convert negative int to unsigned") from None
            if (array >= 2**64).any():
                raise OverflowError("int too big to convert") from None
            return array.astype(np.uint64)
        raise ValueError("Overflow when unpacking long long") from None


_ORDER = (bool, int, float, complex)


def _widest(data: Any) -> type:
    """The widest kind of number in nested lists."""
    if not isinstance(data, list):
        return type(data)
    kinds = set(map(type, data))
    if list in kinds:
        kinds = {_widest(x) for x in data}
    return max(kinds, key=_ORDER.index)
