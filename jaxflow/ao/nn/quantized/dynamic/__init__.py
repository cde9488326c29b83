"""Layers whose inputs are quantized at each call: ``torch.ao.nn.quantized.dynamic``."""

from .linear import Linear as Linear
from .rnn import GRU as GRU
from .rnn import LSTM as LSTM
from .rnn import GRUCell as GRUCell
from .rnn import LSTMCell as LSTMCell
from .rnn import RNNCell as RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]
