"""Type promotion: which dtype an operation computes in and which dtype it returns.

An operand is a pair ``(dtype, kind)``. Its kind says how strongly it counts: a tensor with
dimensions decides the precision within its category (bool < integer < floating < complex), a 0-d
tensor only where no tensor with dimensions has as high a category, and a Python number only where
no tensor has.
"""

from __future__ import annotations

import functools

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import BOOL, COMPLEX, FLOATING, INTEGER, QUANTIZED, dtype, given_dtype

TENSOR, ZERODIM, SCALAR = "tensor", "zerodim", "scalar"

Operand = tuple[dtype, str]

_UNSIGNED = frozenset({dtypes.uint16, dtypes.uint32, dtypes.uint64})
_FLOAT8 = frozenset(d for d in dtypes.ALL.values() if d.is_floating_point and d.itemsize == 1)
_OPMATH = {dtypes.float16: dtypes.float32, dtypes.bfloat16: dtypes.float32}
_SCALAR_TYPES = {
    bool: dtypes.bool,
    int: dtypes.int64,
    float: dtypes.float64,
    complex: dtypes.complex128,
    np.bool_: dtypes.bool,
    np.integer: dtypes.int64,
    np.floating: dtypes.float64,
    np.complexfloating: dtypes.complex128,
}


def scalar_dtype(value) -> dtype:
    """Return the dtype that stands for a Python or NumPy number in an operand, else TypeError."""
    found = _SCALAR_TYPES.get(type(value))
    if found is not None:
        return found
    for kind, found in _SCALAR_TYPES.items():
        if isinstance(value, kind):
            return found
    raise TypeError(f"expected a Python number, but got {type(value).__name__}")


def promote_types(type1, type2) -> dtype:
    """Return the smallest dtype that both dtypes convert to; RuntimeError if they do not mix."""
    type1, type2 = given_dtype(type1), given_dtype(type2)
    _check_dtype("promote_types", "type1", 1, type1)
    _check_dtype("promote_types", "type2", 2, type2)
    if type1 in QUANTIZED or type2 in QUANTIZED:
        raise RuntimeError(
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules "
            f"should be, offending types: {type1.scalar_name} {type2.scalar_name}"
        )
    return _promote(type1, type2)


def can_cast(from_, to) -> bool:
    """Say whether ``from_`` converts to ``to`` without leaving its category downwards."""
    from_, to = given_dtype(from_), given_dtype(to)
    _check_dtype("can_cast", "from_", 1, from_)
    _check_dtype("can_cast", "to", 2, to)
    if from_.category <= to.category:
        return True
    # Integers of every width are alike here, but only a bool fits a bool.
    return from_.category == to.category


def _check_dtype(function, name, position, value):
    if type(value) is not dtype:
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be torch.dtype, "
            f"not {type(value).__name__}"
        )


@functools.cache
def _promote(a, b):
    if a is b:
        return a
    if a in _FLOAT8 or b in _FLOAT8:
        raise RuntimeError(
            "Promotion for Float8 Types is not supported, "
            f"attempted to promote {a.scalar_name} and {b.scalar_name}"
        )
    if a in _UNSIGNED or b in _UNSIGNED:
        return _promote_unsigned(a, b)
    low, high = (a, b) if a.category <= b.category else (b, a)
    if low.category != high.category:
        return _promote_categories(low, high)
    if high.category == INTEGER:
        return _promote_integers(a, b)
    if a.itemsize == b.itemsize:
        return dtypes.float32  # float16 and bfloat16: neither holds the other
    return a if a.itemsize > b.itemsize else b


def _promote_unsigned(a, b):
    if a.is_floating_point:
        return a
    if b.is_floating_point:
        return b
    raise RuntimeError(
        "Promotion for uint16, uint32, uint64 types is not supported, "
        f"attempted to promote {a.scalar_name} and {b.scalar_name}"
    )


def _promote_categories(low, high):
    if low is dtypes.float64 and high.category == COMPLEX:
        return dtypes.complex128
    return high


def _promote_integers(a, b):
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return dtypes.int16  # uint8 and int8


