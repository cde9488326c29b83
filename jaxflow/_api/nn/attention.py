"""``nn.functional.scaled_dot_product_attention``: what it accepts and refuses."""

from __future__ import annotations

import math

from jaxflow._core.dtype import FLOATING
from jaxflow._core.generator import source_of
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.held_operands import hold_only
from jaxflow._ops.attention import in_blocks
from jaxflow._ops.matmul import C_NAMES
from jaxflow._plans.op import OPS
from jaxflow._publish.bind import draw
from jaxflow._publish.composite import composite

from .dropout import noise_of


@composite("function", namespace="nn.functional")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + attn_mask) @ value``, heads and batches in leading dimensions.

    From Vaswani and others, 2017, "Attention is all you need"; ``enable_gqa`` from Ainslie and others,
    2023, "GQA".

    Args:
        query: ``(..., L, E)``, floating point.
        key: ``(..., S, E)``, of the same dtype.
        value: ``(..., S, Ev)``, of the same dtype.
        attn_mask: broadcasts to ``(..., L, S)``; True where a query sees a key, or what is added to
            the scores. A query that sees nothing gets zeros.
        dropout_p: probability of dropping a weight, also outside training.
        is_causal: query ``i`` sees the keys up to ``i``; not together with ``attn_mask``.
        scale: factor of the scores (default ``1 / sqrt(E)``).
        enable_gqa: fewer heads in ``key`` and ``value``, each for several of the query's.

    Returns:
        ``(..., L, Ev)``, of the dtype of ``query``.

    Raises:
        TypeError: for what is no tensor.
        RuntimeError: for dtypes or shapes that do not go together.

    Example:
        >>> query = key = torch.zeros(1, 2, 4)  # all scores are 0: the values are averaged
        >>> value = torch.tensor([[[1.0, 3.0], [3.0, 5.0]]])
        >>> F.scaled_dot_product_attention(query, key, value)
        tensor([[[2., 4.],
                 [2., 4.]]])
        >>> F.scaled_dot_product_attention(query, key, value, is_causal=True)
        tensor([[[1., 3.],
                 [2., 4.]]])
    """
    for i, (name, given) in enumerate((("query", query), ("key", key), ("value", value))):
        if not isinstance(given, Tensor):
            raise TypeError(
                f"scaled_dot_product_attention(): argument '{name}' (position {i + 1}) must be "
                f"Tensor, not {type(given).__name__}"
            )
    _check_operands(query, key, value)
    if attn_mask is not None:
        _check_mask(attn_mask, query)
    dtype = query._aval.dtype
    if attn_mask is not None and is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    scores = _scores_shape(query, key, value, enable_gqa)
    if dtype.category < FLOATING:
        raise RuntimeError(f"expected scalar type Float but found {dtype.scalar_name}")
    if attn_mask is not None:
        if query._aval.ndim == 4:
            wrap_dim(-2, attn_mask._aval.ndim)
        _broadcast(scores, attn_mask._aval.shape)
    if dtype.is_complex:
        raise NotImplementedError(
            f"\"softmax_lastdim_kernel_impl\" not implemented for '{dtype.scalar_name}'")
    noise = None
    static = (bool(is_causal), None if scale is None else float(scale), bool(enable_gqa))
    if dropout_p:
        if not 0 <= dropout_p <= 1:
            raise RuntimeError(
                f"dropout probability has to be between 0 and 1, but got {dropout_p:g}"
            )
        source = source_of(None, query._aval.device)
        # In blocks, the noise would be as large as all scores.
        if dropout_p < 1 and source.stream == "counter" and in_blocks(*scores[-2:]):
            keep = 1.0 - dropout_p
            return _released(apply(
                OPS["_scaled_dot_product_attention_dropped"],
                (query, key, value, attn_mask, keep, 1.0 / keep, *draw(source)), static
            ), value)
        noise = noise_of(scores, query, dropout_p) if dropout_p < 1 else query.new_zeros(())
    operands = query, key, value, attn_mask, noise
    if not dropout_p and _fused(query, key, value, attn_mask, enable_gqa):
        return apply(OPS["_scaled_dot_product_attention"], operands, static)
    return _released(apply(OPS["_scaled_dot_product_attention_composed"], operands, static), value)


def _fused(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, gqa: bool) -> bool:
    """Whether PyTorch has one kernel for this, whose node holds the operands themselves."""
    q, k, v = query._aval.shape, key._aval.shape, value._aval.shape
    return (
        len(q) == len(k) == len(v) == 4 and q[0] == k[0] == v[0] and q[3] == k[3] == v[3]
        and k[1] == v[1] and (gqa or q[1] == k[1])
        and (mask is None or (mask._aval.ndim in (2, 4) and not mask._requires_grad))
        and all(t._stride is None or t._stride[3] == 1 for t in (query, key, value))
    )


def _released(out: Tensor, value: Tensor) -> Tensor:
    """Else the value is held unless it has to be repeated or laid out before."""
    whole = value._stride is None and value._aval.shape[:-2] == out._aval.shape[:-2]
    return hold_only(out, value if whole else None)


def _name(t: Tensor) -> str:
    return C_NAMES[t._aval.dtype.name]


def _check_operands(query: Tensor, key: Tensor, value: Tensor) -> None:
    if not (query._aval.dtype is key._aval.dtype is value._aval.dtype):
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{_name(query)} key.dtype: {_name(key)} and value.dtype: {_name(value)} instead."
        )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )


def _scores_shape(query: Tensor, key: Tensor, value: Tensor, gqa: bool) -> tuple[int, ...]:
    """Shape of the scores; checks that all products are possible."""
    q, k, v = query._aval.shape, key._aval.shape, value._aval.shape
    if gqa and q[-3] != k[-3]:
        if q[-3] % k[-3] or q[-3] % v[-3]:
            raise RuntimeError(
                "Number of heads in key and value must divide the number of heads in "
            )
        k, v = (*k[:-3], q[-3], *k[-2:]), (*v[:-3], q[-3], *v[-2:])
    lead = _broadcast(q[:-2], k[:-2])
    _check_product((*lead, *q[-2:]), (k[-1], k[-2]))
    scores = (*lead, q[-2], k[-2])
    lead = _broadcast(lead, v[:-2])
    _check_product(scores, v[-2:])
    return (*lead, q[-2], k[-2])


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    # The last dimension that differs is named, as where PyTorch compares them.
    for i in reversed(range(n)):
        if a[i] != b[i] and 1 not in (a[i], b[i]):
            raise RuntimeError(
                f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) at "
                f"non-singleton dimension {i}"
            )
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def _check_product(a: tuple[int, ...], b: tuple[int, int]) -> None:
    if a[-1] == b[0]:
        return
    if len(a) == 2:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
        )
    batch = math.prod(a[:-2])
    raise RuntimeError(
        f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {a[-1]}] but "
        f"got: [{batch}, {b[0]}]."
    )


def _check_mask(mask: Tensor, query: Tensor) -> None:
    dtype = mask._aval.dtype
    if dtype.name not in ("bool", "float32") and dtype is not query._aval.dtype:
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {_name(mask)} and  query.dtype: {_name(query)} instead."
        )
