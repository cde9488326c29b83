"""View operations: what each shows of its parent, how it is read, and how it is written through.

A view op maps a parent's geometry and its static arguments to a :class:`Step`: the new size and
strides (bookkeeping) and a pair of pure functions on the parent's array: ``read`` gives what the view
shows, ``write`` gives the parent with that part replaced. The machinery in
``jaxflow._views.chain`` chains the steps; nothing here uses tensors or gradients.

Arrays are always stored in logical order. Strides and offsets are carried along so that ``view``,
``stride()``, ``is_contiguous()`` and ``as_strided`` behave as in PyTorch; only ``as_strided`` reads
them, to find where an element would lie in memory.

NOTE [Conjugation and negation put off]
    ``conj()`` of a complex tensor is a view, and so is the imaginary part of one. Steps read what their
    parent *shows* and so never check whether it is conjugated; what is marked (``Geometry.conj`` and
    ``neg``) says what programs see, and what stands between the elements in memory and those shown where a
    layout is read by position.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry
from jaxflow._core.geometry import wrap_dim

from . import _strided
from .positions import bitcast, by_position, capacity, repeats_itself


class Geometry(NamedTuple):
    """Size, strides, storage offset and dtype of a view's parent, and of its root.

    The root is all of a storage, unless ``room`` says that it is a piece of one with so many elements.
    What is shown is memory conjugated where ``conj`` is set and negated where ``neg`` is; a root that is a
    detached view shows its memory so too.
    """

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: dtypes.dtype
    conj: bool
    neg: bool
    root_size: tuple[int, ...]
    root_stride: tuple[int, ...]
    root_dtype: dtypes.dtype
    root_offset: int = 0
    room: int | None = None
    root_conj: bool = False
    root_neg: bool = False


def contiguous(x) -> Geometry:
    """The geometry of an array that is all of a storage."""
    stride = geometry.contiguous_strides(x.shape)
    dtype = dtypes.from_numpy_dtype(x.dtype)
    return Geometry(x.shape, stride, 0, dtype, False, False, x.shape, stride, dtype)


class Step(NamedTuple):
    """One view op applied to one parent geometry."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    read: Callable
    write: Callable
    dtype: dtypes.dtype | None = None
    from_root: tuple[Callable, Callable] | None = None  # read and write on the root array instead
    numbers: tuple[int, ...] = ()  # dynamic arguments of read and write; see NOTE [Where a view starts]
    structure: tuple = ()  # what decides read and write otherwise; by default name and arguments
    conj: bool | None = None  # how memory is shown, None for as the parent shows it
    neg: bool | None = None


VIEWS: dict[str, Callable] = {}


def view(fn: Callable) -> Callable:
    """Declare a view op under the function's name; a second declaration raises."""
    name = fn.__name__.rstrip("_")
    if name in VIEWS:
        raise ValueError(f"view {name!r} is declared twice")
    VIEWS[name] = fn
    return fn


def _reshaped(g: Geometry, size, stride) -> Step:
    """A step that only regroups elements kept in the same logical order."""
    return Step(
        tuple(size), tuple(stride), g.offset,
        lambda x: x.reshape(size), lambda x, new: new.reshape(g.size),
    )


def _permuted(g: Geometry, order) -> Step:
    inverse = tuple(int(i) for i in np.argsort(order)) if order else ()
    return Step(
        tuple(g.size[d] for d in order), tuple(g.stride[d] for d in order), g.offset,
        lambda x: jnp.transpose(x, order), lambda x, new: jnp.transpose(new, inverse),
    )


@view
def alias(g: Geometry) -> Step:
    """The whole parent."""
    return Step(g.size, g.stride, g.offset, lambda x: x, lambda x, new: new)


