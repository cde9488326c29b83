"""Reductions: sums, means, moments, norms, logical and counting ones.

Half precision is accumulated in float32 and rounded once, as PyTorch's CPU kernels do.
"""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import BOOL, FLOATING
from jaxflow._core.promotion import can_cast
from jaxflow._plans.op import (
    EXACT,
    UNDEFINED,
    Integers,
    Number,
    Out,
    Underived,
    complex_gradients,
    op,
    overload,
    overload_written,
)

from ._bools import no_bool_operand
from ._support import (
    added_to_zero,
    as_dtype,
    divide,
    is_complex,
    is_float,
    is_integral,
    multiplied_by_one,
    refuse,
    scalar_name,
    selected,
    truth,
    wide,
    wrap_dims,
)
from ._xla import largest, on_cpu, smallest
from .matmul import contract
from .pointwise import magnitude


def _by_dim(name: str, full: int = 0, along: int = 1):
    """A ``grad_name`` whose digit says whether a reduction is over everything or along dimensions."""

    def grad_name(numbers, dim=None, **static):
        return f"{name}Backward{full if dim is None else along}"

    return grad_name


def _accumulate(x, dtype):
    """``(x in the dtype to add up in, the result's dtype)``: bools and integers add up in int64."""
    if dtype is not None:
        x = as_dtype(x, dtype)
    elif is_integral(x):
        x = x.astype(np.int64)
    return wide(x), x.dtype


def _add_up(x, dims, keepdim):
    """The sum over ``dims``: of a few long rows as a product with ones.

    XLA's own reduction over a short first dimension takes 80 times as long for 10 x 1,000,000 on the CPU, 18
    times for 4 x 98,304. Where rows are short or many, it is as quick.
    """
    n = len(dims)
    if is_float(x) and math.prod(x.shape[d] for d in dims) == 1:
        shape = [n for d, n in enumerate(x.shape) if keepdim or d not in dims]
        return added_to_zero(x).reshape(shape)  # XLA would leave one element as it is
    rows, length = math.prod(x.shape[:n]), math.prod(x.shape[n:])
    if dims != tuple(range(n)) or n == x.ndim or not on_cpu() or x.dtype not in (np.float32, np.float64):
        return jnp.sum(x, dims, keepdims=keepdim)
    if not 2 <= rows <= 64 or length < 1 << 13:
        return jnp.sum(x, dims, keepdims=keepdim)
    return _by_product(x, n).reshape(((1,) * n if keepdim else ()) + x.shape[n:])


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _by_product(x, n):
    """The sum over the first ``n`` dimensions; its gradient is copied into all rows, not multiplied."""
    rows = x.reshape(math.prod(x.shape[:n]), -1)
    return contract(jnp.ones(rows.shape[:1], x.dtype), rows, (0,), (0,)).reshape(x.shape[n:])


@_by_product.defjvp
def _by_product_jvp(n, primals, tangents):
    return _by_product(*primals, n), jnp.sum(*tangents, tuple(range(n)))


_FOLLOWED = Out(EXACT.text, follows=True, needs="dim")


@op(saves="none", grad_name=_by_dim("Sum"), out=_FOLLOWED)
def sum(input, /, dim: Integers = None, keepdim: bool = False, *, dtype=None):
    """The sum over ``dim`` (a dimension, several, or all); integers add up in int64.

    Half precision is added up in single precision and rounded once, at the end.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dimension, or a tuple of dimensions, over which elements are added; negative ones count
            from the last. None or an empty tuple means all dimensions.
        keepdim: whether these dimensions stay in the result, with extent 1.
        dtype: the dtype to which the elements are converted first, and that of the result; None means int64
            for integers and bools, and otherwise the dtype of ``input``.

    Returns:
        A new tensor with the shape of ``input`` without ``dim``. The sum of no elements is 0.

    Raises:
        IndexError: if there is no such dimension.
        RuntimeError: if a dimension is named twice.

    Example:
        >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> torch.sum(x)
        tensor(21)
        >>> torch.sum(x, 0)
        tensor([5, 7, 9])
        >>> torch.sum(x, dim=-1, keepdim=True)
        tensor([[ 6],
                [15]])
    """
    dims = wrap_dims(dim, input.ndim)
    x, result = _accumulate(input, dtype)
    return _add_up(x, dims, keepdim).astype(result)


