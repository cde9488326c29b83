"""Perceptrons: one so small that only overhead counts, one whose matrix products count."""

import numpy as np

from .task import Task


class Digits(Task):
    """64-32-10 on images of scikit-learn's size, batch 64."""

    sizes, examples = (64, 32, 10), 64
    batches = 16

    def network(self):
        layers = []
        for inputs, outputs in zip(self.sizes, self.sizes[1:]):
            layers += [self.nn.Linear(inputs, outputs), self.nn.ReLU()]
        return self.nn.Sequential(*layers[:-1])

    @classmethod
    def batch(cls, random):
        inputs = random.normal(size=(cls.examples, cls.sizes[0])).astype(np.float32)
        return inputs, random.integers(cls.sizes[-1], size=cls.examples)


class Wide(Digits):
    """Six hidden layers of 512, batch 128."""

    sizes, examples = (512, *[512] * 6, 10), 128
