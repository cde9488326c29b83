"""Gamma numbers by rejection (Marsaglia and Tsang 2000), one element after another, and what is made of
them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .cursor import Cursor
from .normal import standard

_SQUEEZE = float(np.float32(0.0331))


def gamma(cursor: Cursor, shapes: np.ndarray) -> np.ndarray:
    """A gamma number of scale 1 for each shape parameter, in their dtype (float32 or float64); none is 0."""
    drawn = np.fromiter((_gamma(cursor, x) for x in shapes.ravel()), np.float64, shapes.size)
    return np.maximum(drawn.astype(shapes.dtype), np.finfo(shapes.dtype).tiny).reshape(shapes.shape)


def dirichlet(cursor: Cursor, shapes: np.ndarray) -> np.ndarray:
    """Gamma numbers of float64 divided by their sum along the last axis, in the dtype of the parameters."""
    kind = shapes.dtype.type
    tiny = float(np.finfo(np.float64).tiny)
    drawn = np.array([max(tiny, _gamma(cursor, np.float64(x))) for x in shapes.ravel()]).reshape(shapes.shape)
    shares = (drawn / drawn.sum(-1, keepdims=True)).astype(kind)
    return np.clip(shares, np.finfo(kind).tiny, np.nextafter(kind(1), kind(0)))


def _gamma(cursor: Cursor, alpha: Any) -> float:
    """Of a number of NumPy, whose dtype's arithmetic is that of the parameter; the rest is float64."""
    kind = type(alpha)
    scale, one, third = 1.0, kind(1), np.float32(1) / np.float32(3)
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = math.pow(1 - cursor.fraction(), float(one / alpha))
        alpha = kind(alpha + one)
    d = float(alpha - third) if kind is np.float32 else float(alpha) - float(third)
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        y = 0.0
        while y <= 0:
            x = float(standard(cursor, 1)[0])
            y = 1.0 + c * x
        v = y * y * y
        u, square = 1 - cursor.fraction(), x * x
        if u < 1.0 - _SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return float(kind(scale * d * v))
