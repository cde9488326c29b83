"""The public view operations: argument forms, and the step each one names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow._api.creation.creation import need_tensor
from jaxflow._api.forms import given_out, invalid_combination, required_dim
from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry
from jaxflow._core.attributes import read_only
from jaxflow._core.geometry import infer_size, wrap_dim
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.not_derived import without_derivative
from jaxflow._dispatch.viewing import apply_view, retyped
from jaxflow._ops import pieces
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import function_of
from jaxflow._views.chain import is_marked


def ints(args: tuple) -> tuple[int, ...]:
    """``f(2, 3)``, ``f((2, 3))`` and ``f(Size)`` alike as a tuple of ints."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return tuple([a if a.__class__ is int else int_of(a) for a in args])


def int_of(a: Any) -> int:
    """An integer argument, also where it is a 0-d tensor or a NumPy number. TypeError for others."""
    if isinstance(a, (str, float)) or not hasattr(a, "__index__"):
        raise TypeError(f"expected an int, but got {type(a).__name__}")
    return a.__index__()


@composite()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at ``index`` along ``dim``, without that dimension; a view."""
    return apply_view("select", input, (int_of(dim), int_of(index)))


@composite()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``length`` elements from ``start`` along ``dim``; a view."""
    if isinstance(start, Tensor) and (start._aval.ndim or start._aval.dtype.category != dtypes.INTEGER):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if length < 0 and input._aval.ndim:
        raise RuntimeError("narrow(): length must be non-negative.")
    axis, start, stop = pieces.narrowed(input._aval.shape, dim, int_of(start), length)
    return apply_view("slice", input, (axis, start, stop, 1))


@composite("function", name="slice", namespace="ops.aten")
def slice_of(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None,
             step: int = 1) -> Tensor:
    """``start:end:step`` along ``dim``; a view."""
    return apply_view("slice", self, (dim, start, end, step))


@composite("function", name="alias", namespace="ops.aten")
def alias(self: Tensor) -> Tensor:
    """All of the tensor; a view."""
    return apply_view("alias", self)


@composite("method")
def view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """The same elements in another shape, or the same bytes as another dtype; a view.

    Raises:
        RuntimeError: when the strides do not allow it (use ``reshape``), or sizes do not match.
    """
    if not shape:
        shape = (size if dtype is None else dtype,)
    if len(shape) == 1:
        shape = (dtypes.given_dtype(shape[0]),)
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        # Other bytes, or the same: PyTorch has no derivative for either, and takes neither for a view.
        if shape[0] is self._aval.dtype and not is_marked(self):
            return self.detach()
        return retyped(self, shape[0])
    return apply_view("view", self, (ints(shape),))


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


@composite(aliases=("swapdims",))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged; a view."""
    return apply_view("transpose", input, (int_of(dim0), int_of(dim1)))


@composite()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged; a view."""
    return apply_view("transpose", input, (int_of(axis0), int_of(axis1)))


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
    given = ("source", src), ("destination", dst)
    src, dst = [wrap_dim(d, n) for d in src], [wrap_dim(d, n) for d in dst]
    for (what, named), dims in zip(given, (src, dst), strict=True):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({named})")
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
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """``self`` summed over what `expand` would have repeated to get here from ``size``.

    Raises:
        RuntimeError: when a tensor of that size does not expand to the shape of ``self``.
    """
    shape, wanted = self._aval.shape, ints(size)
    lead = len(shape) - len(wanted)
    if lead < 0 or any(n not in (1, m) for n, m in zip(wanted, shape[lead:])):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    if not wanted:
        return self.sum()
    dims = [d for d, n in enumerate(shape) if d < lead or wanted[d - lead] == 1 != n]
    total = self.sum(dims, keepdim=True) if dims else self
    return total.view(wanted) if lead else total


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
def squeeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Tensor:
    """Without dimensions of size 1 (all of them, or ``dim``); a view."""
    if dim is None:
        if axis is None:
            return apply_view("squeeze", input)
        dim = axis
    if isinstance(dim, (tuple, list)):
        return apply_view("squeeze_dims", input, (ints(dim),))
    return apply_view("squeeze_dim", input, (int_of(dim),))