@view
def select(g: Geometry, dim: int, index: int) -> Step:
    """One index along ``dim``, which disappears."""
    if not g.size:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(g.size))
    extent = g.size[dim]
    if not -extent <= index < extent:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(g.size)} at dimension {dim}"
        )
    index %= extent
    size, stride = _without(g.size, dim), _without(g.stride, dim)

    def read(x, at):
        return jax.lax.dynamic_index_in_dim(x, at, dim, keepdims=False)

    def write(x, new, at):
        return jax.lax.dynamic_update_index_in_dim(x, new, at, dim)

    return Step(size, stride, g.offset + index * g.stride[dim], read, write, numbers=(index,),
                structure=("select", dim))


def _without(items, dim):
    return items[:dim] + items[dim + 1 :]


@view
def slice_(g: Geometry, dim: int, start: int | None, stop: int | None, step: int) -> Step:
    """``start:stop:step`` along ``dim``; out-of-range bounds are clamped."""
    if not g.size:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(g.size))
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    extent = g.size[dim]
    fixed = start is None
    start, stop = _within(0 if fixed else start, extent), extent if stop is None else _within(stop, extent)
    stop = max(stop, start)
    count = -(-(stop - start) // step)
    size = (*g.size[:dim], count, *g.size[dim + 1 :])
    stride = (*g.stride[:dim], g.stride[dim] * step, *g.stride[dim + 1 :])
    offset = g.offset + start * g.stride[dim]
    span = (count - 1) * step + 1
    apart = 1 if count == 1 else step  # NOTE [Older code of fused operations]
    if fixed or count in (0, extent):
        read, write = _fixed_slice(dim, start, start + 1 if count == 1 else stop, apart, count)
        return Step(size, stride, offset, read, write, structure=("slice", dim, start, stop, step))

    def read_at(x, at):
        window = jax.lax.dynamic_slice_in_dim(x, at, span, dim)
        return window if apart == 1 else jax.lax.slice_in_dim(window, 0, span, apart, dim)

    def write_at(x, new, at):
        if apart > 1:
            window = jax.lax.dynamic_slice_in_dim(x, at, span, dim)
            new = _strided_set(window, new, dim, 0, span, apart)
        return jax.lax.dynamic_update_slice_in_dim(x, new, at, dim)

    return Step(size, stride, offset, read_at, write_at, numbers=(start,),
                structure=("slice", dim, count, step))


def _within(bound: int, extent: int) -> int:
    """A bound of a slice, which may count from the end, inside the dimension."""
    return max(bound + extent, 0) if bound < 0 else min(bound, extent)


@view
def piece(g: Geometry, dim: int, start: int, stop: int) -> Step:
    """One of a few pieces that shapes decide (``chunk``): a slice whose start is part of the plan."""
    read, write = _fixed_slice(dim, start, stop, 1, stop - start)
    return Step(
        (*g.size[:dim], stop - start, *g.size[dim + 1 :]), g.stride,
        g.offset + start * g.stride[dim], read, write,
    )


def _fixed_slice(dim: int, start: int, stop: int, step: int, count: int):
    def read(x):
        return jax.lax.slice_in_dim(x, start, stop, step, dim)

    def write(x, new):
        if count == 0:
            return x
        if step == 1:
            return jax.lax.dynamic_update_slice_in_dim(x, new, start, dim)
        return _strided_set(x, new, dim, start, stop, step)

    return read, write


def _strided_set(x, new, dim: int, start: int, stop: int, step: int):
    at = (*(slice(None),) * dim, slice(start, stop, step))
    return x.at[at].set(new, unique_indices=True)


@view
def view_(g: Geometry, size: tuple[int, ...]) -> Step:
    """The same elements in another shape; refused where strides cannot express it."""
    size = geometry.infer_size(size, math.prod(g.size))
    return _reshaped(g, size, geometry.view_strides(g.size, g.stride, size))


@view
def reshape_alias(g: Geometry, size: tuple[int, ...]) -> Step:
    """What ``reshape`` is on a tensor that is not contiguous, where strides can express it."""
    return view_(g, size)


@view
def permute(g: Geometry, dims: tuple[int, ...]) -> Step:
    """Dimensions in another order."""
    n = len(g.size)
    if len(dims) != n:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length "
            f"of the desired ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = "
            f"{len(dims)}"
        )
    order = tuple(wrap_dim(d, n) for d in dims)
    if len(set(order)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permuted(g, order)


@view
def transpose(g: Geometry, dim0: int, dim1: int) -> Step:
    """Two dimensions exchanged."""
    n = len(g.size)
    dim0, dim1 = wrap_dim(dim0, n), wrap_dim(dim1, n)
    order = list(range(n))
    if n:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return _permuted(g, tuple(order))


@view
def t(g: Geometry) -> Step:
    """A matrix transposed; fewer dimensions stay as they are."""
    n = len(g.size)
    if n > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {n}D")
    return _permuted(g, tuple(reversed(range(n))))


@view
def expand(g: Geometry, size: tuple[int, ...]) -> Step:
    """Dimensions of size 1 repeated without copying; writing through it is refused earlier."""
    new_size, new_stride = geometry.expand_geometry(
        g.size, g.stride, size, f"torch.{_LEGACY_NAMES.get(g.dtype.name, 'Float')}Tensor"
    )[:2]
    _check_count(new_size)

    lead = len(new_size) - len(g.size)
    once = (0,) * lead + tuple(
        slice(0, 1) if old == 1 else slice(None) for old in g.size
    )

    def write(x, new):
        # Whatever repeats was given the same number everywhere: other writes are refused earlier.
        return new[once] if new.size else x

    return Step(new_size, new_stride, g.offset, lambda x: jnp.broadcast_to(x, new_size), write)


def _check_count(size: tuple[int, ...]) -> None:
    """Refuse a view of more elements than 64 bits count."""
    # While a family is being made some are symbols; then other sizes went through here.
    if all(type(n) is int for n in size) and math.prod(n for n in size if n) >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")


_LEGACY_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16",
    "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
    "bool": "Bool", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}


