"""Scaled dot-product attention.

NOTE [Attention in blocks]
    From `_LONG` queries on, the scores of all queries at once are never there: a loop takes some rows of
    them at a time, all keys of these rows together (so a row's softmax is the plain one), and backward
    makes each block's scores again. What is held grows with the length, not with its square. Causal
    attention is cut into parts first, each with the keys that its last query sees, so that most of what
    the mask would throw away is not computed. A loop, not copies of its body: those XLA would merge with
    the forward's, and keep all scores. The rows are plain jax inside, so every derivative and vmap is
    right as it is.
    Measured on two busy cores against all rows at once, forward and gradient, float32: causal 4x6x256x64
    0.7 of the time, 1x8x1024x64 half of it and 46 MB of scratch memory in place of 134, 1x4x4096x64 also
    half and 97 MB in place of 1,074; without a mask 0.95 at 256 and 0.7 at 1,024.
"""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import Scalar, op, overload

from .dropout import dropped_at

_LONG = 256  # queries; with fewer, the scores of all at once are quicker
_PARTS = 4  # of causal attention
_NODE = "ScaledDotProductFlashAttentionForCpuBackward0"
# Where PyTorch composes it, query and key are scaled before, and the mask is turned into numbers.
_OF_PRODUCT = ("value for query key_ mask",)


@op(name="_scaled_dot_product_attention", variants="", differentiable=True, recomputes=True,
    grad_name=_NODE, saves=("query", "key_", "value", "mask", "result"))
def attention(query, key_, value, mask=None, noise=None, /, *, is_causal, scale, enable_gqa):
    """``softmax(query @ key.T * scale + mask) @ value``, the scores in at least float32.

    query ``(..., L, E)``, key ``(..., S, E)``, value ``(..., S, Ev)``; a bool mask says what takes part, a
    float mask is added; ``noise`` multiplies the weights (dropout). Rows with nothing to attend to are
    zero, as in PyTorch.
    """
    if enable_gqa:
        key_, value = _repeat_heads(query, key_), _repeat_heads(query, value)
    rows = _rows_of(query, key_, value, is_causal, scale)
    if not in_blocks(query.shape[-2], key_.shape[-2]):
        return rows(query, mask, noise, 0, key_.shape[-2])
    return _in_blocks(rows, query, mask, noise, key_.shape[-2], is_causal)


overload(attention, "_scaled_dot_product_attention_composed", _NODE, saves=_OF_PRODUCT)


@op(name="_scaled_dot_product_attention_dropped", variants="", random=True, recomputes=True,
    grad_name=_NODE, saves=_OF_PRODUCT)
def attention_dropped(query, key_, value, mask=None, /, *, keep: Scalar, factor: Scalar,
                      is_causal, scale, enable_gqa, key):
    """`attention` in blocks with dropout: each block draws its part of the noise, twice if need be.

    The numbers are those that ``_dropout_noise`` draws for all scores at once.
    """
    if enable_gqa:
        key_, value = _repeat_heads(query, key_), _repeat_heads(query, value)
    lead = jnp.broadcast_shapes(query.shape[:-2], key_.shape[:-2], value.shape[:-2])
    shape = (*lead, query.shape[-2], key_.shape[-2])
    rows = _rows_of(query, key_, value, is_causal, scale)

    def noisy(part, mask, _, first, cols):
        noise = dropped_at(key, shape, first, part.shape[-2], cols, keep, factor, query.dtype)
        return rows(part, mask, noise, first, cols)

    return _in_blocks(noisy, query, mask, None, key_.shape[-2], is_causal)


def in_blocks(length, source) -> bool:
    """Whether so many queries of so many keys are taken in blocks; never where a size is symbolic."""
    return isinstance(length, int) and isinstance(source, int) and length >= _LONG <= 4 * source


