"""Layers that are quantized: ``torch.ao.nn``."""

from . import intrinsic as intrinsic
from . import qat as qat
from . import quantized as quantized
from .intrinsic import qat as _intrinsic_qat  # noqa: F401
from .intrinsic import quantized as _intrinsic_quantized  # noqa: F401
