"""Products of nested tensors, look-ups in tables, and attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow._core.tensor import Tensor

from .dispatch import on
from .elementwise import matches
from .padding import packed, padded
from .parts import is_nested, jagged, like, parts_of, values_of
from .shapes import need_contiguous


@on("linear")
def linear(original: Callable, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias`` of each row."""
    need_contiguous(input, "linear_default", "input")
    return like(parts_of(input), original(values_of(input), weight, bias))


@on("embedding")
def embedding(original: Callable, input: Tensor, weight: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The rows of a table for the indices of each row."""
    need_contiguous(input, "embedding_default", "indices")
    return like(parts_of(input), original(values_of(input), weight, *args, **kwargs))


@on("matmul", "__matmul__", "__rmatmul__")
def matmul(original: Callable, input: Tensor, other: Tensor) -> Tensor:
    """Products of matrices; the ragged dimension is one of rows, of columns, or the one that is summed."""
    if original.__name__ == "__rmatmul__":
        input, other = other, input
    a, b = (parts_of(t) if is_nested(t) else None for t in (input, other))
    rank, others = input.dim(), other.dim()
    if a is not None and b is None and a.dim < rank - 1:
        if rank >= 3 and rank == others:
            dense = F.matmul(padded(values_of(input), a.ragged, a.dim, 0), other)
            return jagged(packed(dense, a.ragged, a.dim, a.values.shape[a.dim - 1]), a.ragged, a.dim)
        if others == 2 and rank > 2:
            return like(a, F.matmul(values_of(input), other))
    elif a is None and b is not None and b.dim >= 2:
        if others >= 3 and rank == others:
            dense = F.matmul(input, padded(values_of(other), b.ragged, b.dim, 0))
            return jagged(packed(dense, b.ragged, b.dim, b.values.shape[b.dim - 1]), b.ragged, b.dim)
        if rank == 2 and others > 2:
            return like(b, F.matmul(input, values_of(other)))
    elif a is not None and b is not None:
        if rank > 3 and others > 3 and matches(a, tuple(b.shape)) and a.dim < rank - 2:
            return like(a, F.matmul(values_of(input), values_of(other)))
        if rank == others == 3 and a.dim == 2 and b.dim == 1 and a.ragged.size == b.ragged.size:
            first, second = padded(values_of(input), a.ragged, 2, 0), padded(values_of(other), b.ragged, 1, 0)
            return F.matmul(first, second)
    raise RuntimeError(f"matmul(): not supported between inputs of shapes {tuple(input.shape)} and "
                       f"{other.shape}")


@on("bmm")
def bmm(original: Callable, input: Tensor, mat2: Tensor) -> Tensor:
    """Products of matrices, a pair for each row."""
    if not is_nested(input):
        raise ValueError("NestedTensor bmm_default(): expected self to be a jagged layout NestedTensor")
    for name, t in (("input", input), ("mat2", mat2)):
        if t.dim() != 3:
            raise ValueError(f"bmm(): {name} must be 3D")
    return F.matmul(input, mat2)


def _checked(query: Any, key: Any, value: Any) -> None:
    """Refuse what attention has no form of, in PyTorch's words."""
    three = (query, key, value)
    if not all(map(is_nested, three)):
        raise ValueError("Expected query, key, and value to be nested tensors, but got " + ", ".join(
            f"{'and ' * (i == 2)}{name}.is_nested: {t.is_nested}" for i, (name, t) in enumerate(
                zip(("query", "key", "value"), three, strict=True))) + " instead.")
    if len({t.dtype for t in three}) > 1:
        raise ValueError("Expected query, key, and value to have the same dtype, but got query.dtype: "
                         f"{query.dtype}, key.dtype: {key.dtype}, and value.dtype: {value.dtype} instead.")
    if min(t.dim() for t in three) < 3:
        raise ValueError("Expected query, key, and value to all be at least 3 dimensional, but got "
                         f"query.dim: {query.dim()}, key.dim: {key.dim()} and value.dim: {value.dim()} "
                         "instead.")
    dims = [parts_of(t).dim for t in three]
    if len(set(dims)) > 1:
        raise ValueError("Expected query, key, and value to all be ragged on the same dimension, but got "
                         f"ragged dims {dims[0]}, {dims[1]}, and {dims[2]}, respectively.")


@on("scaled_dot_product_attention")
def attention(original: Callable, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
              dropout_p: float = 0.0, is_causal: bool = False, **kwargs: Any) -> Tensor:
    """Attention within each row: ``(B, H, j1, D)`` queries, ``(B, H, j2, D)`` keys and values.

    The rows are padded, and keys behind the end of a row get no weight.
    """
    _checked(query, key, value)
    if attn_mask is not None:
        raise ValueError("Masks are not yet supported!")
    q, k, v = map(parts_of, (query, key, value))
    if q.dim == 1 and query.dim() > 3:
        found = original(values_of(query), values_of(key), values_of(value), None, dropout_p, is_causal,
                         **kwargs)
        return like(q, found)
    if q.dim != 2 or query.dim() != 4:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found.")
    if k.ragged.size != v.ragged.size or q.ragged.count != k.ragged.count:
        raise RuntimeError("scaled_dot_product_attention: keys and values of nested tensors have the same "
                           "rows, as many as queries have")
    dense = [padded(values_of(t), p.ragged, 2, 0) for t, p in ((query, q), (key, k), (value, v))]
    rows, columns = dense[0].shape[2], dense[1].shape[2]
    _, there = k.ragged.places(columns)
    seen = there.reshape(k.ragged.count, 1, 1, columns)
    if is_causal:
        seen = seen & F.ones(rows, columns, dtype=there.dtype, device=there.device).tril()
    found = original(*dense, seen, dropout_p, False, **kwargs)
    return like(q, packed(found, q.ragged, 2, q.values.shape[1]))
