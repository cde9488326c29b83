"""Writing elements at index tensors along one dimension: replacing, adding, multiplying, comparing.

NOTE [Writes at repeated places]
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
from jaxflow._core.geometry import broadcast_shapes, contiguous_strides, storage_extent
from jaxflow._dispatch.op import EXACT, Element, Out, Scalar, Tensor, Underived, op

from ._support import (
    at_least_1d,
    category,
    is_bool,
    is_complex,
    is_float,
    number_fits,
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
_SCATTER = dict(variants="function method inplace out", guard=_scatter_guard, out=_OWN, apart=True)
_FORMS = dict(variants="function method inplace out", out=_OWN, apart=True)


def _in_slices(error, message, spared=lambda shape, axis: 0 in shape[:axis] + shape[axis + 1 :],
               first=lambda watch, input, axis, index: None, *, from_end=False):
    """`in_range` for an index that names slices; of shapes that are ``spared`` none is reached.

    ``first`` may refuse a call before its indices are looked at.
    """
    guard = in_range(error, message, from_end=from_end)

    def check(watch, dynamic, static):
        input, index, source, dim = *dynamic[:3], static[0]
        shape = tuple(input.shape)
        if not -max(len(shape), 1) <= dim < max(len(shape), 1):
            return  # the body's to refuse, and so is another number of slices
        if shape and spared(shape, dim % len(shape)):
            return
        if getattr(source, "ndim", 0) and shape:
            if source.ndim != len(shape) or source.shape[dim] != getattr(index, "_aval", index).numel:
                return
        first(watch, input, dim % max(len(shape), 1), index)
        guard(watch, dynamic, static)

    return check


def _refuse_no_slices(watch, input, axis, index):
    """Refuse to write slices where there are none, as PyTorch does: for a lack of memory to lay them in.

    The memory of a view that is written to may have the room; then the indices are refused.
    """
    count, shape = index._aval.numel, list(input.shape)
    if not count or not shape or shape[axis] or index._aval.dtype.np != np.int64:
        return
    if input._aval.device.type == "meta":
        return
    strides, offset, room = list(contiguous_strides(shape)), 0, 0
    if watch.in_place and input._view is not None:
        strides, offset = list(input.stride()), input.storage_offset()
        room = input.untyped_storage().nbytes()
    shape[axis], strides[axis] = count, 0
    item = input._aval.dtype.itemsize
    need = storage_extent(shape, strides, offset) * item
    if need > room:
        raise RuntimeError(
            f"setStorage: sizes {shape}, strides {strides}, storage offset {offset}, and itemsize {item} "
            f"requiring a storage size of {need} are out of bounds for storage of size {room}"
        )


_IN_VECTOR = _in_slices(IndexError, "index out of range in self")
_IN_MATRIX = _in_slices(IndexError, "index out of range in self", lambda shape, axis: 0 in shape)
_SCATTERED = _in_slices(RuntimeError, OUT_OF_BOUNDS, lambda shape, axis: 0 in shape)


def _refuse_no_row(watch, input, axis, index):
    """Refuse to combine with slices where there are none: PyTorch takes the first of them apart."""
    shape = list(input.shape)
    if len(shape) > 1 and not shape[axis] and index._aval.numel:
        raise IndexError(f"select(): index 0 out of range for tensor of size {shape} at dimension {axis}")


_REDUCED = _in_slices(IndexError, "index out of range in self", lambda shape, axis: False, _refuse_no_row)
# Without the input's own elements PyTorch fills their places first, if there are any.
_REDUCED_AFRESH = _in_slices(IndexError, OUT_OF_BOUNDS, first=_refuse_no_slices)


def _add_guard(watch, dynamic, static):
    # PyTorch adds slices at either end of the shape by `scatter_add`, where that has a kernel, and others in
    # loops. The three refuse indices with words of their own.
    (input, index, _, alpha), (dim,) = dynamic, static
    ndim = input.ndim
    plain = alpha is None or alpha.__class__ in (int, float) and alpha == 1
    scattered = plain and dim in (0, ndim - 1, -1, -ndim) and index._aval.dtype.np == np.int64
    (_IN_VECTOR if ndim < 2 else _SCATTERED if scattered else _IN_MATRIX)(watch, dynamic, static)


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
    """``x`` with ``source`` combined into it at ``subscript``; without itself if so asked.

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


