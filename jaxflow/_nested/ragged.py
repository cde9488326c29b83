"""The ragged dimension of a nested tensor: where rows begin and end, and the symbol of its size."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor


class NestedInt:
    """The size of a ragged dimension, which is another one in each row; it prints as ``j1``, ``3*j1``.

    Sizes are equal where the same offsets made them, and the factors are the same. Of order, it is only known
    that such a size is at least 2, as in PyTorch.
    """

    __slots__ = ("factor", "number")

    def __init__(self, number: Any, factor: int = 1) -> None:
        self.number, self.factor = number, factor

    def __repr__(self) -> str:
        return f"j{self.number}" if self.factor == 1 else f"{self.factor}*j{self.number}"

    def __hash__(self) -> int:
        return hash((NestedInt, self.number, self.factor))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NestedInt) and (self.number, self.factor) == (other.number, other.factor)

    def __mul__(self, other: Any) -> NestedInt:
        if isinstance(other, NestedInt):
            return _Product(self, other)
        return NestedInt(self.number, self.factor * other) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def _at_least(self, other: Any) -> bool:
        if isinstance(other, NestedInt) and other.number == self.number:
            return self.factor >= other.factor
        if isinstance(other, int) and other <= 2:
            return True
        raise ValueError("ge: relation is indeterminate")

    def __ge__(self, other: Any) -> bool:
        return self._at_least(other)

    def __lt__(self, other: Any) -> bool:
        return not self._at_least(other)

    def __gt__(self, other: Any) -> bool:
        if isinstance(other, NestedInt):
            return not other._at_least(self)
        if isinstance(other, int) and other < 2:
            return True
        raise ValueError("ge: relation is indeterminate")

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __int__(self) -> int:
        raise TypeError(f"{self} is the size of a ragged dimension: offsets() gives the sizes of its rows")

    __index__ = __int__

    def __bool__(self) -> bool:
        return True


class _Product(NestedInt):
    """A product of sizes of ragged dimensions: only what counts elements by sizes meets one."""

    __slots__ = ()

    def __init__(self, first: NestedInt, second: NestedInt) -> None:
        super().__init__(first.number, first.factor * second.factor)

    def __mul__(self, other: Any) -> NestedInt:
        return self

    __rmul__ = __mul__


_numbers = itertools.count(1)
#: The size that each tensor of offsets (or lengths) stands for, as long as that tensor lives, by its ``id``.
_SIZES: dict[int, tuple[weakref.ref, NestedInt]] = {}


def size_of(source: Tensor, size: NestedInt | None = None) -> NestedInt:
    """The symbol for the sizes that a tensor of offsets or lengths tells: a new one at the first call.

    Args:
        source: offsets or lengths.
        size: the symbol to use where there is none yet.
    """
    key = id(source)
    found = _SIZES.get(key)
    if found is not None and found[0]() is source:
        return found[1]

    def forget(gone: weakref.ref) -> None:
        entry = _SIZES.get(key)
        if entry is not None and entry[0] is gone:
            _SIZES.pop(key, None)

    if found is not None:  # of a tensor that died, and whose entry is about to go
        _SIZES.pop(key, None)
    mine = weakref.ref(source, forget), size or NestedInt(next(_numbers))
    return _SIZES.setdefault(key, mine)[1]


class Ragged:
    """Where the rows of a ragged dimension lie in the packed one.

    Args:
        offsets: ``(B + 1,)`` integers; row ``i`` begins at ``offsets[i]`` and ends at ``offsets[i + 1]``.
        lengths: ``(B,)``, where rows end earlier than the next begins; or None.
        least: the length of the shortest row, if it is known.
        most: the length of the longest row, if it is known.
        size: the symbol of the size, where another tensor on another device has it already.
    """

    __slots__ = ("least", "lengths", "most", "offsets", "size")

    def __init__(self, offsets: Tensor, lengths: Tensor | None = None, least: int | None = None,
                 most: int | None = None, size: NestedInt | None = None) -> None:
        self.offsets, self.lengths, self.least, self.most = offsets, lengths, least, most
        self.size = size_of(offsets if lengths is None else lengths, size)

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.offsets._aval.shape[0] - 1

    def row_lengths(self) -> Tensor:
        """``(B,)``: the length of each row."""
        return self.offsets.diff() if self.lengths is None else self.lengths

    def longest(self) -> int:
        """The length of the longest row. It is waited for where it was not given."""
        if self.most is None:
            self.most = int(self.row_lengths().max().item()) if self.count else 0
        return self.most

    def shortest(self) -> int:
        """The length of the shortest row. It is waited for where it was not given."""
        if self.least is None:
            self.least = int(self.row_lengths().min().item()) if self.count else 0
        return self.least

    def moved(self, device: Any) -> Ragged:
        """The same rows, said by tensors on another device."""
        if self.offsets.device == device:
            return self
        lengths = None if self.lengths is None else self.lengths.to(device)
        return Ragged(self.offsets.to(device), lengths, self.least, self.most, self.size)

    def places(self, length: int) -> tuple[Tensor, Tensor]:
        """``(B, length)``: the place in the packed dimension of each element, and whether the row has it."""
        starts = self.offsets[:-1].unsqueeze(1).to(dtypes.int64)
        steps = F.arange(length, device=self.offsets.device).unsqueeze(0)
        return starts + steps, steps < self.row_lengths().unsqueeze(1)

    def flat(self, total: int, length: int) -> Tensor:
        """``(total,)``: where each packed element stands in ``(B, length)``, row by row."""
        offsets = self.offsets.to(dtypes.int64)
        at = F.arange(total, device=offsets.device)
        row = F.searchsorted(offsets[1:].contiguous(), at, right=True).clamp(max=max(self.count - 1, 0))
        return row * length + (at - offsets.index_select(0, row))
