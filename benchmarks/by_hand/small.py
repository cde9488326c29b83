"""What single operations cost in JAX: with jnp, or under one `jax.jit`, whichever one would write."""

import jax
import jax.numpy as jnp

from ..clock import repeated
from ..small import OPS, Nothing, indexed
from .optimizers import AdamW


class Small:
    each = 1

    def __init__(self, model, shapes, dtype="float32"):
        self.dtype = dtype
        self.make()

    def numbers(self):
        return [float(self.once())]

    def measure(self, steps):
        return repeated(self.once, float, steps) / (steps * self.each)


class NoModel:
    task = Nothing


class Op(Small):
    """With jnp, one by one."""

    each = OPS

    def make(self):
        self.x, self.y = jnp.ones((8, 8), self.dtype), jnp.full((8, 8), 1.5, self.dtype)

    def once(self):
        z, y = self.x, self.y
        for _ in range(OPS // 4):
            z = ((z * y + 1.0) - y) * 0.5
        return z.sum()


class Optimizer(Small):
    each = 10

    def make(self):
        optimizer = AdamW(1e-3, weight_decay=0.0)
        self.p = {str(i): jnp.ones((8, 8), self.dtype) for i in range(self.each)}
        self.gradients = {name: value * 0.5 for name, value in self.p.items()}
        self.state = optimizer.start(self.p)
        self.update = jax.jit(optimizer.update, donate_argnums=(0, 2))

    def step(self):
        self.p, self.state = self.update(self.p, self.gradients, self.state)

    def numbers(self):
        self.step()
        return [float(self.p[str(self.each - 1)].sum())]

    def once(self):
        self.step()
        return self.p["0"][0, 0]

    def measure(self, steps):
        seconds = repeated(self.step, lambda _: float(self.p["0"][0, 0]), steps)
        return seconds / (steps * self.each)


class Optimizer100(Optimizer):
    each = 100


class Optimizer1000(Optimizer):
    each = 1000


class Item(Small):
    def make(self):
        self.x = jnp.ones(1, self.dtype)

    def once(self):
        return float((self.x + 1.0)[0])


class Index(Small):
    each = 6

    def make(self):
        self.x = jnp.arange(1200, dtype=self.dtype).reshape(30, 40)
        self.rows = jnp.array([3, 7, 29])

    def once(self):
        return float(indexed(self.x, self.rows))


class Chain(Small):
    """Under one `jax.jit`."""

    each, size = 100, 10

    def make(self):
        self.x = jnp.full(self.size, 0.5, self.dtype)

        @jax.jit
        def chain(x):
            for _ in range(25):
                x = jnp.sin(x * 1.01 + 0.1) - 0.2
            return x

        self.chain = chain

    def once(self):
        return float(self.chain(self.x)[0])


class LargeChain(Chain):
    size = 10_000_000
