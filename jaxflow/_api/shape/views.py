"""The public view operations: argument forms, and the step each one names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow._api.forms import given_out, invalid_combination, listed, required_dim
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
    """The slice at ``index`` along ``dim``, without that dimension; a view.

    The same as ``input[:, ..., index]`` with ``dim`` full slices before ``index``.

    Args:
        input: a tensor of any dtype with one dimension at least.
        dim: the dimension to leave out; negative counts from the last.
        index: which slice; negative counts from the end.

    Returns:
        A view of the shape of ``input`` without dimension ``dim``.

    Raises:
        IndexError: for a dimension or an index that is not there, and for a 0-d tensor.

    Example:
        >>> torch.tensor([[1, 2, 3], [4, 5, 6]]).select(1, -1)
        tensor([3, 6])
    """
    return apply_view("select", input, (int_of(dim), int_of(index)))


@composite()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``length`` elements from ``start`` along ``dim``; a view.

    Args:
        input: a tensor of any dtype with one dimension at least.
        dim: the dimension that is cut; negative counts from the last.
        start: where to begin, an integer or a 0-d integer tensor; negative counts from the end.
        length: how many elements; 0 is possible.

    Returns:
        A view with extent ``length`` along ``dim``.

    Raises:
        IndexError: when ``dim`` is not there, or ``start`` is beyond the end.
        RuntimeError: when there are fewer than ``length`` elements from ``start``, ``length`` is negative,
            or ``start`` is a tensor that is no single integer.

    Example:
        >>> t = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> t.narrow(1, 1, 2)
        tensor([[2, 3],
                [5, 6]])
        >>> t.narrow(0, -1, 1)
        tensor([[4, 5, 6]])
    """
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

    Args:
        shape: the new shape: integers one by one, or a tuple or list of them. One of them may be -1, and is
            found from the number of elements. Or a dtype, in place of a shape.
        size: the shape under a name.
        dtype: the dtype under a name. One of another width changes the extent of the last dimension.

    Returns:
        A tensor on the same storage. Where a dtype is given it has no autograd history.

    Raises:
        RuntimeError: when the strides do not allow it (use ``reshape``), or sizes do not match.

    Example:
        >>> t = torch.arange(6)
        >>> rows = t.view(2, -1)
        >>> rows[0, 0] = 9
        >>> rows
        tensor([[9, 1, 2],
                [3, 4, 5]])
        >>> t
        tensor([9, 1, 2, 3, 4, 5])
        >>> t.view(torch.int32).shape
        torch.Size([12])
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
    """The same elements in another shape: a view where strides allow it, else a copy.

    Args:
        input: a tensor of any shape and dtype.
        shape: the new shape: integers one by one, or a tuple or list of them. One of them may be -1, and is
            found from the number of elements.

    Returns:
        A tensor of the new shape, whose elements follow each other row by row as in ``input``.

    Raises:
        RuntimeError: when the number of elements is another, or more than one extent is -1.

    Example:
        >>> t = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> t.reshape(3, 2)
        tensor([[1, 2],
                [3, 4],
                [5, 6]])
        >>> t.t().reshape(-1)
        tensor([1, 4, 2, 5, 3, 6])
    """
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
    """``self`` in the shape of ``other``; a view.

    Args:
        other: the tensor whose shape is taken; it has as many elements as ``self``.

    Returns:
        A view of ``self``, the same as ``self.view(other.size())``.

    Raises:
        RuntimeError: when the strides do not allow it (use ``reshape_as``), or sizes do not match.

    Example:
        >>> torch.arange(4).view_as(torch.zeros(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    return apply_view("view", self, (other._aval.shape,))


@composite("method")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` in the shape of ``other``.

    Args:
        other: the tensor whose shape is taken; it has as many elements as ``self``.

    Returns:
        The same as ``self.reshape(other.size())``: a view where strides allow it, else a copy.

    Raises:
        RuntimeError: when the number of elements is another.

    Example:
        >>> torch.tensor([[1, 2], [3, 4]]).t().reshape_as(torch.zeros(4))
        tensor([1, 3, 2, 4])
    """
    return reshape(self, other._aval.shape)


@composite(aliases=("swapdims",))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged; a view.

    Args:
        input: a tensor of any shape and dtype.
        dim0: one dimension; negative counts from the last.
        dim1: the other one.

    Returns:
        A view of the shape of ``input`` with the extents of ``dim0`` and ``dim1`` exchanged. It is mostly
        not contiguous.

    Raises:
        IndexError: for a dimension that is not there.

    Example:
        >>> t = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> t.transpose(0, 1)
        tensor([[1, 4],
                [2, 5],
                [3, 6]])
        >>> torch.zeros(2, 3, 4).transpose(0, -1).shape
        torch.Size([4, 3, 2])
    """
    return apply_view("transpose", input, (int_of(dim0), int_of(dim1)))


@composite()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged; a view.

    Args:
        input: of any shape and dtype.
        axis0: one dimension; negative numbers count from the end.
        axis1: the other one.

    Returns:
        A view with the memory of ``input``.

    Raises:
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.ones(2, 3, 4).swapaxes(0, 2).shape
        torch.Size([4, 3, 2])
    """
    return apply_view("transpose", input, (int_of(axis0), int_of(axis1)))


