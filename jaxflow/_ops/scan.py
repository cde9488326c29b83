"""Cumulative operations along a dimension."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import EXACT, EXPECTED, Out, op

from ._layouts import of_differences
from ._support import (
    added_to_zero,
    as_dtype,
    at_least_1d,
    is_bool,
    is_complex,
    is_float,
    is_integral,
    multiplied_by_one,
    refuse,
    wide,
    wrap_dim,
)
from ._xla import on_cpu
from .binary import log_add_exp


def _need_int(name, dim):
    if not isinstance(dim, (int, np.integer)) or isinstance(dim, bool):
        raise TypeError(
            f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}"
        )


def _line_dim(name, dim, ndim):
    _need_int(name, dim)
    return wrap_dim(dim, ndim)


def _by_rows(shape, axis):
    """Whether to add up row after row: XLA's own way costs fifteen times that for 4096 x 1024 on the CPU.

    It is as quick where there is little to do, and along lines whose elements are neighbours.
    """
    return on_cpu() and math.prod(shape) >= 1 << 14 and math.prod(shape[axis + 1 :]) >= 16


def _rows(combine, first, x, axis):
    """What ``combine`` makes of ``first`` and the slices up to each one along ``axis``."""

    def step(total, row):
        total = combine(total, row)
        return total, total

    lines = jax.tree.map(lambda a: jnp.moveaxis(a, axis, 0), x)
    every = jax.lax.scan(step, first(lines), lines)[1]
    return jax.tree.map(lambda a: jnp.moveaxis(a, 0, axis), every)


def _running(combine, neutral, whole):
    def run(x, axis):
        if not _by_rows(x.shape, axis):
            return whole(x, axis)
        return _rows(combine, lambda lines: jnp.full_like(lines[0], neutral), x, axis)

    return run


def _cumulate(name, fn, input, dim, dtype):
    axis = _line_dim(name, dim, input.ndim)
    if dtype is not None:
        input = as_dtype(input, dtype)
    elif is_integral(input):
        input = input.astype(np.int64)
    if input.ndim and input.size:
        refuse(f"{name}_out_cpu", input, BOOL)
    x = wide(at_least_1d(input))
    if name == "cumsum" and is_float(x):
        # PyTorch adds to 0. So does XLA, but to one element, and NumPy does not.
        x = added_to_zero(x) if x.shape[axis] == 1 else x + jnp.zeros((), x.dtype)
    if name == "cumprod" and is_complex(x):  # and multiplies 1
        x = multiplied_by_one(x)
    return fn(x, axis).astype(input.dtype).reshape(input.shape)


# A dtype that is given has to be out's; its error comes before a kernel is looked for.
_SUMMED_OUT = Out(EXACT.text, follows=True, dtype=lambda have, dim, dtype: dtype)


@op(variants="function method inplace out", saves="none", out=_SUMMED_OUT, apart="input")
def cumsum(input, /, dim: int, *, dtype=None):
    """The sums of the elements up to each one along ``dim``; integers add up in int64.

    ``y[i] = x[0] + ... + x[i]``

    Args:
        input: a tensor of any shape and dtype.
        dim: the dimension along which elements are added; negative ones count from the last.
        dtype: the dtype to which the elements are converted first, and that of the result; None means int64
            for integers and bools, and otherwise the dtype of ``input``.

    Returns:
        A new tensor of the shape of ``input``. The in-place form ``cumsum_`` keeps the dtype of ``input``.

    Raises:
        IndexError: if there is no such dimension.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> torch.cumsum(x, dim=0)
        tensor([[1, 2],
                [4, 6]])
        >>> torch.cumsum(x, dim=1, dtype=torch.float32)
        tensor([[1., 3.],
                [3., 7.]])
    """
    return _cumulate("cumsum", _running(jnp.add, 0, jnp.cumsum), input, dim, dtype)


@op(variants="function method inplace out", saves=("input", "result"), apart="input", out=_SUMMED_OUT)
def cumprod(input, /, dim: int, *, dtype=None):
    """The products of the elements up to each one along ``dim``; integers multiply in int64."""
    return _cumulate("cumprod", _running(jnp.multiply, 1, jnp.cumprod), input, dim, dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _log_sums(x, axis):
    return jax.lax.cumlogsumexp(x, axis=axis)


@_log_sums.defjvp
def _log_sums_jvp(axis, primals, tangents):
    """Each term counts by its share of the sum; jax's rule takes an infinite sum for 0."""

    def combine(left, right):
        (a, da), (b, db) = left, right
        total = jnp.logaddexp(a, b)
        low = jnp.where(total == -jnp.inf, 0, total)
        return total, jnp.exp(a - low) * da + jnp.exp(b - low) * db

    out = _log_sums(*primals, axis)
    return out, jax.lax.associative_scan(combine, (*primals, *tangents), axis=axis)[1]


