"""Recurrent networks over whole sequences: RNN, LSTM and GRU."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.autocast import is_any_enabled
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import user_level
from jaxflow.nn import init
from jaxflow.nn._functional.recurrent import recurrent
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter
from jaxflow.nn.utils.rnn import PackedSequence, packed_like, unpacked

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


class Recurrent(Module):
    """What draws its weights as recurrent networks do, for cells and networks."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly within ``1 / sqrt(hidden_size)`` of zero."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)


class RNNBase(Recurrent):
    """The parameters of a recurrent network, ``weight_ih_l0`` to ``bias_hh_l{k}_reverse``.

    With ``G`` gates (1 for the plain networks, 3 for GRU, 4 for LSTM) a layer and direction has
    ``weight_ih`` of shape ``(G * hidden_size, in)``, ``weight_hh`` ``(G * hidden_size, state)``,
    ``bias_ih`` and ``bias_hh`` ``(G * hidden_size,)`` and with projections ``weight_hr``
    ``(proj_size, hidden_size)``. All are drawn uniformly between ``-1 / sqrt(hidden_size)`` and
    ``1 / sqrt(hidden_size)``. It has no ``forward``: use `RNN`, `GRU` or `LSTM`.

    Args:
        mode: ``"RNN_TANH"``, ``"RNN_RELU"``, ``"GRU"`` or ``"LSTM"``.
        input_size: size of each element of the sequence.
        hidden_size: size of the state.
        num_layers: layers on top of each other.
        bias: whether to learn biases.
        batch_first: whether sequences come as ``(N, L, size)`` instead of ``(L, N, size)``.
        dropout: chance of each element of what goes from layer to layer, while training.
        bidirectional: whether every layer also runs from the end.
        proj_size: size that LSTM's states are projected to; 0 leaves them as they are.
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        TypeError: for sizes that are no ints.
        ValueError: for sizes that are not positive, and a dropout outside of 0 to 1.
        ValueError: for another ``mode``.

    Example:
        >>> base = nn.RNNBase("GRU", 3, 4, num_layers=2)
        >>> [(name, tuple(p.shape)) for name, p in base.named_parameters()][3:6]
        [('bias_hh_l0', (12,)), ('weight_ih_l1', (12, 4)), ('weight_hh_l1', (12, 4))]
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device=None, dtype=None,
    ) -> None:
        super().__init__()
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode = mode
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_sizes(dropout)
        rows, state = _GATES[mode] * hidden_size, proj_size or hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            width = input_size if layer == 0 else state * self._directions
            for suffix in ("", "_reverse")[: self._directions]:
                shapes = {"weight_ih": (rows, width), "weight_hh": (rows, state)}
                if bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
                for name, shape in names.items():
                    setattr(self, name, Parameter(functions.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(list(names))
        self.reset_parameters()

    def _check_sizes(self, dropout: Any) -> None:
        if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not (
            0 <= dropout <= 1
        ):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
                f"expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={self.num_layers}", stacklevel=user_level(),
            )
        for name in ("input_size", "hidden_size"):
            size = getattr(self, name)
            if not isinstance(size, int):
                raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing to do: how parameters lie in memory is XLA's business."""

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (("proj_size", 0), ("num_layers", 1), ("bias", True),
                            ("batch_first", False), ("dropout", 0), ("bidirectional", False)):
            value = getattr(self, name)
            if value != usual:
                shown += f", {name}={value}"
        return shown

    def _run(
        self, input: Tensor | PackedSequence, states: tuple[Tensor, ...] | None
    ) -> tuple[Tensor | PackedSequence, list[Tensor]]:
        """The states of the last layer and the last states, in the layout of ``input``."""
        if isinstance(input, PackedSequence):
            return self._run_packed(input, states)
        if input.dim() not in (2, 3):
            kind = f"{input.dim()}D tensor" if self.mode.startswith("RNN") else f"{input.dim()}D"
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {kind} instead"
            )
        batched = input.dim() == 3
        if states is not None:
            _check_states(batched, states)
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
            states = None if states is None else tuple(s.unsqueeze(1) for s in states)
        batch = input.shape[batch_dim]
        shapes = self._state_shapes(batch)
        if states is None:
            states = tuple(input.new_zeros(shape) for shape in shapes)
        self._check_forward(input, states, shapes)
        if self.batch_first:
            input = input.transpose(0, 1)
        output, lasts = recurrent(
            self.mode, input, states, self.all_weights, bias=self.bias,
            bidirectional=self.bidirectional, projected=self.proj_size > 0,
            dropout=self.dropout if self.training else 0.0,
        )
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output, lasts = output.squeeze(batch_dim), [s.squeeze(1) for s in lasts]
        return output, lasts

    def _run_packed(
        self, packed: PackedSequence, states: tuple[Tensor, ...] | None
    ) -> tuple[PackedSequence, list[Tensor]]:
        """`_run` of a packed batch, in the order of its sequences; the results are packed like it."""
        data, order, back = packed.data, packed.sorted_indices, packed.unsorted_indices
        if data.dim() != 2:
            raise RuntimeError(f"input must have 2 dimensions, got {data.dim()}")
        batch = int(packed.batch_sizes[0])
        shapes = self._state_shapes(batch)
        if states is None:
            states = tuple(data.new_zeros(shape) for shape in shapes)
        elif order is not None:
            states = tuple(s.index_select(1, order) for s in states)
        self._check_forward(data, states, shapes)
        padded, places = unpacked(packed)
        output, lasts = recurrent(
            self.mode, padded, states, self.all_weights, bias=self.bias, bidirectional=self.bidirectional,
            projected=self.proj_size > 0, dropout=self.dropout if self.training else 0.0, places=places,
        )
        if back is not None:
            lasts = [last.index_select(1, back) for last in lasts]
        return packed_like(packed, output), lasts

    def _state_shapes(self, batch: int) -> list[tuple[int, int, int]]:
        """Of the states, and for LSTM of the memories."""
        shapes = [(self.num_layers * self._directions, batch, self.proj_size or self.hidden_size)]
        if self.mode == "LSTM":
            shapes.append((*shapes[0][:2], self.hidden_size))
        return shapes

    def _check_forward(self, input: Tensor, states: tuple, shapes: list) -> None:
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype and not is_any_enabled():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert "
                f"input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.shape[-1]}"
            )
        for i, (state, shape) in enumerate(zip(states, shapes, strict=True)):
            if tuple(state.shape) != shape:
                which = f"hidden[{i}]" if len(shapes) > 1 else "hidden"
                raise RuntimeError(f"Expected {which} size {shape}, got {list(state.shape)}")


