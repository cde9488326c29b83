"""Recurrent cells: one step of a recurrent network, batched, as one operation or two.

NOTE [Cells]
    Loops over time that are written in Python are made of cells. Put together from products, sums and
    gates, a cell is some twenty operations, and as many in backward; as one, it is a node, and a loop costs
    little besides its products. Backward reads the gates (NOTE [What backward keeps]) and the result that
    PyTorch's own cell would have saved.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._plans.op import op

from .matmul import linear_product
from .recurrent import activated

_READ = ("input", "hidden", "weight_ih", "weight_hh")


def _cell(name, grad_name, activation):
    @op(name=name, variants="", grad_name=grad_name, saves=(*_READ, "result"))
    def cell(input, hidden, weight_ih, weight_hh, bias_ih=None, bias_hh=None, /):
        """The next state ``(N, size)`` from ``(N, in)`` and the last state."""
        return activation(
            linear_product(input, weight_ih, bias_ih) + linear_product(hidden, weight_hh, bias_hh))

    return cell


#: The cells of one gate, by the name of what it applies.
PLAIN = {
    "tanh": _cell("_rnn_tanh_cell", "TanhBackward0", jnp.tanh),
    "relu": _cell("_rnn_relu_cell", "ReluBackward0", jax.nn.relu),
}


# --------------------------------------------------------------------------------------------- LSTM


@jax.custom_jvp
def _remember(sums, memory):
    """The next memory, and the gates: write, forget, new and show."""
    gates = activated(sums)
    write, forget, new, _ = jnp.split(gates, 4, -1)
    return forget * memory + write * new, gates


@_remember.defjvp
def _remember_jvp(primals, tangents):
    (_, memory), (dsums, dmemory) = primals, tangents
    remembered, gates = _remember(*primals)
    write, forget, new, show = jnp.split(gates, 4, -1)
    slopes = [write * (1 - write), forget * (1 - forget), 1 - new * new, show * (1 - show)]
    dgates = dsums * jnp.concatenate(slopes, -1)
    dwrite, dforget, dnew, _ = jnp.split(dgates, 4, -1)
    dremembered = forget * dmemory + memory * dforget + (new * dwrite + write * dnew)
    return (remembered, gates), (dremembered, dgates)


@op(name="_lstm_memory", variants="", grad_name="AddBackward0", saves=(*_READ, "memory"),
    residual_outputs=(2,))
def lstm_memory(input, hidden, memory, weight_ih, weight_hh, bias_ih=None, bias_hh=None, /):
    """The next memory ``(N, size)``, and how much of it is shown; and all gates, for backward."""
    sums = linear_product(input, weight_ih, bias_ih) + linear_product(hidden, weight_hh, bias_hh)
    if memory.dtype != sums.dtype:  # PyTorch promotes here, and only here
        with jax.numpy_dtype_promotion("standard"):
            dtype = jnp.promote_types(memory.dtype, sums.dtype)
        sums, memory = sums.astype(dtype), memory.astype(dtype)
    remembered, gates = _remember(sums, memory)
    return remembered, jnp.split(gates, 4, -1)[3], gates


@op(name="_lstm_state", variants="", grad_name="MulBackward0", saves="own")
def lstm_state(show, memory, /):
    """The next state ``(N, size)``: what is shown of the memory."""
    return show * jnp.tanh(memory)


# ---------------------------------------------------------------------------------------------- GRU


@jax.custom_jvp
def _mixed(from_input, from_state, hidden):
    """The next state, and the gates: reset, mix, new, and what of ``new`` came from the state."""
    in_reset, in_mix, in_new = jnp.split(from_input, 3, -1)
    reset, mix, turned = jnp.split(from_state, 3, -1)
    reset, mix = jax.nn.sigmoid(in_reset + reset), jax.nn.sigmoid(in_mix + mix)
    new = jnp.tanh(in_new + reset * turned)
    return new + mix * (hidden - new), jnp.concatenate([reset, mix, new, turned], -1)


@_mixed.defjvp
def _mixed_jvp(primals, tangents):
    *_, hidden = primals
    from_input, from_state, dhidden = tangents
    state, gates = _mixed(*primals)
    reset, mix, new, turned = jnp.split(gates, 4, -1)
    in_reset, in_mix, in_new = jnp.split(from_input, 3, -1)
    dreset, dmix, dturned = jnp.split(from_state, 3, -1)
    dreset = reset * (1 - reset) * (in_reset + dreset)
    dmix = mix * (1 - mix) * (in_mix + dmix)
    dnew = (1 - new * new) * (in_new + (turned * dreset + reset * dturned))
    dstate = (1 - mix) * dnew + ((hidden - new) * dmix + mix * dhidden)
    return (state, gates), (dstate, jnp.concatenate([dreset, dmix, dnew, dturned], -1))


@op(name="_gru_cell", variants="", grad_name="AddBackward0", saves=_READ, residual_outputs=(1,))
def gru_cell(input, hidden, weight_ih, weight_hh, bias_ih=None, bias_hh=None, /):
    """The next state ``(N, size)`` from ``(N, in)`` and the last state; and all gates, for backward."""
    return _mixed(
        linear_product(input, weight_ih, bias_ih), linear_product(hidden, weight_hh, bias_hh), hidden)
