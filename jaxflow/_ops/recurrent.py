"""Recurrent layers: one layer in one direction over a whole sequence, as a scan.

NOTE [Recurrent gradients]
    Derived by jax, the backward of such a scan would add to the gradient of the weight, which is as large
    as the weight itself, at every step. So each scan is a `jax.custom_jvp` whose tangent is a scan of its
    own, linear in the tangents, that starts where the weight has done its part: ``h @ dW.T`` of all steps
    is one product, and so is its transpose, the gradient. What the linear scan is multiplied with (the
    slopes of the gates) is computed for all steps before it. Its transpose is the backward one would write
    by hand: every step does one product of matrices and a few of numbers. Forward mode, ``vmap`` and
    further derivatives are jax's, of plain scans.

    What the slopes are made of, the gates and memories of every step, are results of the ops (``keeps`` in
    `_plans/op.py`), so that backward need not run the layer again.

NOTE [Steps of a loop]
    On the CPU a step of a loop is a handful of kernels, each short. What it takes beside the product is
    to start them, and to hand work to a second thread and wait for it. So a weight is turned round once
    before the loop, not in the product of every step, and what waits for no step (an LSTM's states, given
    gates and memories) is computed for all of them after it.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from jaxflow._core.jax_compat import SymbolicZero
from jaxflow._plans.op import op

from ._support import wide
from ._xla import on_cpu
from .matmul import contract

_HELD = ("input", "hidden", "weight_ih", "weight_hh", "bias_ih", "bias_hh", "result")

# ---------------------------------------------------------------------------------------- products


@jax.custom_jvp
def _product(x, weight):
    """``x @ weight.T``."""
    flat = contract(x.reshape(-1, x.shape[-1]), weight, (1,), (1,))
    return flat.reshape(*x.shape[:-1], weight.shape[0])


@functools.partial(_product.defjvp, symbolic_zeros=True)
def _product_jvp(primals, tangents):
    (x, weight), (dx, dw) = primals, tangents
    out = _product(x, weight)
    total = None if _is_zero(dx) else _product(dx, weight)
    if not _is_zero(dw):
        moved = _moved(x, dw)
        total = moved if total is None else total + moved
    return out, jnp.zeros_like(out) if total is None else total


def _steps_product(weight, steps):
    """``h -> h @ weight.T`` for a loop of that many steps; see NOTE [Steps of a loop].

    Turning round a weight of 1024 x 256 takes as long as it saves in some ten steps.
    """
    if steps < 16 or not on_cpu():
        return lambda h: _product(h, weight)
    turned = jax.lax.optimization_barrier(weight.T)
    return lambda h: contract(h, turned, (1,), (0,))


def _moved(x, dw):
    """``x @ dw.T``, so written that its transpose, the gradient of a weight, suits XLA on the CPU.

    There a product that sums over the first dimension of both operands takes the slow way. With the
    barrier, the cotangent is turned round beforehand: 12.4 ms of processor time instead of 17.2 for
    2048 x 1024 and 2048 x 256.
    """
    flat = x.reshape(-1, x.shape[-1])
    if not on_cpu():
        return contract(flat, dw, (1,), (1,)).reshape(*x.shape[:-1], dw.shape[0])
    turned = jax.lax.optimization_barrier(contract(dw, flat, (1,), (1,)))
    return turned.T.reshape(*x.shape[:-1], dw.shape[0])


def _is_zero(tangent) -> bool:
    return isinstance(tangent, SymbolicZero)


def _dense(tangent):
    return jnp.zeros(tangent.shape, tangent.dtype) if _is_zero(tangent) else tangent


def _from_input(input, weight, *biases):
    """The part of the gates that waits for no earlier step: one product for the whole sequence."""
    if input.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    total = _product(input, weight)
    biases = [b for b in biases if b is not None]
    return total + functools.reduce(jnp.add, biases) if biases else total


def _before(first, every, reverse):
    """The states that the steps started from."""
    return jnp.concatenate([every[1:], first[None]] if reverse else [first[None], every[:-1]])


def _last(every, reverse):
    return every[0 if reverse else -1]


# ------------------------------------------------------------------------------------- plain layers


def _plain_layer(name, activation, slope):
    """A layer of ``activation(x + h @ W.T)``; ``slope`` is its derivative, given its result."""

    @functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
    def states(x, hidden, weight, reverse):
        product = _steps_product(weight, x.shape[0])

        def step(h, x):
            h = activation(x + product(h))
            return h, h

        return jax.lax.scan(step, hidden, x, reverse=reverse)[1]

    def tangent(reverse, primals, tangents):
        x, hidden, weight = primals
        dx, dh, dw = tangents
        every = states(x, hidden, weight, reverse)
        dx = _dense(dx)
        if not _is_zero(dw):
            dx = dx + _moved(_before(hidden, every, reverse), dw)

        def step(dh, now):
            dx, slope = now
            dh = slope * (dx + _product(dh, weight))
            return dh, dh

        return every, jax.lax.scan(step, _dense(dh), (dx, slope(every)), reverse=reverse)[1]

    states.defjvp(tangent, symbolic_zeros=True)

    @op(name=name, variants="", grad_name="StackBackward0", saves=_HELD, residual_outputs=(0,))
    def layer(input, hidden, weight_ih, weight_hh, bias_ih=None, bias_hh=None, /, *, reverse):
        """``(L, N, in)`` and the first state ``(N, size)`` to all states ``(L, N, size)`` and the last."""
        every = states(_from_input(input, weight_ih, bias_ih, bias_hh), hidden, weight_hh, reverse)
        return every, _last(every, reverse)

    return layer


# ---------------------------------------------------------------------------------------------- GRU


@functools.partial(jax.custom_jvp, nondiff_argnums=(4,))
def _gru(x, hidden, weight, bias, reverse):
    """All states, and the gates of all steps: reset, mix, new, and what of ``new`` came from the state."""
    product = _steps_product(weight, x.shape[0])

    def step(h, x):
        in_reset, in_mix, in_new = jnp.split(x, 3, -1)
        reset, mix, turned = jnp.split(product(h) + bias, 3, -1)
        reset, mix = jax.nn.sigmoid(in_reset + reset), jax.nn.sigmoid(in_mix + mix)
        new = jnp.tanh(in_new + reset * turned)
        h = new + mix * (h - new)
        return h, (h, jnp.concatenate([reset, mix, new, turned], -1))

    return jax.lax.scan(step, hidden, x, reverse=reverse)[1]


@functools.partial(_gru.defjvp, symbolic_zeros=True)
def _gru_jvp(reverse, primals, tangents):
    x, hidden, weight, bias = primals
    dx, dh, dw, db = tangents
    every, gates = _gru(x, hidden, weight, bias, reverse)
    earlier = _before(hidden, every, reverse)
    reset, mix, new, turned = jnp.split(gates, 4, -1)
    ones = jnp.ones_like(reset)
    # What a tangent of the state's part of the gates counts in the sum of both parts.
    counts = jnp.concatenate([ones, ones, reset], -1)
    dx = _dense(dx)
    if not _is_zero(dw):
        dx = dx + counts * _moved(earlier, dw)
    if not _is_zero(db):
        dx = dx + counts * db
    # Apart, for what the linear scan would compute of them becomes a scan of its own.
    slopes = (
        turned * reset * (1 - reset), (earlier - new) * mix * (1 - mix), (1 - mix) * (1 - new * new), mix
    )

    def step(dh, now):
        dx, counts, (by_reset, by_mix, by_new, keep) = now
        dturned = _product(dh, weight)
        dparts = dx + counts * dturned
        dreset, dmix, dnew = jnp.split(dparts, 3, -1)
        dh = keep * dh + by_mix * dmix + by_new * (dnew + by_reset * dreset)
        return dh, (dh, dparts, dturned)

    _, (devery, dparts, dturned) = jax.lax.scan(
        step, _dense(dh), (dx, counts, slopes), reverse=reverse)
    dgates = _gru_gates_tangent(
        (reset, mix, new, turned), jnp.split(dparts, 3, -1), jnp.split(dturned, 3, -1)[2], dw, db, earlier
    )
    return (every, gates), (devery, dgates)


def _gru_gates_tangent(gates, parts, from_state, dw, db, earlier):
    reset, mix, new, turned = gates
    dreset, dmix, dnew = parts
    dreset, dmix = reset * (1 - reset) * dreset, mix * (1 - mix) * dmix
    dnew = (1 - new * new) * (dnew + turned * dreset)
    size = new.shape[-1]
    if not _is_zero(dw):
        from_state = from_state + _moved(earlier, dw[2 * size:])
    if not _is_zero(db):
        from_state = from_state + db[2 * size:]
    return jnp.concatenate([dreset, dmix, dnew, from_state], -1)


@op(name="_gru_layer", variants="", grad_name="StackBackward0", saves=_HELD, residual_outputs=(0, 2))
def gru_layer(input, hidden, weight_ih, weight_hh, bias_ih=None, bias_hh=None, /, *, reverse):
    """``(L, N, in)`` and the first state ``(N, size)`` to all states ``(L, N, size)`` and the last.

    The third result are the gates of all steps, for backward.
    """
    x = _from_input(input, weight_ih, bias_ih)
    bias = jnp.zeros(weight_hh.shape[:1], x.dtype) if bias_hh is None else bias_hh
    every, gates = _gru(x, hidden, weight_hh, bias, reverse)
    return every, _last(every, reverse), gates


# --------------------------------------------------------------------------------------------- LSTM


def activated(sums):
    """The gates write, forget, new and show: ``tanh`` of the third quarter, ``sigmoid`` of the others.

    In one kernel, as ``sigmoid(x) = (tanh(x / 2) + 1) / 2``: to start four costs more than they compute.
    """
    size = sums.shape[-1] // 4
    half, one = (jnp.full((n * size,), v, wide(sums).dtype) for n, v in ((2, 0.5), (1, 1.0)))
    scale = jnp.concatenate([half, one, half[:size]])
    return (jnp.tanh(wide(sums) * scale) * scale + (1 - scale)).astype(sums.dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(5,))
def _lstm(x, hidden, memory, weight, project, reverse):
    """States, memories and gates of all steps; ``project`` is the weight of the projection or None."""
    product = _steps_product(weight, x.shape[0])

    def shown(c, gates):
        h = jnp.split(gates, 4, -1)[3] * jnp.tanh(c)
        return h if project is None else _product(h, project)

    def step(state, x):
        h, c = state
        gates = activated(x + product(h))
        write, forget, new, _ = jnp.split(gates, 4, -1)
        c = forget * c + write * new
        h = shown(c, gates)
        return (h, c), ((c, gates) if project is None else (h, c, gates))

    every = jax.lax.scan(step, (hidden, memory), x, reverse=reverse)[1]
    return (shown(*every), *every) if project is None else every


@functools.partial(_lstm.defjvp, symbolic_zeros=True)
def _lstm_jvp(reverse, primals, tangents):
    x, hidden, memory, weight, project = primals
    dx, dh, dc, dw, dp = tangents
    every, memories, gates = _lstm(x, hidden, memory, weight, project, reverse)
    write, forget, new, show = jnp.split(gates, 4, -1)
    shown = jnp.tanh(memories)
    slopes = jnp.concatenate([
        new * write * (1 - write), _before(memory, memories, reverse) * forget * (1 - forget),
        write * (1 - new * new), shown * show * (1 - show),
    ], -1)
    by_memory = show * (1 - shown * shown)
    dx = _dense(dx)
    if not _is_zero(dw):
        dx = dx + _moved(_before(hidden, every, reverse), dw)
    given = [dx, slopes, by_memory, forget]
    if project is not None and not _is_zero(dp):
        given.append(_moved(show * shown, dp))

    def step(state, now):
        dh, dc = state
        dx, slopes, by_memory, forget, *added = now
        dsums = dx + _product(dh, weight)
        dwrite, dforget, dnew, dshow = jnp.split(slopes * dsums, 4, -1)
        dc = forget * dc + (dwrite + dforget + dnew)
        dh = dshow + by_memory * dc
        if project is not None:
            dh = sum(added, _product(dh, project))
        return (dh, dc), (dh, dc, dsums)

    _, (devery, dmemories, dsums) = jax.lax.scan(
        step, (_dense(dh), _dense(dc)), tuple(given), reverse=reverse)
    dgates = dsums * jnp.concatenate(
        [write * (1 - write), forget * (1 - forget), 1 - new * new, show * (1 - show)], -1)
    return (every, memories, gates), (devery, dmemories, dgates)


def _lstm_name(numbers, fused, **static):
    return "MkldnnRnnLayerBackward0" if fused else "StackBackward0"


@op(name="_lstm_layer", variants="", grad_name=_lstm_name, residual_outputs=(0, 3, 4),
    saves=(*_HELD, "memory", "weight_hr"))
def lstm_layer(input, hidden, memory, weight_ih, weight_hh, bias_ih=None, bias_hh=None,
               weight_hr=None, /, *, reverse, fused):
    """``(L, N, in)``, first state and memory to all states, the last state and the last memory.

    With ``weight_hr`` the state is that product of what the gates show. ``fused`` only names the node:
    PyTorch has one for the whole layer in float32. Further results are the memories and the gates of all
    steps, for backward.
    """
    x = _from_input(input, weight_ih, bias_ih, bias_hh)
    every, memories, gates = _lstm(x, hidden, memory, weight_hh, weight_hr, reverse)
    return every, _last(every, reverse), _last(memories, reverse), memories, gates


#: The layer op of each mode of `nn.RNNBase`.
LAYERS = {
    "RNN_TANH": _plain_layer("_rnn_tanh_layer", jnp.tanh, lambda h: 1 - h * h),
    "RNN_RELU": _plain_layer("_rnn_relu_layer", jax.nn.relu, lambda h: (h > 0).astype(h.dtype)),
    "GRU": gru_layer,
    "LSTM": lstm_layer,
}
