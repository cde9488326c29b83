"""Perceptrons."""

import jax

from ..models import mlp
from .layers import cross_entropy, linear
from .programs import Model


class Digits(Model):
    task = mlp.Digits

    def answer(self, p, buffers, new, x, train):
        last = len(self.task.sizes) - 2
        for i in range(last + 1):
            x = linear(x, p, str(2 * i))
            if i < last:
                x = jax.nn.relu(x)
        return x

    def loss(self, p, buffers, new, x, targets, key=None):
        return cross_entropy(self.answer(p, buffers, new, x, train=True), targets)


class Wide(Digits):
    task = mlp.Wide
