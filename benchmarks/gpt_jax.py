"""The demo's training step written by hand in JAX: one jitted pure function, its state donated.

Written to be fast: leading dimensions are flattened before a matrix product (XLA's CPU back end
then fuses better), layers are unrolled, schedule and random windows are inside the step. Of JAX's
random generators the default is the quickest here.
"""

import functools
import math

import jax
import jax.numpy as jnp

from . import demo


def norm(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * weight + bias


def dropout(x, rate, key):
    if rate == 0:
        return x
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


def attention(x, p, prefix, heads, rate, keys):
    batch, length, width = x.shape
    qkv = x.reshape(-1, width) @ p[prefix + "qkv.weight"].T + p[prefix + "qkv.bias"]
    parts = jnp.split(qkv, 3, axis=-1)
    q, k, v = (part.reshape(batch, length, heads, width // heads) for part in parts)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(width // heads)
    causal = jnp.tril(jnp.ones((length, length), bool))
    share = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf))
    y = jnp.einsum("bhqk,bkhd->bqhd", dropout(share, rate, keys[0]), v)
    y = y.reshape(-1, width) @ p[prefix + "out.weight"].T + p[prefix + "out.bias"]
    return dropout(y.reshape(x.shape), rate, keys[1])


def mlp(x, p, prefix, rate, key):
    h = x.reshape(-1, x.shape[-1]) @ p[prefix + "1.weight"].T + p[prefix + "1.bias"]
    h = jax.nn.gelu(h, approximate=False)
    h = h @ p[prefix + "3.weight"].T + p[prefix + "3.bias"]
    return dropout(h.reshape(x.shape), rate, key)


def loss_of(p, inputs, targets, key, layers, heads, rate):
    keys = jax.random.split(key, (layers + 1, 3)) if rate else [[None] * 3] * (layers + 1)
    x = dropout(p["token.weight"][inputs] + p["position.weight"], rate, keys[layers][0])
    for i in range(layers):
        prefix = f"blocks.{i}."
        weight, bias = p[prefix + "attention_norm.weight"], p[prefix + "attention_norm.bias"]
        h = norm(x, weight, bias)
        x = x + attention(h, p, prefix + "attention.", heads, rate, keys[i][:2])
        h = norm(x, p[prefix + "mlp.0.weight"], p[prefix + "mlp.0.bias"])
        x = x + mlp(h, p, prefix + "mlp.", rate, keys[i][2])
    x = norm(x, p["norm.weight"], p["norm.bias"])
    logits = x.reshape(-1, x.shape[-1]) @ p["token.weight"].T
    picked = jnp.take_along_axis(logits, targets.reshape(-1, 1), axis=-1)[:, 0]
    return (jax.nn.logsumexp(logits, axis=-1) - picked).mean()


def adamw(state, gradients, args):
    """Clip, schedule and update; `state` is step, parameters, and the two moments."""
    step, p, first, second = state
    squares = [jnp.sum(jnp.square(g)) for g in gradients.values()]
    clip = jnp.minimum(1, args.clip / (jnp.sqrt(sum(squares)) + 1e-6))
    done = jnp.minimum(1, (step - args.warmup) / max(1, args.steps - args.warmup))
    cosine = 0.1 + 0.45 * (1 + jnp.cos(jnp.pi * done))
    lr = args.lr * jnp.where(step < args.warmup, (step + 1) / args.warmup, cosine)
    b1, b2 = 0.9, 0.99
    new = {}, {}, {}
    for name, g in gradients.items():
        g = g * clip
        decay = args.weight_decay if p[name].ndim >= 2 else 0.0
        m = new[1][name] = b1 * first[name] + (1 - b1) * g
        s = new[2][name] = b2 * second[name] + (1 - b2) * g * g
        root = jnp.sqrt(s) / jnp.sqrt(1 - b2 ** (step + 1)) + 1e-8
        new[0][name] = p[name] * (1 - lr * decay) - lr / (1 - b1 ** (step + 1)) * m / root
    return (step + 1, *new)


class HandWritten(demo.Contender):
    """As `demo.Training`, without a framework."""

    def __init__(self, **changes):
        self.args = demo.defaults(**changes)
        self.corpus = jnp.asarray(demo.corpus(), jnp.int32)

    def prepare(self, dropout=None):
        args = self.args
        rate = args.dropout if dropout is None else dropout
        gradient_of = jax.value_and_grad(
            functools.partial(loss_of, layers=args.layers, heads=args.heads, rate=rate)
        )

        def on_batch(state, inputs, targets, key):
            loss, gradients = gradient_of(state[1], inputs, targets, key)
            return adamw(state, gradients, args), loss

        def on_windows(state, corpus, key):
            key, draw, drop = jax.random.split(key, 3)
            starts = jax.random.randint(draw, (args.batch, 1), 0, len(corpus) - args.block)
            chunk = corpus[starts + jnp.arange(args.block + 1)]
            return *on_batch(state, chunk[:, :-1], chunk[:, 1:], drop), key

        self.on_batch = jax.jit(on_batch, donate_argnums=0)
        self.on_windows = jax.jit(on_windows, donate_argnums=(0, 2))
        p = {name: jnp.asarray(value) for name, value in demo.weights(args).items()}
        first, second = ({k: jnp.zeros_like(v) for k, v in p.items()} for _ in range(2))
        self.state = jnp.float32(0), p, first, second
        self.key = jax.random.key(args.seed)

    def losses(self, count):
        self.prepare(dropout=0.0)
        losses = []
        for inputs, targets in demo.batches(count, self.args):
            batch = jnp.asarray(inputs, jnp.int32), jnp.asarray(targets, jnp.int32)
            self.state, loss = self.on_batch(self.state, *batch, self.key)
            losses.append(float(loss))
        return losses

    def run(self, steps):
        for _ in range(steps):
            self.state, loss, self.key = self.on_windows(self.state, self.corpus, self.key)
        float(loss)
