"""The two functions that PyTorch's gradient scaler is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._writes.inplace import apply_together


def _check(t: Tensor, name: str, dtype: dtypes.dtype, kind: str) -> None:
    if t.numel() != 1:
        raise RuntimeError(f"{name} must be a 1-element tensor.")
    if t.dtype is not dtype:
        raise RuntimeError(f"{name} must be {kind} tensor.")


@composite("function", checks=False)
def _amp_foreach_non_finite_check_and_unscale_(self: Sequence[Tensor], found_inf: Tensor,
                                               inv_scale: Tensor) -> None:
    """Multiply gradients by ``inv_scale`` in place, and set ``found_inf`` to 1 where one is not finite.

    All are written at once.

    Args:
        self: the gradients, of floating point.
        found_inf: float32, one element; it is left as it is where all are finite.
        inv_scale: float32, one element.

    Raises:
        RuntimeError: for others of another size or dtype.
        NotImplementedError: for gradients of another kind.
    """
    if not self:
        return
    _check(inv_scale, "inv_scale", dtypes.float32, "a float")
    _check(found_inf, "found_inf", dtypes.float32, "a float")
    for grad in self:
        if not grad.is_floating_point():
            raise NotImplementedError('"_amp_foreach_non_finite_check_and_unscale_cpu" not implemented for '
                                      f"'{grad.dtype.scalar_name}'")
    apply_together([
        *((OPS["_unscaled"], (grad, inv_scale), ()) for grad in self),
        (OPS["_with_non_finite"], (found_inf, *self), ()),
    ])


@composite("function", checks=False)
def _amp_update_scale_(self: Tensor, growth_tracker: Tensor, found_inf: Tensor, scale_growth_factor: Any,
                       scale_backoff_factor: Any, growth_interval: int) -> Tensor:
    """Write the next scale into ``self`` and the next count of steps into ``growth_tracker``; ``self``.

    Args:
        self: the scale, float32, one element.
        growth_tracker: how many steps in a row had no overflow, int32, one element.
        found_inf: whether this one had, float32, one element.
        scale_growth_factor: by what the scale is multiplied after ``growth_interval`` such steps.
        scale_backoff_factor: by what it is multiplied after an overflow.
        growth_interval: after how many steps it grows, unless it would be infinite.

    Raises:
        RuntimeError: for tensors of another size or dtype.
    """
    _check(growth_tracker, "growth_tracker", dtypes.int32, "an int")
    _check(self, "current_scale", dtypes.float32, "a float")
    _check(found_inf, "found_inf", dtypes.float32, "a float")
    factors = float(scale_growth_factor), float(scale_backoff_factor)
    apply_together([
        (OPS["_next_scale"], (self, growth_tracker, found_inf, *factors), (growth_interval,)),
        (OPS["_next_growth_tracker"], (growth_tracker, found_inf), (growth_interval,)),
    ])
    return self
