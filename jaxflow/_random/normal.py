"""Normal numbers: Box and Muller (1958), in the two ways of PyTorch's kernels.

From 16 elements on that lie side by side, sixteen evenly spread numbers become eight pairs of a radius and
an angle, in the arithmetic of their dtype. Fewer, or elements apart from each other, are drawn one by one in
float64, and the second of a pair waits for the next draw.

The float32 logarithm, sine and cosine are polynomials of the Cephes library (Moshier 1984-2000), evaluated
with the multiplications and additions fused that a compiler fuses where it builds PyTorch for processors
with AVX2.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np

from .cephes import (
    COS,
    FOUR_OVER_PI,
    LN2_HIGH,
    LN2_LOW,
    LOG,
    QUARTER,
    SIN,
    SQRT_HALF,
    TWO_PI,
    constants,
)
from .compile_budget import CompileBudget
from .compiled_normal import SIZES, Pairs, pairs
from .cursor import Cursor, parts_of
from .fused import fused32, fused64
from .rounding import each, log, narrow
from .uniform import double, single

_BLOCK = 16


class _Sums:
    """Fused multiply-adds of float32 numbers that are kept as float64; doubtful roundings are looked for
    once, at the end.

    A product of two float32 is exact in float64. Its sum with a third is rounded to float64 and then to
    float32, which differs from one rounding where the first ends half way between two float32: about once in
    2 ** 29.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._doubtful = np.zeros(shape, bool)
        self._seen = False

    def __call__(self, a: np.ndarray, b: np.ndarray | float, c: np.ndarray | float) -> np.ndarray:
        total = a * b
        total += c
        tied = (total.view(np.uint64) & np.uint64((1 << 29) - 1)) == np.uint64(1 << 28)
        if tied.any():
            self._doubtful |= tied
            self._seen = True
        return _rounded(total)

    def doubtful(self) -> tuple[np.ndarray, ...] | None:
        """Where a sum may have been rounded wrong; None if nowhere."""
        return np.nonzero(self._doubtful) if self._seen else None


def _careful(a: np.ndarray, b: np.ndarray | float, c: np.ndarray | float) -> np.ndarray:
    """The same, each sum rounded right at once."""
    return fused32(a, b, c).astype(np.float64)


def _rounded(x: np.ndarray) -> np.ndarray:
    """Rounded to float32, kept as float64."""
    return x.astype(np.float32).astype(np.float64)


def _log_of_rest(u: np.ndarray, fused) -> np.ndarray:
    """log(1 - u) of float32 numbers from [0, 1)."""
    bits = (np.float32(1) - u).view(np.int32)
    exponent = ((bits >> 23) - 0x7F).astype(np.float32) + np.float32(1)
    x = ((bits & np.int32(0x007FFFFF)) | np.int32(0x3F000000)).view(np.float32)  # from [1/2, 1)
    small = x < SQRT_HALF
    exponent = (exponent - small).astype(np.float64)
    x = (x - np.float32(1)) + np.where(small, x, np.float32(0))
    wide = x.astype(np.float64)
    square = _rounded(wide * wide)
    y = fused(wide, LOG[0], LOG[1])
    for coefficient in LOG[2:]:
        y = fused(y, wide, coefficient)
    y = fused(_rounded(y * wide), square, _rounded(exponent * LN2_LOW))
    y = (y - square * 0.5).astype(np.float32)
    return fused(exponent, LN2_HIGH, (x + y).astype(np.float64)).astype(np.float32)


