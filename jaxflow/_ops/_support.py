"""What the op families share: dimension checks, refusals in PyTorch's words, derivative rules."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.cast import cast
from jaxflow._core.jax_compat import SymbolicZero
from jaxflow._core.numbers import bounds_of, check_fits, overflow
from jaxflow._core.promotion import elementwise, promote_types

from ._products import product_or_zero
from ._quotients import complex_quotient

_HALF = (np.dtype(np.float16), dtypes.bfloat16.np)


def category(x) -> int:
    """0 for bool, 1 for integers, 2 for floating, 3 for complex: PyTorch's four categories."""
    return dtypes.from_numpy_dtype(x.dtype).category


def is_bool(x) -> bool:
    """Whether ``x`` holds bools."""
    return x.dtype == np.bool_


def is_complex(x) -> bool:
    """Whether ``x`` is complex."""
    return jnp.issubdtype(x.dtype, np.complexfloating)


def is_float(x) -> bool:
    """Whether ``x`` is real floating point."""
    return jnp.issubdtype(x.dtype, np.floating)


def is_integral(x) -> bool:
    """Whether ``x`` holds integers or bools."""
    return category(x) <= dtypes.INTEGER


def truth(x):
    """Where ``x`` is nonzero, as bools."""
    return x if is_bool(x) else x != 0


def scalar_name(x) -> str:
    """The word PyTorch's messages have for the dtype of ``x`` (``Float``, ``Long``)."""
    return dtypes.from_numpy_dtype(x.dtype).scalar_name


def refuse(kernel: str, x, *categories: int) -> None:
    """Raise PyTorch's "not implemented for" error if the dtype of ``x`` is of these categories."""
    if category(x) in categories:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(x)}'")


def needs_single(kernel: str) -> Callable:
    """A check of operands: PyTorch's kernel is there for single and double precision alone, not for half."""

    def check(*operands) -> NotImplementedError | None:
        """The error for half precision, which comes after that for shapes that do not broadcast."""
        _, result = elementwise("int_to_float", operands)
        if result.np not in _HALF:
            return None
        return NotImplementedError(f"\"{kernel}\" not implemented for '{result.scalar_name}'")

    return check


_REALS = (int, float)


def number_fits(watch, dynamic, static) -> None:
    """A guard: the dtype of the first operand can hold the last one, a number or a tensor taken as one."""
    value, target = dynamic[-1], dynamic[0]._aval.dtype
    if hasattr(value, "_aval"):
        element_fits(watch, value, target)
    elif (value.__class__ in _REALS or value.__class__ is complex) and value:
        check_fits(value, target)


def element_fits(watch, t, target) -> None:
    """Ask whether ``target`` can hold the one element of the tensor ``t``, now or where it is computed."""
    own = t._aval.dtype
    if t._aval.numel != 1 or target is dtypes.bool or promote_types(own, target) is target:
        return
    if own.is_complex and not target.is_complex:
        found = watch.known(t, wait=True)  # seldom: the imaginary part decides
        check_fits(1j if found is None else found.item(), target)
        return
    watch.within((t,), (bounds_of(target, own),), lambda value, _: overflow(target))


def bounds_fit(watch, dynamic, static) -> None:
    """A guard: the dtype of the result can hold the bounds that are Python numbers."""
    numbers = [x for x in dynamic[1:] if x.__class__ in _REALS]
    if not numbers or not hasattr(dynamic[0], "_aval"):
        return
    target = dynamic[0]._aval.dtype
    if target.category < dtypes.FLOATING and float in map(type, numbers):
        target = dtypes.get_default_dtype()
    elif target is dtypes.bool:
        target = dtypes.int64
    for number in numbers:
        check_fits(number, target)


# -------------------------------------------------------------------------------------- dimensions


def wrap_dim(dim, ndim: int) -> int:
    """``dim`` as a non-negative axis; a 0-d array counts as having one dimension.

    Raises:
        IndexError: when out of range.
    """
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
            f"but got {dim})"
        )
    return dim % bound


def wrap_dims(dim, ndim: int) -> tuple[int, ...]:
    """The axes a reduction runs over: all for None or an empty list; sorted, without repeats.

    Raises:
        RuntimeError: when a dimension is named twice, or there are more than 64.
        IndexError: when one is out of range.
    """
    if dim is None:
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, (int, np.integer)) else tuple(dim)
    if not dims:
        return tuple(range(ndim))
    if ndim > 64:  # PyTorch keeps the dimensions as bits of one word
        raise RuntimeError("only tensors with up to 64 dims are supported")
    wrapped = [wrap_dim(d, ndim) for d in dims]
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return tuple(sorted(wrapped)) if ndim else ()


def at_least_1d(x):
    """``x``, or a 0-d ``x`` as one element: along-a-dimension ops then need no special case."""
    return x.reshape(1) if x.ndim == 0 else x


# ------------------------------------------------------------------------------------------ dtypes


def np_dtype(dtype):
    """The NumPy dtype of a ``dtype`` argument (None stays None)."""
    return None if dtype is None else dtype.np


def as_dtype(x, dtype):
    """``x`` converted to a ``dtype`` argument or NumPy dtype; None leaves it."""
    target = getattr(dtype, "np", dtype)
    return x if target is None else cast(x, target)


