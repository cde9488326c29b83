"""Constant arrays whose numbers follow from their shape: counted, triangular, or repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


class Maker:
    """How numbers follow from indices: ``of`` takes indices along dimensions, of NumPy or of jax."""

    def __init__(self, dimensions: tuple[int, ...], of: Callable, dtype: Any) -> None:
        self.dimensions, self.of, self.dtype = dimensions, of, dtype

    def numpy(self, shape: tuple[int, ...]) -> np.ndarray:
        """The array of a shape."""
        indices = [np.arange(shape[d]).reshape([-1 if k == d else 1 for k in range(len(shape))])
                   for d in self.dimensions]
        return np.broadcast_to(self.of(np, *indices).astype(self.dtype), shape)

    def jax(self, shape: tuple, start: Any) -> Any:
        """The array of a shape, which may be symbolic."""
        indices = [jax.lax.broadcasted_iota(jnp.int64, shape, d) for d in self.dimensions]
        return self.of(jnp, *indices).astype(self.dtype)


def array_makers(x: np.ndarray) -> Iterator[Maker]:
    """What makes arrays like ``x``: counting along a dimension, a triangle in two, or repeated along one."""
    for d in range(x.ndim):
        line = x[tuple(slice(None) if k == d else 0 for k in range(x.ndim))]
        if len(line) > 1 and x.dtype.kind in "iuf" and np.isfinite(line[:2]).all():
            start, step = line[0].item(), line[1].item() - line[0].item()
            yield Maker((d,), lambda np, i, a=start, b=step: a + b * i.astype(x.dtype), x.dtype)
    for d in range(x.ndim - 1):
        rows = x[tuple(slice(None) if k in (d, x.ndim - 1) else 0 for k in range(x.ndim))]
        low, high = rows[0, 0].item(), rows[0, -1].item()
        ahead = int((rows[0] == rows[0, 0]).sum()) - 1
        yield Maker((d, x.ndim - 1), lambda np, i, j, low=low, high=high, ahead=ahead: np.where(
            j <= i + ahead, np.asarray(low), np.asarray(high)), x.dtype)
    yield from (Repeated(x.take([0], axis=d)) for d in range(x.ndim))


class Repeated(Maker):
    """An array that is the same all along some dimensions."""

    def __init__(self, part: np.ndarray) -> None:
        self.part = part

    def numpy(self, shape: tuple[int, ...]) -> np.ndarray:
        """The array of a shape; an empty one where it cannot have that."""
        fits = all(n in (1, m) for n, m in zip(self.part.shape, shape, strict=True))
        return np.broadcast_to(self.part, shape) if fits else self.part[:0]

    def jax(self, shape: tuple, start: Any) -> Any:
        """The array of a shape, which may be symbolic."""
        return jnp.broadcast_to(self.part, shape)


def equal_arrays(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