overload_written(sum, "dim", "_sum_along_all", "SumBackward1")


_NO_COMPLEX = "nansum on CPU does not support complex inputs"
# The kernel runs in out's dtype, and there is none but for real floating numbers; integers are summed, and
# over no elements no kernel runs.
_NAN_KERNEL = Out("\"nansum_cpu\" not implemented for '{out}'", error=NotImplementedError,
                  refuses=lambda have, want, operands: (
                      have.category == FLOATING != want.category and operands[0].numel()))
_NAN_OUT = Out("nansum: provided dtype must match dtype of result. Got {out} and {result}.", follows=True,
               before=_NAN_KERNEL, dtype=lambda have, dim, keepdim, dtype: dtype)


@op(grad_name="NansumBackward0", out=_NAN_OUT)
def nansum(input, /, dim: Integers = None, keepdim: bool = False, *, dtype=None):
    """The sum over ``dim`` with nan taken as 0."""
    dims = wrap_dims(dim, input.ndim)
    if is_complex(input):
        raise RuntimeError(_NO_COMPLEX)
    if is_float(input):
        if dtype is not None and dtype.is_complex and input.size:
            raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{dtype.scalar_name}'")
        # Before the conversion: as an integer, nan is a number like others. PyTorch leaves no infinity either
        # where the result is an integer.
        if dtype is not None and dtype.category < FLOATING:
            input = jnp.nan_to_num(input)
        input = selected(input, ~jnp.isnan(input), jnp.zeros_like(input))
    x, result = _accumulate(input, dtype)
    return jnp.sum(x, dims, keepdims=keepdim).astype(result)


_NO_MEAN = ("mean(): could not infer output dtype. {which} dtype must be either a floating point or complex "
            "dtype. Got: {result}")


def _check_mean(input, dtype):
    which, name = "Input", scalar_name(input)
    bad = is_integral(input)
    if dtype is not None:
        which, name, bad = "Optional", dtype.scalar_name, dtype.category < FLOATING
    if bad:
        raise RuntimeError(_NO_MEAN.format(which=which, result=name))


def _over(total, count):
    return divide(total, jnp.full_like(total, count))


# The sum is in out's dtype and divided there, which makes integers Float. Without dim nothing is cast down.
_MEAN_OUT = Out(EXACT.text, follows=True, before=Out(
    "result type Float can't be cast to the desired output type {out}",
    refuses=lambda have, want, _: want.category < FLOATING,
    before=Out(
        _NO_MEAN.replace("{which}", "Input"), refuses=lambda have, want, _: have.category < FLOATING,
        before=Out("mean.dtype_out(): input types can't be cast to the desired output type {out}",
                   refuses=lambda have, want, given: len(given) == 1 and not can_cast(have, want)))))


@op(saves="none", grad_name=_by_dim("Mean"), out=_MEAN_OUT)
def mean(input, /, dim: Integers = None, keepdim: bool = False, *, dtype=None):
    """The mean over ``dim``; RuntimeError for integers unless ``dtype`` is floating.

    The sum of the elements over how many there are. Half precision is added up in single precision.

    Args:
        input: a tensor of any shape; floating point or complex, or of any dtype where ``dtype`` is given.
        dim: the dimension, or a tuple of dimensions, over which the mean is taken; negative ones count from
            the last. None or an empty tuple means all dimensions.
        keepdim: whether these dimensions stay in the result, with extent 1.
        dtype: the floating point or complex dtype to which the elements are converted first, and that of
            the result; None means the dtype of ``input``.

    Returns:
        A new tensor with the shape of ``input`` without ``dim``. The mean of no elements is nan.

    Raises:
        RuntimeError: for integers and bools without ``dtype``, for a ``dtype`` that is neither floating
            point nor complex, and if a dimension is named twice.
        IndexError: if there is no such dimension.

    Example:
        >>> x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
        >>> torch.mean(x)
        tensor(3.)
        >>> torch.mean(x, 0)
        tensor([2., 4.])
        >>> torch.mean(torch.tensor([1, 2]), dtype=torch.float64)
        tensor(1.5000, dtype=torch.float64)
    """
    _check_mean(input, dtype)
    dims = wrap_dims(dim, input.ndim)
    # For a dtype of half precision the mean is converted, not the elements, so that none overflows in it.
    narrow = dtype is not None and dtype.category == FLOATING and dtype.itemsize == 2
    x = as_dtype(input, dtypes.float32 if narrow else dtype)
    count = math.prod(input.shape[d] for d in dims)
    total = _add_up(wide(x), dims, keepdim)
    return as_dtype(_over(total, count).astype(x.dtype), dtype)


