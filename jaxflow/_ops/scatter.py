"""Writing elements at index tensors along one dimension: replacing, adding, multiplying, comparing.

Where several sources go to one place, PyTorch's derivative of a replacing write sends the gradient of
the place to each of them. jax's own rule works out which one won, at some cost; the rules here say
what PyTorch does, and they are built of differentiable parts.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.cast import cast
from jaxflow._core.dtype import BOOL, COMPLEX
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._plans.op import EXACT, Out, Scalar, Tensor, Underived, op

from ._support import (
    at_least_1d,
    is_bool,
    is_complex,
    is_float,
    refuse,
    scalar_name,
    wide,
    wrap_dim,
)
from .gather import OUT_OF_BOUNDS, fit_index, flat_range, in_range, lines_misfit


def _scatter_guard(watch, dynamic, static):
    """The range of the index, unless the shapes misfit: that is the body's to refuse."""
    index, source = dynamic[1:3]
    if getattr(source, "ndim", index.ndim) == index.ndim:
        _LINES(watch, dynamic, static)


_LINES = in_range(RuntimeError, OUT_OF_BOUNDS, lines_misfit)
_OWN = Out(EXACT.text, dtype=lambda own, **static: own)
_SCATTER = dict(variants="function method inplace out", guard=_scatter_guard, out=_OWN, apart="others")
FORMS = dict(variants="function method inplace out", out=_OWN, apart="others")


def place(index, axis):
    """The subscript that names, for each element of ``index``, where along ``axis`` it points."""
    at = [
        jax.lax.broadcasted_iota(index.dtype, index.shape, d) for d in range(index.ndim)
    ]
    at[axis] = index
    return tuple(at)


# ------------------------------------------------------------------------------- the kinds of write


# A subscript is some full slices, then index arrays. The arrays are ordinary arguments of these
# functions, so that every transformation sees them; how many slices come first is static.


def _subscript(lead, arrays):
    return (slice(None),) * lead + arrays


def _split(subscript):
    lead = sum(isinstance(s, slice) for s in subscript)
    return lead, subscript[lead:]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _replace(lead, x, source, *arrays):
    return x.at[_subscript(lead, arrays)].set(source, mode="drop")


@_replace.defjvp
def _replace_jvp(lead, primals, tangents):
    x, source, *arrays = primals
    at = _subscript(lead, tuple(arrays))
    kept = jnp.where(_written(x, at), 0, tangents[0])
    moved = jnp.broadcast_to(tangents[1], jax.eval_shape(lambda a: a[at], x).shape)
    return _replace(lead, x, source, *arrays), kept.at[at].add(moved, mode="drop")


def replace(x, subscript, source):
    """``x`` with ``source`` written at ``subscript``; the last of several writes stays."""
    if not is_float(x) and not is_complex(x):
        return x.at[subscript].set(source, mode="drop")
    lead, arrays = _split(subscript)
    return _replace(lead, x, source, *arrays)


def add(x, subscript, source):
    """``x`` with ``source`` added at ``subscript``."""
    if not x.size:
        return x  # no index is in range, and XLA has no derivative there
    if is_bool(x):
        return x.at[subscript].max(source, mode="drop")
    return x.at[subscript].add(source, mode="drop")


def _count(x, subscript, shape, include_self):
    start = jnp.ones if include_self else jnp.zeros
    ones = jnp.ones(shape, x.dtype)
    return start(x.shape, x.dtype).at[subscript].add(ones, mode="drop")


def _written(x, subscript):
    return jnp.zeros(x.shape, np.bool_).at[subscript].set(True, mode="drop")


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _multiply(lead, x, source, *arrays):
    return x.at[_subscript(lead, arrays)].multiply(source, mode="drop")


