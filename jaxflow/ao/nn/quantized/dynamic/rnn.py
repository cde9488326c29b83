"""Recurrent layers of dynamic quantization."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow import nn
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow.ao.nn.quantized.packed import (
    Packed,
    highest,
    observed,
    quantize_weight,
    unsupported,
    weight_observer,
)
from jaxflow.nn.utils.rnn import PackedSequence


def _packed(weight: Tensor, bias: Tensor | None, config: Any) -> Packed:
    """A weight and a bias as the observer of weights says; RuntimeError for another dtype."""
    made = config.weight()
    if made.dtype is dtypes.qint8:
        return Packed(quantize_weight(weight, observed(weight, made)), bias)
    if made.dtype is dtypes.float16:
        return Packed(weight.detach().float(), bias, half=True)
    raise RuntimeError("Unsupported dtype specified for dynamic quantized recurrent layers: torch.qint8 and "
                       "torch.float16 are taken")


def _layer(mode: str, input: Tensor, states: Any, ih: Packed, hh: Packed, reverse: bool = False) -> tuple:
    """All states of ``(steps, batch, size)``, and the last ones."""
    (weight_ih, scale_ih, zero_ih, axis), (weight_hh, scale_hh, zero_hh, _) = ih.parts(), hh.parts()
    memory = states[1] if len(states) > 1 else None
    return apply(OPS["_recurrent_dynamic"], (input, states[0], weight_ih, weight_hh, scale_ih, zero_ih,
                                             scale_hh, zero_hh, ih.bias, hh.bias, memory),
                 (mode, highest(), axis, reverse))


def _saved(ih: Packed, hh: Packed) -> tuple:
    return (*ih.unpack(), *hh.unpack(), dtypes.float16 if ih._half else dtypes.qint8)


def _loaded(found: Any) -> tuple[Packed, Packed]:
    if not isinstance(found, tuple) or len(found) != 5:
        raise RuntimeError("the checkpoint holds packed weights in another form: PyTorch's are objects of "
                           "its C++ library, which cannot be read; quantize the float model here")
    half = found[4] is dtypes.float16
    return Packed(found[0], found[1], half), Packed(found[2], found[3], half)


class PackedParameter(nn.Module):
    """The weights of one direction of one layer, as they are saved.

    Args:
        param: those from the input and those from the state.
    """

    def __init__(self, param: tuple[Packed, Packed]) -> None:
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = _saved(*self.param)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        if prefix + "param" in state_dict:
            self.param = _loaded(state_dict[prefix + "param"])
        else:
            missing_keys.append(prefix + "param")


class _Config:
    """A configuration of new layers: weights of one scale, symmetric, or of half precision."""

    qscheme = layouts.per_tensor_symmetric

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def weight(self) -> Any:
        """What observes a weight."""
        return self

    def __call__(self, weight: Tensor) -> None:
        """Look at a weight."""
        self._most = weight.abs().max() / 127.5

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point of the weight."""
        return self._most, functions.zeros((), dtype=dtypes.int64)


