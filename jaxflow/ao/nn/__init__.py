"""Names that programs take from ``torch.ao.nn``."""

from . import quantized as quantized