def _rows_of(query, key_, value, is_causal, scale):
    """The attention of some rows of queries, ``first`` on, to the first ``cols`` keys."""
    dtype = query.dtype
    wide = np.float32 if dtype.itemsize < 4 else dtype
    # Without a feature all scores are 0, whatever they are multiplied by.
    factor = 1.0 / math.sqrt(query.shape[-1] or 1) if scale is None else scale

    def rows(query, mask, noise, first, cols):
        keys = jnp.swapaxes(key_[..., :cols, :], -1, -2)
        if dtype == wide:
            scores = jnp.matmul(query * jnp.asarray(factor, dtype), keys)
        else:
            # Half precision is rounded once, at the end: an exponential would make more of it.
            scores = jnp.matmul(query, keys, preferred_element_type=wide) * jnp.asarray(factor, wide)
        keep = None
        if is_causal:
            at = (query.shape[-2], cols)
            keep = first + jax.lax.broadcasted_iota(np.int32, at, 0) >= (
                jax.lax.broadcasted_iota(np.int32, at, 1)
            )
        if mask is not None:
            if mask.dtype == np.bool_:
                keep = mask if keep is None else keep & mask
            else:
                scores = scores + mask.astype(wide)
        if keep is not None:
            scores = jnp.where(keep, scores, -jnp.inf)
        weights = _shares(scores)
        if noise is not None:
            weights = weights * noise.astype(wide)
        return jnp.matmul(weights, value[..., :cols, :].astype(wide)).astype(dtype)

    return rows


@jax.custom_jvp
def _shares(scores):
    """The softmax over the last dimension; 0 in rows where every score is -inf."""
    top = jnp.max(scores, -1, keepdims=True, initial=-jnp.inf)  # there may be no keys
    weights = jnp.exp(scores - jnp.where(jnp.isfinite(top), top, 0))
    total = jnp.sum(weights, -1, keepdims=True)
    return weights / jnp.where(total == 0, 1, total)


@_shares.defjvp
def _shares_jvp(primals, tangents):
    """In terms of the result alone: derived by jax, backward would keep the exponentials beside it."""
    (weights,), (change,) = (_shares(*primals),), tangents
    return weights, weights * (change - jnp.sum(weights * change, -1, keepdims=True))


def _in_blocks(rows, query, mask, noise, source, is_causal):
    """``rows`` of all queries, a block at a time; NOTE [Attention in blocks]."""
    length = query.shape[-2]
    size = 64 if length < 1024 else 128
    blocks = -(-length // size)
    step = size * (-(-blocks // _PARTS) if is_causal else blocks)
    found = []
    for start in range(0, length, step):
        stop = min(start + step, length)
        cols = min(stop, source) if is_causal else source
        whole = start + (stop - start) // size * size
        given = [_cut(x, start, whole, cols) for x in (mask, noise)]
        if whole - start > size:
            found.append(_loop(rows, query[..., start:whole, :], given, start, size, cols))
        elif whole > start:
            found.append(rows(query[..., start:whole, :], *given, start, cols))
        if whole < stop:
            rest = (_cut(x, whole, stop, cols) for x in (mask, noise))
            found.append(rows(query[..., whole:stop, :], *rest, whole, cols))
    return jnp.concatenate(found, -2)


def _cut(x, start, stop, cols):
    """Rows and columns of what broadcasts to the scores."""
    if x is None or x.ndim < 1:
        return x
    if x.shape[-1] != 1:
        x = x[..., :cols]
    return x[..., start:stop, :] if x.ndim > 1 and x.shape[-2] != 1 else x


def _loop(rows, query, given, start, size, cols):
    """``rows`` of whole blocks."""
    count = query.shape[-2] // size
    split = [x is not None and x.ndim > 1 and x.shape[-2] != 1 for x in given]

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def block(at):
        part, first, cut = at
        mask, noise = (c if s else x for c, x, s in zip(cut, given, split))
        return rows(part, mask, noise, first, cols)

    cut = [_stacked(x, count, size) if s else None for x, s in zip(given, split)]
    firsts = start + size * jnp.arange(count, dtype=np.int32)
    out = jnp.moveaxis(jax.lax.map(block, (_stacked(query, count, size), firsts, cut)), 0, -3)
    return out.reshape(*out.shape[:-3], count * size, out.shape[-1])


def _stacked(x, count, size):
    """Blocks of rows along a new first dimension."""
    return jnp.moveaxis(x.reshape(*x.shape[:-2], count, size, x.shape[-1]), -3, 0)


def _repeat_heads(query, x):
    groups = query.shape[-3] // x.shape[-3]
    if x.shape[-3] * groups != query.shape[-3]:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query"
        )
    return jnp.repeat(x, groups, -3)
