"""The older names of `amp.autocast` and what belongs to it, for CUDA."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow.amp import autocast_mode as current
from jaxflow.amp.autocast_mode import _cast as _cast

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{instead}` "
                  "instead.", FutureWarning, stacklevel=3)


class autocast(current.autocast):  # noqa: N801 - PyTorch's name
    """Deprecated in favour of ``amp.autocast("cuda", ...)``.

    Args:
        enabled: as of `amp.autocast`.
        dtype: likewise.
        cache_enabled: likewise.
    """

    def __init__(self, enabled: bool = True, dtype: Any = dtypes.float16, cache_enabled: bool = True) -> None:
        _deprecated("autocast", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def custom_fwd(fwd: Callable | None = None, *, cast_inputs: Any = None) -> Callable:
    """Deprecated in favour of ``amp.custom_fwd(..., device_type="cuda")``."""
    _deprecated("custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return current.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable) -> Callable:
    """Deprecated in favour of ``amp.custom_bwd(..., device_type="cuda")``."""
    _deprecated("custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return current.custom_bwd(bwd, device_type="cuda")