@view
def squeeze(g: Geometry) -> Step:
    """Without any dimension of size 1."""
    return squeeze_dims(g, tuple(range(len(g.size))))


@view
def squeeze_dim(g: Geometry, dim: int) -> Step:
    """Without the dimension ``dim`` if its size is 1."""
    return squeeze_dims(g, (dim,))


@view
def squeeze_dims(g: Geometry, dims: tuple[int, ...]) -> Step:
    """Without those of the dimensions ``dims`` whose size is 1."""
    n = len(g.size)
    wanted = [wrap_dim(d, n) for d in dims]
    keep = [d for d in range(n) if not (d in wanted and g.size[d] == 1)]
    return _reshaped(g, tuple(g.size[d] for d in keep), tuple(g.stride[d] for d in keep))


@view
def unsqueeze(g: Geometry, dim: int) -> Step:
    """With a dimension of size 1 put in before ``dim``."""
    dim = wrap_dim(dim, len(g.size) + 1)
    step = g.size[dim] * g.stride[dim] if dim < len(g.size) else 1
    return _reshaped(
        g, (*g.size[:dim], 1, *g.size[dim:]), (*g.stride[:dim], step, *g.stride[dim:])
    )


@view
def diagonal(g: Geometry, offset: int, dim1: int, dim2: int) -> Step:
    """The diagonal of the planes ``dim1 x dim2`` as a new last dimension."""
    n = len(g.size)
    d1, d2 = wrap_dim(dim1, n), wrap_dim(dim2, n)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, cols = g.size[d1], g.size[d2]
    first_row, first_col = max(-offset, 0), max(offset, 0)
    count = max(min(rows - first_row, cols - first_col), 0)
    rest = [d for d in range(n) if d not in (d1, d2)]
    size = (*(g.size[d] for d in rest), count)
    stride = (*(g.stride[d] for d in rest), g.stride[d1] + g.stride[d2])
    # With nothing to show, the offset stays where the parent starts.
    start = g.offset + (first_row * g.stride[d1] + first_col * g.stride[d2] if count else 0)
    at_row, at_col = np.arange(count) + first_row, np.arange(count) + first_col
    inverse = tuple(int(i) for i in np.argsort((*rest, d1, d2)))

    def read(x):
        return jnp.transpose(x, (*rest, d1, d2))[..., at_row, at_col]

    def write(x, new):
        planes = jnp.transpose(x, (*rest, d1, d2)).at[..., at_row, at_col].set(new)
        return jnp.transpose(planes, inverse)

    return Step(size, stride, start, read, write)