@op(variants="", grad_name="ScatterBackward0", out=EXACT, apart=True)
def scatter_src(input, /, dim, index: Tensor, src: Tensor):
    """``input`` with the elements of ``src`` written where ``index`` points along ``dim``."""
    axis, x, at, source = _prepare("scatter", input, dim, index, src)
    return input if axis is None else replace(x, at, source).reshape(input.shape)


@op(variants="", grad_name="ScatterBackward1")
def scatter_value(input, /, dim, index: Tensor, value: Scalar):
    """``input`` with one number written where ``index`` points along ``dim``."""
    axis, x, at, _ = _prepare("scatter", input, dim, index, None)
    if axis is None:
        return input
    return replace(x, at, cast(value, x.dtype)).reshape(input.shape)


_OLD_REDUCTIONS = {"add": "sum", "multiply": "prod"}
#: Of these PyTorch has no derivative.
_OLD = dict(variants="", grad_name="NotImplemented", saves="none", out=Out(EXACT.text, lost=True), underived=(
    Underived(RuntimeError, "derivative for aten::scatter{_} is not implemented",
              forward="Trying to use forward AD with aten::scatter{_} that does not support it.")))


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
    """``input`` with the elements of ``src`` added where ``index`` points along ``dim``."""
    axis, x, at, source = _prepare("scatter_add", input, dim, index, src)
    if axis is None:
        return input
    # Half precision is added up in float32 here, and rounded after each step by `index_add`, as in PyTorch.
    return add(wide(x), at, wide(source)).astype(input.dtype).reshape(input.shape)


_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


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
    if reduce not in _REDUCTIONS:
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


# ---------------------------------------------------------------------------------- index operations


def _slices(x, axis, index):
    return (slice(None),) * axis + (index.reshape(-1),)


def _check_slices(name, input, dim, index, source):
    """The axis along which slices of ``source`` go to those a vector of indices names, with its errors."""
    axis = wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}: Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{scalar_name(index)} and size: {list(index.shape)}"
        )
    if index.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            f"{name}: Expected dtype int32/int64 for index but got: {scalar_name(index)}"
        )
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"{name}: self ({scalar_name(input)}) and source ({scalar_name(source)}) must have the "
            "same scalar type"
        )
    if axis and axis >= source.ndim:
        raise RuntimeError(
            f"{name}: Indexing dim {axis} is out of bounds of the source tensor with dim {source.ndim}"
        )
    size = source.shape[axis] if source.ndim else 1
    if index.size != size:
        if not source.ndim:
            raise IndexError(f"Dimension specified as {axis} but tensor has no dimensions")
        raise RuntimeError(
            f"{name}: Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({size}), for dim: {axis}"
        )
    ours, theirs = input.shape, source.shape
    if ours and theirs:
        ours, theirs = (s[:axis] + s[axis + 1 :] for s in (ours, theirs))
    if ours != theirs:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        )
    return axis


@op(**_FORMS, guard=_add_guard, saves=("index for source", "source for source"))
def index_add(input, /, dim: int, index: Tensor, source: Tensor, *, alpha: Scalar = 1):
    """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` names them."""
    axis = _check_slices("index_add_()", input, dim, index, source)
    if not (type(alpha) is int and alpha == 1):
        source = source * alpha.astype(source.dtype)
    x, s = at_least_1d(input), at_least_1d(source)
    return add(x, _slices(x, axis, index), s).reshape(input.shape)


@op(**_FORMS, saves=("index", "source for source"), guard=_in_slices(
    IndexError, "index_copy_(): index {index} is out of bounds for dimension {dim} with size {size}",
    first=_refuse_no_slices))
def index_copy(input, /, dim: int, index: Tensor, source: Tensor):
    """``input`` with the slices of ``source`` written where ``index`` names them."""
    axis = wrap_dim(dim, input.ndim)
    name = "index_copy_()"
    if index.ndim > 1:
        raise IndexError(f"{name}: Index should have dimension 1 or 0 (got {index.ndim})")
    if source.ndim == 0 and index.size != 1:
        raise IndexError(
            f"{name}: When source is scalar, index should have one element (got {index.size})"
        )
    if source.ndim and input.ndim and source.ndim != input.ndim:
        raise IndexError(
            f"{name}: When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if index.dtype != np.int64:
        raise IndexError(f"{name}: Expected LongTensor for index")
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"{name}: self and source expected to have the same dtype, but got (self) "
            f"{scalar_name(input)} and (source) {scalar_name(source)}"
        )
    if source.ndim and input.ndim:
        ours = input.shape[:axis] + input.shape[axis + 1 :]
        theirs = source.shape[:axis] + source.shape[axis + 1 :]
        if ours != theirs:
            raise RuntimeError(
                f"{name}: Source/destination tensor must have same slice shapes. Destination slice "
                f"shape: {' '.join(map(str, ours))} at dimension {axis} and source slice shape: "
                f"{' '.join(map(str, theirs))} at dimension 0."
            )
        if index.size != source.shape[axis]:
            raise IndexError(
                f"{name}: Number of indices ({index.size}) should be equal to source.size(dim) "
                f"({source.shape[axis]})"
            )
    x, s = at_least_1d(input), at_least_1d(source)
    return replace(x, _slices(x, axis, index), s).reshape(input.shape)


