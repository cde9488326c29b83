"""What a network that is trained or evaluated brings with it."""

import zlib

import numpy as np


class Task:
    """A network, its data, its loss and its optimizer.

    `torch` is the module the program is written against, PyTorch or jaxflow. Data are NumPy arrays, the
    same for all contenders; so are the initial weights, which follow from a parameter's name and shape alone.
    """

    clip = None  # bound on the norm of all gradients
    batches = 4  # different batches that the steps go through in turn
    compared = 5  # steps whose losses are compared
    dropout = 0.0  # set to 0 while losses are compared
    draw = None  # a method that makes the batch within the step, where the program does so
    schedule = None  # a method that makes a learning-rate scheduler for an optimizer

    def __init__(self, torch):
        self.torch, self.nn, self.F = torch, torch.nn, torch.nn.functional

    def network(self):
        raise NotImplementedError

    @classmethod
    def batch(cls, random):
        """Inputs and targets of one step, drawn from a `numpy.random.Generator`."""
        raise NotImplementedError

    @classmethod
    def data(cls):
        random = np.random.default_rng(1)
        return [cls.batch(random) for _ in range(cls.batches)]

    def loss(self, network, inputs, targets):
        return self.F.cross_entropy(network(inputs), targets)

    def asked(self, inputs, targets):
        """What of a batch the network takes when its answer is computed."""
        return (inputs,)

    def answer(self, outputs):
        """The tensor among the outputs that is the answer."""
        return outputs

    def optimizer(self, network):
        return self.torch.optim.AdamW(network.parameters(), lr=1e-4, weight_decay=0.01)


def pictures(random, batch, size, classes=10):
    """Noise with random labels: what it costs to learn does not depend on what there is to learn."""
    images = random.normal(size=(batch, 3, size, size)).astype(np.float32)
    return images, random.integers(classes, size=batch)


def initial(name, shape):
    """The weights a parameter starts from, as float32: noise by fan-in, norms near 1, biases near 0."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if len(shape) >= 2:
        table = "embedding" in name or "token" in name or "position" in name
        scale = 0.02 if table else float(np.prod(shape[1:])) ** -0.5
        value = random.normal(0, scale, shape)
    else:
        value = random.normal(1.0 if name.endswith("weight") else 0.0, 0.02, shape)
    return value.astype(np.float32)