def result_type(operands) -> dtype:
    """Return the dtype of an operation on ``(dtype, kind)`` operands; RuntimeError on a clash."""
    return _result_type(tuple(operands), dtypes.get_default_dtype())


@functools.lru_cache(maxsize=4096)
def _result_type(operands: tuple[Operand, ...], default: dtype) -> dtype:
    strongest = {TENSOR: None, ZERODIM: None, SCALAR: None}
    for found, kind in operands:
        if kind == SCALAR and found.category == FLOATING:
            found = default
        so_far = strongest[kind]
        strongest[kind] = found if so_far is None else _promote(so_far, found)
    tensors, scalar = _combine(strongest[TENSOR], strongest[ZERODIM]), strongest[SCALAR]
    if scalar is dtypes.complex128 and (tensors is None or tensors.category < FLOATING):
        return default.to_complex()
    return _combine(tensors, scalar)


def _combine(strong, weak):
    """Merge two priorities: the weaker one counts only if its category is higher."""
    if strong is None or weak is None:
        return weak if strong is None else strong
    if strong.category == COMPLEX:
        return strong
    if strong.category == FLOATING:
        return strong.to_complex() if weak.category == COMPLEX else strong
    if weak.category == COMPLEX:
        return weak
    if strong.category == BOOL or weak.category == FLOATING:
        return _promote(strong, weak)
    return strong


def elementwise(kind, operands) -> tuple[dtype, dtype]:
    """Return ``(compute, result)`` dtypes of an elementwise operation with a named promotion kind.

    ``default``: result_type, computing half precision in float32. ``no_opmath``: without that.
    ``int_to_float``: bools and integers become the default dtype. ``always_bool``: the result is
    bool. ``complex_to_float``: the result of a complex input is real. ``bool_to_long``: a bool
    becomes int64. ``reshaped``: ``no_opmath``, and a tensor without dimensions counts as one with.
    """
    return _elementwise(kind, tuple(operands), dtypes.get_default_dtype())


def common(kind, operands) -> dtype:
    """The dtype that the operands are converted to before an elementwise operation of this promotion kind."""
    found = _result_type(_counted(kind, tuple(operands)), dtypes.get_default_dtype())
    return dtypes.get_default_dtype() if kind == "int_to_float" and found.category < FLOATING else found


def rounded_to(kind, operands, compute: dtype) -> dtype | None:
    """The half precision that operands of other dtypes are rounded to although the kernel computes wider."""
    if compute is not dtypes.float32:
        return None
    found = common(kind, operands)
    return found if found in _OPMATH else None


@functools.lru_cache(maxsize=4096)
def _elementwise(kind, operands, default):
    if kind == "always_bool":
        operands, default = _with_complex_counterparts(operands, default)
    return _KINDS[kind](_result_type(_counted(kind, operands), default), default)


def _counted(kind, operands):
    """The operands with the ranks by which they count in this promotion kind."""
    if kind != "reshaped":
        return operands
    return tuple((found, TENSOR if rank == ZERODIM else rank) for found, rank in operands)


def _with_complex_counterparts(operands, default):
    """Count float16 as float32 beside complex numbers, where only the computation would need complex32."""
    if all(found.category != COMPLEX for found, _ in operands):
        return operands, default
    wide = {dtypes.float16: dtypes.float32}
    return tuple((wide.get(found, found), kind) for found, kind in operands), wide.get(
        default, default
    )


def _no_opmath(found, default):
    return found, found


def _plain(found, default):
    return _OPMATH.get(found, found), found


def _int_to_float(found, default):
    return _plain(found if found.category >= FLOATING else default, default)


def _always_bool(found, default):
    return found, dtypes.bool


def _complex_to_float(found, default):
    compute, result = _plain(found, default)
    return compute, result.to_real()


def _bool_to_long(found, default):
    return _plain(dtypes.int64 if found is dtypes.bool else found, default)


_KINDS = {
    "default": _plain,
    "no_opmath": _no_opmath,
    "int_to_float": _int_to_float,
    "always_bool": _always_bool,
    "complex_to_float": _complex_to_float,
    "bool_to_long": _bool_to_long,
    "reshaped": _no_opmath,
}
