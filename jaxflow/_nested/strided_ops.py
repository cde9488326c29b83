"""Functions of nested tensors of the strided layout: as many as PyTorch has."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow import _functions as F
from jaxflow._core.tensor import Tensor

from .dispatch import STRIDED, refused
from .dispatch import on as _on
from .elementwise import written
from .parts import is_nested, like, parts_of, pieces, values_of
from .reductions import dim_of
from .strided import dense, gathered, places, rearranged, resized, unbound

on = functools.partial(_on, table=STRIDED)

_UNARY = """
    abs absolute cos isfinite isinf isnan isneginf isposinf isreal logical_not neg negative positive real sgn
    sin sqrt tanh gelu relu silu tanhshrink softsign dropout __neg__ __pos__ __abs__ zeros_like ones_like
    empty_like randn_like
""".split()
_ARITHMETIC = """
    add div divide mul multiply sub subtract true_divide __add__ __radd__ __sub__ __mul__ __rmul__ __truediv__
""".split()
_WITH_NUMBERS = "eq ge greater greater_equal gt __eq__ __ge__ __gt__".split()


@on(*_UNARY)
def unary(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The same of the elements; the rows stay."""
    if kwargs.get("inplace"):
        return written(original, input, *args, **kwargs)
    return like(parts_of(input), original(values_of(input), *args, **kwargs))


@on(*_ARITHMETIC, *_WITH_NUMBERS)
def binary(original: Callable, self: Any, other: Any, **kwargs: Any) -> Tensor:
    """Of two nested tensors with rows of the same sizes, or of one and a number."""
    name = original.__name__
    ours = [x for x in (self, other) if is_nested(x)]
    for t, which in ((self, "self"), (other, "other")):
        if isinstance(t, Tensor) and not is_nested(t) and t.dim():
            nested = "other" if which == "self" else "self"
            raise RuntimeError(f"Expected both self and other to be nested, but got a nested {nested} and "
                               f"non-nested {which}")
    if len(ours) == 2:
        if name in _WITH_NUMBERS:
            raise RuntimeError(f"{name.strip('_')} does not support nested tensor as other value.")
        if parts_of(self).sizes != parts_of(other).sizes:
            raise RuntimeError(f"{name.strip('_')} does not support broadcasting when given a NestedTensor")
    return like(parts_of(ours[0]), original(values_of(self), values_of(other), **kwargs))


@on(*"add_ sub_ mul_ div_ __iadd__ __isub__ __imul__ __itruediv__ fill_ zero_ relu_ tanh_".split(), "neg_",
    "abs_", "normal_")
