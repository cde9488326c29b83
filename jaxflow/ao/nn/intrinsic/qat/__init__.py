"""Fused layers that are trained with fake quantization: ``torch.ao.nn.intrinsic.qat``."""

from .layers import ConvBn1d as ConvBn1d
from .layers import ConvBn2d as ConvBn2d
from .layers import ConvBn3d as ConvBn3d
from .layers import ConvBnReLU1d as ConvBnReLU1d
from .layers import ConvBnReLU2d as ConvBnReLU2d
from .layers import ConvBnReLU3d as ConvBnReLU3d
from .layers import ConvReLU1d as ConvReLU1d
from .layers import ConvReLU2d as ConvReLU2d
from .layers import ConvReLU3d as ConvReLU3d
from .layers import LinearReLU as LinearReLU
from .layers import freeze_bn_stats as freeze_bn_stats
from .layers import update_bn_stats as update_bn_stats

__all__ = [
    "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d",
    "ConvReLU2d", "ConvReLU3d", "LinearReLU", "freeze_bn_stats", "update_bn_stats",
]
