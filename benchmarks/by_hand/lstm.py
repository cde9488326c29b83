"""LSTM layers by `lax.scan`, the products with the input taken out of it, the gradient written out.

Unrolling the scan made a training step slower (by 5, 15 and 58 % for 2, 4 and 8 steps).
"""

import jax
import jax.numpy as jnp

from ..models import lstm
from .layers import linear
from .programs import Model


@jax.custom_vjp
def recurrent(inputs, weight):
    """Hidden states from input products, both (time, batch, ...); `weight` is (width, 4 width)."""
    return _recurrent_forward(inputs, weight)[0]


def _recurrent_forward(inputs, weight):
    start = jnp.zeros((inputs.shape[1], weight.shape[0]), inputs.dtype)

    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x + h @ weight, 4, axis=-1)
        i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
        new = f * c + i * g
        root = jnp.tanh(new)
        return (o * root, new), (o * root, c, i, f, g, o, root)

    _, kept = jax.lax.scan(step, (start, start), inputs)
    return kept[0], (kept, weight)


def _recurrent_backward(saved, upstream):
    """Only what depends on the step before is in the loop; the weight's gradient is one product after it."""
    (hidden, *kept), weight = saved
    turned = weight.T
    start = jnp.zeros_like(hidden[0])

    def step(state, at):
        dh, dc = state
        g_h, (c, i, f, g, o, root) = at
        dh = dh + g_h
        dc = dc + dh * o * (1 - root * root)
        dgates = jnp.concatenate(
            (dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * root * o * (1 - o)), -1
        )
        return (dgates @ turned, dc * f), dgates

    _, dgates = jax.lax.scan(step, (start, start), (upstream, tuple(kept)), reverse=True)
    before = jnp.concatenate((start[None], hidden[:-1]))
    width = before.shape[-1]
    return dgates, before.reshape(-1, width).T @ dgates.reshape(-1, 4 * width)


recurrent.defvjp(_recurrent_forward, _recurrent_backward)


class LanguageModel(Model):
    task = lstm.LanguageModel

    def answer(self, p, buffers, new, words, train):
        x = p["embedding.weight"][words.T]
        for i in range(self.task.layers):
            bias = p[f"lstm.bias_ih_l{i}"] + p[f"lstm.bias_hh_l{i}"]
            products = x.reshape(-1, x.shape[-1]) @ p[f"lstm.weight_ih_l{i}"].T + bias
            x = recurrent(products.reshape(*x.shape[:2], -1), p[f"lstm.weight_hh_l{i}"].T)
        return linear(x, p, "decoder")  # (time, batch, vocabulary)

    def loss(self, p, buffers, new, words, targets, key=None):
        """A target of -1 does not count."""
        logits = self.answer(p, buffers, new, words, train=True).astype(jnp.float32)
        targets = targets.T
        picked = jnp.take_along_axis(logits, jnp.maximum(targets, 0)[..., None], axis=-1)[..., 0]
        each = jax.nn.logsumexp(logits, axis=-1) - picked
        counts = targets >= 0
        return jnp.where(counts, each, 0).sum() / counts.sum()
