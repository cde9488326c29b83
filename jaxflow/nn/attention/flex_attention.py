"""``torch.nn.attention.flex_attention``, by name: attention with a score function is not computed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from jaxflow._core.tensor import Tensor

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "create_block_mask", "create_mask", "flex_attention"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """Which results beside the output `flex_attention` returns."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The results beside the output of `flex_attention`."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.nn.attention.flex_attention.{name} is not supported: compute the mask or the bias as a "
        "tensor and pass it to torch.nn.functional.scaled_dot_product_attention(attn_mask=...)")


class BlockMask:
    """A mask as a list of blocks; it cannot be made.

    Raises:
        NotImplementedError: when one is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse("BlockMask")

    @classmethod
    def from_kv_blocks(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError: masks are tensors."""
        _refuse("BlockMask.from_kv_blocks()")


def create_block_mask(
    mask_mod: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE, _compile: bool = False,
    *args: Any, **kwargs: Any,
) -> NoReturn:
    """Raises NotImplementedError: masks are tensors."""
    _refuse("create_block_mask()")


def create_mask(mod_fn: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int,
                device: Any = None) -> NoReturn:
    """Raises NotImplementedError: write the mask with comparisons of `arange`."""
    _refuse("create_mask()")


def flex_attention(query: Tensor, key: Tensor, value: Tensor, score_mod: Callable | None = None,
                   block_mask: BlockMask | None = None, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: `scaled_dot_product_attention` takes a bias as a tensor."""
    _refuse("flex_attention()")
