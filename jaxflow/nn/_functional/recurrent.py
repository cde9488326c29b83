"""Recurrent networks: layers and directions put together from one scan each."""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.recurrent import LAYERS
from jaxflow._ops.sequences import _pack_padded_sequence as _take
from jaxflow.nn._functional import operations as F


def recurrent(
    mode: str, input: Tensor, states: Sequence[Tensor], weights: Sequence[Sequence[Tensor]], *,
    bias: bool, bidirectional: bool, projected: bool, dropout: float,
    places: tuple[Tensor, Tensor] | None = None,
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
        places: of a padded batch the places, among all steps and sequences counted through, of every
            sequence turned round within its length, and of its last element. What is computed behind the
            end of a sequence is anything.
    """
    directions = 2 if bidirectional else 1
    fused = input.dtype == dtypes.float32 and not projected
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
            backwards = i > layer
            given = apply(_take, (input, places[0])) if places and backwards else input
            every, *last = apply(  # further results are for its backward
                LAYERS[mode], (given, *(s[i] for s in states), *matrices[:2], *biases, *rest),
                (backwards and not places, *static),
            )
            if places:
                # Of the states (and memories, which an LSTM keeps for backward) those at the ends.
                last = [apply(_take, (steps, places[1])) for steps in (every, *last[2:3])]
                every = apply(_take, (every, places[0])) if backwards else every
            shown.append(every)
            for found, state in zip(lasts, last):
                found.append(state)
        input = shown[0] if directions == 1 else functions.cat(shown, -1)
    return input, [functions.stack(found) for found in lasts]