def _complex_log_sums(x, axis):
    """The sums' logarithms whose phases continue one another, as where they are added one after the other.

    Such a sum takes the phase of the larger of the sum before and the new element (of equal ones, of the new
    one) and turns it by less than a quarter, so it goes beyond pi. Added in any order the phase is right but
    for whole turns, and these are counted: since the last element that was the larger.
    """
    low, unknown = (np.asarray(value, x.dtype) for value in (-np.inf, complex(np.nan, np.nan)))
    x = jnp.where(jnp.isnan(x), unknown, jnp.where(x.real == -jnp.inf, low, x))
    out = jax.lax.associative_scan(lambda before, after: log_add_exp(after, before), x, axis=axis)
    new, sums = jax.lax.stop_gradient((x, out))
    before = jnp.roll(sums, 1, axis)
    position = jax.lax.broadcasted_iota(np.int64, x.shape, axis)
    larger = (position == 0) | (new.real >= before.real)
    both = (new.real == jnp.inf) & (before.real == jnp.inf) & (position > 0)
    from_new = jnp.where(both, 0, _turns(new.imag - sums.imag))
    since = jnp.where(position == 0, 0, _turns(before.imag - sums.imag))
    counted = jnp.cumsum(since, axis)
    last = jax.lax.cummax(jnp.where(larger, position, 0), axis)
    turns = jnp.take_along_axis(from_new - counted, last, axis) + counted
    return jax.lax.complex(out.real, jnp.where(turns == 0, out.imag, out.imag + 2 * math.pi * turns))


def _turns(angle):
    """How many whole turns there are in an angle, 0 in one that is not finite."""
    return jnp.where(jnp.isfinite(angle), jnp.round(angle / (2 * math.pi)), 0)


@op(saves=("input", "result"), out=EXPECTED, apart="input")
def logcumsumexp(input, /, dim: int):
    """``log(cumsum(exp(input)))`` along ``dim`` without overflow."""
    axis = _line_dim("logcumsumexp", dim, input.ndim)
    refuse("logcumsumexp_out_cpu", input, BOOL, INTEGER)
    x = wide(at_least_1d(input))
    if x.size == 0:
        return input
    if is_complex(x):
        out = _complex_log_sums(x, axis)
    else:
        out = _log_sums(x, axis)
    return out.astype(input.dtype).reshape(input.shape)


def _later_extreme(better, left, right):
    """Of two (value, index) pairs the better one, the later on a tie; a nan wins and stays."""
    (a, i), (b, j) = left, right
    take = better(b, a)
    if is_float(a):
        take = jnp.isnan(b) | (take & ~jnp.isnan(a))
    return jnp.where(take, b, a), jnp.where(take, j, i)


def _cumulative_extreme(name, better, input, dim):
    _need_int(name, dim)
    if input.size == 0:  # PyTorch does not look where the dimension is
        return input, jnp.zeros(input.shape, np.int64)
    if not input.ndim:
        if dim not in (-1, 0):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        return input, jnp.zeros((), np.int64)
    axis = wrap_dim(dim, input.ndim)
    refuse(f"{name}_cpu", input, COMPLEX)
    x = at_least_1d(input)
    fixed = jax.lax.stop_gradient(x)
    position = jax.lax.broadcasted_iota(np.int64, x.shape, axis)
    combine = functools.partial(_later_extreme, better)
    pairs = (fixed.astype(np.uint8) if is_bool(x) else fixed, position)
    if _by_rows(x.shape, axis):  # the first of a line, taken twice, is still the first
        _, indices = _rows(combine, lambda lines: jax.tree.map(lambda a: a[0], lines), pairs, axis)
    else:
        _, indices = jax.lax.associative_scan(combine, pairs, axis=axis)
    values = jnp.take_along_axis(x, indices, axis)
    return values.reshape(input.shape), indices.reshape(input.shape)


@op(returns=("values", "indices"), saves=("input",), out=EXPECTED, complex_grad=False)
def cummax(input, /, dim: int):
    """The largest element up to each one along ``dim``, and where it last is."""
    return _cumulative_extreme("cummax", jnp.greater_equal, input, dim)


@op(returns=("values", "indices"), saves=("input",), out=EXPECTED, complex_grad=False)
def cummin(input, /, dim: int):
    """The smallest element up to each one along ``dim``, and where it last is."""
    return _cumulative_extreme("cummin", jnp.less_equal, input, dim)


@op(name="_diff", variants="", grad_name="SubBackward0", saves="none", out=EXPECTED, layout=of_differences)
def diff(input, /, n, axis):
    """The differences of neighbours along ``axis``, taken ``n`` times; exclusive or for bools."""
    x = input
    for _ in range(n):
        length = x.shape[axis]
        later = jax.lax.slice_in_dim(x, 1, length, axis=axis)
        earlier = jax.lax.slice_in_dim(x, 0, length - 1, axis=axis)
        x = later ^ earlier if is_bool(x) else later - earlier
    return x
