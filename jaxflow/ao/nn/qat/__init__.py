"""Layers that are trained with fake quantization of their weight: ``torch.ao.nn.qat``."""

from .layers import Conv1d as Conv1d
from .layers import Conv2d as Conv2d
from .layers import Conv3d as Conv3d
from .layers import Embedding as Embedding
from .layers import EmbeddingBag as EmbeddingBag
from .layers import Linear as Linear

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear"]