overload_written(mean, "dim", "_mean_along_all", "MeanBackward1")


_NANMEAN_OUT = Out(
    _NAN_OUT.text, follows=True, composed="nansum",
    first=Out("nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors.",
              refuses=lambda have, want, _: have.category < FLOATING),
    before=Out("result type Float can't be cast to the desired output type {out}",
               refuses=lambda have, want, _: have.category == FLOATING > want.category,
               before=Out(_NAN_KERNEL.text, error=_NAN_KERNEL.error, refuses=_NAN_KERNEL.refuses, before=Out(
                   _NO_COMPLEX, refuses=lambda have, want, _: have.category > FLOATING))))


@op(grad_name="DivBackward0", out=_NANMEAN_OUT)
def nanmean(input, /, dim: Integers = None, keepdim: bool = False, *, dtype=None):
    """The mean over ``dim`` of the elements that are not nan."""
    if is_integral(input):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{scalar_name(input)}"
        )
    if dtype is not None and dtype.category < FLOATING:
        raise RuntimeError("nan" + _NO_MEAN.format(which="Optional", result=dtype.scalar_name))
    dims = wrap_dims(dim, input.ndim)  # of which the numbers that count are counted first
    if is_complex(input):
        raise RuntimeError(_NO_COMPLEX)
    if dtype is not None and dtype.is_complex and input.size:
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{dtype.scalar_name}'")
    x = as_dtype(input, dtype)
    bad = jnp.isnan(x)
    count = jnp.sum(~bad, dims, keepdims=keepdim, dtype=np.int64)
    total = jnp.sum(wide(selected(x, ~bad, jnp.zeros_like(x))), dims, keepdims=keepdim)
    return divide(total, count.astype(total.dtype)).astype(x.dtype)


@op(grad_name=_by_dim("Prod"), saves=("input", "result"), out=_FOLLOWED)
def prod(input, /, dim: int = None, keepdim: bool = False, *, dtype=None):
    """The product over all elements or one dimension; integers multiply in int64.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dimension along which elements are multiplied, negative ones count from the last; None
            means all elements.
        keepdim: whether this dimension stays in the result, with extent 1.
        dtype: the dtype to which the elements are converted first, and that of the result; None means int64
            for integers and bools, and otherwise the dtype of ``input``.

    Returns:
        A new tensor with the shape of ``input`` without ``dim``. The product of no elements is 1.

    Raises:
        IndexError: if there is no such dimension.
        TypeError: if ``dim`` is a tuple.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> torch.prod(x)
        tensor(24)
        >>> torch.prod(x, 1)
        tensor([ 2, 12])
    """
    if isinstance(dim, tuple):
        raise TypeError(f"prod(): argument 'dim' must be int, not {type(dim).__name__}")
    dims = wrap_dims(dim, input.ndim)
    x, result = _accumulate(input, dtype)
    if is_complex(x):  # PyTorch multiplies 1
        x = multiplied_by_one(x)
    return jnp.prod(x, dims, keepdims=keepdim).astype(result)


# ----------------------------------------------------------------------------------------- moments


def degrees_of_freedom(shape: tuple[int, ...], dim, correction) -> float:
    """How many elements each result has, less the correction: not positive means nan or inf.

    Where there are no results PyTorch counts none for them.
    """
    count = math.prod(shape[d] for d in wrap_dims(dim, len(shape)))
    return (0 if 0 in shape else count) - correction


def _moments(name, input, dim, correction, keepdim, spread=None):
    """Variance (or another ``spread``) and mean in the accumulating dtype."""
    if is_integral(input):
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    dims = wrap_dims(dim, input.ndim)
    x = wide(input)
    count = math.prod(input.shape[d] for d in dims)
    free = max(0, count - (1 if correction is None else correction)) if count else 0
    variance = (spread or _variance)(x, dims, count, free)
    shape = [1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims]
    return variance.reshape(shape), _centre(x, dims, count).reshape(shape)


