"""Automatic mixed precision: regions in which operations are cast, and scaled gradients."""

from .autocast_mode import _enter_autocast as _enter_autocast
from .autocast_mode import _exit_autocast as _exit_autocast
from .autocast_mode import autocast as autocast
from .autocast_mode import custom_bwd as custom_bwd
from .autocast_mode import custom_fwd as custom_fwd
from .autocast_mode import is_autocast_available as is_autocast_available
from .grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
