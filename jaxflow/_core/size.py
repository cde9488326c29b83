"""``Size``: the tuple that a tensor's shape is."""

from __future__ import annotations

import math
import operator

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class Size(tuple):
    """A tuple of ints that stays a Size when sliced, added or repeated."""

    __slots__ = ()

    def __new__(cls, *args):
        items = tuple(*args)
        if all(type(item) is int and _INT64_MIN <= item <= _INT64_MAX for item in items):
            return tuple.__new__(cls, items)
        return tuple.__new__(cls, (_as_int(i, item) for i, item in enumerate(items)))

    @classmethod
    def trusted(cls, items) -> Size:
        """Make a Size of items already known to be plain ints."""
        return tuple.__new__(cls, items)

    def __init_subclass__(cls, **kwargs):
        raise TypeError("type 'torch.Size' is not an acceptable base type")

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return tuple.__new__(Size, found) if type(index) is slice else found

    def __add__(self, other):
        if not isinstance(other, tuple):
            raise TypeError(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
            )
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, count):
        found = tuple.__mul__(self, count)
        return found if found is NotImplemented else tuple.__new__(Size, found)

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)


def _as_int(position, item):
    try:
        item = operator.index(item)
    except TypeError:
        raise TypeError(
            f"torch.Size() takes an iterable of 'int' (item {position} is '{type(item).__name__}')"
        ) from None
    if not _INT64_MIN <= item <= _INT64_MAX:
        raise ValueError("Overflow when unpacking long long")
    return item
