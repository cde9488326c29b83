"""Attention whose scores are changed and masked by functions of single positions."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, NotRequired, TypedDict

from jaxflow._core import dtype as dtypes
from jaxflow._core.autocast import settings
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.autocasting import cast_within
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.result_layout import unless_contiguous
from jaxflow._functions import where, zeros
from jaxflow._plans.op import OPS
from jaxflow.accelerator import current_accelerator
from jaxflow.amp import autocast
from jaxflow.nn._functional import operations as F

from . import _positions
from ._block_mask import DEFAULT_SIZE, LARGE_SIZE, BlockMask, make
from ._flex_checks import check_mask, check_operands, check_options
from ._positions import Kind, MaskMod, ScoreMod, and_masks, kind_of, noop_mask, or_masks

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask",
           "create_mask", "flex_attention", "noop_mask", "or_masks"]

_DEFAULT_SPARSE_BLOCK_SIZE = DEFAULT_SIZE
_LARGE_SPARSE_BLOCK_SIZE = LARGE_SIZE
_score_mod_signature = ScoreMod
_mask_mod_signature = MaskMod
_identity = _positions.identity
_vmap_for_bhqkv = _positions.over_positions

#: A switch of PyTorch's, without effect: functions of positions always run as Python here.
_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = False


class AuxRequest(NamedTuple):
    """Which results beside the output `flex_attention` returns."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The results beside the output of `flex_attention`; None for what was not wanted."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


class FlexKernelOptions(TypedDict, total=False):
    """Options of PyTorch's kernels, without effect on what is computed here."""

    num_warps: NotRequired[int]
    num_stages: NotRequired[int]
    BLOCK_M: NotRequired[int]
    BLOCK_N: NotRequired[int]
    BLOCK_M1: NotRequired[int]
    BLOCK_N1: NotRequired[int]
    BLOCK_M2: NotRequired[int]
    BLOCK_N2: NotRequired[int]
    PRESCALE_QK: NotRequired[bool]
    ROWS_GUARANTEED_SAFE: NotRequired[bool]
    BLOCKS_ARE_CONTIGUOUS: NotRequired[bool]
    WRITE_DQ: NotRequired[bool]
    FORCE_USE_FLEX_ATTENTION: NotRequired[bool]
    USE_TMA: NotRequired[bool]
    kpack: NotRequired[int]
    matrix_instr_nonkdim: NotRequired[int]
    waves_per_eu: NotRequired[int]
    BACKEND: NotRequired[str]


