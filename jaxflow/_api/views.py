"""The public view operations: argument forms, and the step each one names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry
from jaxflow._core.attributes import read_only
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply
from jaxflow._dispatch.op import OPS
from jaxflow._dispatch.viewing import apply_joint_view, apply_view


def ints(args: tuple) -> tuple[int, ...]:
    """``f(2, 3)``, ``f((2, 3))`` and ``f(Size)`` alike as a tuple of ints."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return tuple([a if a.__class__ is int else _int(a) for a in args])


def _int(a: Any) -> int:
    if isinstance(a, (str, float)) or a is None:
        raise TypeError(f"expected an int, but got {type(a).__name__}")
    return a.__index__()


@composite()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at ``index`` along ``dim``, without that dimension; a view."""
    return apply_view("select", input, (_int(dim), _int(index)))


@composite()
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` elements from ``start`` along ``dim``; a view."""
    if not input._aval.shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim = wrap_dim(dim, input._aval.ndim)
    extent = input._aval.shape[dim]
    start = _int(start)
    if not -extent <= start <= extent:
        raise IndexError(
            f"start out of range (expected to be in range of [{-extent}, {extent}], but got {start})"
        )
    if start < 0:
        start += extent
    if start + length > extent:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({extent}).")
    return apply_view("slice", input, (dim, start, start + length, 1))


