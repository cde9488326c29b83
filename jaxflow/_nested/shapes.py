"""Functions of the jagged layout that move elements: all of them leave the rows, and their number, alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow import _functions as F
from jaxflow._core.tensor import Tensor

from .dispatch import on
from .elementwise import beside, matches
from .parts import is_nested, jagged, like, parts_of, values_of
from .ragged import Ragged
from .reductions import dim_of, inner_dim


def need_contiguous(t: Any, name: str, argument: str) -> None:
    """ValueError unless ``t`` is nested, its ragged dimension is 1, and its rows follow each other."""
    if not is_nested(t) or parts_of(t).dim != 1 or parts_of(t).ragged.lengths is not None:
        raise ValueError(f"NestedTensor {name}(): expected {argument} to be a contiguous jagged layout "
                         "NestedTensor")


def rows(t: Tensor) -> tuple[Tensor, ...]:
    """The rows as ordinary tensors, with their history. Their lengths are waited for."""
    parts = parts_of(t)
    values, ragged, dim = values_of(t), parts.ragged, parts.dim - 1
    starts = ragged.offsets.tolist()
    if ragged.lengths is None:
        lengths = [b - a for a, b in itertools.pairwise(starts)]
        if starts[0] == 0 and starts[-1] == values.shape[dim]:
            return tuple(values.split(lengths, dim))
    else:
        lengths = ragged.lengths.tolist()
    if any(a < 0 or n < 0 or a + n > values.shape[dim] for a, n in zip(starts, lengths, strict=False)):
        raise RuntimeError(
            "unbind(): nested tensor offsets and lengths do not match ragged_idx dimension")
    return tuple(values.narrow(dim, a, n) for a, n in zip(starts, lengths, strict=False))


@on("unbind")
def unbind(original: Callable, input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The rows."""
    if dim_of(input, dim) != 0:
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    return rows(input)


@on("__iter__")
def iterated(original: Callable, input: Tensor) -> Any:
    """The rows one by one."""
    return iter(rows(input))