def wide(x):
    """Half precision widened to float32, in which PyTorch's CPU kernels accumulate."""
    return x.astype(np.float32) if x.dtype in _HALF else x


def in_wide(fn: Callable) -> Callable:
    """Make ``fn(x, ...)`` compute half precision in float32 and round its one result once."""

    @functools.wraps(fn)
    def run(x, *args, **kwargs):
        if x.dtype not in _HALF:
            return fn(x, *args, **kwargs)
        return fn(x.astype(np.float32), *args, **kwargs).astype(x.dtype)

    return run


# ------------------------------------------------------------------------------------- derivatives


def with_partials(*partials: Callable | None, zeroed: dict[int, Callable] | None = None) -> Callable:
    """Give an elementwise function its partial derivatives, each ``f(result, *inputs)``.

    For the points where PyTorch's convention is not what ``jax.vjp`` derives. The rule is a JVP, so it
    serves forward mode, reverse mode and derivatives of derivatives alike. None means zero. ``zeroed`` has,
    by an operand's number, a function of the inputs that says where a gradient that arrives as 0 stays 0,
    whatever the partial derivative is. A partial derivative of bools, or a pair of bools and numbers, passes
    nothing on where it is False, not even an infinite gradient or nan.
    """
    zeroed = zeroed or {}

    def decorate(fn: Callable) -> Callable:
        wrapped = jax.custom_jvp(fn)

        def rule(primals, tangents):
            out = wrapped(*primals)
            total = jnp.zeros_like(out)
            for number, (partial, tangent) in enumerate(zip(partials, tangents)):
                # A constant operand must not enter: its partial may be nan where x ** 2 is fine.
                if partial is not None and not isinstance(tangent, SymbolicZero):
                    where, slope = _with_mask(partial(out, *primals))
                    passed = tangent if slope is None else (
                        product_or_zero(tangent, slope, zeroed[number](*primals)) if number in zeroed
                        else slope * tangent)
                    total = total + (passed if where is None else
                                     jnp.where(where, passed, jnp.zeros_like(passed)))
            return out, total

        wrapped.defjvp(rule, symbolic_zeros=True)
        return functools.wraps(fn)(wrapped)

    return decorate


# Each derivative as one factor: of the function as it is written, what arrives twice is taken off itself.
@with_partials(lambda out, start, end, weight: 1 - weight, lambda out, start, end, weight: weight,
               lambda out, start, end, weight: end - start)
def blend(start, end, weight):
    """``start + weight * (end - start)``, exact at both ends."""
    step = end - start
    return jnp.where(jnp.abs(weight) < 0.5, start + weight * step, end - step * (1 - weight))


def _with_mask(slope):
    """Where a partial derivative passes anything on, None for everywhere, and its numbers, None for ones."""
    if isinstance(slope, tuple):
        where, slope = slope
        return where, jnp.where(where, slope, 0)  # what jax transposes multiplies after the selection
    return (slope, None) if is_bool(slope) else (None, slope)


@jax.custom_jvp
def selected(x, good, other):
    """``x`` where it is ``good``, ``other`` elsewhere, where PyTorch multiplies gradients by 0."""
    return jnp.where(good, x, other)


@selected.defjvp
def _selected_moved(primals, tangents):
    x, good, other = primals
    moved, _, _ = tangents
    # XLA makes a selection of a product with converted bools, and nan does not go through that.
    return selected(x, good, other), jnp.where(good, moved, moved * 0)


@with_partials(lambda out, x: jnp.ones_like(x))
def added_to_zero(x):
    """``0 + x`` of real floating ``x``: it loses the sign of a zero. XLA drops a sum with 0."""
    return jnp.where(x == 0, jnp.zeros_like(x), x)


@with_partials(lambda out, x: jnp.ones_like(x))
def multiplied_by_one(x):
    """``(1 + 0j) * x`` of complex ``x``: nan beside an infinite part. XLA drops a factor of 1."""
    nothing = np.zeros((), x.real.dtype)
    return jax.lax.complex(x.real - nothing * x.imag, x.imag + nothing * x.real)


# Not ``out / b``, of which XLA makes ``a / (b * b)``: the square may be too large or too small a number.
@with_partials(lambda out, a, b: 1 / b, lambda out, a, b: -(out * (1 / b)))
def divide(a, b):
    """``a / b`` of floating arrays of one shape and dtype, correctly rounded.

    XLA turns a division by something broadcast into a product with its reciprocal, one bit off for a third
    of all numbers: 41 / 41 would not be 1, and its floor 0. A divisor that depends on the dividend stops
    it; where the dividend is nan, so is the quotient by anything.
    """
    if is_complex(a):
        return complex_quotient(a, b)
    return a / jnp.where(jnp.isnan(a), a, b)


def numbered_of_two(name: str) -> Callable:
    """A ``grad_name`` whose last digit says which of two operands is a number: 1, 2, or 0 for none."""

    def grad_name(numbers, **static):
        return f"{name}Backward{1 if numbers[0] else 2 if numbers[1] else 0}"

    return grad_name


def numbered(name: str, with_number: int, without: int, which: int = -1) -> Callable:
    """A ``grad_name`` whose last digit says whether the operand ``which`` is a Python number."""

    def grad_name(numbers, **static):
        return f"{name}Backward{with_number if numbers[which] else without}"

    return grad_name
