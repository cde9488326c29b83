"""Elementwise arithmetic: NumPy's ufunc, where it and XLA agree, else what XLA computes on the CPU.

All rules here are compact. Python's operators are used for ufuncs that have one: on the scalars that stand
for arrays of no dimensions they are ten times as quick, and no slower on arrays.
"""

from __future__ import annotations

import math
import operator
from functools import partial

import numpy as np

from jaxflow._core.cast import float_to_integer_numpy

from .numbers import (
    BFLOAT16,
    BOOL,
    COMPLEX,
    FLOATS,
    HALVES,
    INTEGERS,
    SIGNED,
    computed_wide,
    converter,
    wide_of,
)
from .table import SAME, rows, rule

# ----- arithmetic ---------------------------------------------------------------------------------

rows({"add": operator.add, "add_any": operator.add, "sub": operator.sub, "mul": operator.mul,
      "neg": operator.neg},
     lambda function: lambda site: function)


@rule("product_or_zero", compact=True)
def _product_or_zero(site):
    zero, where = site.dtype.type(0), np.where
    return lambda linear, factor, counts: where((linear == 0) & counts, zero, linear * factor)


def _is_nonzero(array) -> bool:
    return array is not None and bool(np.all(array != 0))


@rule("div", compact=True)
def _div(site):
    """Integers: towards zero; by zero all bits set; the least by -1 is itself."""
    dtype = site.dtype
    if dtype in FLOATS:
        return operator.truediv
    if dtype in COMPLEX:
        return None
    if dtype not in SIGNED:
        quotient = operator.floordiv
    else:
        def quotient(x, y):
            found = operator.floordiv(x, y)
            rest = operator.sub(x, operator.mul(found, y))
            return found + ((rest != 0) & ((x < 0) != (y < 0))).astype(dtype)

    if _is_nonzero(site.known[1]):
        return quotient
    one, ones = dtype.type(1), np.array(-1).astype(dtype)[()]

    def div(x, y):
        none = y == 0
        return np.where(none, ones, quotient(x, np.where(none, one, y)))

    return div


@rule("rem", compact=True)
def _rem(site):
    """The sign is the dividend's; by zero an integer is left as it is."""
    dtype = site.dtype
    if dtype in FLOATS:
        return computed_wide(np.fmod, dtype)
    if _is_nonzero(site.known[1]):
        return np.fmod
    return lambda x, y: np.where(y == 0, x, np.fmod(x, y))


def _float_power(x, y):
    """NumPy takes the square root where one 0.5 serves many: at -0 and minus infinity it is no power."""
    found = np.power(x, y)
    half = y == 0.5
    if np.any(half):
        found = np.where(half & ((x == 0) | (x == -np.inf)), np.abs(x), found)
    return found


@rule("pow", compact=True)
def _pow(site):
    base, exponent = (aval.dtype for aval in site.ins)
    if base not in FLOATS:
        return None
    power = computed_wide(_float_power, base)
    if exponent == base:
        return power
    return lambda x, y: power(x, y.astype(base))


@rule("integer_pow", compact=True)
def _integer_pow(site):
    """Products of squares, the inverse last."""
    y, dtype = site.params["y"], site.dtype
    if y < 0 and dtype not in FLOATS:
        return None
    if y == 2:
        return np.square
    if y == 0:
        return np.ones_like

    def power(x):
        found, n = None, abs(y)
        while True:
            if n & 1:
                found = x if found is None else found * x
            n >>= 1
            if not n:
                return found if y > 0 else x.dtype.type(1) / found
            x = np.square(x)

    return computed_wide(power, dtype)


rows({"square": np.square, "abs": operator.abs}, lambda function: lambda site: function)


@rule("sign", compact=True)
def _sign(site):
    if site.dtype in COMPLEX:
        return None
    if site.dtype in FLOATS:  # zeros keep their sign
        return computed_wide(lambda x: np.where(x == 0, x, np.sign(x)), site.dtype)
    return np.sign


def _larger(ufunc):
    def make(site):
        return None if site.dtype in COMPLEX else ufunc
    return make


rows({"max": np.maximum, "min": np.minimum}, _larger)


def _in_total_order(compare):
    """Of the bits as integers: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""

    def make(site):
        dtype = site.ins[0].dtype
        if dtype in COMPLEX:
            return None
        if dtype not in FLOATS:
            return compare
        bits = np.dtype(f"i{dtype.itemsize}")
        low = np.iinfo(bits).max

        def place(x):
            x = np.asarray(x).view(bits)
            return np.where(x < 0, np.bitwise_xor(x, low), x)

        return lambda x, y: compare(place(x), place(y))

    return make


rows({"eq_to": operator.eq, "le_to": operator.le, "lt_to": operator.lt}, _in_total_order)


@rule("clamp", compact=True)
def _clamp(site):
    return lambda low, x, high: np.minimum(np.maximum(x, low), high)


@rule("nextafter", compact=True)
def _nextafter(site):
    return None if site.dtype == BFLOAT16 else np.nextafter


# ----- comparing, choosing, bits ------------------------------------------------------------------

rows({"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
      "ge": operator.ge}, lambda function: lambda site: function)

rows({"and": operator.and_, "or": operator.or_, "xor": operator.xor},
     lambda function: lambda site: function)


@rule("not", compact=True)
def _not(site):
    return np.logical_not if site.dtype == BOOL else operator.invert


#: From so many elements on, choosing between a value and 0 by its bits is quicker than `np.where`.
MANY = 4096


def _is_zero(array) -> bool:
    return array is not None and np.ndim(array) == 0 and array == 0 and not np.signbit(array)


def _kept_or_zero(dtype, kept_if):
    """``which == kept_if ? x : 0``: x's bits and all ones, or and none. A third of the time of `np.where`."""
    bits = np.dtype(f"i{dtype.itemsize}")

    def select(which, no, yes):
        mask = which.astype(bits)
        if kept_if:
            np.negative(mask, out=mask)
        else:
            mask -= 1
        return np.bitwise_and((yes if kept_if else no).view(bits), mask).view(dtype)

    return select