@_multiply.defjvp
def _multiply_jvp(lead, primals, tangents):
    x, source, *arrays = primals
    mine, theirs = _others(lead, x, source, *arrays)
    at = _subscript(lead, tuple(arrays))
    return (_multiply(lead, x, source, *arrays),
            (tangents[0] * mine).at[at].add(tangents[1] * theirs, mode="drop"))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _others(lead, x, source, *arrays):
    """For each element of ``x`` and of ``source`` the product of the others in its place.

    The whole product without zeros, over the factor. With one zero in a place only that factor has others
    whose product is not 0; with more, none has.
    """
    at, zeros, clean = _without_zeros(lead, x, source, arrays)

    def others(factor, zeros, clean):
        over = clean / jnp.where(factor == 0, 1, factor)
        return jnp.where(zeros == 0, over, jnp.where((zeros == 1) & (factor == 0), clean, 0))

    return others(x, zeros, clean), others(source, zeros[at], clean[at])


@_others.defjvp
def _others_jvp(lead, primals, tangents):
    x, source, *arrays = primals
    return jax.jvp(lambda x, source: _others_smooth(lead, x, source, arrays), (x, source), tangents[:2])


def _others_smooth(lead, x, source, arrays):
    """`_others` by a formula whose first and second derivatives are right, however many factors are 0.

    The product of those zeros is an elementary symmetric polynomial, here by Newton's identities from the
    sums of powers; of more than two it has no derivatives so low.
    """
    at, zeros, clean = _without_zeros(lead, x, source, arrays)
    mine, theirs = jnp.where(x == 0, x, 0), jnp.where(source == 0, source, 0)
    total = mine.at[at].add(theirs, mode="drop")
    pairs = (total * total - (mine * mine).at[at].add(theirs * theirs, mode="drop")) / 2

    def others(factor, zeros, clean, total, pairs):
        # Of a factor that is not 0 the zeros are n others, of one that is 0 they are n - 1.
        none = jnp.zeros_like(total)
        left = total - factor
        rest = jnp.where(factor == 0, left, total)
        two = jnp.where(factor == 0, pairs - factor * left, pairs)
        count = zeros - (factor == 0).astype(zeros.dtype)
        over = clean / jnp.where(factor == 0, 1, factor)
        return over * jnp.where(count == 0, 1, jnp.where(count == 1, rest, jnp.where(count == 2, two, none)))

    return (others(x, zeros, clean, total, pairs),
            others(source, zeros[at], clean[at], total[at], pairs[at]))


def _without_zeros(lead, x, source, arrays):
    """The subscript, how many factors of each place are 0, and the product of the rest."""
    at = _subscript(lead, tuple(arrays))
    zeros = (x == 0).astype(np.int64).at[at].add((source == 0).astype(np.int64), mode="drop")
    return at, zeros, _multiply(lead, jnp.where(x == 0, 1, x), jnp.where(source == 0, 1, source), *arrays)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _extreme(largest, lead, x, source, *arrays):
    ref = x.at[_subscript(lead, arrays)]
    return ref.max(source, mode="drop") if largest else ref.min(source, mode="drop")


@_extreme.defjvp
def _extreme_jvp(largest, lead, primals, tangents):
    # All elements equal to the result share its derivative.
    x, source, *arrays = primals
    at = _subscript(lead, tuple(arrays))
    out = _extreme(largest, lead, x, source, *arrays)
    mine, theirs = (x == out).astype(x.dtype), (source == out[at]).astype(x.dtype)
    count = mine.at[at].add(theirs, mode="drop")  # none where the result is nan, which has no share at all
    moved = tangents[1] * (theirs / count[at])
    return out, (tangents[0] * (mine / count)).at[at].add(moved, mode="drop")


