"""Causal masks as objects that `scaled_dot_product_attention` takes for its ``attn_mask``."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._functions import ones
from jaxflow.nn._functional import operations as F

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Which corner the diagonal of a causal mask passes through: ``UPPER_LEFT`` or ``LOWER_RIGHT``.

    They differ where there are not as many keys as queries. By the first, query ``i`` sees the keys up to
    ``i``; by the second, the last query sees all keys, the one before it all but the last, and so on.

    Example:
        >>> from jaxflow.nn.attention.bias import CausalVariant
        >>> list(CausalVariant)
        [<CausalVariant.UPPER_LEFT: 1>, <CausalVariant.LOWER_RIGHT: 2>]
    """

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask that is not made as long as attention does without it.

    Args:
        variant: which corner its diagonal passes through.
        seq_len_q: how many queries.
        seq_len_kv: how many keys.

    Raises:
        AssertionError: for a variant that is no `CausalVariant`.

    Example:
        >>> from jaxflow.nn.attention.bias import CausalBias, CausalVariant
        >>> CausalBias(CausalVariant.LOWER_RIGHT, 2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
    """

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        super().__init__()
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warnings.warn("Lower right causal bias will produce NaNs in the output when seq_len_q > "
                          "seq_len_kv!", stacklevel=2)

    def _materialize(self, device: Any = None) -> Tensor:
        """The mask: bool ``(seq_len_q, seq_len_kv)``, True for what is seen; by default on the CPU."""
        lower = self.variant is CausalVariant.LOWER_RIGHT
        shift = self.seq_len_kv - self.seq_len_q if lower else 0
        return ones(self.seq_len_q, self.seq_len_kv, dtype=dtypes.bool, device=device or "cpu").tril(shift)

    @staticmethod
    def _dispatch(query: Tensor, key: Tensor, value: Tensor, attn_mask: CausalBias, dropout_p: float = 0.0,
                  is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Tensor:
        """`scaled_dot_product_attention` with such a mask; ValueError beside ``is_causal``."""
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        square = attn_mask.seq_len_q == attn_mask.seq_len_kv
        upper = square or attn_mask.variant is CausalVariant.UPPER_LEFT
        mask = None if upper else attn_mask._materialize(query.device)
        return F.scaled_dot_product_attention(query, key, value, mask, dropout_p, upper, scale=scale,
                                              enable_gqa=enable_gqa)

    @classmethod
    def __torch_function__(cls, func: Callable, types: Sequence[type], args: tuple = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        """Attention is computed by `_dispatch`, other functions as for any tensor."""
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention:
            return cls._dispatch(*args, **kwargs)
        return super().__torch_function__(func, types, args, kwargs)

    def __repr__(self) -> str:  # type: ignore[override]
        return repr(self._materialize())


def _of(variant: CausalVariant, name: str, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return CausalBias(variant, *size)


def causal_upper_left(*size: int) -> CausalBias:
    """The causal mask by which query ``i`` sees the keys up to ``i``.

    Args:
        size: how many queries, and how many keys.

    Returns:
        A `CausalBias`, for ``attn_mask`` of `scaled_dot_product_attention`.

    Raises:
        AssertionError: for more or fewer than two numbers.

    Example:
        >>> from jaxflow.nn.attention.bias import causal_upper_left
        >>> causal_upper_left(2, 3)
        tensor([[ True, False, False],
                [ True,  True, False]])
    """
    return _of(CausalVariant.UPPER_LEFT, "causal_upper_left", size)


def causal_lower_right(*size: int) -> CausalBias:
    """The causal mask by which the last query sees all keys, as where earlier keys are kept from before.

    Args:
        size: how many queries, and how many keys.

    Returns:
        A `CausalBias`, for ``attn_mask`` of `scaled_dot_product_attention`.

    Raises:
        AssertionError: for more or fewer than two numbers.

    Example:
        >>> from jaxflow.nn.attention.bias import causal_lower_right
        >>> causal_lower_right(2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
    """
    return _of(CausalVariant.LOWER_RIGHT, "causal_lower_right", size)