def _centre(x, dims, count):
    """The mean, with its dimensions kept."""
    total = jnp.sum(x, dims, keepdims=True)
    # A complex quotient would be nan in both parts where one of them is infinite.
    return (jax.lax.complex(_over(total.real, count), _over(total.imag, count)) if is_complex(x)
            else _over(total, count))


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _variance(x, dims, count, free):
    """The squared distances from the mean over ``free``, with their dimensions kept.

    Its derivative leaves out that the mean moves: the sum of all distances from it is 0. Where one of them is
    infinite the rule of products would make nan of that.
    """
    away = x - _centre(x, dims, count)
    squares = away.real**2 + away.imag**2 if is_complex(x) else away * away
    return _over(jnp.sum(squares, dims, keepdims=True), free)


@_variance.defjvp
def _variance_moved(dims, count, free, primals, tangents):
    (x,), (moved,) = primals, tangents
    away = x - _centre(x, dims, count)
    products = away.real * moved.real + away.imag * moved.imag if is_complex(x) else away * moved
    scale = _over(jnp.full((), 2, products.dtype), free)
    return _variance(x, dims, count, free), jnp.sum(scale * products, dims, keepdims=True)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _deviation(x, dims, count, free):
    """The square root of `_variance`. Its derivative at 0 is 0: the deviation of a constant has no slope.

    Where single precision has no room for the squares they are taken in double precision, as PyTorch does
    for real numbers.
    """
    variance = _variance(x, dims, count, free)
    if x.dtype != np.float32 or not x.size:
        return jnp.sqrt(variance)
    limits = jnp.finfo(variance.dtype)
    lost = ~jnp.isfinite(variance) | (variance < limits.tiny / limits.eps)
    return jax.lax.cond(
        jnp.any(lost),
        lambda x: jnp.sqrt(_variance(x.astype(np.float64), dims, count, free)).astype(np.float32),
        lambda x: jnp.sqrt(variance), x)


@_deviation.defjvp
def _deviation_moved(dims, count, free, primals, tangents):
    (x,), (moved,) = primals, tangents
    found = _deviation(x, dims, count, free)
    away = x - _centre(x, dims, count)
    share = away / jnp.where(found == 0, 1, found).astype(x.dtype)
    products = share.real * moved.real + share.imag * moved.imag if is_complex(x) else share * moved
    products = jnp.where(found == 0, 0, products)  # where infinity or nan arrives too
    return found, jnp.sum(_over(jnp.ones((), products.dtype), free) * products, dims, keepdims=True)


def _followed(x, dims):
    """Over ``dims``, whether an element other than the last one is infinite."""
    last = np.ones((), bool)
    for d in dims:
        at_end = np.arange(x.shape[d]) == x.shape[d] - 1
        last = last & at_end.reshape([-1 if i == d else 1 for i in range(x.ndim)])
    return jnp.any(jnp.isinf(x) & ~last, dims, keepdims=True)


def _running(mean, part, variance, dims):
    """The mean beside a variance, which PyTorch carries along: nan once something follows an infinity.

    Where no variance is nan there is no infinity, and nothing to look for.
    """
    part = jax.lax.stop_gradient(part)
    found = jax.lax.cond(
        jnp.any(jnp.isnan(variance)), lambda x: _followed(x, dims),
        lambda x: jnp.zeros([1 if d in dims else n for d, n in enumerate(x.shape)], bool), part)
    return jnp.where(found.reshape(mean.shape), mean + jnp.nan, mean)  # which has its derivative in any case


def _with_mean(name, input, dim, correction, keepdim, spread=None):
    variance, mean = _moments(name, input, dim, correction, keepdim, spread)
    dims = wrap_dims(dim, input.ndim)
    if input.size and is_complex(input):
        return variance, jax.lax.complex(_running(mean.real, input.real, variance, dims),
                                         _running(mean.imag, input.imag, variance, dims))
    return variance, _running(mean, input, variance, dims) if input.size else mean


