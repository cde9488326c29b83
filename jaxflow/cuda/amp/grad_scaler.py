"""The older name of `amp.GradScaler`."""

from __future__ import annotations

import warnings

from jaxflow.amp import grad_scaler as current
from jaxflow.amp.grad_scaler import OptState as OptState

__all__ = ["GradScaler"]


class GradScaler(current.GradScaler):
    """Deprecated in favour of ``amp.GradScaler("cuda", ...)``.

    Args:
        init_scale: as of `amp.GradScaler`.
        growth_factor: likewise.
        backoff_factor: likewise.
        growth_interval: likewise.
        enabled: likewise.
    """

    def __init__(self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        warnings.warn("`torch.cuda.amp.GradScaler(args...)` is deprecated. Please use "
                      "`torch.amp.GradScaler('cuda', args...)` instead.", FutureWarning, stacklevel=2)
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