@composite()
def t(input: Tensor) -> Tensor:
    """A matrix transposed (a vector stays); a view.

    Args:
        input: a tensor of at most two dimensions, of any dtype.

    Returns:
        A view of shape ``(m, n)`` of a matrix of shape ``(n, m)``; of the same shape for fewer dimensions.

    Raises:
        RuntimeError: for more than two dimensions (use ``mT`` or ``transpose``).

    Example:
        >>> torch.tensor([[1, 2, 3], [4, 5, 6]]).t()
        tensor([[1, 4],
                [2, 5],
                [3, 6]])
    """
    return apply_view("t", input)


@composite()
def permute(input: Tensor, *dims: Any, **kwargs: Any) -> Tensor:
    """The dimensions in the order ``dims``; a view.

    Args:
        input: a tensor of any shape and dtype.
        dims: the dimensions of ``input`` in their new order, each once: integers one by one, or a tuple or
            list of them; negative ones count from the last.

    Returns:
        A view whose dimension ``i`` is dimension ``dims[i]`` of ``input``.

    Raises:
        RuntimeError: when ``dims`` does not name as many dimensions as there are, or one of them twice.
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.zeros(2, 3, 4).permute(2, 0, 1).shape
        torch.Size([4, 2, 3])
        >>> torch.tensor([[1, 2], [3, 4]]).permute(1, 0)
        tensor([[1, 3],
                [2, 4]])
    """
    return apply_view("permute", input, (ints((kwargs["dims"],) if "dims" in kwargs else dims),))