def _real_dtype(input):
    return dtypes.from_numpy_dtype(input.dtype).to_real().np


@op(variants="", grad_name="VarBackward0")
def var(input, /, dim: Integers = None, *, correction: Number = None, keepdim: bool = False):
    """The variance over ``dim``: squared distances from the mean over ``count - correction``."""
    variance, _ = _moments("std and var", input, dim, correction, keepdim)
    return variance.astype(_real_dtype(input))


@op(variants="", grad_name="StdBackward0", saves="both")
def std(input, /, dim: Integers = None, *, correction: Number = None, keepdim: bool = False):
    """The standard deviation over ``dim``; its derivative for a constant is 0."""
    deviation, _ = _moments("std and var", input, dim, correction, keepdim, _deviation)
    return deviation.astype(_real_dtype(input))


@op(variants="", grad_name="VarMeanBackward0")
def var_mean(input, /, dim: Integers = None, *, correction: Number = None, keepdim: bool = False):
    """Variance and mean over ``dim``."""
    variance, centre = _with_mean("var_mean", input, dim, correction, keepdim)
    return variance.astype(_real_dtype(input)), centre.astype(input.dtype)


@op(variants="", grad_name="StdMeanBackward0")
def std_mean(input, /, dim: Integers = None, *, correction: Number = None, keepdim: bool = False):
    """Standard deviation and mean over ``dim``."""
    deviation, centre = _with_mean("std_mean", input, dim, correction, keepdim, _deviation)
    return deviation.astype(_real_dtype(input)), centre.astype(input.dtype)


# ------------------------------------------------------------------------------- logical, counting


def _dims_or_all(dim, ndim):
    # Unlike elsewhere, an empty list means no dimension here.
    return () if isinstance(dim, tuple) and not dim else wrap_dims(dim, ndim)


def _truth_out(name):
    return Out(f"{name} only supports bool tensor for result, got: {{out}}",
               refuses=lambda have, want, _: want not in (dtypes.bool, dtypes.uint8), first=True,
               follows=f"_{name}_into")


def _truth(fn, input, dim, keepdim):
    found = fn(truth(input), _dims_or_all(dim, input.ndim), keepdims=keepdim)
    return found.astype(np.uint8) if input.dtype == np.uint8 else found


def _truth_into(name, fn):
    """Declare the op that writes into a tensor of ``dtype``: into bytes PyTorch takes elements as bytes."""

    def into(input, /, dim: Integers = None, keepdim: bool = False, *, dtype):
        if dtype is dtypes.uint8 and input.ndim:
            input = as_dtype(input, dtype)
        return _truth(fn, input, dim, keepdim)

    into.__name__, into.__doc__ = f"_{name}_into", f"`{name}` as it is written into ``dtype``."
    op(variants="", differentiable=False)(into)


_truth_into("all", jnp.all)
_truth_into("any", jnp.any)


@op(differentiable=False, out=_truth_out("all"))
def all(input, /, dim: Integers = None, keepdim: bool = False):
    """Whether every element is nonzero; bool, but uint8 for uint8.

    Args:
        input: a tensor of any shape and dtype; nan counts as nonzero.
        dim: the dimension, or a tuple of dimensions, over which elements are looked at; negative ones count
            from the last. None means all dimensions, an empty tuple none of them.
        keepdim: whether these dimensions stay in the result, with extent 1.

    Returns:
        A new tensor with the shape of ``input`` without ``dim``. Of no elements it is True.

    Raises:
        IndexError: if there is no such dimension.
        RuntimeError: if a dimension is named twice.

    Example:
        >>> x = torch.tensor([[1, 0], [2, 3]])
        >>> torch.all(x)
        tensor(False)
        >>> torch.all(x, dim=1)
        tensor([False,  True])
    """
    return _truth(jnp.all, input, dim, keepdim)


