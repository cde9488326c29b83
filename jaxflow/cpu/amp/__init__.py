"""The older names of `amp` for the CPU."""

from .autocast_mode import autocast as autocast
from .grad_scaler import GradScaler as GradScaler
