"""Recurrent networks: layers and directions put together from one scan each."""

from __future__ import annotations

from collections.abc import Sequence

import jaxflow
from jaxflow import Tensor
from jaxflow._dispatch.door import apply
from jaxflow._ops.recurrent import LAYERS
from jaxflow.nn import functional as F


def recurrent(
    mode: str, input: Tensor, states: Sequence[Tensor], weights: Sequence[Sequence[Tensor]], *,
    bias: bool, bidirectional: bool, projected: bool, dropout: float,
) -> tuple[Tensor, list[Tensor]]:
    """All states of the last layer ``(L, N, size * directions)``, and the last states of every layer.

    Args:
        mode: ``"RNN_TANH"``, ``"RNN_RELU"``, ``"GRU"`` or ``"LSTM"``.
        input: ``(L, N, in)``.
        states: the first states (for LSTM: and memories), each ``(layers * directions, N, size)``.
        weights: for each layer and direction its weights, in the order of their names.
        bias: whether biases are among them.
        bidirectional: whether every second entry runs backwards.
        projected: whether LSTM's states are projected.
        dropout: chance of each element of what goes from layer to layer.
    """
    directions = 2 if bidirectional else 1
    fused = input.dtype == jaxflow.float32 and not projected
    static = (fused,) if mode == "LSTM" else ()
    lasts: list[list[Tensor]] = [[] for _ in states]
    for layer in range(0, len(weights), directions):
        if layer and dropout:
            input = F.dropout(input, dropout)
        shown = []
        for i in range(layer, layer + directions):
            matrices = list(weights[i])
            biases = matrices[2:4] if bias else [None, None]
            rest = matrices[4 if bias else 2:]
            if mode == "LSTM":
                rest = rest or [None]
            every, *last = apply(  # further results are for its backward
                LAYERS[mode], (input, *(s[i] for s in states), *matrices[:2], *biases, *rest),
                (i > layer, *static),
            )
            shown.append(every)
            for found, state in zip(lasts, last):
                found.append(state)
        input = shown[0] if directions == 1 else jaxflow.cat(shown, -1)
    return input, [jaxflow.stack(found) for found in lasts]
