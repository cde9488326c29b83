"""What a row is: a call on freshly drawn tensors whose gradients are to be checked."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import jaxflow as torch


class Row(NamedTuple):
    """A call, and the shape of each tensor it gets; all elements are drawn from the same interval.

    The call's results must depend on nothing but these tensors: it makes its own indices and masks, and
    seeds its own random numbers.
    """

    call: Callable
    shapes: tuple[tuple[int, ...], ...]
    low: float = 0.3
    high: float = 2.2
    dtype: str = "float64"

    def inputs(self):
        """The tensors, each a leaf that requires grad."""
        return [
            draw(self.low, self.high, seed, shape, self.dtype) for seed, shape in enumerate(self.shapes)
        ]


def row(call, *shapes, **where):
    """A row; shapes one by one, then ``low``, ``high`` or ``dtype`` by name."""
    return Row(call, shapes, **where)


def draw(low, high, seed, shape=(2, 3), dtype="float64"):
    """Distinct elements, so that no kink or tie lies within reach of a finite difference."""

    def real(seed):
        count = int(np.prod(shape))
        spread = (np.random.default_rng(seed).permutation(count) + 0.37 + 0.1 * seed) / (count + 0.5)
        return (low + (high - low) * spread).reshape(shape)

    array = real(seed) + 1j * real(seed + 50) if dtype.startswith("complex") else real(seed)
    return torch.tensor(array, dtype=getattr(torch, dtype), requires_grad=True)


def public(name):
    """The function of a dotted public name."""
    found = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


def index(*numbers):
    """An index tensor of the nested lists or numbers given."""
    return torch.tensor(numbers[0] if len(numbers) == 1 else numbers, dtype=torch.int64)
