"""The version of PyTorch that jaxflow's interface is that of."""

from __future__ import annotations

import re
from typing import Any

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


class TorchVersion(str):
    """A version as text that compares by its numbers with text, tuples and versions of ``packaging``."""

    __slots__ = ()

    def _key(self, other: Any = None) -> tuple[int, ...]:
        if isinstance(other, (tuple, list)):
            return tuple(int(x) for x in other)
        found = _NUMBERS.match(str(self if other is None else other))
        if found is None:
            raise ValueError(f"Invalid version: {str(other)!r}")
        return tuple(map(int, found.group().split(".")))

    def _compared(self, other: Any) -> int:
        mine, theirs = self._key(), self._key(other)
        length = max(len(mine), len(theirs))
        mine, theirs = ((*x, *(0,) * (length - len(x))) for x in (mine, theirs))
        return (mine > theirs) - (mine < theirs)

    def __lt__(self, other: Any) -> bool:
        return self._compared(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._compared(other) <= 0

    def __gt__(self, other: Any) -> bool:
        return self._compared(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._compared(other) >= 0

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, (tuple, list)):
            return self._compared(other) == 0
        return str.__eq__(self, other) is True

    def __hash__(self) -> int:
        return str.__hash__(self)


VERSION = TorchVersion("2.13.0+jaxflow")