def _check_states(batched: bool, states: tuple) -> None:
    dims = [s.dim() for s in states]
    want = 3 if batched else 2
    if any(d != want for d in dims):
        names = "hx" if len(states) == 1 else "hx and cx"
        got = f"{dims[0]}-D tensor" if len(states) == 1 else f"({dims[0]}-D, {dims[1]}-D) tensors"
        batch = "batched" if batched else "unbatched"
        raise RuntimeError(f"For {batch} {want}-D input, {names} should also be {want}-D but got {got}")


class _OneState(RNNBase):
    """A network that hands one state from step to step."""

    def __init__(self, mode: str, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(mode, *args, **kwargs)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """All states of the last layer, and the last state of every layer and direction.

        Raises:
            ValueError: for other numbers of dimensions, and another dtype than the weights'.
            RuntimeError: for sizes that do not fit.
        """
        output, (last,) = self._run(input, None if hx is None else (hx,))
        return output, last


class RNN(_OneState):
    """``h = tanh(W_ih x + b_ih + W_hh h + b_hh)`` along a sequence, or ``relu`` of it.

    From Elman, "Finding structure in time", 1990. A call ``rnn(input, hx)`` takes sequences
    ``(L, N, input_size)`` (``(N, L, input_size)`` with ``batch_first``, ``(L, input_size)`` without a
    batch, or a PackedSequence) and the first states ``(num_layers * D, N, hidden_size)``, zeros when they
    are left out, where ``D`` is 2 if ``bidirectional`` and 1 otherwise. It returns the states of the last
    layer ``(L, N, D * hidden_size)`` and the last states of every layer and direction, of the shape of
    ``hx``.

    Args:
        input_size: size of each element of the sequence.
        hidden_size: size of the state.
        num_layers: layers on top of each other (default: 1).
        nonlinearity: ``"tanh"`` (the default) or ``"relu"``.
        bias: whether to learn biases.
        batch_first: whether sequences come as ``(N, L, size)`` instead of ``(L, N, size)`` (default: no).
        dropout: chance of each element of what goes from layer to layer, while training (default: 0).
        bidirectional: whether every layer also runs from the end (default: no).
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        TypeError: for sizes that are no ints.
        ValueError: for another nonlinearity, ``proj_size``, and what else `RNNBase` refuses.

    Example:
        >>> rnn = nn.RNN(3, 4, num_layers=2, bidirectional=True)
        >>> output, last = rnn(torch.zeros(5, 2, 3))
        >>> output.shape, last.shape
        (torch.Size([5, 2, 8]), torch.Size([4, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) > 3:
            nonlinearity, args = args[3], (*args[:3], *args[4:])
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(_OneState):
    """A gated recurrent unit along a sequence: each state mixes the last one with a new one.

    With ``*`` for products of elements and the three gates below one another in the weights::

        r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
        z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
        n = tanh(W_in x + b_in + r * (W_hn h + b_hn))
        h = (1 - z) * n + z * h

    From Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical machine
    translation", 2014, but with ``r`` after the product with the state. A call ``gru(input, hx)`` takes and
    returns what one of `RNN` does.

    Args:
        input_size: size of each element of the sequence.
        hidden_size: size of the state.
        num_layers: layers on top of each other (default: 1).
        bias: whether to learn biases.
        batch_first: whether sequences come as ``(N, L, size)`` instead of ``(L, N, size)`` (default: no).
        dropout: chance of each element of what goes from layer to layer, while training (default: 0).
        bidirectional: whether every layer also runs from the end (default: no).
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        TypeError: for sizes that are no ints.
        ValueError: for ``proj_size``, and what else `RNNBase` refuses.

    Example:
        >>> gru = nn.GRU(3, 4, batch_first=True)
        >>> output, last = gru(torch.zeros(2, 5, 3), torch.ones(1, 2, 4))
        >>> output.shape, last.shape, gru.weight_ih_l0.shape
        (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]), torch.Size([12, 3]))
        >>> bool((output[:, -1] == last[0]).all())
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """A long short-term memory along a sequence: gates decide what is kept, written and shown.

    With ``*`` for products of elements and the four gates below one another in the weights::

        i = sigmoid(W_ii x + b_ii + W_hi h + b_hi)
        f = sigmoid(W_if x + b_if + W_hf h + b_hf)
        g = tanh(W_ig x + b_ig + W_hg h + b_hg)
        o = sigmoid(W_io x + b_io + W_ho h + b_ho)
        c = f * c + i * g
        h = o * tanh(c)

    From Hochreiter and Schmidhuber, "Long short-term memory", 1997; the gate ``f`` is from Gers,
    Schmidhuber and Cummins, "Learning to forget", 2000; with ``proj_size`` the state ``h`` is
    ``W_hr (o * tanh(c))`` (Sak, Senior and Beaufays, 2014). A call ``lstm(input, (h, c))`` takes
    sequences as `RNN` does, first states ``(num_layers * D, N, proj_size or hidden_size)`` and memories
    ``(num_layers * D, N, hidden_size)``, and returns the states of the last layer and a pair of the last
    states and memories.

    Args:
        input_size: size of each element of the sequence.
        hidden_size: size of the state.
        num_layers: layers on top of each other (default: 1).
        bias: whether to learn biases.
        batch_first: whether sequences come as ``(N, L, size)`` instead of ``(L, N, size)`` (default: no).
        dropout: chance of each element of what goes from layer to layer, while training (default: 0).
        bidirectional: whether every layer also runs from the end (default: no).
        proj_size: size that the states are projected to; 0 (the default) leaves them as they are.
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        TypeError: for sizes that are no ints.
        ValueError: for what else `RNNBase` refuses, and a ``proj_size`` that is not below ``hidden_size``.

    Example:
        >>> lstm = nn.LSTM(3, 4, proj_size=2)
        >>> output, (h, c) = lstm(torch.zeros(5, 2, 3))
        >>> output.shape, h.shape, c.shape
        (torch.Size([5, 2, 2]), torch.Size([1, 2, 2]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """All states of the last layer; the last state and memory of every layer and direction.

        Raises:
            ValueError: for other numbers of dimensions, and another dtype than the weights'.
            RuntimeError: for sizes that do not fit.
        """
        output, lasts = self._run(input, None if hx is None else tuple(hx))
        return output, tuple(lasts)
