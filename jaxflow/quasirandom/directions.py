"""The numbers that Sobol' points are made of, and the points, as NumPy arrays.

Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30,
2008: their table for 21,201 dimensions by criterion D(6), whose terms stand in ``directions.LICENSE``.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import numpy as np

FILE = pathlib.Path(__file__).with_name("directions.bin")
#: How many dimensions there are for polynomials of degree 1, 2, ...: as many as there are primitive ones.
COUNTS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)
BITS = 30
MOST = 1 + sum(COUNTS)


def _table(dimensions: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each degree, as far as needed, the inner coefficients and the first numbers, a row a dimension."""
    bits, at, left = np.unpackbits(np.fromfile(FILE, np.uint8)), 0, dimensions - 1
    for degree, count in enumerate(COUNTS, 1):
        if left <= 0:
            return
        width = degree - 1 + degree * (degree - 1) // 2
        rows = bits[at:at + count * width].reshape(count, width)[:left].astype(np.int64)
        numbers, start = np.ones((len(rows), degree), np.int64), degree - 1
        for k in range(1, degree):  # k bits, and a last one, which is 1
            numbers[:, k] += rows[:, start:start + k] @ (1 << np.arange(k, 0, -1))
            start += k
        yield rows[:, :degree - 1], numbers
        at, left = at + count * width, left - count


def directions(dimensions: int) -> np.ndarray:
    """The direction numbers ``(dimensions, 30)``, as integers of 30 bits.

    The number ``k`` of a polynomial ``x^d + a_1 x^(d-1) + ... + 1`` goes on from the first ``d``:
    ``m_k = 2 a_1 m_(k-1) ^ ... ^ 2^(d-1) a_(d-1) m_(k-d+1) ^ 2^d m_(k-d) ^ m_(k-d)``, and is shifted to its
    place.
    """
    found = [np.ones((1, BITS), np.int64)]
    for inner, first in _table(dimensions):
        degree = first.shape[1]
        numbers = np.empty((len(first), BITS), np.int64)
        numbers[:, :degree] = first
        for k in range(degree, BITS):
            numbers[:, k] = numbers[:, k - degree] ^ numbers[:, k - degree] << degree
            for i in range(1, degree):
                numbers[:, k] ^= inner[:, i - 1] * numbers[:, k - i] << i
        found.append(numbers)
    return np.concatenate(found) << np.arange(BITS - 1, -1, -1)


def scrambled(numbers: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Direction numbers, each times a matrix of bits modulo 2.

    Owen, "Scrambling Sobol and Niederreiter-Xing points", 1998, with Matousek's linear matrices, "On the
    L2-discrepancy for anchored boxes", 1998.

    Args:
        numbers: ``(D, 30)``.
        matrices: ``(D, 30, 30)`` of 0 and 1; taken as lower triangular with ones on the diagonal.
    """
    places = np.arange(BITS - 1, -1, -1)
    lower = np.tril(matrices, -1) + np.eye(BITS, dtype=np.int64)
    bits = numbers[:, None, :] >> places[:, None] & 1  # dimension, place from the top, number
    return ((lower @ bits & 1) << places[:, None]).sum(1)


def point(numbers: np.ndarray, shift: np.ndarray, index: int) -> np.ndarray:
    """A point as integers ``(D,)``: the numbers at the bits of the index's Gray code, and the shift, by xor.

    Antonov and Saleev, "An economic method of computing LP_tau-sequences", 1979.
    """
    code = index ^ index >> 1
    chosen = [k for k in range(BITS) if code >> k & 1]
    return np.bitwise_xor.reduce(numbers[:, chosen], axis=1) ^ shift


def points(numbers: np.ndarray, shift: np.ndarray, index: int, count: int) -> np.ndarray:
    """Points ``(count, D)`` from an index on; each differs from the last by the number of its lowest bit."""
    found = np.empty((count, len(numbers)), np.int64)
    if count:
        found[0] = point(numbers, shift, index)
        following = np.arange(index + 1, index + count)
        lowest = np.log2(following & -following).astype(np.int64)
        found[1:] = numbers.T[lowest]
        np.bitwise_xor.accumulate(found, axis=0, out=found)
    return found
