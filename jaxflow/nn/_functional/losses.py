"""Losses of triplets: an anchor nearer to the positive than to the negative."""

from __future__ import annotations

from collections.abc import Callable

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.autocasting import cast_call
from jaxflow._dispatch.dispatch import apply
from jaxflow.nn import _reduction as _Reduction
from jaxflow.nn._functional import operations as F


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, distance(anchor, positive) - distance(anchor, negative) + margin)``.

    Args:
        anchor: ``(N, D)`` or ``(D,)``.
        positive: likewise.
        negative: likewise.
        margin: how much further the negative should be.
        p: which norm the distance is.
        eps: keeps the norm's gradient finite.
        swap: use the distance from positive to negative where that is smaller.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: when ``margin`` is not positive, or for an unknown reduction.
        RuntimeError: when numbers of dimensions differ.
    """
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)

    return cast_call("triplet_margin_loss", apply, _triplet_of_norm, (anchor, positive, negative),
                     {"margin": margin, "p": p, "eps": eps, "swap": swap, "reduction": reduction})


def _triplet_of_norm(anchor: Tensor, positive: Tensor, negative: Tensor, *, margin: float, p: float,
                     eps: float, swap: bool, reduction: str) -> Tensor:
    def distance(a: Tensor, b: Tensor) -> Tensor:
        return F.pairwise_distance(a, b, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own (default: `pairwise_distance`)."""
    distance = distance_function or F.pairwise_distance
    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def _triplet(anchor, positive, negative, distance, margin, swap, reduction) -> Tensor:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and "
            f"negative {negative.dim()}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = functions.minimum(far, distance(positive, negative))
    loss = (near - far + margin).clamp_min(0)
    return loss if reduction == "none" else getattr(loss, reduction)()