def reduce_into(x, subscript, source, reduce, include_self, dtype=None):
    """``x`` with ``source`` combined into it at ``subscript``; its own elements count if ``include_self``.

    ``reduce`` is one of sum, prod, mean, amax, amin; the sum of a mean is rounded to ``dtype``, if given.
    """
    lead, arrays = _split(subscript)
    start = x
    if not include_self:
        neutral = _neutral(reduce, x.dtype)
        start = jnp.where(_written(x, subscript), jnp.asarray(neutral, x.dtype), x)
    if reduce == "sum":
        return add(start, subscript, source)
    if reduce == "prod":
        if is_bool(x):
            return start.at[subscript].min(source, mode="drop")
        differentiable = is_float(x) or is_complex(x)
        return (_multiply(lead, start, source, *arrays) if differentiable
                else start.at[subscript].multiply(source, mode="drop"))
    if reduce == "mean":
        count = jnp.maximum(_count(x.real, subscript, source.shape, include_self), 1)
        total = add(start, subscript, source)
        if dtype is not None:
            total = total.astype(dtype).astype(total.dtype)
        if is_float(x) or is_complex(x):
            return total / count.astype(total.dtype)
        quotient = jax.lax.div(total, count)
        return quotient - ((jax.lax.rem(total, count) != 0) & (total < 0)).astype(x.dtype)
    if not is_float(x):
        ref = start.at[subscript]
        return ref.max(source, mode="drop") if reduce == "amax" else ref.min(source, mode="drop")
    return _extreme(reduce == "amax", lead, start, source, *arrays)


def _neutral(reduce, dtype):
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype == np.bool_:
        return reduce == "amin"
    if jnp.issubdtype(dtype, np.floating):
        return -np.inf if reduce == "amax" else np.inf
    limits = jnp.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


# -------------------------------------------------------------------------------- scatter operations


def _prepare(name, input, dim, index, src):
    """The axis and the arrays of a scatter, with its errors; ``src`` cut to what the index covers."""
    axis = wrap_dim(dim, input.ndim)
    fit_index("scatter", "self", input, index, axis)
    x, at = at_least_1d(input), at_least_1d(index)
    if src is not None:
        if src.dtype != input.dtype:
            raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
        source = at_least_1d(src)
        if index.size and source.ndim != at.ndim:
            raise RuntimeError(
                "Index tensor must have the same number of dimensions as src tensor"
            )
    if index.size == 0:
        return None, x, None, None
    smaller = any(n > x.shape[d] for d, n in enumerate(at.shape) if d != axis)
    if src is None:
        if smaller:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} "
                f"apart from dimension {axis}"
            )
        return axis, x, place(at, axis), None
    if smaller or any(n > source.shape[d] for d, n in enumerate(at.shape)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} apart "
            f"from dimension {axis} and to be no larger size than src {list(src.shape)}"
        )
    return axis, x, place(at, axis), source[tuple(slice(n) for n in at.shape)]


@op(variants="", grad_name="ScatterBackward0", out=EXACT, apart="others")
def scatter_src(input, /, dim, index: Tensor, src: Tensor):
    """``input`` with the elements of ``src`` written where ``index`` points along ``dim``."""
    axis, x, at, source = _prepare("scatter", input, dim, index, src)
    return input if axis is None else replace(x, at, source).reshape(input.shape)


@op(variants="", grad_name="ScatterBackward1", apart="others")
def scatter_value(input, /, dim, index: Tensor, value: Scalar):
    """``input`` with one number written where ``index`` points along ``dim``."""
    axis, x, at, _ = _prepare("scatter", input, dim, index, None)
    if axis is None:
        return input
    return replace(x, at, cast(value, x.dtype)).reshape(input.shape)


_OLD_REDUCTIONS = {"add": "sum", "multiply": "prod"}
#: Of these PyTorch has no derivative.
_OLD = dict(
    variants="", grad_name="NotImplemented", saves="none", apart="others", out=Out(EXACT.text, lost=True),
    underived=Underived(RuntimeError, "derivative for aten::scatter{_} is not implemented",
                        forward="Trying to use forward AD with aten::scatter{_} that does not support it."))


@op(**_OLD)
def scatter_reduce_src(input, /, dim, index: Tensor, src: Tensor, *, reduce):
    """`scatter` with ``reduce="add"`` or ``"multiply"``."""
    axis, x, at, source = _prepare("scatter", input, dim, index, src)
    if axis is None:
        return input
    return reduce_into(x, at, source, _OLD_REDUCTIONS[reduce], True).reshape(input.shape)


