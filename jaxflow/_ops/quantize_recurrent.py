"""Recurrent layers whose weights are integers or of half precision: one layer in one direction, as a scan.

The states are rounded anew in each step, by the range that they have in it; the input once, by that of the
whole sequence, as PyTorch does it. The formulas of the steps are those of `LSTM`, `GRU` and `RNN`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from .quantize import centred, rounded_in


def _product(weight, scale, zero_point, axis, bias, high):
    """``x -> x @ weight.T + bias``, of integers with ``x`` rounded to 0 .. ``high``, or of half precision."""
    integers = weight.dtype == np.int8
    turned = (centred(weight, zero_point, axis) if integers else weight.astype(np.float32)).T

    def times(x):
        by = None
        if integers:
            x, by = rounded_in(x, 0, high)
        out = x @ turned
        if by is not None:
            out = out * (by * scale.astype(np.float32).reshape(-1))
        return out if bias is None else out + bias

    return times


def _lstm(x, h, c):
    i, f, g, o = jnp.split(x + h, 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def _gru(x, h, state):
    (xr, xz, xn), (hr, hz, hn) = jnp.split(x, 3, -1), jnp.split(h, 3, -1)
    new = jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn)
    return new + jax.nn.sigmoid(xz + hz) * (state - new)


_PLAIN = {"RNN_TANH": jnp.tanh, "RNN_RELU": lambda x: jnp.maximum(x, 0)}


@op(variants="", differentiable=False)
def _recurrent_dynamic(input, hidden, weight_ih, weight_hh, scale_ih=None, zero_ih=None, scale_hh=None,
                       zero_hh=None, bias_ih=None, bias_hh=None, memory=None, /, *, mode, high, axis,
                       reverse):
    """A layer over ``(steps, batch, size)``: all its states, the last one, and an LSTM's last memory."""
    if input.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    from_input = _product(weight_ih, scale_ih, zero_ih, axis, bias_ih, high)(input)
    from_state = _product(weight_hh, scale_hh, zero_hh, axis, bias_hh, high)

    def step(carry, x):
        h, *rest = carry
        if mode == "LSTM":
            h, c = _lstm(x, from_state(h), *rest)
            return (h, c), h
        h = _gru(x, from_state(h), h) if mode == "GRU" else _PLAIN[mode](x + from_state(h))
        return (h,), h

    start = (hidden,) if memory is None else (hidden, memory)
    last, every = jax.lax.scan(step, start, from_input, reverse=reverse)
    return every, *last
