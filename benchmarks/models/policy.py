"""A policy for a cart with a pole, learnt by REINFORCE (Williams 1992)."""

import math

import numpy as np

from .task import Task


class Cart:
    """Barto, Sutton and Anderson's cart and pole, in plain numbers; set up again when the pole falls."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.x = self.dx = self.dangle = 0.0
        self.angle = 0.02

    def step(self, action):
        """Push right (1) or left (0) for a fiftieth of a second; the reward."""
        sine, cosine = math.sin(self.angle), math.cos(self.angle)
        push = ((10.0 if action else -10.0) + 0.05 * self.dangle**2 * sine) / 1.1
        turn = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        self.x, self.dx = self.x + 0.02 * self.dx, self.dx + 0.02 * (push - 0.05 * turn * cosine / 1.1)
        self.angle, self.dangle = self.angle + 0.02 * self.dangle, self.dangle + 0.02 * turn
        fallen = abs(self.angle) > 0.2 or abs(self.x) > 2.4
        if fallen:
            self.reset()
        return 0.0 if fallen else 1.0

    def state(self):
        return np.array([self.x, self.dx, self.angle, self.dangle], np.float32)


class Policy(Task):
    """4-128-2. Lengths of episodes are drawn beforehand, so that all contenders do equally much."""

    width, shortest, longest = 128, 10, 60

    def network(self):
        nn = self.nn
        return nn.Sequential(nn.Linear(4, self.width), nn.ReLU(), nn.Linear(self.width, 2))

    @classmethod
    def lengths(cls):
        random = np.random.default_rng(3)
        while True:
            yield int(random.integers(cls.shortest, cls.longest + 1))

    @staticmethod
    def returns(rewards, discount=0.99):
        """Discounted sums of what is still to come, standardised."""
        found, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + discount * total
            found.append(total)
        found = np.array(found[::-1], np.float32)
        return (found - found.mean()) / (found.std() + 1e-6)

    def optimizer(self, network):
        return self.torch.optim.Adam(network.parameters(), lr=1e-3)