@op(differentiable=False, out=_truth_out("any"))
def any(input, /, dim: Integers = None, keepdim: bool = False):
    """Whether some element is nonzero; bool, but uint8 for uint8.

    Args:
        input: a tensor of any shape and dtype; nan counts as nonzero.
        dim: the dimension, or a tuple of dimensions, over which elements are looked at; negative ones count
            from the last. None means all dimensions, an empty tuple none of them.
        keepdim: whether these dimensions stay in the result, with extent 1.

    Returns:
        A new tensor with the shape of ``input`` without ``dim``. Of no elements it is False.

    Raises:
        IndexError: if there is no such dimension.
        RuntimeError: if a dimension is named twice.

    Example:
        >>> x = torch.tensor([[0, 0], [0, 3]])
        >>> torch.any(x)
        tensor(True)
        >>> torch.any(x, dim=1, keepdim=True)
        tensor([[False],
                [ True]])
    """
    return _truth(jnp.any, input, dim, keepdim)


@op(variants="function method", differentiable=False)
def count_nonzero(input, /, dim: Integers = None):
    """How many elements over ``dim`` are nonzero; int64.

    Args:
        input: a tensor of any shape and dtype; nan counts as nonzero.
        dim: the dimension, or a tuple of dimensions, over which elements are counted; negative ones count
            from the last. None or an empty tuple means all dimensions.

    Returns:
        A new int64 tensor with the shape of ``input`` without ``dim``.

    Raises:
        IndexError: if there is no such dimension.
        RuntimeError: if a dimension is named twice.

    Example:
        >>> x = torch.tensor([[0, 1], [2, 3]])
        >>> torch.count_nonzero(x)
        tensor(3)
        >>> torch.count_nonzero(x, dim=0)
        tensor([1, 2])
    """
    dims = wrap_dims(dim, input.ndim)
    return jnp.sum(truth(input), dims, dtype=np.int64)


# ----------------------------------------------------------------------------------- log-sum, norm


def _refuse_no_dims(input, dim, keepdim):
    if dim == () and input.size and input.ndim and not keepdim:
        # PyTorch adds maxima, which keep their dimensions then, to a result that does not.
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[1] * input.ndim}")


@op(variants="", grad_name="LogsumexpBackward0", saves="both")
def _logsumexp_into(input, /, dim, keepdim=False, *, dtype):
    """`logsumexp` whose sum is taken in ``dtype``: of complex terms, where that is real, their real parts."""
    _refuse_no_dims(input, dim, keepdim)
    dims = wrap_dims(dim, input.ndim)
    if is_integral(input):
        input = input.astype(dtypes.get_default_dtype().np)
    real = input.real if is_complex(input) else input
    high = jax.lax.stop_gradient(jnp.max(real, dims, keepdims=True, initial=-math.inf))
    high = jnp.where(jnp.isfinite(high), high, 0)
    terms = jnp.exp(input - as_dtype(high, input.dtype))
    total = jnp.sum(wide(as_dtype(terms, dtype)), dims, keepdims=True)
    found = jnp.log(total) + as_dtype(high, total.dtype)
    return as_dtype(found if keepdim else jnp.squeeze(found, dims), dtype)


_LOGSUMEXP_OUT = Out(follows="_logsumexp_into", before=Out(
    "logsumexp(): Expected floating point type for result tensor, but got: {out}",
    refuses=lambda have, want, _: want.category < FLOATING))