def in_place(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """What writes to the elements."""
    for x in args:
        fits = is_nested(x) and parts_of(x).sizes == parts_of(self).sizes
        if isinstance(x, Tensor) and x.dim() and not fits:
            raise RuntimeError(f"{original.__name__.strip('_')} does not support broadcasting when given a "
                               "NestedTensor")
    return written(original, self, *args, **kwargs)


@on("masked_fill")
def masked_fill(original: Callable, self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The elements with ``value`` where a mask is True: one bool for all, or a mask with the same rows."""
    if is_nested(mask):
        if parts_of(mask).sizes != parts_of(self).sizes:
            raise RuntimeError("masked_fill does not support broadcasting when given a NestedTensor")
    elif mask.dim():
        raise RuntimeError("Expected both self and other to be nested, but got a nested self and non-nested "
                           "other")
    return like(parts_of(self), original(values_of(self), values_of(mask), value))


@on("copy_")
def copy_(original: Callable, self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Let ``self`` have the elements of ``src``, whose rows have the same sizes."""
    if not is_nested(src) or parts_of(self).sizes != parts_of(src).sizes:
        raise RuntimeError("copy_ only supports tensors that are the same size for Nested implementations")
    return written(original, self, src)


# ----------------------------------------------------------------------------------------------- rows, shapes


@on("_nested_tensor_size")
def sizes_of(original: Callable, self: Tensor) -> Tensor:
    """The sizes of the rows."""
    return F.tensor([list(size) for size in parts_of(self).sizes], dtype=F.tensor(0).dtype)


@on("unbind")
def unbind(original: Callable, input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The rows."""
    dim = dim_of(input, dim)
    if dim:
        raise RuntimeError(
            f"NestedTensor can only be unbound along dimension 0 got dimension {dim} instead.")
    return unbound(input)


on("__iter__")(lambda original, self: iter(unbound(self)))


@on("to_padded_tensor")
def to_padded_tensor(original: Callable, self: Tensor, padding: float, output_size: Any = None) -> Tensor:
    """The dense tensor, with ``padding`` behind the end of each row."""
    parts = parts_of(self)
    if not parts.contiguous:
        raise RuntimeError("for now to_padded_tensor only supports contiguous nested tensor")
    if not parts.sizes:
        return values_of(self)
    return dense(self, padding, None if output_size is None else tuple(output_size))


@on("select")
def select(original: Callable, input: Tensor, dim: int, index: int) -> Tensor:
    """One row, or what each row has at an index."""
    dim, sizes = dim_of(input, dim), parts_of(input).sizes
    extent = len(sizes) if dim == 0 else min(size[dim - 1] for size in sizes)
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {extent}")
    if dim == 0:
        return unbound(input)[index]
    return rearranged(input, [row.take(index, dim - 1) for row in places(sizes)], False)


@on("__getitem__")
def getitem(original: Callable, input: Tensor, index: Any) -> Any:
    """Integers, for the first dimensions."""
    found: Tensor = input
    index = index if isinstance(index, tuple) else (index,)
    for position, x in enumerate(index):
        if x is None and position == 0:
            return input.unsqueeze(0)
        if not isinstance(x, int) or isinstance(x, bool):
            raise refused("slice.Tensor", False)
        found = found.select(0, x)
        if not is_nested(found):
            rest = index[position + 1:]
            return found[rest] if rest else found
    return found


@on("transpose", "swapaxes", "swapdims")
def transpose(original: Callable, input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions of the rows exchanged."""
    a, b = dim_of(input, dim0), dim_of(input, dim1)
    if a == b:
        return input
    if 0 in (a, b):
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")
    # Rows are kept in row order; only what is said of them differs, so twice exchanged is contiguous again.
    return rearranged(input, [row.swapaxes(a - 1, b - 1) for row in places(parts_of(input).sizes)],
                      not parts_of(input).contiguous)


@on("view", "reshape")
def view(original: Callable, input: Tensor, *size: Any) -> Tensor:
    """Rows of other sizes: -1 is the extent that a row has there."""
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    sizes = parts_of(input).sizes
    if not size or size[0] not in (-1, len(sizes)):
        raise RuntimeError("view: For now nested view cannot change or infer the implicit batch dimension")
    made = []
    for old in sizes:
        new = [old[i] if n == -1 and i < len(old) else n for i, n in enumerate(size[1:])]
        if -1 in new:
            raise RuntimeError("view: For now nested view cannot infer the size of a new dimension")
        if math.prod(new) != math.prod(old):
            raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {math.prod(old)}")
        made.append(new)
    return resized(input, made)


@on("unsqueeze")
def unsqueeze(original: Callable, input: Tensor, dim: int) -> Tensor:
    """One more dimension of extent 1 in each row."""
    rank = input.dim() + 1
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    at = dim % rank
    _not_of_rows(at, "unsqueeze(): For nested tensors, unsqueezing dimension 0")
    return resized(input, [(*s[:at - 1], 1, *s[at - 1:]) for s in parts_of(input).sizes])


@on("squeeze")
def squeeze(original: Callable, input: Tensor, dim: Any = None) -> Tensor:
    """Without a dimension, which has to be said, where it has extent 1 in each row."""
    if not isinstance(dim, int):
        raise RuntimeError("squeeze(): For nested tensors, squeeze without the dim argument is not "
                           "supported at the moment")
    at = dim_of(input, dim)
    _not_of_rows(at, "squeeze(): For nested tensors, squeezing dimension 0")
    sizes = parts_of(input).sizes
    if any(s[at - 1] != 1 for s in sizes):
        return input
    return resized(input, [(*s[:at - 1], *s[at:]) for s in sizes])


def _not_of_rows(dim: int, what: str) -> None:
    if dim == 0:
        raise RuntimeError(f"{what} is not supported at the moment: stack or unbind() the rows")


@on("chunk")
def chunk(original: Callable, input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Equal pieces along the last dimension, which all rows share."""
    sizes = parts_of(input).sizes
    if dim_of(input, dim) != input.dim() - 1:
        raise RuntimeError("Chunk for nested tensors is currently only supported for the last dimension.")
    extent = _shared_last(sizes)
    if extent % chunks:
        raise RuntimeError("Chunk for nested tensors is only supported for nested tensors with trailing "
                           f"dimension divisible by chunks, got: {extent} % {chunks} != 0")
    step, rows = extent // chunks, places(sizes)
    return tuple(rearranged(input, [row[..., i * step:(i + 1) * step] for row in rows], False)
                 for i in range(chunks))


@on("narrow")
def narrow(original: Callable, input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Some rows that follow each other."""
    if dim_of(input, dim):
        raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got: {dim}")
    rows = places(parts_of(input).sizes)
    if not 0 <= start <= start + length <= len(rows):
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({len(rows)}).")
    return rearranged(input, rows[start:start + length], False)


@on("cat", "concat", "concatenate")
def cat(original: Callable, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The rows of several nested tensors."""
    if dim or not all(map(is_nested, tensors)):
        raise NotImplementedError("cat(): nested tensors of the strided layout are put together along "
                                  "dimension 0, with nested tensors alone")
    if len({t.dim() for t in tensors}) > 1:
        raise RuntimeError("cat(): all nested tensors must have as many dimensions")
    sizes = [size for t in tensors for size in parts_of(t).sizes]
    return pieces(F.cat([values_of(t) for t in tensors]), sizes)


# --------------------------------------------------------------------------------------- what mixes elements


def _shared_last(sizes: Sequence[Sequence[int]]) -> int:
    last = {size[-1] for size in sizes if size}
    if len(last) != 1:
        raise RuntimeError("Expected all tensors in nested tensor to have the same trailing dimension, "
                           f"instead last dimension equals:  {[size[-1] for size in sizes if size]}")
    return last.pop()


@on("linear")
def linear(original: Callable, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias`` of each row."""
    sizes = parts_of(input).sizes
    rows = values_of(input).reshape(-1, _shared_last(sizes))
    return pieces(original(rows, weight, bias).reshape(-1), [(*size[:-1], weight.shape[0]) for size in sizes])


@on("embedding")
def embedding(original: Callable, input: Tensor, weight: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The rows of a table for the indices of each row."""
    found = original(values_of(input), weight, *args, **kwargs)
    return pieces(found.reshape(-1), [(*size, weight.shape[1]) for size in parts_of(input).sizes])


@on("layer_norm")
def layer_norm(original: Callable, input: Tensor, normalized_shape: Sequence[int],
               weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Normalized over the last dimensions, which all rows share."""
    if weight is None or bias is None:
        raise ValueError("NestedTensor layer_norm requires weight and bias")
    shape, sizes = tuple(normalized_shape), parts_of(input).sizes
    tails = {size[len(size) - len(shape):] for size in sizes}
    if len(tails) > 1 or any(len(tail) < len(shape) for tail in tails):
        raise RuntimeError("normalized_shape extends into irregular dimensions for the nested tensor")
    if tails and tails != {shape}:
        raise RuntimeError(f"The shape {tails.pop()} of the rows doesn't match normalized_shape {shape}: The "
                           "shape at dimension 0 of normalized_shape doesn't match the input")
    found = original(values_of(input).reshape(-1, *shape), shape, weight, bias, eps)
    return like(parts_of(input), found.reshape(-1))


@on("softmax")
def softmax(original: Callable, input: Tensor, dim: Any = None, *args: Any, **kwargs: Any) -> Tensor:
    """The softmax over one dimension of each row."""
    at = dim_of(input, dim)
    if at == 0:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    return gathered(original(dense(input, -math.inf), at, *args, **kwargs), parts_of(input).sizes)


@on("sum")
def total(original: Callable, input: Tensor, dim: Any = None, keepdim: bool = False, *,
          dtype: Any = None) -> Tensor:
    """The sum over the last dimension, which stays with extent 1."""
    dims = [dim] if isinstance(dim, int) else list(dim or ())
    if not dims:
        raise refused("sum", False)
    if len(dims) > 1 or dim_of(input, dims[0]) != input.dim() - 1:
        raise RuntimeError("NestedTensor can only be reduced across the last dimension for now got dimension "
                           f"{dims[0]} instead.")
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    if dtype is not None:
        raise RuntimeError("NestedTensor does not support dtype argument for now.")
    sizes = [(*size[:-1], 1) for size in parts_of(input).sizes]
    return gathered(original(dense(input, 0), -1, True), sizes)


@on("matmul", "bmm", "__matmul__")
def matmul(original: Callable, self: Any, mat2: Any) -> Tensor:
    """Products of matrices, row by row."""
    if not (is_nested(self) and is_nested(mat2)):
        nested, other = ("self", "other") if is_nested(self) else ("other", "self")
        raise RuntimeError(f"Expected both to be nested, but got a nested {nested} and non-nested {other}")
    ours, theirs = parts_of(self).sizes, parts_of(mat2).sizes
    if self.dim() < 3 or mat2.dim() != self.dim() or len(ours) != len(theirs):
        raise RuntimeError("matmul: nested tensors need 3 dimensions or more, and as many rows: got "
                           f"{self.dim()} and {mat2.dim()} dimensions, {len(ours)} and {len(theirs)} rows")
    made = []
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a[-1] != b[-2] or a[:-2] != b[:-2]:
            raise RuntimeError(f"{i}-th nested matrices in batch cannot be multiplied ({a[-2]}x{a[-1]} and "
                               f"{b[-2]}x{b[-1]}): matmul: Nested tensors cannot be matrix multiplied")
        made.append((*a[:-1], b[-1]))
    return gathered(F.matmul(dense(self, 0), dense(mat2, 0)), made)


@on("scaled_dot_product_attention")
def attention(original: Callable, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
              dropout_p: float = 0.0, is_causal: bool = False, **kwargs: Any) -> Tensor:
    """Attention within each row, over the last but one dimension."""
    three = (query, key, value)
    if not all(map(is_nested, three)):
        raise RuntimeError("scaled_dot_product_attention: query, key and value are to be nested, all or "
                           "none of them")
    if not all(parts_of(t).contiguous for t in three):
        raise RuntimeError("scaled_dot_product_attention: If inputs are nested tensors they must be "
                           "contiguous")
    if attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: Nested tensors for query / key / value are not "
                           "supported when an explicit attn_mask is set")
    q, k = (parts_of(t).sizes for t in (query, key))
    padded = [dense(t, 0) for t in three]
    rows, columns = padded[0].shape[-2], padded[1].shape[-2]
    lengths = F.tensor([size[-2] for size in k], device=query.device)
    there = F.arange(columns, device=query.device) < lengths.reshape(-1, *(1,) * (query.dim() - 1))
    if is_causal:
        there = there & F.ones(rows, columns, dtype=there.dtype, device=there.device).tril()
    found = original(*padded, there, dropout_p, False, **kwargs)
    return gathered(found, [(*a[:-1], v[-1]) for a, v in zip(q, parts_of(value).sizes, strict=True)])