@view
def unfold(g: Geometry, dim: int, size: int, step: int) -> Step:
    """Windows of ``size`` every ``step`` along ``dim``; the window becomes the last dimension."""
    n = len(g.size)
    if n == 0:
        dim = wrap_dim(dim, 1)
        extent, at_stride = 1, 1
    else:
        dim = wrap_dim(dim, n)
        extent, at_stride = g.size[dim], g.stride[dim]
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > extent:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {extent} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if n == 0:
        # A scalar has one window of one element, or of none.
        return Step(
            (size,), (1,), g.offset,
            lambda x: x.reshape(1)[:size], lambda x, new: new.reshape(()) if size else x,
        )
    count = (extent - size) // step + 1
    at = np.arange(count)[:, None] * step + np.arange(size)
    new_size = (*g.size[:dim], count, *g.size[dim + 1 :], size)
    stride = (*g.stride[:dim], at_stride * step, *g.stride[dim + 1 :], at_stride)

    def read(x):
        return jnp.moveaxis(x[(*(slice(None),) * dim, at)], dim + 1, -1)

    def write(x, new):
        if not at.size:
            return x
        return x.at[(*(slice(None),) * dim, at)].set(jnp.moveaxis(new, -1, dim + 1))

    return Step(new_size, stride, g.offset, read, write)


@view
def as_strided(
    g: Geometry, size: tuple[int, ...], stride: tuple[int, ...], offset: int | None
) -> Step:
    """Any strided layout of the root storage, whatever the parent shows of it."""
    if len(size) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape. Got {len(size)} sizes and {len(stride)} strides"
        )
    offset = g.offset if offset is None else offset
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    if offset < 0:
        raise RuntimeError(
            f"Tensor: invalid storage offset {offset}"
        )
    _check_count(size)
    total = capacity(g)
    need = geometry.storage_extent(size, stride, offset)
    if need > total:
        item = g.dtype.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {item} requiring a storage size of {need * item} are out of bounds for storage "
            f"of size {total * item}"
        )
    here = (g.size, g.stride, g.offset)

    def memory(x):
        if _strided.is_whole(*here, total):
            return _strided.whole(x, g.stride)
        if repeats_itself(*here[:2]):
            return _strided.shared(x, total, *here)
        return _strided.write(jnp.zeros(total, x.dtype), x, *here)

    def read(x):
        # For the gradient: the parent's elements put where they lie in memory, then picked.
        return _strided.read(memory(x), size, stride, offset)

    def write(x, new):
        return _strided.read(_strided.write(memory(x), new, size, stride, offset), *here)

    size, stride = tuple(size), tuple(stride)
    step = Step(size, stride, offset, read, write, structure=("as_strided", size, stride, offset, g))
    return step._replace(from_root=by_position(g, step))


@view
def view_as_real(g: Geometry) -> Step:
    """A complex tensor as pairs of reals along a new last dimension."""
    if not g.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if g.conj:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors: pairs in memory cannot show it. Use "
            "self.resolve_conj(), which is a copy."
        )
    return Step(
        (*g.size, 2), (*(2 * s for s in g.stride), 1), 2 * g.offset,
        lambda x: jnp.stack([x.real, x.imag], -1),
        lambda x, new: jax.lax.complex(new[..., 0], new[..., 1]),
        g.dtype.to_real(),
    )