@op(saves="both", aliases=("special.logsumexp",), out=_LOGSUMEXP_OUT)
def logsumexp(input, /, dim: Integers, keepdim: bool = False):
    """``log(sum(exp(input)))`` over ``dim`` without overflow; minus infinity over nothing.

    With the largest element ``m`` it is computed as ``m + log(sum(exp(input - m)))``.

    Args:
        input: a tensor of any shape and dtype; integers and bools are converted to the default dtype.
        dim: the dimension, or a tuple of dimensions, over which the sum is taken; negative ones count from
            the last. It must be given.
        keepdim: whether these dimensions stay in the result, with extent 1.

    Returns:
        A new floating point or complex tensor with the shape of ``input`` without ``dim``.

    Raises:
        IndexError: if there is no such dimension.
        RuntimeError: if a dimension is named twice.
        TypeError: if ``dim`` is None.

    Example:
        >>> x = torch.tensor([[1000.0, -math.inf], [-math.inf, -math.inf]])
        >>> torch.logsumexp(x, 1)  # where exp(1000) is infinite
        tensor([1000.,  -inf])
    """
    if dim is None:
        raise TypeError("logsumexp(): argument 'dim' (position 2) must be tuple of ints, not NoneType")
    dims = wrap_dims(dim, input.ndim)
    if is_integral(input):
        input = input.astype(dtypes.get_default_dtype().np)
    _refuse_no_dims(input, dim, keepdim)
    x = wide(input)
    if input.size == 0:
        return jnp.log(jnp.sum(jnp.exp(x), dims, keepdims=keepdim)).astype(input.dtype)
    return jax.nn.logsumexp(x, dims, keepdims=keepdim).astype(input.dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _extreme_size(size, dims, keepdim, most):
    """The largest (``most``) or the smallest; equal ones (or nan) share the slope."""
    return (largest if most else smallest)(size, dims, keepdim)


@_extreme_size.defjvp
def _extreme_size_jvp(dims, keepdim, most, primals, tangents):
    found = _extreme_size(*primals, dims, True, most)
    hit = (primals[0] == found) | jnp.isnan(primals[0])
    count = jnp.maximum(jnp.sum(hit, dims, keepdims=True, dtype=found.dtype), 1)
    share = tangents[0] / count
    # Where nan arrives all elements are to have it. XLA makes a selection of a product with a mask.
    slope = jnp.sum(jnp.where(hit, share, 0 * share), dims, keepdims=keepdim)
    return found.reshape(slope.shape), slope


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _length(x, dims, keepdim):
    """The norm of order 2. At the zero vector its derivative is 0, and as in PyTorch its second one nan."""
    if is_complex(x):  # infinite where a part is, though the other be nan, as the absolute value
        infinite = jnp.isinf(x.real) | jnp.isinf(x.imag)
        squares = jnp.where(infinite, np.inf, x.real**2 + x.imag**2)
    else:
        squares = x**2
    return jnp.sqrt(jnp.sum(squares, dims, keepdims=keepdim))


@_length.defjvp
def _length_jvp(dims, keepdim, primals, tangents):
    (x,), (dx,) = primals, tangents
    norm = _length(x, dims, True)
    along = jnp.where(norm == 0, 0, x / as_dtype(norm, x.dtype))
    slope = (jnp.conj(along) * dx).real if is_complex(x) else along * dx
    return norm if keepdim else jnp.squeeze(norm, dims), jnp.sum(slope, dims, keepdims=keepdim)


@jax.custom_jvp
def _shown_as(value, exact):
    """``exact``, whose derivative is that of ``value``."""
    return exact


@_shown_as.defjvp
def _shown_as_jvp(primals, tangents):
    return _shown_as(*primals), tangents[0]


def vector_norm(x, ord, dims, keepdim):
    """The norm of order ``ord`` over ``dims`` of floating or complex ``x``; real.

    At the zero vector the derivative is 0, where the formulas have nan.
    """
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    size = magnitude(wide(x))
    if ord == 0:
        return jnp.sum((size != 0).astype(size.dtype), dims, keepdims=keepdim)
    found = _norm_of(x, size, ord, dims, keepdim)
    if math.prod(x.shape[d] for d in dims) != 1:
        return found
    # To a power and back, one number would not quite be what it was.
    return _shown_as(found, jax.lax.stop_gradient(size).reshape(found.shape))


def _norm_of(x, size, ord, dims, keepdim):
    if ord == 1:
        return jnp.sum(size, dims, keepdims=keepdim)
    if ord == 2:
        return _length(wide(x), dims, keepdim)
    if abs(ord) == math.inf:
        return _extreme_size(size, dims, keepdim, ord > 0)
    return _power_norm(wide(x), ord, dims, keepdim)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _power_norm(x, ord, dims, keepdim):
    """The norm of another order. Its derivative is a slope, 0 for what is 0, times what arrives for all.

    So a gradient that is infinite or nan makes nan of that 0, as in PyTorch; not at the zero vector, where
    nothing is passed on for orders above 1.
    """
    size = magnitude(x)
    zero = size == 0
    at_zero = 0.0 if ord > 0 else math.inf
    powers = jnp.where(zero, at_zero, jnp.power(jnp.where(zero, 1, size), ord))
    return jnp.power(jnp.sum(powers, dims, keepdims=keepdim), 1 / ord)


@_power_norm.defjvp
def _power_norm_jvp(ord, dims, keepdim, primals, tangents):
    (x,), (dx,) = primals, tangents
    norm, size = _power_norm(x, ord, dims, True), magnitude(x)
    zero, nothing = size == 0, norm == 0
    filled = jnp.where(zero, 1, size)
    power = jnp.where(zero, 0, jnp.power(filled, ord - 1))
    if is_complex(x):
        along = (jnp.conj(x / as_dtype(filled, x.dtype)) * dx).real * power
    else:
        along = jnp.sign(x) * power * dx
    share = jnp.where(nothing, 0, jnp.power(jnp.where(nothing, 1, norm), 1 - ord))
    slope = jnp.sum(along, dims, keepdims=True) * share
    if ord > 1:
        slope = jnp.where(nothing, 0, slope)
    return (norm, slope) if keepdim else (jnp.squeeze(norm, dims), jnp.squeeze(slope, dims))


def refuse_norm_of(x):
    """Refuse bools and integers, which have no norm. RuntimeError."""
    if is_integral(x):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {scalar_name(x)}"
        )


