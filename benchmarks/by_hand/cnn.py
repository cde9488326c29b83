"""Convolutional networks, NHWC throughout: pictures are turned once, kernels before training."""

import jax
import jax.numpy as jnp

from ..models import cnn, resnet
from .layers import batch_norm, convolution, cross_entropy, linear, max_pool
from .optimizers import SGD
from .programs import Model


def as_hwio(p):
    """Kernels turned from PyTorch's OIHW."""
    return {name: v.transpose(2, 3, 1, 0) if v.ndim == 4 else v for name, v in p.items()}


class CNN(Model):
    task = cnn.CNN
    optimizer = SGD(1e-3, momentum=0.9, weight_decay=5e-4)

    def parameters(self, p):
        p = as_hwio(p)
        # The classifier sees channels last here, and first in PyTorch.
        name = f"{self.places()[-1]}.weight"
        width = self.task.widths[-1]
        p[name] = p[name].reshape(10, width, -1).swapaxes(1, 2).reshape(10, -1)
        return p

    def places(self):
        """Positions in PyTorch's Sequential: convolutions, then the classifier."""
        blocks = len(self.task.widths)
        return [7 * b + 3 * i for b in range(blocks) for i in range(2)] + [7 * blocks + 1]

    def buffers(self, p):
        names = [str(place + 1) for place in self.places()[:-1]]
        return {n: (jnp.zeros_like(p[n + ".bias"]), jnp.ones_like(p[n + ".bias"])) for n in names}

    def answer(self, p, buffers, new, x, train):
        x = x.transpose(0, 2, 3, 1)
        *places, classifier = self.places()
        for i, place in enumerate(places):
            x = convolution(x, p[f"{place}.weight"], 1, 1)
            x = jax.nn.relu(batch_norm(x, p, buffers, new, str(place + 1), train))
            if i % 2:
                x = max_pool(x)
        return linear(x.reshape(len(x), -1), p, str(classifier))

    def loss(self, p, buffers, new, x, targets, key=None):
        return cross_entropy(self.answer(p, buffers, new, x, train=True), targets)


class ResNet18(Model):
    task = resnet.ResNet18
    optimizer = SGD(1e-3, momentum=0.9, weight_decay=5e-4, nesterov=True)

    def parameters(self, p):
        return as_hwio(p)

    def buffers(self, p):
        norms = [name.removesuffix(".bias") for name in p if name.endswith(".bias")]
        norms.remove(max(norms, key=lambda name: int(name.split(".")[0])))  # the classifier
        return {n: (jnp.zeros_like(p[n + ".bias"]), jnp.ones_like(p[n + ".bias"])) for n in norms}

    def answer(self, p, buffers, new, x, train):
        def normed(x, convolve, norm, stride=1):
            kernel = p[convolve + ".weight"]
            y = convolution(x, kernel, stride, len(kernel) // 2)
            return batch_norm(y, p, buffers, new, norm, train)

        x = jax.nn.relu(normed(x.transpose(0, 2, 3, 1), "0", "1"))
        place = 3
        for stage in range(len(self.task.widths)):
            for i in range(2):
                stride, name = 2 if stage and not i else 1, str(place)
                y = jax.nn.relu(normed(x, f"{name}.first.0", f"{name}.first.1", stride))
                y = normed(y, f"{name}.second.0", f"{name}.second.1")
                if stride > 1:
                    x = normed(x, f"{name}.shortcut.0", f"{name}.shortcut.1", stride)
                x = jax.nn.relu(y + x)
                place += 1
        return linear(x.mean((1, 2)), p, str(place + 2))

    def loss(self, p, buffers, new, x, targets, key=None):
        return cross_entropy(self.answer(p, buffers, new, x, train=True), targets)
