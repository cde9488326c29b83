"""Poisson and binomial counts by rejection (Hoermann 1993), one element after another.

PyTorch builds these without fused multiply-adds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .cursor import Cursor
from .rounding import log

#: From this mean on counts are drawn by transformed rejection.
_MANY = 10.0

#: log(k!) minus Stirling's formula, for small k (Hoermann 1993).
_TAIL = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
         0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)


def poisson(cursor: Cursor, rates: np.ndarray) -> np.ndarray:
    """A count for each rate, in their dtype."""
    counts = (_poisson(cursor, rate) for rate in rates.ravel().astype(np.float64).tolist())
    return np.fromiter(counts, np.float64, rates.size).astype(rates.dtype).reshape(rates.shape)


def _poisson(cursor: Cursor, rate: float) -> float:
    if rate >= _MANY:
        return _poisson_many(cursor, rate)
    if rate == 0:
        return 0
    least, product, count = math.exp(-rate), 1.0, 0
    while True:  # Knuth 1969
        product *= cursor.fraction()
        if product <= least:
            return count
        count += 1


def _poisson_many(cursor: Cursor, rate: float) -> float:
    """The algorithm PTRS of Hoermann (1993)."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = cursor.fraction() - 0.5, cursor.fraction()
        edge = 0.5 - abs(u)
        k = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if edge >= 0.07 and v <= sure:
            return k
        if k < 0 or (edge < 0.013 and v > edge):
            continue
        bound = -rate + k * log_rate - math.lgamma(k + 1.0)
        if log(v) + math.log(inverse) - math.log(a / (edge * edge) + b) <= bound:
            return k


def binomial(cursor: Cursor, trials: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """A count for each pair of a number of trials and a chance, in their dtype."""
    drawn = (_binomial(cursor, n, p) for n, p in zip(trials.ravel(), chances.ravel()))
    return np.fromiter(drawn, np.float64, trials.size).astype(trials.dtype).reshape(trials.shape)


def _binomial(cursor: Cursor, n: Any, p: Any) -> float:
    """Of numbers of NumPy, so that float32 is rounded where PyTorch rounds it."""
    kind = type(n)
    if n <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return float(n)
    if p <= 0.5:
        return _fewer(cursor, n, p)
    return float(n) - _fewer(cursor, n, kind(1.0 - float(p)))


def _fewer(cursor: Cursor, n: Any, p: Any) -> float:
    """For chances up to a half."""
    kind = type(n)
    if kind(n * p) >= _MANY:
        return _binomial_many(cursor, n, p)
    # The logarithm has the dtype's digits.
    bottom = float(kind(math.log1p(-float(p))))
    total, count = 0.0, 0
    while True:  # gaps between successes are geometric (Devroye 1986)
        total += math.ceil(log(cursor.fraction()) / bottom) if bottom else math.inf
        if total > n:
            return float(count)
        count += 1


def _binomial_many(cursor: Cursor, n: Any, p: Any) -> float:
    """The algorithm BTRS of Hoermann (1993)."""
    kind = type(n)
    one = kind(1)
    spread = float(np.sqrt(kind(kind(n * p) * kind(one - p))))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * float(p)
    c = float(kind(n * p)) + 0.5
    sure = 0.92 - 4.2 / b
    odds = float(p / kind(one - p))
    alpha = (2.83 + 5.1 / b) * spread
    mode = float(np.floor(kind(kind(n + one) * p)))
    trials = float(n)
    while True:
        u, v = cursor.fraction() - 0.5, cursor.fraction()
        edge = 0.5 - abs(u)
        k = float(kind(math.floor((2 * a / edge + b) * u + c)))
        if k < 0 or k > trials:
            continue
        if edge >= 0.07 and v <= sure:
            return k
        bound = ((mode + 0.5) * math.log((mode + 1) / (odds * (trials - mode + 1)))
                 + (trials + 1) * math.log((trials - mode + 1) / (trials - k + 1))
                 + (k + 0.5) * math.log(odds * (trials - k + 1) / (k + 1))
                 + _tail(mode) + _tail(trials - mode) - _tail(k) - _tail(trials - k))
        if log(v * alpha / (a / (edge * edge) + b)) <= bound:
            return k


def _tail(k: float) -> float:
    """log(k!) minus Stirling's formula."""
    if k < len(_TAIL):
        return _TAIL[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