@op(**_OLD)
def scatter_reduce_value(input, /, dim, index: Tensor, value: Scalar, *, reduce):
    """`scatter` of one number with ``reduce="add"`` or ``"multiply"``."""
    axis, x, at, _ = _prepare("scatter", input, dim, index, None)
    if axis is None:
        return input
    source = jnp.broadcast_to(cast(value, x.dtype), at[0].shape)
    return reduce_into(x, at, source, _OLD_REDUCTIONS[reduce], True).reshape(input.shape)


@op(**_SCATTER)
def scatter_add(input, /, dim: int, index: Tensor, src: Tensor):
    """``input`` with the elements of ``src`` added where ``index`` points along ``dim``.

    For ``dim`` 0 of a matrix, ``src[i][j]`` is added to ``input[index[i][j]][j]``, and likewise for others.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dimension along which ``index`` points; negative ones count from the last.
        index: an int64 or int32 tensor with as many dimensions as ``input`` and, except along ``dim``, no
            larger extents; its elements are from 0 to the extent of ``dim`` less 1.
        src: a tensor of the dtype of ``input``, in no dimension smaller than ``index``; what is beyond the
            extents of ``index`` is left out.

    Returns:
        A new tensor of the shape and dtype of ``input``. The in-place form ``scatter_add_`` writes it into
        ``input``.

    Raises:
        RuntimeError: for an index out of range or of another dtype, and if shapes or dtypes do not fit.
        IndexError: if there is no such dimension.

    Example:
        >>> x = torch.zeros(3, dtype=torch.int64)
        >>> x.scatter_add_(0, torch.tensor([0, 0, 2]), torch.tensor([1, 2, 3]))
        tensor([3, 0, 3])
        >>> torch.scatter_add(torch.ones(2, 2), 0, torch.tensor([[1, 0]]), torch.tensor([[5.0, 7.0]]))
        tensor([[1., 8.],
                [6., 1.]])
    """
    axis, x, at, source = _prepare("scatter_add", input, dim, index, src)
    if axis is None:
        return input
    # Half precision is added up in float32 here, and rounded after each step by `index_add`, as in PyTorch.
    return add(wide(x), at, wide(source)).astype(input.dtype).reshape(input.shape)


REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def _scatter_reduce_guard(watch, dynamic, static):
    own, index, src = (t._aval for t in dynamic)
    (_, reduce, include_self), kind = static, own.dtype.category
    # Without the input's own elements PyTorch fills their places first, by the index, whatever the dtype is.
    lacking = kind == COMPLEX and reduce in ("amax", "amin") or kind == BOOL and reduce == "mean"
    watch.early = lacking and not include_self and own.dtype is src.dtype and len(index.shape) == len(
        src.shape) and all(n <= most for n, most in zip(index.shape, src.shape, strict=True))
    _scatter_guard(watch, dynamic, static)


@op(**_SCATTER | dict(guard=_scatter_reduce_guard), saves=("input", "index", "src", "result"),
    complex_grad=False)
def scatter_reduce(input, /, dim: int, index: Tensor, src: Tensor, reduce, *, include_self: bool = True):
    """``input`` with ``src`` combined into it where ``index`` points: sum, prod, mean, amax, amin."""
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    axis, x, at, source = _prepare("scatter_reduce", input, dim, index, src)
    if reduce == "mean":
        refuse("div_floor_cpu" if axis is None else "scatter_gather_tensor_cpu_reduce_mean", input, BOOL)
    if axis is None:
        return input
    if reduce in ("amax", "amin"):
        refuse(f"scatter_gather_tensor_cpu_reduce_{reduce}", input, COMPLEX)
    total = reduce_into(wide(x), at, wide(source), reduce, include_self, input.dtype)
    return total.astype(input.dtype).reshape(input.shape)


# ---------------------------------------------------------------------------------- flat and masked