class _Recurrent(nn.Module):
    """What the layers over sequences share."""

    _version = 2
    _mode = ""
    _FLOAT_MODULE: Any = nn.Module

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 dtype: Any = dtypes.qint8) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size = self._mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.dtype = float(dropout), bidirectional, dtype
        self.version, self.training = self._version, False
        made = self._FLOAT_MODULE(input_size, hidden_size, num_layers, bias=bias, batch_first=batch_first,
                                  dropout=dropout, bidirectional=bidirectional)
        self._take(made, _Config(dtype))

    def _take(self, mod: Any, config: Any) -> None:
        kept = []
        for layer in range(self.num_layers):
            for suffix in ("", "_reverse")[: 1 + self.bidirectional]:
                names = [f"{kind}_{where}_l{layer}{suffix}" for where in ("ih", "hh") for kind in (
                    "weight", "bias")]
                w_ih, b_ih, w_hh, b_hh = (getattr(mod, name, None) for name in names)
                kept.append(PackedParameter((_packed(w_ih, b_ih, config), _packed(w_hh, b_hh, config))))
        self._all_weight_values = nn.ModuleList(kept)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            shown += f", num_layers={self.num_layers}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        if self.batch_first is not False:
            shown += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            shown += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            shown += f", bidirectional={self.bidirectional}"
        return shown

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def _run(self, input: Any, states: tuple | None) -> tuple:
        """All states of the last layer, and the last ones of each."""
        if isinstance(input, PackedSequence):
            raise NotImplementedError("quantized recurrent layers take no PackedSequence: pad the sequences")
        if self.dropout and self.training:
            raise NotImplementedError("quantized recurrent layers are not trained: call eval()")
        batched = input.dim() == 3
        if input.dim() not in (2, 3):
            raise RuntimeError(f"input must have 3 dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected "
                               f"{self.input_size}, got {input.size(-1)}")
        x = input if batched else input.unsqueeze(1)
        if self.batch_first and batched:
            x = x.transpose(0, 1)
        directions = 1 + self.bidirectional
        count = self.num_layers * directions
        if states is None:
            zeros = functions.zeros(count, x.size(1), self.hidden_size, dtype=x.dtype, device=x.device)
            states = (zeros,) * (2 if self.mode == "LSTM" else 1)
        elif not batched:
            states = tuple(s.unsqueeze(1) for s in states)
        wanted = (count, x.size(1), self.hidden_size)
        for s in states:
            if tuple(s.shape) != wanted:
                raise RuntimeError(f"Expected hidden size {wanted}, got {tuple(s.shape)}")
        last: list[tuple] = []
        for layer in range(self.num_layers):
            found = []
            for way in range(directions):
                k = layer * directions + way
                every, *ends = _layer(self.mode, x, [s[k] for s in states],
                                      *self._all_weight_values[k].param, reverse=bool(way))
                found.append(every)
                last.append(tuple(ends))
            x = found[0] if directions == 1 else functions.cat(found, -1)
        ends = tuple(functions.stack(part) for part in zip(*last, strict=True))
        if not batched:
            return x.squeeze(1), tuple(e.squeeze(1) for e in ends)
        return (x.transpose(0, 1) if self.batch_first else x), ends

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The layer of a float one, by the observer of weights of its ``qconfig``.

        Raises:
            AssertionError: for another layer, and one without ``qconfig``.
        """
        if type(mod) is not cls._FLOAT_MODULE:
            raise unsupported(cls, mod)
        made = weight_observer(mod)
        if getattr(mod, "proj_size", 0):
            raise NotImplementedError("quantized LSTMs have no proj_size")
        new = cls(mod.input_size, mod.hidden_size, mod.num_layers, mod.bias, mod.batch_first, mod.dropout,
                  mod.bidirectional, made.dtype)
        new._take(mod, mod.qconfig)
        return new


class LSTM(_Recurrent):
    """An LSTM with quantized weights, whose inputs and states are rounded as they come.

    The formula and its source are at `torch.nn.LSTM`. The input of a layer is rounded by its range over the
    whole sequence, the state by its range in each step.

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional: as of
            `torch.nn.LSTM`.
        dtype: of the weights: ``torch.qint8`` or ``torch.float16``.

    Example:
        >>> model = nn.Sequential(nn.LSTM(3, 4))
        >>> small = torch.ao.quantization.quantize_dynamic(model, {nn.LSTM}, dtype=torch.qint8)
        >>> small[0](torch.ones(5, 2, 3))[0].shape
        torch.Size([5, 2, 4])
    """

    _mode, _FLOAT_MODULE = "LSTM", nn.LSTM

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple:
        """As of `torch.nn.LSTM`: all states of the last layer, and the last states and memories."""
        return self._run(input, hx)


class GRU(_Recurrent):
    """A GRU with quantized weights; see `LSTM`.

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional: as of
            `torch.nn.GRU`.
        dtype: of the weights: ``torch.qint8`` or ``torch.float16``.

    Example:
        >>> torch.ao.nn.quantized.dynamic.GRU(3, 4)(torch.ones(5, 2, 3))[1].shape
        torch.Size([1, 2, 4])
    """

    _mode, _FLOAT_MODULE = "GRU", nn.GRU

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple:
        """As of `torch.nn.GRU`: all states of the last layer, and the last ones."""
        out, (last,) = self._run(input, None if hx is None else (hx,))
        return out, last


class _Cell(nn.Module):
    """What the cells share."""

    _mode = ""
    _FLOAT_MODULE: Any = nn.Module

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 dtype: Any = dtypes.qint8) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias, self.weight_dtype = input_size, hidden_size, bias, dtype
        self._take(self._FLOAT_MODULE(input_size, hidden_size, bias), _Config(dtype))

    def _take(self, mod: Any, config: Any) -> None:
        self._packed_weight_ih = _packed(mod.weight_ih, mod.bias_ih, config)
        self._packed_weight_hh = _packed(mod.weight_hh, mod.bias_hh, config)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            shown += f", nonlinearity={self.nonlinearity}"
        return shown

    def _step(self, mode: str, input: Tensor, states: tuple | None) -> tuple:
        if input.dim() != 2 or input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(-1)}, expected "
                               f"{self.input_size}")
        if states is None:
            zeros = functions.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            states = (zeros,) * (2 if mode == "LSTM" else 1)
        for s in states:
            if tuple(s.shape) != (input.size(0), self.hidden_size):
                raise RuntimeError(f"hidden has inconsistent hidden_size: got {tuple(s.shape)}, expected "
                                   f"{(input.size(0), self.hidden_size)}")
        return _layer(mode, input.unsqueeze(0), states, self._packed_weight_ih, self._packed_weight_hh)[1:]

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "_packed"] = _saved(self._packed_weight_ih, self._packed_weight_hh)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        if prefix + "_packed" in state_dict:
            self._packed_weight_ih, self._packed_weight_hh = _loaded(state_dict[prefix + "_packed"])
        else:
            missing_keys.append(prefix + "_packed")

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The cell of a float one, by the observer of weights of its ``qconfig``.

        Raises:
            AssertionError: for another layer, and one without ``qconfig``.
        """
        if type(mod) is not cls._FLOAT_MODULE:
            raise unsupported(cls, mod)
        made = weight_observer(mod)
        new = cls(mod.input_size, mod.hidden_size, mod.bias, dtype=made.dtype)
        new._take(mod, mod.qconfig)
        if hasattr(mod, "nonlinearity"):
            new.nonlinearity = mod.nonlinearity
        return new


