"""Places that a function depends on: a live container, how to list what it holds, and what that was."""

from __future__ import annotations

import collections
import itertools
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

from jaxflow._core.commit import END
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.tensor import Tensor

#: What is compared by value.
SCALARS = (bool, int, float, complex, str, bytes, type(None))

#: What is listed by its values or items.
DICTS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter, types.MappingProxyType)

#: In the place of a key: how many entries there are.
LENGTH = object()
#: What a name has that is not there.
MISSING = object()
MISSINGS = itertools.repeat(MISSING)

# How far a message follows containers in containers; one may stand in itself.
_DEEPEST = 4


class Row:
    """A place: a container, how to list what it holds, and what that was.

    ``keys`` are those that matter, None for all; ``shown`` says what to call it in explanations. ``named``:
    of a dict, whether its keys may become others; ``varying``: keys of tensors that are guarded by what they
    are like. ``whole``: a namespace that may get more names, where not all it holds is listed. ``slotted``:
    what it lists are slots of an object. The holder of a class's attributes is the class.
    """

    __slots__ = ("held", "holder", "keys", "keys_then", "lister", "named", "names", "shown", "size",
                 "slotted", "varying", "whole")

    def __init__(self, holder: Any, lister: Callable[[], Iterable], names: Callable[[], Iterable], shown: str,
                 keys: frozenset | None = None, *, named: bool = True, whole: Any = None,
                 slotted: bool = False) -> None:
        self.slotted = slotted
        self.holder, self.lister, self.names, self.shown, self.keys = holder, lister, names, shown, keys
        self.named, self.whole = named, whole
        self.size = 0 if whole is None else len(whole)
        self.varying: set = set()
        self.held = list(lister())
        self.keys_then = list(holder) if type(holder) is dict else None

    def lookups(self) -> list[tuple] | None:
        """(namespace, name, value) of each name, where the row looks names up to list what it holds."""
        if getattr(self.lister, "func", None) is not map or len(self.lister.args) != 3:
            return None
        space = self.lister.args[0].__self__
        return list(zip(itertools.repeat(space), self.lister.args[1], self.held))

    def access(self, key: Any) -> tuple:
        """How to read and store what a key names: two functions of the holder and a key, and that key.

        In the place of the second there may be several of the holder alone or the holder and a list: a deque
        is stored whole by ``clear`` and ``extend``.
        """
        if type(self.holder) is types.CellType:
            return getattr, setattr, "cell_contents"
        if isinstance(self.holder, type):
            return type.__getattribute__, type.__setattr__, key
        if self.slotted:
            return object.__getattribute__, object.__setattr__, key
        if key is END and type(self.holder) is collections.deque:
            return listed, (collections.deque.extend,), key
        return operator.getitem, operator.setitem, key

    def is_cell(self) -> bool:
        """Whether this is a variable of an enclosing function that has a value."""
        return isinstance(self.holder, types.CellType) and self.held[0] is not MISSING

    def changes(self, now: list | None = None, *, everything: bool = False) -> list[tuple]:
        """(key, before, now) of what is no longer as it was; ``now``: what the row lists."""
        if now is None:
            now = list(self.lister())
        keys = list(self.names())
        if len(now) != len(self.held):
            return [(LENGTH, len(self.held), len(now))]
        if self.whole is not None and len(self.whole) != self.size:
            return [(LENGTH, self.size, len(self.whole))]
        return [
            (key, old, new) for key, old, new in zip(keys, self.held, now)
            if not same(old, new) and (everything or self.keys is None or key in self.keys)
            and key not in self.varying
        ]

    def before(self) -> list | dict:
        """A list or dict like the one that it lists was."""
        return dict(zip(self.keys_then, self.held)) if isinstance(self.holder, dict) else list(self.held)

    def describe(self, key: Any) -> str:
        """How to call the place of a key."""
        if key is LENGTH:
            return f"the length of {self.shown}"
        named = isinstance(key, str) and key.isidentifier()
        return f"{self.shown}.{key}" if named else f"{self.shown}[{shorten(key)}]"


def same(a: Any, b: Any) -> bool:
    """Whether two Python values are identical, or equal numbers or texts of the same type and sign."""
    if a is b:
        return True
    if type(a) is not type(b) or not isinstance(a, SCALARS):
        return False
    if a == b:
        return bool(a) or repr(a) == repr(b)  # 0.0 is not -0.0
    return a != a and b != b  # noqa: PLR0124 - both are nan


def listed(x: Iterable, key: Any) -> list:
    """All that stands in a container, whatever the key."""
    return list(x)


class Item:
    """An attribute that holds another tensor after each call: where it is, and the tensor now.

    ``also`` are more such attributes that hold the same tensor, each (row, key). ``like`` is the number of
    the first item whose tensor has the same memory: its own for most.
    """

    __slots__ = ("also", "key", "like", "row", "tensor")

    def __init__(self, row: Row, key: Any, tensor: Tensor) -> None:
        self.row, self.key, self.tensor = row, key, tensor
        self.also: list[tuple] = []
        self.like = 0


def shorten(x: Any) -> str:
    """A value for a message; no number of a tensor is read for it."""
    if x is MISSING:
        return "missing"
    text = _text(x)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(x: Any, depth: int = 0) -> str:
    if isinstance(x, Tensor):
        return f"a tensor of shape {list(x._aval.shape)}"
    if type(x) is SymNumber:  # making its own text would count as reading it
        x = x.value
    if depth > _DEEPEST:
        return "..."
    if type(x) is dict:
        return "{" + ", ".join(f"{_text(key)}: {_text(y, depth + 1)}" for key, y in x.items()) + "}"
    if type(x) is list or type(x) is tuple:
        shown = ", ".join(_text(y, depth + 1) for y in x) + ("," if type(x) is tuple and len(x) == 1 else "")
        return f"[{shown}]" if type(x) is list else f"({shown})"
    return repr(x) if isinstance(x, SCALARS) else f"a {type(x).__name__}"