def _put_guard(watch, dynamic, static):
    if not static[0]:
        watch.not_deterministic("put_")
    input, index, source = (getattr(x, "_aval", None) for x in dynamic)
    # Misfits are the body's to refuse.
    if None not in (index, source) and source.dtype is input.dtype and source.numel == index.numel:
        flat_range(watch, dynamic, static)


@op(variants="function method inplace", guard=_put_guard, saves=("index", "source for source"), layout="like",
    apart="others")
def put(input, index, source, /, accumulate: bool = False):
    """``input`` with ``source`` written (or added) at positions in the flattened tensor.

    Args:
        input: a tensor of any shape and dtype.
        index: an int64 tensor of positions; negative ones count from the end.
        source: a tensor of the dtype of ``input`` with as many elements as ``index``.
        accumulate: whether the elements are added to those of ``input`` and not written over them. Without
            it, ``index`` should name each place once.

    Returns:
        A new tensor of the shape and dtype of ``input``. The in-place form ``put_`` writes it into
        ``input``.

    Raises:
        IndexError: for an index out of range, and if the numbers of elements differ.
        RuntimeError: for an index that is not int64, and if the dtypes of ``input`` and ``source`` differ.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> torch.put(x, torch.tensor([0, -1]), torch.tensor([8, 9]))
        tensor([[8, 2],
                [3, 9]])
        >>> torch.put(x, torch.tensor([0, 0]), torch.tensor([8, 9]), accumulate=True)
        tensor([[18,  2],
                [ 3,  4]])
    """
    if index.dtype != np.int64:
        raise RuntimeError(
            f"put_(): Expected a long tensor for index, but got {scalar_name(index)}"
        )
    if source.dtype != input.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_name(input)} and source.dtype = {scalar_name(source)}"
        )
    if source.size != index.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    if index.size and not input.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    flat, at = input.reshape(-1), index.reshape(-1)
    at = (jnp.where(at < 0, at + input.size, at),)
    write = add if accumulate else replace
    return write(flat, at, source.reshape(-1)).reshape(input.shape)


def _enough(watch, dynamic, static):
    mask, source = watch.known(dynamic[1], wait=True), dynamic[2]
    if mask is None or mask.dtype != np.bool_ or not mask.size or source.dtype is not dynamic[0].dtype:
        return  # dtypes are the body's to refuse
    own = tuple(dynamic[1].shape)
    shape = broadcast_shapes(own, tuple(dynamic[0].shape))
    examples = mask.reshape(-1, *(1,) * (len(shape) - len(own)), *own)  # one, but inside vmap
    each = np.broadcast_to(examples, (len(examples), *shape))
    counts = np.count_nonzero(each, tuple(range(1, each.ndim)))
    if counts.max() > source.numel():
        raise RuntimeError("Number of elements of source < number of ones in mask")


def other_dtype(input: str, source: str) -> RuntimeError:
    """The error for a ``source`` of another dtype than ``input``'s, given their names."""
    return RuntimeError(
        f"masked_scatter: expected self and source to have same dtypes but got{input} and {source}"
    )


@op(variants="function method inplace", guard=_enough)
def masked_scatter(input, mask, source, /):
    """``input`` with the elements of ``source``, in order, where ``mask`` holds."""
    shape = broadcast_shapes(mask.shape, input.shape)
    if source.dtype != input.dtype:
        raise other_dtype(scalar_name(input), scalar_name(source))
    if not is_bool(mask):
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{dtypes.from_numpy_dtype(mask.dtype).scalar_name}"
        )
    if source.size == 0:
        return jnp.broadcast_to(input, shape)
    mask, x = jnp.broadcast_to(mask, shape), jnp.broadcast_to(input, shape)
    order = jnp.cumsum(mask.reshape(-1), dtype=np.int64) - 1
    taken = jnp.take(source.reshape(-1), jnp.maximum(order, 0), mode="fill").reshape(shape)
    return jnp.where(mask, taken, x)