@composite("method")
def view(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """The same elements in another shape, or the same bytes as another dtype; a view.

    Raises:
        RuntimeError: when the strides do not allow it (use ``reshape``), or sizes do not match.
    """
    if dtype is not None:
        size = (dtype,)
    if len(size) == 1 and isinstance(size[0], dtypes.dtype):
        if size[0] is self._aval.dtype:
            return apply_view("alias", self)
        return apply_view("view_dtype", self, (size[0],))
    return apply_view("view", self, (ints(size),))


@composite("function method")
def reshape(input: Tensor, *shape: Any, **kwargs: Any) -> Tensor:
    """The same elements in another shape: a view where strides allow it, else a copy."""
    size = ints((kwargs.pop("shape"),) if "shape" in kwargs else shape)
    if input._stride is not None:
        size = geometry.infer_size(size, input._aval.numel)
        if geometry.compute_view_strides(input._aval.shape, input._stride, size) is None:
            return apply(OPS["_unsafe_view"], (input.contiguous(),), (size,))
        if not input.is_contiguous():
            return apply_view("reshape_alias", input, (size,))
    return apply_view("view", input, (size,))


@composite("method")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` in the shape of ``other``; a view."""
    return apply_view("view", self, (other._aval.shape,))


@composite("method")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` in the shape of ``other``."""
    return reshape(self, other._aval.shape)


@composite(aliases=("swapaxes", "swapdims"))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged; a view."""
    return apply_view("transpose", input, (_int(dim0), _int(dim1)))


@composite()
def t(input: Tensor) -> Tensor:
    """A matrix transposed (a vector stays); a view."""
    return apply_view("t", input)


@composite()
def permute(input: Tensor, *dims: Any, **kwargs: Any) -> Tensor:
    """The dimensions in the order ``dims``; a view."""
    return apply_view("permute", input, (ints((kwargs["dims"],) if "dims" in kwargs else dims),))


@composite(aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions ``source`` moved to the places ``destination``; a view."""
    n = input._aval.ndim
    src = [source] if isinstance(source, int) else list(source)
    dst = [destination] if isinstance(destination, int) else list(destination)
    if len(src) != len(dst):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({src} dims) should contain the same number of dims as destination ({dst} dims)"
        )
    src, dst = [wrap_dim(d, n) for d in src], [wrap_dim(d, n) for d in dst]
    for what, dims in (("source", src), ("destination", dst)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({dims})")
    if not n:
        return apply_view("alias", input)
    order = [-1] * n
    for s, d in zip(src, dst):
        order[d] = s
    rest = iter(d for d in range(n) if d not in src)
    return apply_view("permute", input, (tuple(next(rest) if o < 0 else o for o in order),))


@composite("method")
def expand(self: Tensor, *size: Any, implicit: bool = False) -> Tensor:
    """Dimensions of size 1 repeated to ``size`` without copying; -1 keeps one; a view."""
    return apply_view("expand", self, (ints(size),))


@composite("method")
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` expanded to the shape of ``other``; a view."""
    return apply_view("expand", self, (other._aval.shape,))


@composite()
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``input`` expanded to ``size``; a view."""
    return apply_view("expand", input, (ints((size,)),))


@composite("function")
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape; views."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shape = geometry.broadcast_shapes(*(t._aval.shape for t in tensors))
    return tuple(apply_view("expand", t, (shape,)) for t in tensors)


@composite("function")
def broadcast_shapes(*shapes: Any) -> Size:
    """The common shape of shapes that broadcast together."""
    return Size(geometry.broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes)))


@composite()
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without dimensions of size 1 (all of them, or ``dim``); a view."""
    if dim is None:
        return apply_view("squeeze", input)
    if isinstance(dim, (tuple, list)):
        return apply_view("squeeze_dims", input, (ints(dim),))
    return apply_view("squeeze_dim", input, (_int(dim),))


@composite()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """With a dimension of size 1 put in at ``dim``; a view."""
    return apply_view("unsqueeze", input, (_int(dim),))


@composite()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions as a new last one; a view."""
    return apply_view("diagonal", input, (offset, dim1, dim2))


@composite("method")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of ``size`` at distance ``step`` along a dimension; a view."""
    return apply_view("unfold", self, (dimension, size, step))


@composite()
def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Any strided layout on the storage of ``input``; a view."""
    return apply_view("as_strided", input, (ints((size,)), ints((stride,)), storage_offset))


@composite()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` joined into one; a view where strides allow it."""
    shape = input._aval.shape
    n = len(shape)
    start, end = wrap_dim(start_dim, n), wrap_dim(end_dim, n)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not n:
        return reshape(input, (1,))
    if start == end:
        return input
    joined = 1
    for extent in shape[start : end + 1]:
        joined *= extent
    return reshape(input, (*shape[:start], joined, *shape[end + 1 :]))


@composite()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Dimension ``dim`` split into ``sizes`` (one of them may be -1); a view."""
    shape = input._aval.shape
    dim = wrap_dim(dim, len(shape))
    sizes = ints((sizes,))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = 1
    for s in sizes:
        known *= s if s != -1 else 1
    if (-1 not in sizes and known != shape[dim]) or (-1 in sizes and shape[dim] % max(known, 1)):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[dim]}) in the input tensor"
        )
    if -1 in sizes:
        sizes = tuple(shape[dim] // known if s == -1 else s for s in sizes)
    return apply_view("view", input, ((*shape[:dim], *sizes, *shape[dim + 1 :]),))


@composite()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension; a view where strides allow it."""
    return reshape(input.contiguous(), (-1,))


# ------------------------------------------------------------------------------------ several views


@composite()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along ``dim``; views."""
    n = input._aval.ndim
    dim = wrap_dim(dim, n or 1)
    if n == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return apply_joint_view(
        tuple([("select", (dim, i)) for i in range(input._aval.shape[dim])]), input,
        "UnbindBackward0",
    )


@composite()
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a size, or of the sizes in a list, along ``dim``; views."""
    if isinstance(split_size_or_sections, (list, tuple)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    size = _int(split_size_or_sections)
    if not tensor._aval.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    dim = wrap_dim(dim, tensor._aval.ndim)
    extent = tensor._aval.shape[dim]
    if size == 0 and extent:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}"
        )
    count = max(-(-extent // size), 1) if size else 1
    bounds = [(i * size, min((i + 1) * size, extent)) for i in range(count)]
    return _pieces(tensor, dim, bounds, "SplitBackward0")


@composite()
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of the given sizes along ``dim``; views."""
    if not input._aval.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, input._aval.ndim)
    extent = input._aval.shape[dim]
    sizes = ints((tuple(split_sizes),))
    if any(s < 0 for s in sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}"
        )
    if sum(sizes) != extent:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(sizes)}"
        )
    bounds, at = [], 0
    for s in sizes:
        bounds.append((at, at + s))
        at += s
    return _pieces(input, dim, bounds, "SplitWithSizesBackward0")


@composite()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of equal size (the last may be smaller) along ``dim``; views."""
    if not input._aval.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = wrap_dim(dim, input._aval.ndim)
    extent = input._aval.shape[dim]
    size = -(-extent // chunks)
    if size == 0:
        return split_with_sizes(input, [0] * chunks, dim)
    return split(input, size, dim)


def _pieces(t: Tensor, dim: int, bounds: list, grad_name: str) -> tuple[Tensor, ...]:
    # A few pieces are read each by a kernel of its own, which XLA likes; for many that would be many.
    if len(bounds) <= _FEW:
        specs = tuple([("piece", (dim, start, stop)) for start, stop in bounds])
    else:
        specs = tuple([("slice", (dim, start, stop, 1)) for start, stop in bounds])
    return apply_joint_view(specs, t, grad_name)


_FEW = 8


# ------------------------------------------------------------------------------- complex and dtypes


@composite()
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as pairs of reals along a new last dimension; a view."""
    return apply_view("view_as_real", input)


@composite()
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of reals along the last dimension as complex numbers; a view."""
    return apply_view("view_as_complex", input)


@composite("function")
def real(input: Tensor) -> Tensor:
    """The real parts; a view of a complex tensor, the tensor itself when it is real."""
    return apply_view("real", input) if input._aval.dtype.is_complex else input


@composite("function")
def imag(input: Tensor) -> Tensor:
    """The imaginary parts of a complex tensor; a view. Raises RuntimeError for a real tensor."""
    if not input._aval.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return apply_view("imag", input)


# ---------------------------------------------------------------------------------------- properties


def _transposed(self: Tensor) -> Tensor:
    if self._aval.ndim == 0:
        warn_once(
            "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."
        )
    elif self._aval.ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
            "and it will throw an error in a future release. Consider `x.mT` to transpose batches of "
            "matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a "
            "tensor."
        )
    return apply_view("permute", self, (tuple(reversed(range(self._aval.ndim))),))


def _matrix_transposed(self: Tensor) -> Tensor:
    if self._aval.ndim == 0:
        warn_once(
            "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases."
        )
        return self
    if self._aval.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{self._aval.ndim}-D tensor."
        )
    return apply_view("transpose", self, (-2, -1))


Tensor.T = read_only("T", _transposed, "All dimensions reversed; a view.")
Tensor.mT = read_only("mT", _matrix_transposed, "The last two dimensions exchanged; a view.")
Tensor.real = property(real, lambda self, value: real(self).copy_(value), doc=real.__doc__)
Tensor.imag = property(imag, lambda self, value: imag(self).copy_(value), doc=imag.__doc__)