@composite()
def unsqueeze(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """With a dimension of size 1 put in at ``dim``; a view."""
    if dim is None:
        dim = required_dim("unsqueeze", dim, axis)
    return apply_view("unsqueeze", input, (int_of(dim),))


def _at_least(name: str, what: str, grow: Any) -> None:
    """``atleast_1d`` and its like: of one tensor, or of each of several."""

    def raised(*tensors: Any) -> Any:
        if len(tensors) == 1:
            (one,) = tensors
            if isinstance(one, Tensor):
                return grow(one)
            if not isinstance(one, (tuple, list)):
                raise invalid_combination(name, tensors, {})
            tensors = one
        return tuple(grow(t) for t in tensors)

    raised.__name__ = raised.__qualname__ = name
    raised.__doc__ = f"{what}; views. Of several tensors, or of a list, a tuple."
    composite("function")(raised)


def _rows(t: Tensor) -> Tensor:
    return t.unsqueeze(0) if t._aval.ndim == 1 else t if t._aval.ndim else t.reshape(1, 1)


def _layers(t: Tensor) -> Tensor:
    n = t._aval.ndim
    return t if n > 2 else t.unsqueeze(-1) if n == 2 else _rows(t).unsqueeze(-1) if n else t.reshape(1, 1, 1)


_at_least("atleast_1d", "The tensor with one dimension at least",
          lambda t: t if t._aval.ndim else t.reshape(1))
_at_least("atleast_2d", "The tensor with two dimensions at least; a vector is a row", _rows)
_at_least("atleast_3d", "The tensor with three dimensions at least; a matrix is a layer of one", _layers)


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


@composite("function")
def view_copy(input: Tensor, size: Any = None, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The elements in another shape, or their bytes as another dtype, in memory of their own."""
    bits = dtype is not None or isinstance(size, dtypes.dtype)  # which have no derivative
    if not bits and not isinstance(size, (tuple, list)):
        raise invalid_combination("view_copy", (input,) if size is None else (input, size), {})
    copy = function_of(OPS["view_copy"])
    if bits:  # other bytes have no derivative, and with ``out=`` one that is refused
        return given_out("view_copy", out, copy(input.detach(), size, dtype=dtype), (input,))
    return copy(input, size, dtype=dtype, out=out)


@composite("function")
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of all elements. It requires grad where ``input`` does, but has no derivative, as in PyTorch."""
    need_tensor("detach_copy", input)
    copy = apply(OPS["alias_copy"], (input.detach(),))
    copy = without_derivative(copy, "aten::detach_copy", input)
    return given_out("detach_copy", out, copy, (input,), OPS["alias_copy"])


@composite("function")
def as_strided_copy(input: Tensor, size: Sequence[int], stride: Sequence[int],
                    storage_offset: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `as_strided` shows."""
    shown = as_strided(input, size, stride, storage_offset)
    copy = apply(OPS["_as_strided_copied"], (shown,))
    return given_out("as_strided_copy", out, copy, (input,), OPS["alias_copy"])


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
    if not shape:
        raise RuntimeError(
            f"unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no dimensions")
    try:
        sizes = infer_size(sizes, shape[dim])
    except RuntimeError as error:
        if "is invalid for input of size" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[dim]}) in the input tensor"
        ) from None
    return apply_view("view", input, ((*shape[:dim], *sizes, *shape[dim + 1 :]),))


@composite()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension; a view where strides allow it."""
    return reshape(input.contiguous(), (-1,))


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


def _need_matrices(name: str, t: Tensor) -> None:
    """Refuse a vector, which has no last two dimensions to exchange. RuntimeError."""
    if t._aval.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )


def _matrix_transposed(self: Tensor) -> Tensor:
    if self._aval.ndim == 0:
        warn_once(
            "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases."
        )
        return self
    _need_matrices("mT", self)
    return apply_view("transpose", self, (-2, -1))


def _adjoint(self: Tensor) -> Tensor:
    transposed = apply_view("transpose", self, (-2, -1))
    return apply_view("conj", transposed) if self._aval.dtype.is_complex else transposed


@composite()
def adjoint(input: Tensor) -> Tensor:
    """The conjugates of the last two dimensions exchanged; a view."""
    if input._aval.ndim == 0:
        warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
        return input.conj()
    _need_matrices("adjoint()", input)
    return _adjoint(input)


def _batch_adjoint(self: Tensor) -> Tensor:
    if self._aval.ndim == 0:
        warn_once("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().")
        return self.conj()
    _need_matrices("mH", self)
    return _adjoint(self)


def _matrix_adjoint(self: Tensor) -> Tensor:
    if self._aval.ndim == 0:
        warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return self.conj()
    if self._aval.ndim != 2:
        more = " For batches of matrices, consider using tensor.mH" if self._aval.ndim > 2 else ""
        raise RuntimeError(
            "tensor.H is only supported on matrices (2-D tensors). Got "
            f"{self._aval.ndim}-D tensor.{more}"
        )
    return _adjoint(self)


Tensor.T = read_only("T", _transposed, "All dimensions reversed; a view.")
Tensor.mT = read_only("mT", _matrix_transposed, "The last two dimensions exchanged; a view.")
Tensor.H = read_only("H", _matrix_adjoint, "The conjugate of a matrix, transposed; a view.")
Tensor.mH = read_only("mH", _batch_adjoint, "The conjugates of the last two dimensions exchanged; a view.")
Tensor.real = property(real, lambda self, value: real(self).copy_(value), doc=real.__doc__)
Tensor.imag = property(imag, lambda self, value: imag(self).copy_(value), doc=imag.__doc__)