def _fill_name(numbers, dim):
    return "IndexFillBackward0" if numbers[-1] else "IndexFillBackward1"


# Of the operations on slices this alone counts from the end in PyTorch.
_named_in_range = _in_slices(IndexError, OUT_OF_BOUNDS, first=_refuse_no_slices, from_end=True)


def _may_fill(watch, dynamic, static):
    if dynamic[-1].__class__ is not complex:  # which the op refuses in words of its own
        number_fits(watch, dynamic, static)
    _named_in_range(watch, dynamic, static)


@op(variants="function method inplace", grad_name=_fill_name, guard=_may_fill, layout="like")
def index_fill(input, /, dim: int, index: Tensor, value: Element):
    """``input`` with one number written to the slices that ``index`` names."""
    axis = wrap_dim(dim, input.ndim)
    if value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if is_complex(value) and not is_complex(input):
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    x = at_least_1d(input)
    # Where slices are, not which: one that is named twice is written once, and counts once in backward.
    named = jnp.zeros((x.shape[axis],), bool).at[index].set(True)
    shape = [1] * x.ndim
    shape[axis] = -1
    return jnp.where(named.reshape(shape), cast(value, x.dtype), x).reshape(input.shape)


def _without_kernel(kind, ndim, reduce, include_self):
    """The kernel that PyTorch's `index_reduce` of bools or complex numbers is short of, or None.

    In several dimensions it combines slices by other operations, those of ``prod`` for instance.
    """
    if kind not in (BOOL, COMPLEX):
        return None
    if not include_self:
        return "index_reduce_func_exclude_input_init"
    if ndim < 2:
        return "index_func_"
    if kind == BOOL:
        return "div_floor_cpu" if reduce == "mean" else None
    return {"amin": "minimum_cpu", "amax": "maximum_cpu"}.get(reduce)


def _reduce_guard(watch, dynamic, static):
    # The body refuses other reductions and dtypes, before any index is looked at.
    aval, (_, reduce, include_self) = dynamic[0]._aval, static
    short = _without_kernel(aval.dtype.category, len(aval.shape), reduce, include_self)
    divided = short == "div_floor_cpu"  # in the end, when all indices were looked at
    watch.early = divided
    if reduce in _REDUCTIONS[1:] and (short is None or divided):
        if not include_self:
            _REDUCED_AFRESH(watch, dynamic, static)
        _REDUCED(watch, dynamic, static)


@op(**_FORMS, guard=_reduce_guard, saves=("input", "index", "source", "result"))
def index_reduce(input, /, dim: int, index: Tensor, source: Tensor, reduce, *, include_self: bool = True):
    """``input`` with slices of ``source`` combined into it: prod, mean, amax or amin."""
    if reduce not in _REDUCTIONS[1:]:
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    axis = _check_slices("index_reduce_()", input, dim, index, source)
    short = _without_kernel(category(input), input.ndim, reduce, include_self)
    if short is not None:
        refuse(short, input, BOOL, COMPLEX)
    x, s = at_least_1d(input), at_least_1d(source)
    return reduce_into(x, _slices(x, axis, index), s, reduce, include_self).reshape(input.shape)


# ---------------------------------------------------------------------------------- flat and masked


def _put_guard(watch, dynamic, static):
    if not static[0]:
        watch.not_deterministic("put_")
    input, index, source = (getattr(x, "_aval", None) for x in dynamic)
    # Misfits are the body's to refuse.
    if None not in (index, source) and source.dtype is input.dtype and source.numel == index.numel:
        flat_range(watch, dynamic, static)


@op(variants="function method inplace", guard=_put_guard, saves=("index", "source for source"), layout="like")
def put(input, index, source, /, accumulate: bool = False):
    """``input`` with ``source`` written (or added) at positions in the flattened tensor."""
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
    mask, source = watch.known(dynamic[1], owed=True), dynamic[2]
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
