"""Layers that are quantized together: ``torch.ao.nn.intrinsic``."""

from .fused import *  # noqa: F403
from .fused import _FusedModule as _FusedModule
