"""Writing slices at a vector of indices along one dimension: adding, replacing, filling, reducing."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.cast import cast
from jaxflow._core.dtype import BOOL, COMPLEX
from jaxflow._core.geometry import contiguous_strides, storage_extent
from jaxflow._core.warning import warn_once
from jaxflow._plans.op import Element, Scalar, Tensor, op

from ._support import (
    at_least_1d,
    category,
    is_complex,
    number_fits,
    refuse,
    scalar_name,
    wrap_dim,
)
from .gather import OUT_OF_BOUNDS, in_range
from .scatter import FORMS, REDUCTIONS, add, reduce_into, replace

# ------------------------------------------------------------------------------------------- guards


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


@op(**FORMS, guard=_add_guard, saves=("index for source", "source for source"), factors="rounded")
def index_add(input, /, dim: int, index: Tensor, source: Tensor, *, alpha: Scalar = 1):
    """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` names them.

    For ``dim`` 0, ``alpha * source[i]`` is added to ``input[index[i]]``.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dimension along which ``index`` points; negative ones count from the last.
        index: a vector of int64 or int32 with elements from 0 to the extent of ``dim`` less 1; where it
            names a slice several times, all of them are added.
        source: a tensor of the dtype of ``input`` and, except along ``dim``, of its extents; along ``dim``
            it is as long as ``index``.
        alpha: the number by which ``source`` is multiplied.

    Returns:
        A new tensor of the shape and dtype of ``input``. The in-place form ``index_add_`` writes it into
        ``input``.

    Raises:
        RuntimeError: for an index out of range or of another dtype, and if shapes or dtypes do not fit.
        IndexError: if ``index`` is no vector, or there is no such dimension.

    Example:
        >>> x = torch.zeros(3, 2)
        >>> x.index_add_(0, torch.tensor([2, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]), alpha=2)
        tensor([[6., 8.],
                [0., 0.],
                [2., 4.]])
        >>> torch.index_add(torch.tensor([1, 1]), 0, torch.tensor([0, 0]), torch.tensor([5, 6]))
        tensor([12,  1])
    """
    axis = _check_slices("index_add_()", input, dim, index, source)
    if not (type(alpha) is int and alpha == 1):
        source = source * cast(alpha, source.dtype)
    x, s = at_least_1d(input), at_least_1d(source)
    return add(x, _slices(x, axis, index), s).reshape(input.shape)


@op(**FORMS, saves=("index", "source for source"), guard=_in_slices(
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
        raise RuntimeError(f"{name}: Expected a long tensor for index, but got {scalar_name(index)}")
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
    # An imaginary part for real numbers the op refuses in words of its own.
    if dynamic[-1].__class__ is not complex or dynamic[0]._aval.dtype.is_complex:
        number_fits(watch, dynamic, static)
    _named_in_range(watch, dynamic, static)


@op(variants="function method inplace", grad_name=_fill_name, guard=_may_fill, layout="like", apart="others")
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


_COMPARING = {"amin": "minimum_cpu", "amax": "maximum_cpu"}


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
    return _COMPARING.get(reduce)


def _refuse_comparing(watch, kernel, input, index, dim):
    """Refuse what PyTorch has no kernel for, which it finds when it combines the first slice."""
    axis = dim % input.ndim
    _refuse_no_row(watch, input, axis, index)
    found = watch.known(index, wait=True)
    if found is not None:
        first = found.reshape(-1, index.numel())[:, 0]
        if ((first < 0) | (first >= input.shape[axis])).any():
            raise IndexError("index out of range in self")
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{input._aval.dtype.scalar_name}'")


def _slices_agree(shape, other, dim):
    """Whether two shapes of as many dimensions, at least one, differ in ``dim`` alone."""
    return len(shape) == len(other) and all(
        n == m or i == dim % len(shape) for i, (n, m) in enumerate(zip(shape, other, strict=True)))


def _reduce_guard(watch, dynamic, static):
    # The body refuses other reductions and dtypes, before any index is looked at.
    (aval, index, source), (dim, reduce, include_self) = [t._aval for t in dynamic], static
    ndim = len(aval.shape)
    agree = -ndim <= dim < ndim and _slices_agree(aval.shape, source.shape, dim) and (
        source.shape[dim] == index.numel)
    shared = watch.in_place and any(t._storage is dynamic[0]._storage for t in dynamic[1:])
    if reduce in REDUCTIONS[1:] and (agree or not ndim) and not shared and (
            aval.dtype is source.dtype and len(index.shape) < 2):
        warn_once("index_reduce() is in beta and the API may change at any time.")
    short = _without_kernel(aval.dtype.category, ndim, reduce, include_self)
    divided = short == "div_floor_cpu"  # in the end, when all indices were looked at
    watch.early = divided and agree
    if reduce in REDUCTIONS[1:] and (short is None or divided):
        if not include_self:
            _REDUCED_AFRESH(watch, dynamic, static)
        _REDUCED(watch, dynamic, static)
    elif short in _COMPARING.values() and dynamic[1].numel():
        _refuse_comparing(watch, short, dynamic[0], dynamic[1], dim)


@op(**FORMS, guard=_reduce_guard, saves=("input", "index", "source", "result"), complex_grad=False)
def index_reduce(input, /, dim: int, index: Tensor, source: Tensor, reduce, *, include_self: bool = True):
    """``input`` with slices of ``source`` combined into it: prod, mean, amax or amin."""
    if reduce not in REDUCTIONS[1:]:
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    axis = _check_slices("index_reduce_()", input, dim, index, source)
    short = _without_kernel(category(input), input.ndim, reduce, include_self)
    if short in _COMPARING.values() or short == "div_floor_cpu" and not index.size:
        return input  # nothing is named: of comparisons the guard refuses the rest
    if short is not None:
        refuse(short, input, BOOL, COMPLEX)
    x, s = at_least_1d(input), at_least_1d(source)
    return reduce_into(x, _slices(x, axis, index), s, reduce, include_self).reshape(input.shape)
