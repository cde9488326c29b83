"""Recurrent cells as functions: the sizes are checked, then the op of `_ops/cells.py` is applied."""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops import cells as ops
from jaxflow._publish.composite import composite


def _check(input: Tensor, states: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, gates: int) -> None:
    """Raise RuntimeError where sizes do not fit, and IndexError without a batch, in PyTorch's words."""
    if input.size(1) != w_ih.size(1):
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}")
    size = w_hh.size(1)
    for i, state in enumerate(states):
        if input.shape[0] != state.shape[0]:
            raise RuntimeError(
                f"Input batch size {input.shape[0]} doesn't match hidden{i} batch size {state.shape[0]}")
        if state.size(1) != size:
            raise RuntimeError(
                f"hidden{i} has inconsistent hidden_size: got {state.size(1)}, expected {size}")
    for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.shape[0] != gates * size:
            raise RuntimeError(
                f"{name} first dim must be {gates} * hidden_size = {gates * size}, "
                f"but got {weight.shape[0]}")


@composite("function")
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """``tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh)``.

    Args:
        input: ``(N, in)``.
        hx: the last state, ``(N, size)``.
        w_ih: ``(size, in)``.
        w_hh: ``(size, size)``.
        b_ih: ``(size,)``.
        b_hh: ``(size,)``.

    Raises:
        RuntimeError: for sizes or dtypes that do not fit.
    """
    _check(input, (hx,), w_ih, w_hh, 1)
    return apply(ops.PLAIN["tanh"], (input, hx, w_ih, w_hh, b_ih, b_hh))


@composite("function")
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """As `rnn_tanh_cell`, with ``relu``."""
    _check(input, (hx,), w_ih, w_hh, 1)
    return apply(ops.PLAIN["relu"], (input, hx, w_ih, w_hh, b_ih, b_hh))


@composite("function")
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The next state ``(N, size)`` of a gated recurrent unit.

    Weights and biases are those of the gates reset, update and new, one below the other: ``(3 * size, in)``,
    ``(3 * size, size)`` and ``(3 * size,)``. Otherwise as `rnn_tanh_cell`.
    """
    _check(input, (hx,), w_ih, w_hh, 3)
    return apply(ops.gru_cell, (input, hx, w_ih, w_hh, b_ih, b_hh))[0]


@composite("function")
def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The next state and memory, each ``(N, size)``, of a long short-term memory.

    Weights and biases are those of the gates input, forget, cell and output, one below the other.

    Args:
        input: ``(N, in)``.
        hx: the last state and the last memory, each ``(N, size)``.
        w_ih: ``(4 * size, in)``.
        w_hh: ``(4 * size, size)``.
        b_ih: ``(4 * size,)``.
        b_hh: ``(4 * size,)``.

    Raises:
        TypeError: where ``hx`` is one tensor.
        RuntimeError: for sizes or dtypes that do not fit, and other than two states.
    """
    if isinstance(hx, Tensor):
        raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    _check(input, hx, w_ih, w_hh, 4)
    hidden, memory = hx
    memory, show, _ = apply(ops.lstm_memory, (input, hidden, memory, w_ih, w_hh, b_ih, b_hh))
    return apply(ops.lstm_state, (show, memory)), memory
