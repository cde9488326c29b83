"""Weights and data that are the same on every library: drawn by NumPy."""

import numpy as np
import torch


def fill(module, seed=0):
    """Give parameters small values in the order of their names, so that losses can be compared."""
    draw = np.random.RandomState(seed)
    with torch.no_grad():
        for _, p in sorted(module.named_parameters()):
            fan_in = int(np.prod(p.shape[1:])) if p.dim() > 1 else 1
            values = draw.standard_normal(tuple(p.shape)) / fan_in**0.5 if p.dim() > 1 else draw.uniform(
                0.5, 1.0, tuple(p.shape))
            p.copy_(torch.from_numpy(values.astype(np.float32)))
    return module


def normal(*shape, seed=1):
    """A tensor of normally distributed float32 numbers."""
    return torch.from_numpy(np.random.RandomState(seed).standard_normal(shape).astype(np.float32))


def integers(high, *shape, seed=2):
    """A tensor of integers below ``high``."""
    return torch.from_numpy(np.random.RandomState(seed).randint(0, high, shape))
