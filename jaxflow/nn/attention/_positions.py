"""Functions of one position of the scores, and the same function at all positions."""

from __future__ import annotations

import enum
import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from jaxflow._api.vmap import vmap
from jaxflow._core import dtype as dtypes
from jaxflow._core.device import device as Device
from jaxflow._core.tensor import Tensor
from jaxflow._functions import arange, ones
from jaxflow._transforms.batching import axes_of
from jaxflow._views.values import value_of

_HOME = "jaxflow.nn.attention.flex_attention"

#: ``(score, b, h, q_idx, kv_idx)`` to another score: five tensors without dimensions to one.
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]

#: ``(b, h, q_idx, kv_idx)`` to whether the query sees the key: four tensors without dimensions to a bool one.
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


class Kind(enum.Enum):
    """What a function of positions is, by how many arguments it needs."""

    SCORE_MOD = 5
    MASK_MOD = 4


def kind_of(fn: Callable) -> Kind:
    """The kind of a function; those of its arguments that have a default do not count.

    Raises:
        AssertionError: when it needs neither four nor five arguments.
    """
    code = getattr(fn, "__code__", None)
    if code is not None:
        needed = code.co_argcount - len(getattr(fn, "__defaults__", None) or ())
    else:
        needed = sum(p.default is p.empty for p in inspect.signature(fn).parameters.values())
    if needed not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {needed}")
    return Kind(needed)


def over_positions(fn: Callable, prefix: Sequence[int | None] = (), suffix: Sequence[int | None] = (),
                   out_dims: Any = 0, group_dim: bool = False) -> Callable:
    """``fn`` of single positions, mapped over vectors of batches, heads, queries and keys.

    The vectors stay vectors: each ``vmap`` maps one of them, so nothing of the size of all scores is made
    that the function does not compute.

    Args:
        fn: takes what ``prefix`` stands for, four indices, and what ``suffix`` stands for.
        prefix: for each argument before the indices, 0 where its leading dimension is mapped by each
            ``vmap``, None where it is the same for all.
        suffix: likewise, for those after the indices.
        out_dims: where each mapped dimension goes in the results.
        group_dim: heads as groups of heads: two ``vmap`` over the index of the head.

    Returns:
        A function of the same arguments, whose result has a dimension for each ``vmap``, batches first.
    """
    nothing: tuple = (None, None, None, None)
    for k in (3, 2, 1, 1, 0) if group_dim else (3, 2, 1, 0):
        fn = vmap(fn, in_dims=(*prefix, *nothing[:k], 0, *nothing[k + 1:], *suffix), out_dims=out_dims)
    return fn


def indices(sizes: Sequence[int], device: Device) -> list[Tensor]:
    """The vector ``0, 1, ...`` of each size, int64."""
    return [arange(n, device=device) for n in sizes]


def mask_over(mask_mod: MaskMod, sizes: Sequence[int], device: Device) -> Tensor:
    """What ``mask_mod`` says at all positions; of size 1 along what it does not depend on.

    Args:
        mask_mod: a function of four indices.
        sizes: of batches, heads, queries and keys.
        device: where the indices lie.

    Returns:
        A tensor that broadcasts to ``sizes``, of the dtype that ``mask_mod`` returns.
    """
    if mask_mod is noop_mask:
        return ones((1, 1, 1, 1), dtype=dtypes.bool, device=device)
    needed: list[bool] = []

    def noted(*at: Tensor) -> Any:
        out = mask_mod(*at)
        if isinstance(out, Tensor):
            axes = axes_of(value_of(out))
            needed[:] = [axes_of(value_of(index))[-1] in axes for index in at]
        return out

    mask = over_positions(noted)(*indices(sizes, device))
    return mask[tuple(slice(None) if used else slice(0, 1) for used in needed)]


def identity(score: Tensor, b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    """The score as it is."""
    return score


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A ``mask_mod`` by which every query sees every key.

    Args:
        batch: the index of the batch, a tensor without dimensions.
        head: of the head.
        token_q: of the query.
        token_kv: of the key.

    Returns:
        A bool tensor without dimensions that is True.

    Example:
        >>> from jaxflow.nn.attention.flex_attention import create_mask, noop_mask
        >>> create_mask(noop_mask, None, None, 1, 2).tolist()
        [[[[True, True]]]]
    """
    return batch.new_ones(size=(), dtype=dtypes.bool, device=batch.device)


def _sliced_mask_mod_error(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> NoReturn:
    """The ``mask_mod`` of a part of a block mask, until another one is set; RuntimeError.

    The indices that a part is called with count from its own first block, and only its user can say how they
    relate to those of the whole.
    """
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask: its indices count from the first block of the part. "
        "Set mask_mod of the part to a function of such indices, made from mask_mod of the whole BlockMask")


def _checked(mask_mods: tuple) -> None:
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """A ``mask_mod`` that is True where at least one of several is.

    Args:
        mask_mods: functions ``(b, h, q_idx, kv_idx)`` to a bool tensor without dimensions.

    Returns:
        A function of the same arguments; False everywhere without any ``mask_mods``.

    Raises:
        RuntimeError: when one of them cannot be called.

    Example:
        >>> from jaxflow.nn.attention.flex_attention import create_mask, or_masks
        >>> prefix = lambda b, h, q_idx, kv_idx: kv_idx < 2
        >>> causal = lambda b, h, q_idx, kv_idx: q_idx >= kv_idx
        >>> create_mask(or_masks(prefix, causal), None, None, 3, 3).int()
        tensor([[[[1, 1, 0],
                  [1, 1, 0],
                  [1, 1, 1]]]], dtype=torch.int32)
    """
    _checked(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        seen = [mask(b, h, q_idx, kv_idx) for mask in mask_mods]
        return functools.reduce(operator.or_, seen) if seen else b.new_zeros((), dtype=dtypes.bool)

    return or_mask


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """A ``mask_mod`` that is True where all of several are.

    Args:
        mask_mods: functions ``(b, h, q_idx, kv_idx)`` to a bool tensor without dimensions.

    Returns:
        A function of the same arguments; True everywhere without any ``mask_mods``.

    Raises:
        RuntimeError: when one of them cannot be called.

    Example:
        >>> from jaxflow.nn.attention.flex_attention import and_masks, create_mask
        >>> near = lambda b, h, q_idx, kv_idx: q_idx - kv_idx < 2
        >>> causal = lambda b, h, q_idx, kv_idx: q_idx >= kv_idx
        >>> create_mask(and_masks(near, causal), None, None, 3, 3).int()
        tensor([[[[1, 0, 0],
                  [1, 1, 0],
                  [0, 1, 1]]]], dtype=torch.int32)
    """
    _checked(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        seen = [mask(b, h, q_idx, kv_idx) for mask in mask_mods]
        return functools.reduce(operator.and_, seen) if seen else b.new_ones((), dtype=dtypes.bool)

    return and_mask


for _public in (noop_mask, or_masks, and_masks):
    _public.__module__ = _HOME