@view
def view_as_complex(g: Geometry) -> Step:
    """Pairs of reals along the last dimension as complex numbers."""
    if g.dtype.name not in ("float16", "float32", "float64"):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            f"scalar type: {g.dtype.scalar_name}"
        )
    if not g.size:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if g.size[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if g.stride[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 and n != 1 for s, n in zip(g.stride[:-1], g.size)):
        raise RuntimeError(
            "Tensor must have a stride divisible by 2 for all but last dimension"
        )
    if g.offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return Step(
        g.size[:-1], tuple(s // 2 for s in g.stride[:-1]), g.offset // 2,
        lambda x: jax.lax.complex(x[..., 0], x[..., 1]),
        lambda x, new: jnp.stack([new.real, new.imag], -1),
        g.dtype.to_complex(),
    )


@view
def real(g: Geometry) -> Step:
    """The real parts of a complex tensor."""
    return Step(
        g.size, tuple(2 * s for s in g.stride), 2 * g.offset,
        lambda x: x.real, lambda x, new: jax.lax.complex(new, x.imag), g.dtype.to_real(), conj=False,
    )


@view
def imag(g: Geometry) -> Step:
    """The imaginary parts of a complex tensor."""
    return Step(
        g.size, tuple(2 * s for s in g.stride), 2 * g.offset + 1,
        lambda x: x.imag, lambda x, new: jax.lax.complex(x.real, new), g.dtype.to_real(),
        conj=False, neg=g.neg is not g.conj,
    )


def _need_neighbours(g: Geometry, dtype: dtypes.dtype) -> None:
    if g.stride[-1] != 1:
        raise RuntimeError(
            f"self.stride(-1) must be 1 to view {g.dtype.scalar_name} as {dtype.scalar_name} (different "
            f"element sizes), but got {g.stride[-1]}"
        )


@view
def conj(g: Geometry) -> Step:
    """The complex conjugates; see NOTE [Conjugation and negation put off]."""
    return Step(g.size, g.stride, g.offset, jnp.conj, lambda x, new: jnp.conj(new), conj=not g.conj)


@view
def neg_view(g: Geometry) -> Step:
    """The negatives."""
    return Step(g.size, g.stride, g.offset, jnp.negative, lambda x, new: -new, neg=not g.neg)


@view
def view_dtype(g: Geometry, dtype: dtypes.dtype) -> Step:
    """The same bytes read as another dtype; the last dimension grows or shrinks with the item size."""
    if g.conj or g.neg:
        what = "conjugate view tensors" if g.conj else "tensors with negative bit set"
        raise RuntimeError(
            f"torch.Tensor.view is not supported for {what} when converting to a different dtype."
        )
    old, new = g.dtype.itemsize, dtype.itemsize
    size, stride = g.size, g.stride
    if old != new and not size:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {g.dtype.scalar_name} as {dtype.scalar_name} (different "
            "element sizes)"
        )
    offset = g.offset
    if old > new:
        _need_neighbours(g, dtype)
        ratio = old // new
        size = (*size[:-1], size[-1] * ratio)
        stride = (*(s * ratio for s in stride[:-1]), 1)
        offset *= ratio
    elif old < new:
        ratio = new // old
        if size[-1] % ratio:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {ratio} to view {g.dtype.scalar_name} as "
                f"{dtype.scalar_name} (different element sizes), but got {size[-1]}"
            )
        _need_neighbours(g, dtype)
        for what, number in [("storage_offset()", offset),
                             *((f"stride({d})", s) for d, s in enumerate(stride[:-1]))]:
            if number % ratio:
                raise RuntimeError(
                    f"self.{what} must be divisible by {ratio} to view {g.dtype.scalar_name} as "
                    f"{dtype.scalar_name} (different element sizes), but got {number}"
                )
        size = (*size[:-1], size[-1] // ratio)
        stride = (*(s // ratio for s in stride[:-1]), 1)
        offset //= ratio

    def reinterpret(x, to, shape, shrink):
        if shrink > 1:  # several small items become one large
            x = x.reshape(*shape, shrink)
        return bitcast(x, to).reshape(shape)

    def read(x):
        return reinterpret(x, dtype.np, size, new // old if new > old else 1)

    def write(x, value):
        return reinterpret(value, g.dtype.np, g.size, old // new if old > new else 1)

    return Step(size, stride, offset, read, write, dtype)
