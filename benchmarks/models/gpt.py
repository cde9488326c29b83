"""GPTs: the network of examples/char_gpt.py itself, as the demo trains it and larger."""

import numpy as np

from .example import example
from .task import Task


class GPT(Task):
    """Six layers, width 384, 256 characters, batch 4."""

    layers, heads, width, block, examples, vocabulary = 6, 6, 384, 256, 4, 128
    dropout = 0.0

    def __init__(self, torch):
        super().__init__(torch)
        self.code = example("char_gpt", torch.__name__)

    def network(self):
        return self.code.GPT(
            self.vocabulary, self.block, self.layers, self.heads, self.width, self.dropout
        )

    @classmethod
    def batch(cls, random):
        chunk = random.integers(cls.vocabulary, size=(cls.examples, cls.block + 1))
        return chunk[:, :-1].copy(), chunk[:, 1:].copy()

    def loss(self, network, inputs, targets):
        return self.code.loss_of(network, inputs, targets)


class Demo(GPT):
    """The demo's step: four layers, width 128, 64 characters, batch 12, with windows, clipping, schedule."""

    layers, heads, width, block, examples = 4, 4, 128, 64, 12
    dropout = 0.1
    clip = 1.0

    def __init__(self, torch):
        super().__init__(torch)
        self.args = self.code.parse([])
        self.corpus = None

    def draw(self):
        if self.corpus is None:
            self.corpus = self.torch.from_numpy(corpus(self.vocabulary)).to(self.device)
        return self.code.random_batch(self.corpus, self.examples, self.block)

    def optimizer(self, network):
        self.optimizer_and_schedule = self.code.optimizer_for(network, self.args)
        return self.optimizer_and_schedule[0]

    def schedule(self, optimizer):
        return self.optimizer_and_schedule[1]


class Generator(GPT):
    """The demo's with a longer context, to generate from."""

    layers, heads, width = 4, 4, 128


class DemoWithoutDropout(Demo):
    dropout = 0.0


def corpus(vocabulary, size=1_000_000):
    return np.random.default_rng(0).integers(vocabulary, size=size)