@on("transpose", "swapaxes", "swapdims")
def transpose(original: Callable, input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged, none of them the first."""
    a, b = dim_of(input, dim0), dim_of(input, dim1)
    parts = parts_of(input)
    if parts.dim in (a, b):
        if 0 in (a, b):
            raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
        return jagged(values_of(input).transpose(a - 1, b - 1), parts.ragged, a + b - parts.dim)
    for d in (a, b):
        inner_dim(input, d, "transpose")
    return like(parts, values_of(input).transpose(a - 1, b - 1))


@on("permute")
def permute(original: Callable, input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The dimensions in another order, the first of them first."""
    dims = _integers(dims or tuple(named.values()))
    rank, parts = input.dim(), parts_of(input)
    if len(dims) != rank:
        raise ValueError(f"permute(): number of dimensions in the tensor input ({rank}) does not match the "
                         f"length of the desired ordering of dimensions ({len(dims)}).")
    dims = [dim_of(input, d) for d in dims]
    if len(set(dims)) != rank:
        raise ValueError("permute(): duplicate dims are not allowed.")
    if parts.ragged.lengths is not None:
        raise ValueError("permute(): not supported on jagged layout nested tensor with holes")
    if dims[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    return jagged(values_of(input).permute([d - 1 for d in dims[1:]]), parts.ragged, dims.index(parts.dim))


@on("movedim", "moveaxis")
def movedim(original: Callable, input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions at other places."""
    froms, tos = ([dim_of(input, d) for d in ((x,) if isinstance(x, int) else x)]
                  for x in (source, destination))
    rest = iter(d for d in range(input.dim()) if d not in froms)
    return input.permute([froms[tos.index(d)] if d in tos else next(rest) for d in range(input.dim())])


@on("unsqueeze")
def unsqueeze(original: Callable, input: Tensor, dim: int) -> Tensor:
    """One more dimension of extent 1."""
    rank, parts = input.dim() + 1, parts_of(input)
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    dim %= rank
    if dim == 0:
        raise RuntimeError("unsqueeze(): not supported for NestedTensor on dim=0")
    return jagged(values_of(input).unsqueeze(dim - 1), parts.ragged, parts.dim + (dim <= parts.dim))


@on("squeeze")
def squeeze(original: Callable, input: Tensor, dim: Any = None) -> Tensor:
    """Without a dimension of extent 1, which has to be said."""
    if not isinstance(dim, int):
        raise NotImplementedError("aten.squeeze.default: squeeze() of a nested tensor needs one dimension")
    need_contiguous(input, "squeeze_dim", "self")
    return like(parts_of(input), values_of(input).squeeze(inner_dim(input, dim, "squeeze")))


def _integers(sizes: tuple) -> list:
    return list(sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)


@on("view", "reshape", "_unsafe_view", "view_as", "reshape_as")
def view(original: Callable, input: Tensor, *size: Any, **named: Any) -> Tensor:
    """Another shape, with the same rows and the same ragged dimension; -1 stands for it too."""
    size = size or tuple(named.values())
    if len(size) == 1 and isinstance(size[0], Tensor):
        size = tuple(size[0].shape)
    size = _integers(size)
    parts = parts_of(input)
    own = tuple(parts.shape)
    if parts.dim != 1 and own != tuple(size):
        raise RuntimeError("view(): does not support ragged_idx != 1 except when inp._size == size. "
                           f"inp._size is ({own}) and size is ({size}).")
    if len(size) < 3 and own != tuple(size) or not matches(parts, tuple(size)):
        raise RuntimeError(f"view(): cannot view shape {own} as {size}")
    inner = [parts.values.shape[i] if i == parts.dim - 1 else n for i, n in enumerate(size[1:])]
    values = values_of(input)
    name = "view" if original.__name__.startswith("view") else "reshape"
    return like(parts, getattr(values, name)(inner))


@on("flatten")
def flatten(original: Callable, input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Neighbouring dimensions as one, none of them the first or the ragged one."""
    first, last = (inner_dim(input, d, "flatten") for d in (start_dim, end_dim))
    parts = parts_of(input)
    if first < parts.dim - 1 < last:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    return jagged(values_of(input).flatten(first, last), parts.ragged,
                  parts.dim - (last - first if last < parts.dim - 1 else 0))


@on("unflatten")
def unflatten(original: Callable, input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension as several."""
    parts, at = parts_of(input), inner_dim(input, dim, "unflatten")
    more = len(tuple(sizes)) - 1
    return jagged(values_of(input).unflatten(at, sizes), parts.ragged,
                  parts.dim + (more if at < parts.dim - 1 else 0))


@on("expand", "broadcast_to")
def expand(original: Callable, input: Tensor, *size: Any, **named: Any) -> Tensor:
    """Dimensions of extent 1 repeated, the ragged one and the first as they are."""
    size, parts = _integers(size or tuple(named.values())), parts_of(input)
    if len(size) != input.dim() or not matches(parts, tuple(size)):
        raise RuntimeError(f"expand(): cannot expand shape {tuple(parts.shape)} -> {size}")
    inner = [-1 if i == parts.dim - 1 else n for i, n in enumerate(size[1:])]
    return like(parts, values_of(input).expand(inner))


@on("expand_as")
def expand_as(original: Callable, input: Tensor, other: Tensor) -> Tensor:
    """Expanded to the shape of another one; a dense tensor gets the rows of a nested one."""
    if not is_nested(other):
        raise RuntimeError(f"expand_as(): cannot expand shape {tuple(input.shape)} -> {tuple(other.shape)}")
    if is_nested(input):
        return input.expand(other.shape)
    parts = parts_of(other)
    return like(parts, beside("expand_as", other, input).expand(parts.values.shape))


# --------------------------------------------------------------------------------------------- parts of it


@on("split", "split_with_sizes")
def split(original: Callable, input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces along a dimension that all rows share."""
    need_contiguous(input, original.__name__, "self")
    name = "split_with_sizes" if isinstance(split_size, (tuple, list)) else "split"
    at = inner_dim(input, dim, name)
    return tuple(like(parts_of(input), x) for x in original(values_of(input), split_size, at))


@on("chunk")
def chunk(original: Callable, input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces along a dimension that all rows share, or groups of rows."""
    need_contiguous(input, "chunk_default", "self")
    parts = parts_of(input)
    if dim_of(input, dim):
        at = inner_dim(input, dim, "chunk")
        return tuple(like(parts, x) for x in original(values_of(input), chunks, at))
    groups = original(parts.ragged.row_lengths(), chunks)
    totals = [int(g.sum().item()) for g in groups]
    values = values_of(input).split(totals, 0)
    return tuple(jagged(v, Ragged(_with_zero(g.cumsum(0)))) for v, g in zip(values, groups, strict=True))


def _with_zero(sums: Tensor) -> Tensor:
    """Offsets of sums of lengths."""
    return F.cat([F.zeros(1, dtype=sums.dtype, device=sums.device), sums])


@on("narrow")
def narrow(original: Callable, input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A part of a dimension that all rows share."""
    need_contiguous(input, "narrow", "self")
    return like(parts_of(input), original(values_of(input), inner_dim(input, dim, "narrow"), start, length))


@on("select")
def select(original: Callable, input: Tensor, dim: int, index: int) -> Tensor:
    """One row, or what each row has at an index."""
    if dim_of(input, dim) == 0:
        found = rows(input)
        if not -len(found) <= index < len(found):
            raise IndexError(f"select(): index {index} out of range for tensor of size "
                             f"{list(input.shape)} at dimension 0")
        return found[index]
    parts, at = parts_of(input), inner_dim(input, dim, "select")
    if parts.ragged.lengths is not None:
        raise ValueError("select(): not yet supported on dim != 0 for non-contiguous nested tensor with "
                         "holes")
    return jagged(original(values_of(input), at, index), parts.ragged, parts.dim - (at < parts.dim - 1))


@on("__getitem__")
def getitem(original: Callable, input: Tensor, index: Any) -> Any:
    """Integers and slices of dimensions, None, and one ellipsis."""
    index = list(index) if isinstance(index, tuple) else [index]
    if any(not (x is None or x is Ellipsis or isinstance(x, (int, slice))) or isinstance(x, bool)
           for x in index):
        raise NotImplementedError("aten.index.Tensor: nested tensors of the jagged layout are indexed by "
                                  "integers and slices alone; unbind() gives their rows")
    taken = sum(x is not None and x is not Ellipsis for x in index)
    if taken > input.dim():
        raise IndexError(f"too many indices for tensor of dimension {input.dim()}")
    if Ellipsis in index:
        at = index.index(Ellipsis)
        index[at:at + 1] = [Ellipsis] * (input.dim() - taken)
    found, dim = input, 0
    for position, x in enumerate(index):
        if x is Ellipsis:
            dim += 1
        elif x is None:
            found, dim = found.unsqueeze(dim), dim + 1
        elif isinstance(x, int):
            found = found.select(dim, x)
            if not is_nested(found):
                rest = tuple(slice(None) if y is Ellipsis else y for y in index[position + 1:])
                return found[rest] if rest else found
        else:
            at = inner_dim(found, dim, "slice")
            values = values_of(found)
            found, dim = like(parts_of(found), values[(slice(None),) * at + (x,)]), dim + 1
    return found


# --------------------------------------------------------------------------------------------- put together


@on("cat", "concat", "concatenate")
def cat(original: Callable, tensors: Sequence[Tensor], dim: int = 0, **named: Any) -> Tensor:
    """Side by side along a dimension that all rows share; dense tensors get the rows of the nested ones."""
    dim = named.get("axis", dim)
    first = next(t for t in tensors if is_nested(t))
    tensors = [t if is_nested(t) else t.expand_as(first) for t in tensors]
    at = inner_dim(first, dim, "cat")
    _same_rows("cat", tensors)
    return like(parts_of(tensors[0]), original([values_of(t) for t in tensors], at))


def _same_rows(name: str, tensors: Sequence[Tensor]) -> None:
    for t in tensors:
        if not is_nested(t) or not matches(parts_of(tensors[0]), tuple(parts_of(t).shape)):
            raise RuntimeError(f"{name}(): expected all nested tensors matching in ragged size, got shapes "
                               f"{tuple(tensors[0].shape)} and {tuple(t.shape)}")


@on("stack")
def stack(original: Callable, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Side by side along a new dimension."""
    first = next(t for t in tensors if is_nested(t))
    _same_rows("stack", tensors)
    rank, parts = first.dim() + 1, parts_of(first)
    dim %= rank
    if dim == 0:
        raise RuntimeError("stack(): not supported for NestedTensor on dim=0")
    if dim == parts.dim:
        raise RuntimeError("stack(): not supported for NestedTensor on ragged dim")
    return jagged(original([values_of(t) for t in tensors], dim - 1), parts.ragged,
                  parts.dim + (dim < parts.dim))


@on("masked_select")
def masked_select(original: Callable, input: Tensor, mask: Tensor) -> Tensor:
    """The elements of each row that a mask of the same rows picks."""
    need_contiguous(input, "masked_select_default", "self")
    if input.dim() > 2:
        raise RuntimeError("masked_select only support 2-D selections currently")
    if not is_nested(mask) or tuple(input.shape) != tuple(mask.shape):
        raise RuntimeError(
            f"Mask with shape {mask.shape} is not compatible with input's shape {input.shape}")
    chosen = values_of(mask)
    before = _with_zero(chosen.cumsum(0))
    parts = parts_of(input)
    return jagged(original(values_of(input), chosen), Ragged(before[parts.ragged.offsets]))
