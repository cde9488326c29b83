"""Names that programs take from ``torch.ao``."""

from . import nn as nn
from . import quantization as quantization
