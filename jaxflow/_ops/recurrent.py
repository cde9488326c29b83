"""Recurrent layers: one layer in one direction over a whole sequence, as a scan."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._dispatch.op import op

from .matmul import contract


def _affine(x, weight, bias):
    product = contract(x, weight, (x.ndim - 1,), (1,))
    return product if bias is None else product + bias


def _scan(step, state, input, weight, bias, reverse):
    """What ``step(state, row)`` shows and leaves for the rows ``input @ weight.T + bias``."""
    if input.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    # The part from the input waits for no earlier step: one product for the whole sequence.
    return jax.lax.scan(step, state, _affine(input, weight, bias), reverse=reverse)


def _plain_layer(name, activation):
    @op(name=name, variants="", grad_name="StackBackward0", saves="both")
    def layer(input, hidden, weight_ih, weight_hh, bias_ih=None, bias_hh=None, /, *, reverse):
        """``(L, N, in)`` and the first state ``(N, size)`` to all states ``(L, N, size)`` and the last."""

        def step(h, x):
            h = activation(x + _affine(h, weight_hh, bias_hh))
            return h, h

        last, every = _scan(step, hidden, input, weight_ih, bias_ih, reverse)
        return every, last

    return layer


@op(name="_gru_layer", variants="", grad_name="StackBackward0", saves="both")
def gru_layer(input, hidden, weight_ih, weight_hh, bias_ih=None, bias_hh=None, /, *, reverse):
    """``(L, N, in)`` and the first state ``(N, size)`` to all states ``(L, N, size)`` and the last."""

    def step(h, x):
        in_reset, in_mix, in_new = jnp.split(x, 3, -1)
        reset, mix, new = jnp.split(_affine(h, weight_hh, bias_hh), 3, -1)
        mix = jax.nn.sigmoid(in_mix + mix)
        new = jnp.tanh(in_new + jax.nn.sigmoid(in_reset + reset) * new)
        h = new + mix * (h - new)
        return h, h

    last, every = _scan(step, hidden, input, weight_ih, bias_ih, reverse)
    return every, last


def _lstm_name(numbers, fused, **static):
    return "MkldnnRnnLayerBackward0" if fused else "StackBackward0"


@op(name="_lstm_layer", variants="", grad_name=_lstm_name, saves="both")
def lstm_layer(input, hidden, memory, weight_ih, weight_hh, bias_ih=None, bias_hh=None,
               weight_hr=None, /, *, reverse, fused):
    """``(L, N, in)``, first state and memory to all states, the last state and the last memory.

    With ``weight_hr`` the state is that product of what the gates show. ``fused`` only names the node:
    PyTorch has one for the whole layer in float32.
    """

    def step(state, x):
        h, c = state
        write, forget, new, show = jnp.split(x + _affine(h, weight_hh, bias_hh), 4, -1)
        c = jax.nn.sigmoid(forget) * c + jax.nn.sigmoid(write) * jnp.tanh(new)
        h = jax.nn.sigmoid(show) * jnp.tanh(c)
        if weight_hr is not None:
            h = _affine(h, weight_hr, None)
        return (h, c), h

    last, every = _scan(step, (hidden, memory), input, weight_ih, bias_ih, reverse)
    return every, *last


#: The layer op of each mode of `nn.RNNBase`.
LAYERS = {
    "RNN_TANH": _plain_layer("_rnn_tanh_layer", jnp.tanh),
    "RNN_RELU": _plain_layer("_rnn_relu_layer", jax.nn.relu),
    "GRU": gru_layer,
    "LSTM": lstm_layer,
}
