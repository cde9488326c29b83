"""``SobolEngine``."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from jaxflow import _functions as functions
from jaxflow._api.tensor.core import host
from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import dtype as DType
from jaxflow._core.dtype import get_default_dtype
from jaxflow._core.generator import Generator
from jaxflow._core.tensor import Tensor
from jaxflow.utils._host import from_host

from .directions import BITS, MOST, directions, point, points, scrambled


class SobolEngine:
    """Draws the points of a Sobol' sequence, which fill the unit cube more evenly than random ones.

    Sobol', "The distribution of points in a cube and the accurate evaluation of integrals", 1967, with Joe
    and Kuo's direction numbers (2008): point ``i`` is the xor of the direction numbers at the bits of the
    Gray code of ``i``, over ``2**30``. Scrambled sequences (Owen, 1998; Matousek, 1998) are PyTorch's of the
    same seed where generators draw its random numbers (``torch.random.set_stream``), else other ones.

    Args:
        dimension: of the points, from 1 to 21,201.
        scramble: whether the sequence is scrambled at random.
        seed: of a generator for that; None for the default generator.

    Raises:
        ValueError: for another dimension.

    Example:
        >>> engine = torch.quasirandom.SobolEngine(dimension=3)
        >>> engine.draw(3)
        tensor([[0.0000, 0.0000, 0.0000],
                [0.5000, 0.5000, 0.5000],
                [0.7500, 0.2500, 0.2500]])
    """

    MAXBIT: ClassVar[int] = BITS
    MAXDIM: ClassVar[int] = MOST

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        numbers, shift = directions(dimension), np.zeros(dimension, np.int64)
        if scramble:
            shift, matrices = self._drawn()
            numbers = scrambled(numbers, matrices)
        self.sobolstate = from_host(numbers)
        self.shift = from_host(shift)
        # PyTorch keeps the first point in the dtype that is the default now.
        self._first_point = from_host(shift).to(get_default_dtype()).div(1 << BITS).reshape(1, -1)
        self.num_generated = 0

    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """A shift of each dimension, and a matrix of bits."""
        generator = None if self.seed is None else Generator().manual_seed(self.seed)

        def bits(*shape: int) -> np.ndarray:
            return host(functions.randint(2, (self.dimension, *shape), generator=generator, device="cpu"))

        return bits(BITS) @ (1 << np.arange(BITS)), bits(BITS, BITS)

    @property
    def quasi(self) -> Tensor:
        """The point that was drawn last, the first one before any was, times ``2**30``: ``(dimension,)``."""
        return from_host(point(host(self.sobolstate), host(self.shift), max(self.num_generated - 1, 0)))

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next points.

        Args:
            n: how many.
            out: a tensor that is resized and written to.
            dtype: float32 or float64; default the default dtype. A first point drawn alone has any.

        Returns:
            ``out``, or a new tensor ``(n, dimension)``.

        Raises:
            ValueError: for fewer than no points, and for more than there are, ``2**30``.
            NotImplementedError: for another dtype.

        Example:
            >>> torch.quasirandom.SobolEngine(1).draw(4).flatten().tolist()
            [0.0, 0.5, 0.75, 0.25]
        """
        dtype = get_default_dtype() if dtype is None else dtype
        start = self._checked(n)
        if start == 0 and n == 1:
            result = self._first_point.to(dtype)
        elif dtype not in (dtypes.float32, dtypes.float64):
            raise NotImplementedError(f'"_sobol_engine_draw" not implemented for \'{dtype}\': '
                                      "draw float32, and convert")
        else:
            found = points(host(self.sobolstate), host(self.shift), start, n).astype(dtype.np)
            result = from_host(found * found.dtype.type(1 / (1 << BITS)))
            if start == 0:
                result = functions.cat((self._first_point.to(dtype), result[1:]))
        if out is not None:
            out.resize_as_(result).copy_(result)
            result = out
        self.num_generated = start + n
        return result

    def _checked(self, n: int) -> int:
        """How many points were drawn, where so many more can be."""
        start = self.num_generated
        if n < 0 or start + n > 1 << BITS:
            raise ValueError(f"{n} points after {start}: a sequence has from 0 to 2**{BITS} points")
        return start

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next ``2**m`` points, after which a power of two of them is drawn in all: see `draw`.

        Raises:
            ValueError: where it is no power of two.
        """
        count = 2**m
        total = self.num_generated + count
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. draw() takes any number.")
        return self.draw(count, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin with the first point again."""
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out so many points. ValueError as in `draw`."""
        self.num_generated = self._checked(n) + n
        return self

    def __repr__(self) -> str:
        words = [f"dimension={self.dimension}"]
        if self.scramble:
            words.append("scramble=True")
        if self.seed is not None:
            words.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(words)})"