@op(name="_vector_norm", variants="", grad_name="LinalgVectorNormBackward0", saves="both",
    out=EXACT)
def vector_norm_op(input, /, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The vector norm of order ``ord`` over ``dim``; real, in ``dtype`` if given.

    Raises:
        RuntimeError: for bools and integers, and for infinite or negative orders over nothing.
    """
    refuse_norm_of(input)
    dims = wrap_dims(dim, input.ndim)
    if input.size == 0 and not isinstance(ord, complex) and (ord < 0 or ord == math.inf):
        refuse_empty_norm(input, ord, dim, dims)
    x = as_dtype(input, dtype)
    return vector_norm(x, ord, dims, keepdim).astype(_real_dtype(x))


def _norm_name(numbers, dim, **others):
    return f"NormBackward{0 if dim is None else 1}"


#: The norm of PyTorch's older names, over given dimensions and over all.
overload(vector_norm_op, "_norm", _norm_name)
#: That of order 0 counts what is not 0: it has no gradient. PyTorch's formula saves all the same.
_COUNTED = {"saves": ("input", "result"), "underived": UNDEFINED}
overload(vector_norm_op, "_vector_norm_count", "LinalgVectorNormBackward0", **_COUNTED)
overload(vector_norm_op, "_norm_count", _norm_name, **_COUNTED)


def refuse_empty_norm(input, ord, dim, dims):
    word = f"{ord:g}"
    if dim is None or not dims:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {word} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    for d in dims:
        if input.shape[d] == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {word} norm on the dimension {d}because this "
                "dimension is empty and the operation does not have an identity"
            )


@op(promote="complex_to_float", variants="", grad_name="DistBackward0", saves="both",
    check=no_bool_operand, underived=complex_gradients(0, 1))
def dist(input, other, /, *, p: Number = 2):
    """The norm of order ``p`` of ``input - other``."""
    if is_integral(input):
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {scalar_name(input)} instead."
        )
    difference = input - other
    if difference.size == 0 and not isinstance(p, complex) and (p < 0 or p == math.inf):
        refuse_empty_norm(difference, p, None, ())
    return vector_norm(difference, p, tuple(range(input.ndim)), False)


# PyTorch negates the gradient of ``input`` for that of ``other``, and there is none.
overload(dist, "_dist_count", "DistBackward0", saves=("input", "other", "result"), underived=Underived(
    RuntimeError, "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #0 "
    "'self'", operand=1, otherwise=UNDEFINED))


@op(grad_name="TraceBackward0", saves="none", variants="function method")
def trace(input, /):
    """The sum of a matrix's diagonal; integers add up in int64.

    Args:
        input: a matrix ``(n, m)`` of any dtype but bool.

    Returns:
        A new tensor without dimensions, of the dtype of ``input``, or int64 for integers.

    Raises:
        RuntimeError: if ``input`` does not have two dimensions.
        NotImplementedError: for bools.

    Example:
        >>> torch.trace(torch.tensor([[1, 2, 3], [4, 5, 6]]))
        tensor(6)
    """
    refuse("trace", input, BOOL)
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    x, result = _accumulate(input, None)
    return jnp.sum(jnp.diagonal(x)).astype(result)