@composite(aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions ``source`` moved to the places ``destination``; a view.

    Args:
        input: a tensor of any shape and dtype.
        source: a dimension or a tuple of them; negative ones count from the last.
        destination: where each of these is afterwards: as many.

    Returns:
        A view. The dimensions that are not named keep their order.

    Raises:
        RuntimeError: when there are not as many places as dimensions, or one is named twice.
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.zeros(2, 3, 4).movedim(0, -1).shape
        torch.Size([3, 4, 2])
        >>> torch.zeros(2, 3, 4).movedim((0, 1), (1, 2)).shape
        torch.Size([4, 2, 3])
    """
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
    """Dimensions of size 1 repeated to ``size`` without copying; -1 keeps one; a view.

    Args:
        size: the new shape: integers one by one, or a tuple or list of them. It may have further dimensions
            in front.
        implicit: accepted, and of no effect.

    Returns:
        A view with stride 0 along what is repeated: its elements share memory. Copy it with ``clone``
        before elements are written to one by one.

    Raises:
        RuntimeError: when a dimension that changes is not of size 1, or ``size`` has too few dimensions.

    Example:
        >>> t = torch.tensor([[1], [2]])
        >>> t.expand(-1, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
        >>> t.expand(4, 2, 3).stride()
        (0, 1, 0)
    """
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
    """``self`` expanded to the shape of ``other``; a view.

    Args:
        other: the tensor whose shape is taken.

    Returns:
        A view, the same as ``self.expand(other.size())``.

    Raises:
        RuntimeError: when a dimension that changes is not of size 1, or ``other`` has too few dimensions.

    Example:
        >>> torch.tensor([1, 2, 3]).expand_as(torch.zeros(2, 3))
        tensor([[1, 2, 3],
                [1, 2, 3]])
    """
    return apply_view("expand", self, (other._aval.shape,))


@composite()
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``input`` expanded to ``size``; a view."""
    return apply_view("expand", input, (ints((size,)),))


@composite("function")
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape; views."""
    tensors = listed(tensors)
    shape = geometry.broadcast_shapes(*(t._aval.shape for t in tensors))
    return tuple(apply_view("expand", t, (shape,)) for t in tensors)


@composite("function")
def broadcast_shapes(*shapes: Any) -> Size:
    """The common shape of shapes that broadcast together."""
    return Size(geometry.broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes)))


@composite()
def squeeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Tensor:
    """Without dimensions of size 1 (all of them, or ``dim``); a view.

    Args:
        input: a tensor of any shape and dtype.
        dim: a dimension or a tuple of them; negative ones count from the last. One whose size is not 1
            stays. None for all of size 1.
        axis: another name of ``dim``.

    Returns:
        A view.

    Raises:
        IndexError: for a dimension that is not there.

    Example:
        >>> t = torch.zeros(1, 3, 1, 2)
        >>> t.squeeze().shape
        torch.Size([3, 2])
        >>> t.squeeze(0).shape
        torch.Size([3, 1, 2])
        >>> t.squeeze(1).shape
        torch.Size([1, 3, 1, 2])
    """
    if dim is None:
        if axis is None:
            return apply_view("squeeze", input)
        dim = axis
    if isinstance(dim, (tuple, list)):
        return apply_view("squeeze_dims", input, (ints(dim),))
    return apply_view("squeeze_dim", input, (int_of(dim),))


@composite()
def unsqueeze(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """With a dimension of size 1 put in at ``dim``; a view.

    Args:
        input: a tensor of any shape and dtype.
        dim: the place of the new dimension in the result; negative counts from the last, -1 puts it there.
        axis: another name of ``dim``.

    Returns:
        A view with one dimension more.

    Raises:
        IndexError: unless ``-input.dim() - 1 <= dim <= input.dim()``.
        TypeError: without ``dim`` and ``axis``.

    Example:
        >>> t = torch.tensor([1, 2])
        >>> t.unsqueeze(0)
        tensor([[1, 2]])
        >>> t.unsqueeze(-1)
        tensor([[1],
                [2]])
    """
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
        return tuple(grow(t) for t in listed(tensors))

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
    """The diagonal of two dimensions as a new last one; a view.

    Args:
        input: a tensor of any dtype with two dimensions at least.
        offset: which diagonal: 0 for the main one, positive for those above it, negative for those below.
        dim1: the dimension of the rows; negative counts from the last.
        dim2: the dimension of the columns.

    Returns:
        A view without ``dim1`` and ``dim2``, and with the diagonal last. It is empty where there is no such
        diagonal.

    Raises:
        IndexError: for a dimension that is not there.
        RuntimeError: when both dimensions are the same.

    Example:
        >>> t = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> t.diagonal()
        tensor([1, 5])
        >>> t.diagonal(1)
        tensor([2, 6])
        >>> torch.zeros(2, 3, 4).diagonal(dim1=0, dim2=2).shape
        torch.Size([3, 2])
    """
    return apply_view("diagonal", input, (offset, dim1, dim2))


@composite("method")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of ``size`` at distance ``step`` along a dimension; a view.

    Window ``i`` begins at ``i * step``; there are ``(n - size) // step + 1`` of them in an extent ``n``.

    Args:
        dimension: along which windows lie; negative counts from the last.
        size: how many elements a window has, at most the extent.
        step: the distance of the beginnings of two windows; they overlap where it is less than ``size``.

    Returns:
        A view: dimension ``dimension`` counts the windows, and a new last one of extent ``size`` is in
        them.

    Raises:
        RuntimeError: when ``size`` is negative or larger than the extent, or ``step`` is not positive.
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.arange(5).unfold(0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3],
                [2, 3, 4]])
        >>> torch.zeros(2, 5).unfold(1, 2, 2).shape
        torch.Size([2, 2, 2])
    """
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
    """Dimensions ``start_dim`` to ``end_dim`` joined into one; a view where strides allow it.

    Args:
        input: a tensor of any shape and dtype; of a 0-d one the result has one dimension.
        start_dim: the first dimension that is joined; negative counts from the last.
        end_dim: the last one, included.

    Returns:
        ``input`` itself where nothing changes, a view where strides allow it, else a copy.

    Raises:
        RuntimeError: when ``start_dim`` is behind ``end_dim``.
        IndexError: for a dimension that is not there.

    Example:
        >>> t = torch.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
        >>> t.flatten()
        tensor([1, 2, 3, 4, 5, 6, 7, 8])
        >>> t.flatten(1)
        tensor([[1, 2, 3, 4],
                [5, 6, 7, 8]])
    """
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
    """All elements in one dimension; a view where strides allow it.

    Args:
        input: a tensor of any shape and dtype.

    Returns:
        A tensor of shape ``(input.numel(),)``: a view of a contiguous ``input``, else a copy. Elements
        follow each other row by row.

    Example:
        >>> torch.tensor([[1, 2], [3, 4]]).t().ravel()
        tensor([1, 3, 2, 4])
    """
    return reshape(input.contiguous(), (-1,))


# ------------------------------------------------------------------------------- complex and dtypes


@composite()
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as pairs of reals along a new last dimension; a view.

    Args:
        input: a complex tensor of any shape.

    Returns:
        A view of shape ``(*input.shape, 2)`` with real and imaginary parts: float32 of complex64, float64
        of complex128.

    Raises:
        RuntimeError: for a real tensor, and for a conjugate view (use ``resolve_conj()``).

    Example:
        >>> torch.view_as_real(torch.tensor([1 + 2j, 3 - 4j]))
        tensor([[ 1.,  2.],
                [ 3., -4.]])
    """
    return apply_view("view_as_real", input)


@composite()
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of reals along the last dimension as complex numbers; a view.

    Args:
        input: a float32 or float64 tensor of shape ``(*, 2)``, whose pairs lie together in memory.

    Returns:
        A view of shape ``(*)``: complex64 of float32, complex128 of float64.

    Raises:
        RuntimeError: for other dtypes, a last dimension that is not of size 2, or strides that do not allow
            it.

    Example:
        >>> torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, -4.0]]))
        tensor([1.+2.j, 3.-4.j])
    """
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
