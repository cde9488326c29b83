"""Programs whose tensors and NumPy arrays are one memory, in PyTorch's style."""

import numpy as np

from .small import Small

LARGE = 16_000_000  # elements, 64 MB of float32


class NumbersOut(Small):
    """A loss of a small product, taken out by ``numpy()`` at every step."""

    each = 1

    def make(self):
        self.x, self.w = self.full(0.5, 64), self.full(2.0, 64)

    def once(self):
        return (self.x * self.w).sum().numpy()


class LargeOut(Small):
    """64 MB computed, and taken out by ``detach().cpu().numpy()``."""

    each = 1

    def make(self):
        self.x = self.full(1.0, LARGE)

    def once(self):
        return (self.x + 1.0).detach().cpu().numpy()[7]


class Batches(Small):
    """A batch of an array at each step by ``from_numpy``, times a matrix; a number is read."""

    each = 1

    def make(self):
        self.batches = [np.full((32, 64), k, self.dtype_name()) for k in range(8)]
        self.w, self.turn = self.full(0.5, 64, 16), 0

    def dtype_name(self):
        return str(self.dtype).partition(".")[2]

    def once(self):
        self.turn = (self.turn + 1) % len(self.batches)
        return (self.torch.from_numpy(self.batches[self.turn]) @ self.w).sum().item()


class RowsOfLarge(Small):
    """64 random rows of a data set of 1 GB that NumPy holds, and their sum."""

    each = 1

    def make(self):
        array, random = np.zeros((1_000_000, 256), np.float32), np.random.default_rng(0)
        rows = [random.integers(0, len(array), 64) for _ in range(8)]
        for row in rows:
            array[row] = 1  # the others are pages that nobody has touched
        self.data, self.rows = self.torch.from_numpy(array), list(map(self.torch.from_numpy, rows))
        self.array, self.turn = array, 0

    def once(self):
        self.turn = (self.turn + 1) % len(self.rows)
        return self.data[self.rows[self.turn]].sum().item()


class Filled(Small):
    """A row of an array is written by NumPy, and summed through the tensor."""

    each = 1

    def make(self):
        self.array, self.turn = np.zeros((1000, 64), np.float32), 0
        self.shown = self.torch.from_numpy(self.array)

    def once(self):
        self.turn = (self.turn + 1) % len(self.array)
        self.array[self.turn] = self.turn
        return self.shown[self.turn].sum().item()


class Replay(Small):
    """A replay buffer: a row is written through the tensor that NumPy holds too, and 32 rows are drawn."""

    each = 1

    def make(self):
        self.array, self.turn = np.ones((50_000, 24), np.float32), 0
        self.states = self.torch.from_numpy(self.array)
        random = np.random.default_rng(0)
        self.drawn = [random.integers(0, len(self.array), 32) for _ in range(100)]

    def once(self):
        self.turn = (self.turn + 1) % len(self.drawn)
        self.states[self.turn] = self.full(1.5, 24)
        return self.states[self.torch.from_numpy(self.drawn[self.turn])].sum().item()


class KeptWeight(Small):
    """A step of SGD on a layer whose weight an array shows, and a number of the array."""

    each = 1

    def make(self):
        torch = self.torch
        self.layer = torch.nn.Linear(64, 64)
        with torch.no_grad():
            for parameter in self.layer.parameters():
                parameter.fill_(0.25)
        self.optimizer = torch.optim.SGD(self.layer.parameters(), lr=1e-3)
        self.weight = self.layer.weight.detach().numpy()
        self.x = self.full(1.0, 32, 64)

    def once(self):
        self.optimizer.zero_grad()
        (self.layer(self.x) ** 2).mean().backward()
        self.optimizer.step()
        return self.weight[0, 0]
