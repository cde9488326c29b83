"""GPTs; of JAX's random generators the default is the quickest for dropout on the CPU."""

import math

import jax
import jax.numpy as jnp

from ..models import gpt
from .layers import cross_entropy, layer_norm, linear
from .optimizers import AdamW
from .programs import Model


def dropout(x, rate, key):
    if rate == 0:
        return x
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


def attention(x, p, prefix, heads, rate, keys):
    batch, length, width = x.shape
    parts = jnp.split(linear(x, p, prefix + "qkv"), 3, axis=-1)
    q, k, v = (part.reshape(batch, length, heads, width // heads) for part in parts)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(width // heads)
    causal = jnp.tril(jnp.ones((length, length), bool))
    share = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf))
    y = jnp.einsum("bhqk,bkhd->bqhd", dropout(share, rate, keys[0]), v)
    return dropout(linear(y.reshape(x.shape), p, prefix + "out"), rate, keys[1])


class GPT(Model):
    task = gpt.GPT
    dropout = 0.0

    def answer(self, p, buffers, new, codes, train, key=None):
        task, rate = self.task, self.dropout
        shape = (task.layers + 1, 3)
        keys = jax.random.split(key, shape) if rate else [[None] * 3] * shape[0]
        x = p["token.weight"][codes] + p["position.weight"][: codes.shape[1]]
        x = dropout(x, rate, keys[-1][0])
        for i in range(task.layers):
            prefix = f"blocks.{i}."
            h = layer_norm(x, p, prefix + "attention_norm")
            x = x + attention(h, p, prefix + "attention.", task.heads, rate, keys[i][:2])
            h = linear(layer_norm(x, p, prefix + "mlp.0"), p, prefix + "mlp.1")
            h = linear(jax.nn.gelu(h, approximate=False), p, prefix + "mlp.3")
            x = x + dropout(h, rate, keys[i][2])
        x = layer_norm(x, p, "norm")
        return x @ p["token.weight"].T

    def loss(self, p, buffers, new, codes, targets, key=None):
        return cross_entropy(self.answer(p, buffers, new, codes, train=True, key=key), targets)


class Demo(GPT):
    """As the demo trains it: windows drawn in the step, a schedule, decay of matrices only."""

    task = gpt.Demo
    optimizer = AdamW(
        2e-3, weight_decay=0.1, betas=(0.9, 0.99), decays=lambda p: p.ndim >= 2,
        schedule=lambda step: jnp.where(
            step < 100, (step + 1) / 100,
            0.1 + 0.45 * (1 + jnp.cos(jnp.pi * jnp.minimum(1, (step - 100) / 1900))),
        ),
    )  # fmt: skip

    def corpus(self):
        return jnp.asarray(gpt.corpus(self.task.vocabulary), jnp.int32)

    def draw(self, corpus, key):
        task = self.task
        starts = jax.random.randint(key, (task.examples, 1), 0, len(corpus) - task.block)
        chunk = corpus[starts + jnp.arange(task.block + 1)]
        return chunk[:, :-1], chunk[:, 1:]


class DemoWithoutDropout(Demo):
    task = gpt.DemoWithoutDropout
