"""Tensors in pieces: ``split``, ``chunk``, ``unbind`` and their like; every piece is a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow._api.forms import invalid_combination, refuse_recorded_into
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.viewing import apply_joint_view, apply_unsafe_views, apply_view
from jaxflow._ops import pieces
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import write_out

from .views import int_of, ints


@composite()
def unbind(input: Tensor, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
    """All slices along ``dim``; views.

    Args:
        input: a tensor of any dtype with one dimension at least.
        dim: the dimension that is taken apart; negative counts from the last.
        axis: another name of ``dim``.

    Returns:
        A tuple of ``input.size(dim)`` views without that dimension.

    Raises:
        IndexError: for a dimension that is not there, and for a 0-d tensor.

    Example:
        >>> torch.tensor([[1, 2, 3], [4, 5, 6]]).unbind()
        (tensor([1, 2, 3]), tensor([4, 5, 6]))
        >>> torch.zeros(2, 3).unbind(1)[0].shape
        torch.Size([2])
    """
    n = input._aval.ndim
    dim = wrap_dim(dim if axis is None else axis, n or 1)
    if n == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return apply_joint_view(
        [("select", (dim, i)) for i in range(input._aval.shape[dim])], input, "UnbindBackward0",
    )


@composite("function")
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a size, or of the sizes in a list, along ``dim``; views.

    Args:
        tensor: a tensor of any dtype with one dimension at least.
        split_size_or_sections: the extent of each piece (the last may be smaller), or a list of the
            extents, whose sum is that of ``tensor``.
        dim: the dimension that is split; negative counts from the last.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: for a 0-d tensor, a negative size, or sizes whose sum is another.
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.split(torch.arange(5), 2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        >>> torch.split(torch.arange(5), [1, 4])
        (tensor([0]), tensor([1, 2, 3, 4]))
    """
    if isinstance(split_size_or_sections, (list, tuple)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    size = int_of(split_size_or_sections)
    return _pieces(tensor, *pieces.by_size(tensor._aval.shape, size, dim), "SplitBackward0")


@composite("method", name="_split_method", method_name="split")
def _split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a size, or of the sizes in a list, along ``dim``; views.

    Args:
        split_size: the extent of each piece (the last may be smaller), or a list of the extents, whose sum
            is that of the tensor.
        dim: the dimension that is split; negative counts from the last.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: for a 0-d tensor, a negative size, or sizes whose sum is another.
        IndexError: for a dimension that is not there.

    Example:
        >>> first, second = torch.zeros(2, 5).split([2, 3], dim=1)
        >>> first.shape, second.shape
        (torch.Size([2, 2]), torch.Size([2, 3]))
    """
    return split(self, split_size, dim)


@composite()
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0, *,
                     axis: int | None = None) -> tuple[Tensor, ...]:
    """Pieces of the given sizes along ``dim``; views."""
    sizes, dim = ints((tuple(split_sizes),)), dim if axis is None else axis
    return _pieces(input, *pieces.by_sizes(input._aval.shape, sizes, dim), "SplitWithSizesBackward0")


@composite()
def chunk(input: Tensor, chunks: int, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of equal size (the last may be smaller) along ``dim``; views.

    Each piece but the last has the extent ``ceil(n / chunks)``, where ``n`` is that of ``input``. So there
    may be fewer pieces: see `tensor_split` for exactly as many as given.

    Args:
        input: a tensor of any dtype with one dimension at least.
        chunks: how many pieces there are at most.
        dim: the dimension that is split; negative counts from the last.
        axis: another name of ``dim``.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: when ``chunks`` is not positive, and for a 0-d tensor.
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        >>> len(torch.arange(6).chunk(4))
        3
    """
    dim = dim if axis is None else axis
    return split(input, pieces.chunk_size(input._aval.shape, chunks, dim), dim)


def _pieces(t: Tensor, dim: int, bounds: list, grad_name: str, view=apply_joint_view) -> tuple[Tensor, ...]:
    # A few pieces are read each by a kernel of its own, which XLA likes; for many that would be many.
    if len(bounds) <= _FEW:
        specs = tuple([("piece", (dim, start, stop)) for start, stop in bounds])
    else:
        specs = tuple([("slice", (dim, start, stop, 1)) for start, stop in bounds])
    return view(specs, t, grad_name)


_FEW = 8


# ------------------------------------------------------- pieces that autograd does not record as views


@composite()
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Like `split`, but the pieces may be written to one by one: autograd takes them for new tensors.

    They share memory with ``input`` all the same, which must not be used any more then.
    """
    if not isinstance(split_size, int):
        raise TypeError(
            "unsafe_split(): argument 'split_size' (position 1) must be int, not "
            f"{type(split_size).__name__}"
        )
    return _pieces(input, *pieces.by_size(input._aval.shape, split_size, dim), "UnsafeSplitBackward0",
                   apply_unsafe_views)


@composite()
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Like `split_with_sizes`, but autograd takes the pieces for new tensors; see `unsafe_split`."""
    sizes = ints((tuple(split_sizes),))
    return _pieces(input, *pieces.by_sizes(input._aval.shape, sizes, dim), "UnsafeSplitWithSizesBackward0",
                   apply_unsafe_views)


@composite()
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Like `chunk`, but autograd takes the pieces for new tensors; see `unsafe_split`."""
    size = pieces.chunk_size(input._aval.shape, chunks, dim)
    if isinstance(size, list):
        return unsafe_split_with_sizes(input, size, dim)
    return unsafe_split(input, size, dim)


# ------------------------------------------------------------------------------------------- copies


def _copied(name: str, form: str, out: Sequence[Tensor] | None, input: Tensor, *static: Any,
            resizes: bool = True) -> Any:
    """The pieces, or None where they are written into ``out``, which autograd does not see.

    Without ``resizes`` the pieces are broadcast and cast instead to what is there.
    """
    if out is not None and not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    for k, o in enumerate(out or ()):
        if not isinstance(o, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument {1 + len(static)}, but got "
                            f"{type(o).__name__}")
    if out is not None:
        input = input.detach()
    result = apply(OPS[name], (input,), static)
    if out is None:
        return result
    if len(out) != len(result):
        raise RuntimeError(f"{form} expected an out= argument of size {len(result)}, got size {len(out)}")

    def write() -> None:
        if resizes:
            write_out(name, tuple(out), result, (input,))
        else:
            for o, piece in zip(out, result, strict=True):
                o.copy_(piece)

    Changed(state, grad=False).run(write)
    return None


@composite("function")
def unbind_copy(input: Tensor, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> Any:
    """Copies of all slices along ``dim``; with ``out`` written there, and None."""
    refuse_recorded_into(out, "unbind_copy")
    return _copied("unbind_copy", "unbind_copy_int_out", out, input, dim)


@composite("function")
def split_copy(input: Tensor, split_size: int, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> Any:
    """Copies of pieces of ``split_size`` along ``dim``; with ``out`` written there, and None."""
    return _copied("split_copy", "split_copy_Tensor_out()", out, input, split_size, dim, resizes=False)


@composite("function")
def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[int], dim: int = 0, *,
                          out: Sequence[Tensor] | None = None) -> Any:
    """Copies of pieces of the given sizes along ``dim``; with ``out`` written there, and None."""
    sizes = ints((tuple(split_sizes),))
    return _copied("split_with_sizes_copy", "split_with_sizes_copy_out", out, input, sizes, dim)


# -------------------------------------------------------------------- pieces of almost equal sizes


@composite()
def tensor_split(input: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """As many pieces along ``dim`` as ``sections`` says, of which the first ones may be larger by one.

    Called as ``tensor_split(input, sections, dim=0)`` or ``tensor_split(input, indices, dim=0)``. With
    indices, in a list or a vector, the pieces between them: ``[:i], [i:j], [j:]``, as Python slices.
    Each piece is a view.

    Args:
        input: a tensor of any dtype with one dimension at least.
        args: the number of pieces or the indices (by name ``sections``, ``indices`` or
            ``tensor_indices_or_sections``), then ``dim``, 0 by default. A tensor of these holds int64
            numbers, which are read.
        kwargs: the same by name.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: for a 0-d ``input``, fewer than one section, or a tensor that holds no int64 numbers.
        TypeError: for arguments of other kinds.

    Example:
        >>> torch.tensor_split(torch.arange(5), 3)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        >>> torch.tensor_split(torch.arange(5), [1, 3])
        (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """
    where, dim = _split_arguments("tensor_split", _TENSOR_SPLIT, input, args, kwargs)
    if not input._aval.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = wrap_dim(dim, input._aval.ndim)
    if isinstance(where, Tensor):
        where = _numbers(where)
    if isinstance(where, (list, tuple)):
        ends = list(ints((tuple(where),)))
    else:
        if where <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {where}")
        size, larger = divmod(input._aval.shape[dim], where)
        ends = [size * i + min(i, larger) for i in range(1, where)]
    return tuple(apply_view("slice", input, (dim, start, stop, 1))
                 for start, stop in zip([0, *ends], [*ends, input._aval.shape[dim]]))


def _numbers(where: Tensor) -> Any:
    """The number of sections, or the list of indices, in a tensor on the host."""
    if where._aval.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
            f"tensor, but got a tensor with {where._aval.ndim} dims"
        )
    if where._aval.dtype is not dtypes.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{where._aval.dtype.scalar_name}"
        )
    return where.tolist()


#: The keywords of the overloads, each with what it may hold.
_SPLIT = {"indices": (list, tuple), "sections": int}
_TENSOR_SPLIT = {**_SPLIT, "tensor_indices_or_sections": Tensor}


def _split_arguments(name: str, keywords: dict, input: Tensor, args: tuple, kwargs: dict) -> tuple[Any, int]:
    """Where to split, and along which dimension. TypeError for what fits no overload."""
    refusal = invalid_combination(name, (input, *args), kwargs)
    args, kwargs = list(args), dict(kwargs)
    for keyword, kind in keywords.items():
        if args and isinstance(args[0], kind):
            where = args.pop(0)
            break
        if isinstance(kwargs.get(keyword), kind):
            where = kwargs.pop(keyword)
            break
    else:
        raise refusal
    dim = args.pop(0) if args else kwargs.pop("dim", 0)
    if args or kwargs or not isinstance(dim, int):
        raise refusal
    return where, dim


def _along(name: str, least: int, which: str, axis: int) -> None:
    """``hsplit`` and its like: pieces of equal size along one dimension of a tensor with enough of them."""

    def cut(input: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        if "dim" in kwargs or len(args) > 1:
            raise invalid_combination(name, (input, *args), kwargs)
        where, _ = _split_arguments(name, _SPLIT, input, args, kwargs)
        n = input._aval.ndim
        if n < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {n} "
                "dimensions!"
            )
        dim = 0 if n == 1 else axis
        extent = input._aval.shape[dim]
        if isinstance(where, int) and (where == 0 or extent % where):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{extent} is not divisible by the split_size {where}!"
            )
        return tensor_split(input, where, dim)

    cut.__name__ = cut.__qualname__ = name
    cut.__doc__ = (
        f"Pieces of {which}: as many equal ones as a number says, or those between the indices of a list; "
        "views.\n\nRaises:\n    RuntimeError: when the number does not divide the extent, or dimensions are "
        "missing."
    )
    composite()(cut)


_along("hsplit", 1, "columns (dimension 1, or 0 of a vector)", 1)
_along("vsplit", 2, "rows (dimension 0)", 0)
_along("dsplit", 3, "layers (dimension 2)", 2)
