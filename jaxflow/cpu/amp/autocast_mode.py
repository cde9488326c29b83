"""The older name of `amp.autocast`, for the CPU."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow.amp import autocast_mode as current

__all__ = ["autocast"]


class autocast(current.autocast):  # noqa: N801 - PyTorch's name
    """Deprecated in favour of ``amp.autocast("cpu", ...)``.

    Args:
        enabled: as of `amp.autocast`.
        dtype: likewise.
        cache_enabled: likewise.
    """

    def __init__(self, enabled: bool = True, dtype: Any = dtypes.bfloat16,
                 cache_enabled: bool = True) -> None:
        warnings.warn("`torch.cpu.amp.autocast(args...)` is deprecated. Please use "
                      "`torch.amp.autocast('cpu', args...)` instead.", FutureWarning, stacklevel=2)
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
