"""What numbers, arrays and containers in a program are at the sizes that it is evaluated for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

#: How near numbers are that were rounded to float32, relatively.
ABOUT = 1e-6


class Sizes:
    """The sizes to evaluate for, and those that polynomials are centred at."""

    def __init__(self, sizes: Sequence[Any], centre: tuple[int, ...]) -> None:
        self.sizes, self.distances = sizes, [x - n for x, n in zip(sizes, centre, strict=True)]


class Same:
    """What is the same at all points."""

    varies = False

    def __init__(self, value: Any) -> None:
        self.value = value

    def at(self, sizes: Sizes) -> Any:
        """The value."""
        return self.value


class Polynomial:
    """A sum of products of distances: ``terms[mask]`` belongs to the sizes whose bits are set."""

    varies = True

    def __init__(self, terms: list) -> None:
        self.terms = terms

    def at(self, sizes: Sizes) -> Any:
        """The number, or the expression, at these sizes."""
        total = self.terms[0]
        for mask, term in enumerate(self.terms):
            if mask and term:
                total = total + term * math.prod(d for i, d in enumerate(sizes.distances) if mask >> i & 1)
        return total


class Quotient:
    """A constant divided by some of the sizes."""

    varies = True

    def __init__(self, constant: float, mask: int) -> None:
        self.constant, self.mask = constant, mask

    def at(self, sizes: Sizes) -> Any:
        """The number."""
        product = math.prod(x for i, x in enumerate(sizes.sizes) if self.mask >> i & 1)
        return self.constant / jnp.asarray(product).astype(jnp.float64)


class Derived:
    """A floating-point number made of a whole one, such as ``n / (n - 1)`` of a variance."""

    varies = True

    def __init__(self, whole: Polynomial, back: Callable) -> None:
        self.whole, self.back = whole, back

    def at(self, sizes: Sizes) -> Any:
        """The number."""
        return self.back(jnp.asarray(self.whole.at(sizes)).astype(jnp.float64))


#: Functions of a number, which may be whole then, and how the number is found from that.
DERIVED = (
    (lambda x: x, lambda y: y),
    (lambda x: 1 / x if x else math.inf, lambda y: 1 / y),
    (lambda x: 1 / (x - 1) if x != 1 else math.inf, lambda y: 1 + 1 / y),
    (lambda x: x * x, lambda y: y**0.5),
    (lambda x: x**-2 if x else math.inf, lambda y: y**-0.5),
)
MOST = 1e5  # above it, what is rounded to float32 no longer says which whole number it was made of


class Array:
    """An array whose numbers follow from its shape."""

    varies = True

    def __init__(self, shape: Any, make: Callable, start: Any, dtype: Any) -> None:
        self.shape, self.make, self.start, self.dtype = shape, make, start, dtype

    def at(self, sizes: Sizes) -> Any:
        """The array."""
        return self.make(self.shape.at(sizes), jnp.asarray(self.start.at(sizes)).astype(self.dtype))


class Container:
    """A tuple, list or dict of which some items vary."""

    varies = True

    def __init__(self, make: Callable[[list], Any], items: list) -> None:
        self.make, self.items = make, items

    def at(self, sizes: Sizes) -> Any:
        """The container at these sizes."""
        return self.make([item.at(sizes) for item in self.items])


class Number:
    """A literal of an operation."""

    def __init__(self, value: Any, dtype: Any) -> None:
        self.value, self.dtype = value, dtype

    @property
    def varies(self) -> bool:
        """Whether it is another one at other sizes."""
        return self.value.varies

    def at(self, sizes: Sizes) -> Any:
        """An array of it."""
        if self.dtype == jax.dtypes.float0:  # the gradient of an integer, which is nothing
            return np.zeros((), self.dtype)
        return jnp.asarray(self.value.at(sizes)).astype(self.dtype)


def near(x: float) -> float:
    """The integer that ``x`` was before it was rounded, if it is next to one."""
    return float(round(x)) if math.isclose(x, round(x), rel_tol=ABOUT) else x