def _turned(u: np.ndarray, fused) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of 2 pi u of float32 numbers from [0, 1)."""
    angle = TWO_PI * u
    octant = ((angle * FOUR_OVER_PI).astype(np.int32) + 1) & ~1
    turns, x = octant.astype(np.float64), angle.astype(np.float64)
    for part in QUARTER:
        x = fused(turns, part, x)
    square = _rounded(x * x)
    cos = fused(fused(square, COS[0], COS[1]), square, COS[2])
    cos = fused(square, _rounded(cos * square), square * -0.5).astype(np.float32) + np.float32(1)
    sin = fused(fused(square, SIN[0], SIN[1]), square, SIN[2])
    sin = fused(x, _rounded(sin * square), x).astype(np.float32)
    swapped = (octant & 2) != 0
    cos, sin = (np.where(swapped, a, b) + np.float32(0) for a, b in ((sin, cos), (cos, sin)))
    cos = (cos.view(np.int32) ^ ((~(octant - 2) & 4) << 29)).view(np.float32)
    sin = (sin.view(np.int32) ^ ((octant & 4) << 29)).view(np.float32)
    return cos, sin


def _with_sums(
    u: np.ndarray, v: np.ndarray, mean: float, std: float, fused
) -> tuple[np.ndarray, np.ndarray]:
    radius = np.sqrt(_log_of_rest(u, fused) * np.float32(-2))
    return tuple(
        fused((radius * turned).astype(np.float64), std, np.full(u.shape, mean)).astype(np.float32)
        for turned in _turned(v, fused)
    )


def _pairs(u: np.ndarray, v: np.ndarray, mean: float, std: float) -> tuple[np.ndarray, np.ndarray]:
    """The normal numbers of evenly spread float32 ``u`` and ``v``."""
    mean, std = constants(mean, std)
    sums = _Sums(u.shape)
    made = _with_sums(u, v, mean, std, sums)
    where = sums.doubtful()
    if where is not None:
        for values, right in zip(made, _with_sums(u[where], v[where], mean, std, _careful)):
            values[where] = right
    return made


#: In numbers that NumPy makes.
_budget = CompileBudget(1 << 20)

#: What each use of NumPy's functions costs, however few numbers it makes.
_CALL = 1500


def _single_blocks(u: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Blocks of 16 evenly spread float32 as normal ones: eight cosines, then eight sines."""
    blocks = u.reshape(-1, 2, 8)
    out = np.empty(blocks.shape, np.float32)
    first, second = (np.ascontiguousarray(blocks[:, i]).reshape(-1) for i in (0, 1))
    for begin, end, program in _programs(first.size):
        made = program(first[begin:end], second[begin:end], mean, std)
        for i, part in enumerate(made):
            out[begin // 8:end // 8, i] = np.asarray(part).reshape(-1, 8)
    return out.ravel()


def _programs(count: int) -> Iterator[tuple[int, int, Pairs]]:
    """Ranges of pairs, and what makes normal numbers of each: compiled programs once they would have paid."""
    at = 0
    if _budget.used_up:
        for size in reversed(SIZES):
            program = pairs(size, _pairs) if count - at >= size or size == SIZES[0] else None
            while program is not None and count - at >= size:
                yield at, at + size, program
                at += size
        if program is not None and at < count:
            yield at, count, functools.partial(_padded, program, SIZES[0])
            return
    for begin, end in parts_of(count, at):
        _budget.spend(2 * (end - begin) + _CALL)
        yield begin, end, _pairs


def _padded(
    program: Pairs, size: int, u: np.ndarray, v: np.ndarray, mean: float, std: float
) -> tuple[np.ndarray, np.ndarray]:
    """What a program for more pairs makes of these."""
    wide = np.zeros((2, size), np.float32)
    wide[:, :u.size] = u, v
    return tuple(np.asarray(part)[:u.size] for part in program(*wide, mean, std))


def _double_blocks(u: np.ndarray, mean: float, std: float) -> np.ndarray:
    """The same of float64, by the C library."""
    halves = u.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * each(log, 1.0 - halves[:, 0]))
    angle = (2 * math.pi) * halves[:, 1]
    out = np.empty_like(halves)
    out[:, 0] = fused64(radius * each(math.cos, angle), std, mean)
    out[:, 1] = fused64(radius * each(math.sin, angle), std, mean)
    return out.ravel()


def standard(cursor: Cursor, n: int) -> np.ndarray:
    """``n`` float64 of mean 0 and deviation 1, one by one; the second of a pair waits for the next call."""
    out = np.empty(n, np.float64)
    begin = 0
    if n and cursor.waiting is not None:
        out[0], begin, cursor.waiting = cursor.waiting, 1, None
    pairs = (n - begin + 1) // 2
    if pairs:
        u = cursor.fractions(2 * pairs).reshape(-1, 2)
        radius = np.sqrt(-2.0 * each(math.log1p, -u[:, 1]))
        angle = 2.0 * math.pi * u[:, 0]
        made = np.stack([radius * each(math.cos, angle), radius * each(math.sin, angle)], 1).ravel()
        out[begin:] = made[:n - begin]
        if n - begin < made.size:
            cursor.waiting = float(made[-1])
    return out


def one_by_one(cursor: Cursor, n: int, mean: float, std: float) -> np.ndarray:
    """``n`` float64 of a mean and a deviation, as `standard` draws them."""
    x = standard(cursor, n)
    return x if (mean, std) == (0.0, 1.0) else fused64(x, std, mean)


def normal(
    cursor: Cursor, n: int, dtype: np.dtype, mean: float = 0.0, std: float = 1.0, dense: bool = True
) -> np.ndarray:
    """``n`` normal numbers; each part of complex ones has half of the variance.

    Args:
        dense: whether the elements lie side by side in their order where PyTorch would draw them.
    """
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        return normal(cursor, 2 * n, part, mean, std / math.sqrt(2), dense).view(dtype)
    if n < _BLOCK or not dense:
        return narrow(one_by_one(cursor, n, mean, std), dtype)
    drawn, turned = (double, _double_blocks) if dtype == np.float64 else (single, _single_blocks)
    full = n - n % _BLOCK
    # Elements behind the last whole block are drawn too, unless they are halves, and not used: sixteen more
    # take their place.
    u = drawn(cursor, n if dtype.itemsize >= 4 else full)[:full]
    out = turned(u, mean, std)
    if n > full:
        rest = turned(drawn(cursor, _BLOCK), mean, std)
        out = np.concatenate([out[:n - _BLOCK], rest])
    return narrow(out, dtype)
