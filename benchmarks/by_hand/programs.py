"""A training step and an answer, as one jitted function each."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from .. import peak
from ..clock import repeated
from ..models.task import initial
from . import optimizers


class Model:
    """A network as functions; a subclass says what is its own.

    `task` is the class in benchmarks/models that it does again: its numbers (widths, batch) and data are
    taken from there. ``answer(p, buffers, new, *inputs, train)`` gives the outputs.
    """

    task = None
    optimizer = optimizers.AdamW(1e-4, weight_decay=0.01)

    def buffers(self, p):
        """State that is no parameter, such as running statistics."""
        return {}

    def parameters(self, p):
        """The weights in the layout this model likes."""
        return p

    def loss(self, p, buffers, new, *batch, key=None):
        raise NotImplementedError


class Program:
    def __init__(self, model, shapes, dtype="float32"):
        self.model, self.dtype = model, dtype
        self.shapes = {name: tuple(shape) for name, shape in shapes.items()}

    def fresh(self):
        p = {name: jnp.asarray(initial(name, shape)) for name, shape in self.shapes.items()}
        p = {name: jnp.asarray(v, self.dtype) for name, v in self.model.parameters(p).items()}
        return p, self.model.buffers(p)

    def data(self):
        return [tuple(map(self.array, batch)) for batch in self.model.task.data()]

    def array(self, array):
        kind = self.dtype if np.issubdtype(array.dtype, np.floating) else jnp.int32
        return jax.device_put(jnp.asarray(array, kind))


class Training(Program):
    def prepare(self, exact):
        model, task = self.model, self.model.task
        drawn = task.draw is not None and not exact
        model.dropout = 0.0 if exact else task.dropout

        def loss_of(p, buffers, batch, key):
            new = dict(buffers)
            return model.loss(p, buffers, new, *batch, key=key), new

        def step(state, *batch):
            p, buffers, moments, key = state
            key, draw, drop = jax.random.split(key, 3) if drawn or model.dropout else (key,) * 3
            if drawn:
                batch = model.draw(batch[0], draw)
            (loss, buffers), g = jax.value_and_grad(loss_of, has_aux=True)(p, buffers, batch, drop)
            if task.clip is not None:
                g = optimizers.clipped(g, task.clip)
            p, moments = model.optimizer.update(p, g, moments)
            return (p, buffers, moments, key), loss

        self.step = jax.jit(step, donate_argnums=0)
        p, buffers = self.fresh()
        self.state = p, buffers, model.optimizer.start(p), jax.random.key(0)
        self.loaded = [(model.corpus(),)] if drawn else self.data()
        self.batches = itertools.cycle(self.loaded)

    def first(self):
        self.prepare(exact=False)
        return float(self.once())

    def flat(self, steps, every):
        return peak.flat(self, peak.arrays, steps, every)

    def memory(self):
        state = peak.live_bytes(list(itertools.chain(*self.loaded)))
        plan = self.step.lower(self.state, *next(self.batches)).compile().memory_analysis()
        return {**peak.planned(state, state, plan), "resident": peak.resident()}

    def numbers(self, count=None):
        self.prepare(exact=True)
        losses = [float(self.once()) for _ in range(count or self.model.task.compared)]
        if self.model.task.dropout or self.model.task.draw:
            self.prepare(exact=False)
        return losses

    def once(self):
        self.state, loss = self.step(self.state, *next(self.batches))
        return loss

    def measure(self, steps):
        return repeated(self.once, float, steps) / steps


class Inference(Program):
    def numbers(self):
        model, (p, buffers) = self.model, self.fresh()
        model.dropout = 0.0
        answer = jax.jit(lambda p, *inputs: model.answer(p, buffers, {}, *inputs, train=False))
        self.answer = lambda *inputs: answer(p, *inputs)
        data = [batch[:-1] for batch in self.data()]
        self.batches = itertools.cycle(data)
        return [float(jnp.abs(self.answer(*inputs).astype(jnp.float32)).mean()) for inputs in data]

    def measure(self, steps):
        def number(answer):
            float(answer.reshape(-1)[0])

        return repeated(lambda: self.answer(*next(self.batches)), number, steps) / steps
