"""Layers, under Paddle's names."""

from jaxflow._dialect import missing as _missing

from . import functional as functional
from . import initializer as initializer
from . import utils as utils
from ._clip import ClipGradByGlobalNorm as ClipGradByGlobalNorm
from ._clip import ClipGradByNorm as ClipGradByNorm
from ._clip import ClipGradByValue as ClipGradByValue
from ._layer import ParamAttr as ParamAttr
from ._layers import LAYERS as _LAYERS

globals().update(_LAYERS)

_MISSING = frozenset("""
    BeamSearchDecoder BiRNN CTCLoss Conv3DTranspose GRU GRUCell
    HSigmoidLoss LSTM LSTMCell MaxUnPool2D Maxout
    MultiHeadAttention RNN RReLU SimpleRNN SpectralNorm SyncBatchNorm
    Transformer TransformerDecoder TransformerEncoder TransformerEncoderLayer ZeroPad2D quant
""".split())


def __getattr__(name: str) -> object:
    raise _missing("Paddle", "paddle.nn", _MISSING, name)