def create_mask(mod_fn: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int,
                device: Any = None) -> Tensor:
    """What a function of positions lets through, as a matrix.

    Args:
        mod_fn: a ``mask_mod(b, h, q_idx, kv_idx)``, or a ``score_mod(score, b, h, q_idx, kv_idx)``, of which
            is masked what becomes minus infinity.
        B: how many batches; None for 1.
        H: how many heads; None for 1.
        Q_LEN: how many queries.
        KV_LEN: how many keys.
        device: where the mask lies; by default the accelerator if there is one.

    Returns:
        A tensor ``(B, H, Q_LEN, KV_LEN)``: bool, or of the dtype that a ``mask_mod`` returns.

    Raises:
        AssertionError: for a function that needs neither four nor five arguments.

    Example:
        >>> from jaxflow.nn.attention.flex_attention import create_mask
        >>> create_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 2, 3)
        tensor([[[[ True, False, False],
                  [ True,  True, False]]]])
    """
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    device = device if device is not None else current_accelerator() or "cpu"
    at = _positions.indices(sizes, device)
    if kind_of(mod_fn) is Kind.MASK_MOD:
        return _positions.over_positions(mod_fn)(*at)
    scores = _positions.over_positions(mod_fn, prefix=(0,))(zeros(sizes, device=device), *at)
    return scores.isneginf().logical_not()


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = DEFAULT_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """The block mask of a function of positions.

    The function is evaluated at all positions once, so this takes memory for ``B * H * Q_LEN * KV_LEN``
    bools; it is recorded like any operation, and nothing is waited for.

    Args:
        mask_mod: ``(b, h, q_idx, kv_idx)``, integer tensors without dimensions, to a bool one: whether the
            query sees the key. It is mapped with `vmap`, may look up elements of other tensors
            (``document[q_idx]``), and may not branch on its arguments.
        B: how many batches; None where the mask is the same for all.
        H: how many heads of the query; None likewise.
        Q_LEN: how many queries.
        KV_LEN: how many keys.
        device: where the mask lies; by default the accelerator if there is one.
        BLOCK_SIZE: how many queries and keys a block has; one number for both.
        separate_full_blocks: list blocks without a masked element for themselves.
        compute_dq_write_order: also compute ``dq_write_order``, for PyTorch's kernel.
        dq_kv_order: whether that counts from the last keys.

    Returns:
        A `BlockMask`.

    Raises:
        AssertionError: for a function that does not need four arguments.
        ValueError: for a ``dq_kv_order`` that is no bool.

    Example:
        >>> from jaxflow.nn.attention.flex_attention import create_block_mask
        >>> mask = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 256, 256, "cpu")
        >>> mask.kv_num_blocks, mask.full_kv_num_blocks  # half masked on the diagonal, one whole below
        (tensor([[[1, 1]]], dtype=torch.int32), tensor([[[0, 1]]], dtype=torch.int32))
    """
    if kind_of(mask_mod) is not Kind.MASK_MOD:
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    if _compile:
        warnings.warn("_compile of create_block_mask is deprecated: it is compiled anyway; use "
                      "torch.compile of what calls it to leave out Python as well", DeprecationWarning,
                      stacklevel=2)
    if not isinstance(dq_kv_order, bool):
        raise ValueError("dq_kv_order must be a bool when using create_block_mask")
    block = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    made = make(mask_mod, mask, (Q_LEN, KV_LEN), block, separate_full_blocks)
    if compute_dq_write_order:
        made._set_write_order(dq_kv_order)
    return made


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Tensor | tuple[Tensor, Tensor | None] | tuple[Tensor, AuxOutput]:
    """``softmax(score_mod(query @ key.T * scale)) @ value``, masked, with functions of single positions.

    From Dong and others, 2024, "Flex Attention", https://arxiv.org/abs/2412.05496. The functions are mapped
    over batches, heads, queries and keys by `vmap` and recorded with the rest, so they are part of the one
    program that is compiled, and gradients flow through them to what they look up, such as a learned bias.
    Scores and softmax are computed in float32, or float64 for such queries. With a ``score_mod`` all scores
    are there at once; without one this is `scaled_dot_product_attention`, in blocks where that pays. Blocks
    that are masked are computed like others; kernels of accelerators that leave them out may come later.

    Args:
        query: ``(B, Hq, L, E)``, floating point.
        key: ``(B, Hkv, S, E)``, or of one batch for all, beside a ``block_mask`` of ``B`` batches.
        value: ``(B, Hkv, S, Ev)``.
        score_mod: ``(score, b, h, q_idx, kv_idx)``, tensors without dimensions, to another score. The indices
            are int64; the score has the dtype in which scores are computed.
        block_mask: what counts, as `create_block_mask` makes it: what ``mask_mod`` says in the blocks that
            are listed, all of the blocks that are listed as full, nothing of others.
        scale: factor of the scores before ``score_mod``, by default ``1 / sqrt(E)``.
        enable_gqa: fewer heads in ``key`` and ``value``, each for several of the query's in a row (Ainslie
            and others, 2023, "GQA").
        return_lse: also return the logarithms of sums; deprecated for ``return_aux``.
        kernel_options: options of PyTorch's kernels, without effect.
        return_aux: which results to return beside the output.

    Returns:
        ``(B, Hq, L, Ev)``, of the dtype of ``query``; zeros for a query that sees nothing. With
        ``return_lse`` also the logarithms of the sums of exponentials of the scores, ``(B, Hq, L)``, minus
        infinity for such a query; with ``return_aux`` an `AuxOutput` of these and of the largest scores,
        which have no gradient.

    Raises:
        ValueError: for shapes or devices that do not go together, a block mask of other lengths, and
            ``return_lse`` beside ``return_aux``.
        NotImplementedError: for tensors that have not four dimensions.
        RuntimeError: for the ``mask_mod`` of a part of a block mask, or one on another device.

    Example:
        >>> from jaxflow.nn.attention.flex_attention import create_block_mask, flex_attention
        >>> query = key = torch.zeros(1, 1, 3, 2)
        >>> value = torch.tensor([1.0, 2.0, 6.0]).reshape(1, 1, 3, 1)
        >>> flex_attention(query, key, value).flatten()
        tensor([3., 3., 3.])
        >>> causal = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 3, 3, "cpu")
        >>> flex_attention(query, key, value, block_mask=causal).flatten()
        tensor([1.0000, 1.5000, 3.0000])
        >>> near = lambda score, b, h, q_idx, kv_idx: score - 100.0 * (q_idx - kv_idx).abs()
        >>> flex_attention(query, key, value, score_mod=near).flatten()
        tensor([1., 2., 6.])
    """
    check_operands(query, key, value, enable_gqa)
    check_mask(query, key, block_mask)
    if return_lse and return_aux is not None:
        raise ValueError("Cannot specify both return_lse and return_aux: return_lse is deprecated")
    if return_lse:
        warn_once("return_lse is deprecated: use return_aux=AuxRequest(lse=True) instead.", FutureWarning)
    check_options(kernel_options)
    scale = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    wanted = AuxRequest(lse=return_lse) if return_aux is None else return_aux
    kind, casting = query.device.type, settings()
    region: Any = contextlib.nullcontext()
    if kind in casting.enabled:  # the operands are cast, and nothing that is computed with them
        query, key, value = cast_within((query, key, value), kind, casting.lower(kind), apply)
        region = autocast(kind, enabled=False)
    with region:
        out, aux = _attention(query, key, value, score_mod, block_mask, scale, wanted)
    shape = out._aval.shape
    out._stride = unless_contiguous(_laid_out_like(query, shape), shape)
    if return_aux is not None:
        return out, aux
    return (out, aux.lse) if return_lse else out


