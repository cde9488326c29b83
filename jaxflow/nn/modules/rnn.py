"""Recurrent cells, one step of a recurrent network; networks over whole sequences are in ``_recurrent``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules._recurrent import GRU as GRU
from jaxflow.nn.modules._recurrent import LSTM as LSTM
from jaxflow.nn.modules._recurrent import RNN as RNN
from jaxflow.nn.modules._recurrent import Recurrent
from jaxflow.nn.modules._recurrent import RNNBase as RNNBase
from jaxflow.nn.parameter import Parameter


class RNNCellBase(Recurrent):
    """Weights of one step: from the input and from the last state, in ``num_chunks`` parts.

    ``weight_ih`` has the shape ``(num_chunks * hidden_size, input_size)``, ``weight_hh``
    ``(num_chunks * hidden_size, hidden_size)``, the biases ``bias_ih`` and ``bias_hh``
    ``(num_chunks * hidden_size,)``. All are drawn uniformly between ``-1 / sqrt(hidden_size)`` and
    ``1 / sqrt(hidden_size)``. It has no ``forward``: use `RNNCell`, `GRUCell` or `LSTMCell`.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        bias: whether to learn biases.
        num_chunks: parts that the results are used in.
        device: where to put the parameters.
        dtype: their dtype.

    Example:
        >>> base = nn.RNNCellBase(3, 4, bias=False, num_chunks=3)
        >>> base.weight_ih.shape, base.weight_hh.shape, base.bias_ih
        (torch.Size([12, 3]), torch.Size([12, 4]), None)
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        for name, shape, wanted in (
            ("weight_ih", (rows, input_size), True),
            ("weight_hh", (rows, hidden_size), True),
            ("bias_ih", (rows,), bias),
            ("bias_hh", (rows,), bias),
        ):
            values = functions.empty(shape, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if values is None else Parameter(values))
        self.reset_parameters()

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            shown += f", nonlinearity={self.nonlinearity}"
        return shown

    def _check(self, input: Tensor, states: Any) -> None:
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for i, state in enumerate(() if states is None else states):
            if state is not None and state.dim() not in (1, 2):
                which = f"hx[{i}]" if len(states) > 1 else "hidden"
                raise ValueError(
                    f"{name}: Expected {which} to be 1D or 2D, got {state.dim()}D instead"
                )

    def _step(self, cell: Callable, input: Tensor, *states: Tensor | None) -> Any:
        """What the function ``cell`` makes of input and states, with or without a batch; None is zeros."""
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        given = []
        for state in states:
            if state is None:
                state = input.new_zeros(input.size(0), self.hidden_size)
            elif not batched:
                state = state.unsqueeze(0)
            given.append(state)
        found = cell(
            input, given[0] if len(given) == 1 else given,
            self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh,
        )
        if batched:
            return found
        return found.squeeze(0) if len(given) == 1 else tuple(state.squeeze(0) for state in found)


class RNNCell(RNNCellBase):
    """``tanh(W_ih x + b_ih + W_hh h + b_hh)``, or ``relu`` of it.

    A call ``cell(input, hx)`` takes ``(N, input_size)`` and the last state ``(N, hidden_size)`` (zeros when
    it is left out), both with or without ``N``, and returns the next state.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        bias: whether to learn biases.
        nonlinearity: ``"tanh"`` or ``"relu"``; another one is refused when the cell is called.
        device: where to put the parameters.
        dtype: their dtype.

    Example:
        With all weights one and no bias, each state is the input plus the last state.

        >>> cell = nn.RNNCell(1, 1, bias=False, nonlinearity="relu")
        >>> for weight in cell.parameters():
        ...     _ = nn.init.ones_(weight)
        >>> h = torch.zeros(1)
        >>> for x in (1.0, 2.0, -5.0):
        ...     h = cell(torch.tensor([x]), h)
        ...     print(h.tolist())
        [1.0]
        [3.0]
        [0.0]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """``(N, input_size)`` and ``(N, hidden_size)``, or without ``N``, to the next state.

        Raises:
            ValueError: for other numbers of dimensions.
            RuntimeError: for an unknown nonlinearity, and sizes that do not fit.
        """
        self._check(input, (hx,))
        cells = {"tanh": functions.rnn_tanh_cell, "relu": functions.rnn_relu_cell}
        if self.nonlinearity not in cells:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(cells[self.nonlinearity], input, hx)


class LSTMCell(RNNCellBase):
    """One step of a long short-term memory: gates decide what is kept, written and shown.

    The formula and its source are at `LSTM`. A call ``cell(input, (h, c))`` takes ``(N, input_size)`` and
    the last state and memory, each ``(N, hidden_size)`` (zeros when they are left out), all with or without
    ``N``, and returns the next state and memory.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        bias: whether to learn biases.
        device: where to put the parameters.
        dtype: their dtype.

    Example:
        With all weights zero every gate is one half, so half of the memory is kept.

        >>> cell = nn.LSTMCell(3, 2)
        >>> for weight in cell.parameters():
        ...     _ = nn.init.zeros_(weight)
        >>> h, c = cell(torch.ones(3), (torch.zeros(2), torch.tensor([4.0, 8.0])))
        >>> h.shape, c.tolist()
        (torch.Size([2]), [2.0, 4.0])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device=None, dtype=None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """``(N, input_size)`` and state and memory ``(N, hidden_size)``, or without ``N``, to the
        next.

        Raises:
            ValueError: for other numbers of dimensions.
            RuntimeError: for sizes that do not fit.
        """
        self._check(input, hx)
        return self._step(functions.lstm_cell, input, *((None, None) if hx is None else hx))


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit: a mixture of the last state and a new one.

    The formula and its source are at `GRU`. A call ``cell(input, hx)`` takes ``(N, input_size)`` and the
    last state ``(N, hidden_size)`` (zeros when it is left out), both with or without ``N``, and returns
    the next state.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        bias: whether to learn biases.
        device: where to put the parameters.
        dtype: their dtype.

    Example:
        With all weights zero every gate is one half and the new state is zero.

        >>> cell = nn.GRUCell(3, 2)
        >>> for weight in cell.parameters():
        ...     _ = nn.init.zeros_(weight)
        >>> cell(torch.ones(1, 3), torch.tensor([[4.0, 8.0]])).tolist()
        [[2.0, 4.0]]
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device=None, dtype=None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """``(N, input_size)`` and ``(N, hidden_size)``, or without ``N``, to the next state.

        Raises:
            ValueError: for other numbers of dimensions.
            RuntimeError: for sizes that do not fit.
        """
        self._check(input, (hx,))
        return self._step(functions.gru_cell, input, hx)