@rule("select_n", compact=True)
def _select_n(site):
    if len(site.ins) == 2:
        return lambda which, only: only
    where = np.where
    if site.ins[0].dtype == BOOL:
        if len(site.ins) == 3 and site.shapes[0] == () and site.shapes[1] == site.shapes[2]:
            return lambda which, no, yes: yes if which else no
        many = site.shapes[0] != () and math.prod(site.outs[0].shape) >= MANY
        if many and site.dtype.kind in "fiu" and site.dtype.itemsize >= 4:
            for case in (1, 2):
                if _is_zero(site.known[case]):
                    return _kept_or_zero(site.dtype, case == 1)
        return lambda which, no, yes: where(which, yes, no)

    def choose(which, *cases):
        found = cases[-1]
        for i, case in enumerate(cases[:-1]):
            found = where(which == i, case, found)
        return found

    return choose


# NumPy shifts by the width and more as XLA does: to 0, or to the sign.


@rule("shift_left", compact=True)
def _shift_left(site):
    return np.left_shift


def _right_shift(kind):
    """Of the bits as signed or unsigned numbers, whatever they are."""

    def make(site):
        dtype = site.dtype
        if dtype.kind == kind:
            return np.right_shift
        bits = np.dtype(f"{kind}{dtype.itemsize}")
        return lambda x, by: np.right_shift(x.view(bits), by.view(bits)).view(dtype)

    return make


rule("shift_right_arithmetic", compact=True)(_right_shift("i"))
rule("shift_right_logical", compact=True)(_right_shift("u"))


@rule("population_count", compact=True)
def _population_count(site):
    dtype = site.dtype
    bits = np.dtype(f"u{dtype.itemsize}")
    return lambda x: np.bitwise_count(x.view(bits)).astype(dtype)


# ----- functions of one number --------------------------------------------------------------------


def _real(ufunc):
    """A ufunc on real floats; complex numbers run through XLA, which has its own branches and edges."""
    return lambda site: computed_wide(ufunc, site.dtype) if site.dtype in FLOATS else None


rows({
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "sqrt": np.sqrt, "cbrt": np.cbrt, "atan2": np.arctan2,
    "floor": np.floor, "ceil": np.ceil,
}, _real)


@rule("rsqrt", compact=True)
def _rsqrt(site):
    if site.dtype not in FLOATS:
        return None
    sqrt = np.sqrt
    return computed_wide(lambda x: x.dtype.type(1) / sqrt(x), site.dtype)


@rule("logistic", compact=True)
def _logistic(site):
    if site.dtype not in FLOATS:
        return None
    exp = np.exp
    if site.shapes[0] == ():
        def logistic(x):
            one = x.dtype.type(1)
            return one / (one + exp(-x))
    else:
        one = np.array(1, wide_of(site.dtype))  # quicker beside an array than a NumPy scalar is

        def logistic(x):
            found = np.negative(x)
            exp(found, found)
            np.add(found, one, found)
            return np.divide(one, found, found)

    return computed_wide(logistic, site.dtype)


@rule("round", compact=True)
def _round(site):
    if int(site.params["rounding_method"]) == 1:
        return computed_wide(np.rint, site.dtype)

    def away(x):
        whole = np.trunc(x)
        return whole + np.copysign((np.abs(x - whole) >= 0.5).astype(x.dtype), x)

    return computed_wide(away, site.dtype)


@rule("is_finite", compact=True)
def _is_finite(site):
    if site.ins[0].dtype in INTEGERS:
        return lambda x: np.ones_like(x, BOOL)
    return np.isfinite


# ----- dtypes and complex parts -------------------------------------------------------------------


@rule("convert_element_type", compact=True)
def _convert_element_type(site):
    return converter(site.ins[0].dtype, site.dtype) or SAME


@rule("float_to_integer", compact=True)
def _float_to_integer(site):
    return partial(float_to_integer_numpy, target=site.dtype)


@rule("real", compact=True)
def _real_part(site):
    return operator.attrgetter("real")


@rule("imag", compact=True)
def _imaginary_part(site):
    return operator.attrgetter("imag")


@rule("conj", compact=True)
def _conj(site):
    dtype = site.dtype
    if site.ins[0].dtype in COMPLEX:
        return np.conj
    return lambda x: x.astype(dtype)


@rule("complex", compact=True)
def _complex(site):
    dtype = site.dtype

    def join(x, y):
        out = np.empty(np.broadcast(x, y).shape, dtype)
        out.real, out.imag = x, y
        return out

    return join


@rule("stop_gradient", "copy", "copy_p", "name", "reduced_vary_cast_p", "pvary", compact=True)
def _same(site):
    return SAME


@rule("reduce_precision", compact=True)
def _reduce_precision(site):
    """Only to the dtype's own precision, which is no change, and to those that NumPy has."""
    own = {np.dtype(np.float64): (11, 52), np.dtype(np.float32): (8, 23), BFLOAT16: (8, 7),
           np.dtype(np.float16): (5, 10)}
    wanted = (site.params["exponent_bits"], site.params["mantissa_bits"])
    if own.get(site.dtype) == wanted:
        return SAME
    target = next((dtype for dtype, bits in own.items() if bits == wanted), None)
    if target is None or site.dtype in HALVES:
        return None
    return partial(_through, target, site.dtype)


def _through(narrow, dtype, x):
    return x.astype(narrow).astype(dtype)