class RNNCell(_Cell):
    """A plain recurrent cell with quantized weights.

    Args:
        input_size, hidden_size, bias, nonlinearity: as of `torch.nn.RNNCell`.
        dtype: of the weights: ``torch.qint8`` or ``torch.float16``.

    Example:
        >>> torch.ao.nn.quantized.dynamic.RNNCell(3, 4)(torch.ones(2, 3)).shape
        torch.Size([2, 4])
    """

    _FLOAT_MODULE = nn.RNNCell

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 dtype: Any = dtypes.qint8) -> None:
        super().__init__(input_size, hidden_size, bias, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """``(N, input_size)`` and the last state, to the next. RuntimeError for an unknown nonlinearity."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, None if hx is None else (hx,))[0]


class LSTMCell(_Cell):
    """A cell of an LSTM with quantized weights.

    Args:
        input_size, hidden_size, bias: as of `torch.nn.LSTMCell`.
        dtype: of the weights: ``torch.qint8`` or ``torch.float16``.

    Example:
        >>> torch.ao.nn.quantized.dynamic.LSTMCell(3, 4)(torch.ones(2, 3))[1].shape
        torch.Size([2, 4])
    """

    _FLOAT_MODULE = nn.LSTMCell

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """``(N, input_size)`` and the last state and memory, to the next."""
        return self._step("LSTM", input, hx)


class GRUCell(_Cell):
    """A cell of a GRU with quantized weights.

    Args:
        input_size, hidden_size, bias: as of `torch.nn.GRUCell`.
        dtype: of the weights: ``torch.qint8`` or ``torch.float16``.

    Example:
        >>> torch.ao.nn.quantized.dynamic.GRUCell(3, 4)(torch.ones(2, 3)).shape
        torch.Size([2, 4])
    """

    _FLOAT_MODULE = nn.GRUCell

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """``(N, input_size)`` and the last state, to the next."""
        return self._step("GRU", input, None if hx is None else (hx,))[0]
