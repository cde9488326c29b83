"""Products and sums that are rounded once, as a fused multiply-add of the processor rounds them."""

from __future__ import annotations

from typing import Any

import numpy as np

_SPLIT = 134217729.0  # 2 ** 27 + 1
#: The bits of a float64 that a float32 does not have, and what they are half way between two float32.
_LOST, _HALF = np.uint64((1 << 29) - 1), np.uint64(1 << 28)


def fused32(a: Any, b: Any, c: Any) -> np.ndarray:
    """``a * b + c`` of float32.

    The product is exact in float64. The sum is rounded to float64 first, and to float32 then: that differs
    from one rounding only where the first ends half way between two float32. There the sum's own error
    decides.
    """
    a, b, c = (np.asarray(x, np.float32).astype(np.float64) for x in (a, b, c))
    return rounded_sum(a * b, c)


def rounded_sum(product: np.ndarray, c: Any) -> np.ndarray:
    """``product + c`` of a float64 that is exact and a float32, rounded to float32 once."""
    total = np.asarray(product + np.float64(c) if np.ndim(c) == 0 else product + c)
    tied = (total.view(np.uint64) & _LOST) == _HALF
    if np.count_nonzero(tied):  # in a third of the time of `any`
        total = _away_from_ties(total, product, np.asarray(c, np.float64), tied)
    return total.astype(np.float32)


def _away_from_ties(total: np.ndarray, product: np.ndarray, c: np.ndarray, tied: np.ndarray) -> np.ndarray:
    a, b = np.broadcast_to(product, total.shape)[tied], np.broadcast_to(c, total.shape)[tied]
    error = _sum_error(a, b, total[tied])
    moved = np.nextafter(total[tied], np.where(error > 0, np.inf, -np.inf))
    total = total.copy()
    total[tied] = np.where(error == 0, total[tied], moved)
    return total


def _sum_error(a: np.ndarray, b: np.ndarray, total: np.ndarray) -> np.ndarray:
    """``a + b - total`` where ``total`` is the rounded sum (Knuth 1969)."""
    back = total - a
    return (a - (total - back)) + (b - back)


def _product_error(a: np.ndarray, b: np.ndarray, product: np.ndarray) -> np.ndarray:
    """``a * b - product`` where ``product`` is the rounded product (Dekker 1971)."""
    high_a, high_b = a * _SPLIT, b * _SPLIT
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def fused64(a: Any, b: Any, c: Any) -> np.ndarray:
    """``a * b + c`` of float64 (Boldo and Melquiond 2008: the errors are added with rounding to odd)."""
    a, b, c = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (a, b, c)))
    product = a * b
    low = _product_error(a, b, product)
    first = low + c
    first_error = _sum_error(c, low, first)
    total = product + first
    errors = _sum_error(product, first, total)
    odd = np.asarray(errors + first_error)
    lost = _sum_error(errors, first_error, odd)
    even = (odd.view(np.int64) & 1) == 0
    odd = np.where(even & (lost != 0), np.nextafter(odd, np.where(lost > 0, np.inf, -np.inf)), odd)
    return np.asarray(total + odd)
