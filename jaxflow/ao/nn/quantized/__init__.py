"""Layers of quantized models: ``torch.ao.nn.quantized``."""

from . import dynamic as dynamic
from .activation import ELU as ELU
from .activation import Dropout as Dropout
from .activation import Hardswish as Hardswish
from .activation import LeakyReLU as LeakyReLU
from .activation import ReLU6 as ReLU6
from .activation import Sigmoid as Sigmoid
from .activation import Softmax as Softmax
from .conv import Conv1d as Conv1d
from .conv import Conv2d as Conv2d
from .embedding import Embedding as Embedding
from .embedding import EmbeddingBag as EmbeddingBag
from .functional_modules import FloatFunctional as FloatFunctional
from .functional_modules import FXFloatFunctional as FXFloatFunctional
from .functional_modules import QFunctional as QFunctional
from .linear import Linear as Linear
from .linear import LinearPackedParams as LinearPackedParams
from .normalization import BatchNorm2d as BatchNorm2d
from .normalization import BatchNorm3d as BatchNorm3d
from .normalization import GroupNorm as GroupNorm
from .normalization import InstanceNorm1d as InstanceNorm1d
from .normalization import InstanceNorm2d as InstanceNorm2d
from .normalization import InstanceNorm3d as InstanceNorm3d
from .normalization import LayerNorm as LayerNorm
from .quantize import DeQuantize as DeQuantize
from .quantize import Quantize as Quantize

__all__ = [
    "ELU", "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "DeQuantize", "Dropout", "Embedding",
    "EmbeddingBag", "FXFloatFunctional", "FloatFunctional", "GroupNorm", "Hardswish", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LeakyReLU", "Linear", "LinearPackedParams",
    "QFunctional", "Quantize", "ReLU6", "Sigmoid", "Softmax",
]
