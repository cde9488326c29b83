"""What `flex_attention` refuses."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor

from ._block_mask import LARGE_SIZE
from ._positions import _sliced_mask_mod_error

_BACKENDS = ("AUTO", "TRITON", "FLASH", "TRITON_DECODE")


def check_operands(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    """Refuse tensors that do not go together, apart from their batches."""
    where = [t.device for t in (query, key, value)]
    if len(set(where)) > 1:
        raise ValueError(
            "Expected query, key, and value to have the same device type, but got query.device: {}, "
            "key.device: {}, and value.device: {} instead.".format(*where))
    dims = [t.dim() for t in (query, key, value)]
    if min(dims) < 2:
        raise ValueError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {}, "
            "key.dim: {} and value.dim: {} instead.".format(*dims))
    if query.size(-1) != key.size(-1):
        raise ValueError("Expect query and key/value to have the same embedding dimension but got "
                         f"E={query.size(-1)} and E={key.size(-1)}.")
    if dims != [4, 4, 4]:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, kv_heads = query.size(1), key.size(1)
    if not enable_gqa and heads != kv_heads:
        raise ValueError("Expect query and key/value to have the same number of heads but got "
                         f"Hq={heads} and Hkv={kv_heads}. Try setting enable_gqa=True for GQA.")
    if heads % kv_heads:
        raise ValueError("Expect number of query heads to be a multiple of kv heads for GQA but got "
                         f"Hq={heads} and Hkv={kv_heads}.")


def check_mask(query: Tensor, key: Tensor, block_mask: Any) -> None:
    """Refuse batches that do not go together, and a block mask of other lengths or on another device."""
    batches, kv_batches = query.size(0), key.size(0)
    if batches != kv_batches:
        if block_mask is None:
            raise ValueError(
                "Expect query and key/value to have the same batch size, or non-none block_mask, but got "
                f"block_mask=None, Bq={batches}, and Bkv={kv_batches}.")
        if block_mask.kv_num_blocks.size(0) != batches:
            raise ValueError(
                "Expect query and key/value to have the same batch size, or block_mask and query to have the "
                f"same batch size, but got Bq={batches}, Bkv={kv_batches}, "
                f"B_block_mask={block_mask.kv_num_blocks.size(0)}.")
        if kv_batches != 1:
            raise RuntimeError(f"Bq and Bkv must broadcast. Got Bq={batches} and Bkv={kv_batches}")
    if block_mask is None:
        return
    if block_mask.mask_mod is _sliced_mask_mod_error:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask: set its mask_mod to a function of "
                           "the indices within the part")
    if tuple(block_mask.BLOCK_SIZE) != (LARGE_SIZE, LARGE_SIZE):
        _check_lengths(query.size(-2), key.size(-2), block_mask)
    if query.device != block_mask.kv_num_blocks.device:
        raise RuntimeError("Expect q/k/v and block_mask to be on the same device but got "
                           f"{query.device} and {block_mask.kv_num_blocks.device}.")
    for dim, size in enumerate(query.shape[:2] if block_mask.kv_num_blocks.dim() == 3 else ()):
        if block_mask.kv_num_blocks.size(dim) not in (1, size):
            raise ValueError(
                f"block_mask was created for block_mask.shape={block_mask.shape}, whose batches and heads do "
                f"not broadcast to those of query, {tuple(query.shape[:2])}")


def _check_lengths(q_len: int, kv_len: int, block_mask: Any) -> None:
    made_for = block_mask.shape[-2:]
    if made_for == (q_len, kv_len):
        return
    smaller = q_len > made_for[0] or kv_len > made_for[1]
    part = ", or take its upper left part with block_mask._adjust(q_len, kv_len) if that is the mask"
    raise ValueError(
        f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={q_len} and "
        f"kv_len={kv_len}. As the block mask was created for a {'smaller' if smaller else 'larger'} length "
        f"than you're using it for, create another one{'' if smaller else part}")


def check_options(options: dict[str, Any] | None) -> None:
    """Refuse options of PyTorch's kernels that exclude each other, or that no user sets."""
    options = options or {}
    if "BACKEND" in options:
        if options.get("FORCE_USE_FLEX_ATTENTION", False):
            raise RuntimeError(
                "BACKEND cannot be combined with legacy FORCE_USE_FLEX_ATTENTION: leave out the latter")
        if options["BACKEND"] not in _BACKENDS:
            raise ValueError(f"Invalid BACKEND value '{options['BACKEND']}'. Must be one of {_BACKENDS}")
    for name in ("OUTPUT_LOGSUMEXP", "OUTPUT_MAX"):
        if name in options:
            raise AssertionError(f"{name} must not be in kernel_options")