def _attention(query: Tensor, key: Tensor, value: Tensor, score_mod: ScoreMod | None,
               block_mask: BlockMask | None, scale: float, wanted: AuxRequest) -> tuple[Tensor, AuxOutput]:
    batches, heads, queries, _ = query.shape
    kv_heads, keys = key.shape[1:3]
    sizes = (batches, heads, queries, keys)

    def over(mask_mod: MaskMod) -> Tensor:
        return _positions.mask_over(mask_mod, sizes, query.device)

    mask = None if block_mask is None else block_mask._mask(over, queries, keys)
    if score_mod is None and not any(wanted) and query.dtype is key.dtype is value.dtype:
        key, value = (t.expand(batches, -1, -1, -1) for t in (key, value))
        return F.scaled_dot_product_attention(
            query, key, value, mask, scale=scale, enable_gqa=heads != kv_heads), AuxOutput()
    precision = dtypes.float64 if query.dtype is dtypes.float64 else dtypes.float32
    # Heads of the query that share a head of the key are one after the other: they are rows of one product.
    grouped = (batches, kv_heads, heads // kv_heads * queries)
    scores = query.to(precision).reshape(*grouped, query.size(-1)) @ key.to(precision).transpose(-2, -1)
    scores = scores.reshape(sizes) * scale
    if score_mod is not None:
        scores = _positions.over_positions(score_mod, prefix=(0,))(
            scores, *_positions.indices(sizes, query.device))
    if mask is not None:
        scores = where(mask, scores, -math.inf)
    shares = apply(OPS["_safe_softmax"], (scores,), (-1, None)).to(query.dtype).reshape(*grouped, keys)
    out = shares @ value.to(query.dtype)
    if heads != kv_heads:
        out = out.reshape(*sizes[:3], value.size(-1)).clone()  # no view
    return out, _aux(scores, wanted)


def _aux(scores: Tensor, wanted: AuxRequest) -> AuxOutput:
    """Of each query the logarithm of the sum of exponentials, and the largest score; None of no queries."""
    if not any(wanted) or not scores.shape[:-1].numel():
        return AuxOutput()
    largest = scores.detach().amax(-1)
    if not wanted.lse:
        return AuxOutput(None, largest)
    # Of a query that sees nothing: exp(-inf - 0), not exp(-inf + inf).
    near = where(largest == -math.inf, 0.0, largest)
    total = (scores - near.unsqueeze(-1)).exp().sum(-1)
    empty = total == 0
    lse = where(empty, -math.inf, near + where(empty, 1.0, total).log())
    return AuxOutput(lse, largest if wanted.max_scores else None)


def _laid_out_like(query: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides for ``shape`` in the order in which ``query`` lies, but with the last dimension inmost."""
    given, last = query.stride(), len(shape) - 1
    order = sorted(range(len(shape)), key=lambda d: (given[d], -d))
    strides = _strides_in(order, shape)
    return strides if strides[last] == 1 else _strides_in([last, *(d for d in order if d != last)], shape)


def _strides_in(order: list[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [0] * len(shape), 1
    for dim in order:  # the inmost first
        strides[dim], step = step, step * max(shape[dim], 1)
    return tuple(strides)
