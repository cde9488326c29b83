"""Numbers that say what was done with them: how a compiled call follows the numbers it begins with.

NOTE [Numbers of calls]
    A capture may be given, in the place of a number, one that writes down the arithmetic it goes through.
    What an operation takes as a number is then found anew at each call, by doing the arithmetic again. Where
    Python needs the value (a comparison, ``int()``, an index, a name in a dict, text, anything written in C)
    the outcome is written down as a guard: a call for which it would be another is not served. Such a number
    is no ``float`` or ``int`` for C, which would read it unnoticed, and is one for ``isinstance`` and
    ``__class__``. After the capture it is an ordinary number in disguise.

    A number may also be one that the recorded program computes (``loss.item()``). It is *late*, as is what
    follows from it: there once the program has run. What Python decided by it is checked then. An operation
    takes it as a result of the program, NOTE [Computed numbers].
"""

from __future__ import annotations

import functools
import gc
import math
import operator
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBERS = (float, int)
_LARGEST = 1 << 63
# Functions that guard a late number without ``on_need``: their outcome is often the same again, the value
# of the number hardly ever.
_DECIDING = frozenset((operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, bool))


class NumberTape:
    """The arithmetic of one capture, which begins with ``count`` numbers.

    An operand is the number of an entry, or of a constant, inverted. ``uses`` says which numbers of the
    Program are entries: (kind, position among those of that kind, entry). ``reads`` are the slots of its
    results that are numbers here, ``late`` the entries that follow from these; ``on_need`` is called where
    the value of one is needed. ``values`` are those of all entries in the capture.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.steps: list[tuple] = []
        self.values: list[Any] = []
        self.guards: list[tuple] = []
        self.constants: list[Any] = []
        self.kinds: dict[int, type] = {}  # of the entries that operations take, or that are returned
        self.uses: list[tuple] = []
        self.made: list[weakref.ref] = []  # all tracked numbers
        self.reads: list[int] = []
        self.late: set[int] = set()
        self.on_need: Callable[[], None] = _nobody_asks
        self.open = True
        self.thread = threading.get_ident()
        self.disturbed = False  # whether another thread used one of the numbers

    def start(self, values: list) -> list[SymNumber]:
        """The numbers to hand to the function."""
        self.values = list(values)
        return [SymNumber(self, i, x) for i, x in enumerate(values)]

    def close(self) -> None:
        """Write down no more."""
        self.open, self.on_need, self.made = False, _nobody_asks, []

    @property
    def used(self) -> bool:
        """Whether there is any number on it."""
        return bool(self.count or self.steps)

    def read(self, slot: int, value: Any) -> SymNumber:
        """A number that is the result ``slot`` of the Program, or a leaf of it."""
        self.reads.append(slot)
        self.late.add(self.count + len(self.steps))
        return self.step(None, (), value)

    def kept(self, known: set[int]) -> bool:
        """Whether somebody keeps a tracked number whose id is not among the ``known`` ones."""
        for again in (True, False):
            if all(id(x) in known for x in (made() for made in self.made) if x is not None):
                return False
            if again:
                gc.collect()
        return True

    def operand(self, x: Any) -> int:
        """How an entry or a constant is written down."""
        if type(x) is SymNumber:
            if x.tape is self:
                return x.at
            x = x.value  # of a capture that is over
        for i, known in enumerate(self.constants):
            if exact(known) == exact(x):
                return ~i
        self.constants.append(x)
        return ~(len(self.constants) - 1)

    def step(self, fn: Callable | None, operands: tuple, value: Any) -> SymNumber:
        """A number that ``fn`` made; None if it was read."""
        self.disturbed |= threading.get_ident() != self.thread
        if not self.late.isdisjoint(operands):
            self.late.add(self.count + len(self.steps))
        self.steps.append((fn, *operands))
        self.values.append(value)
        return SymNumber(self, self.count + len(self.steps) - 1, value)

    def need(self, fn: Callable, given: tuple, outcome: Any) -> Any:
        """Guard what ``fn`` says of some numbers, and return it."""
        if not self.open:  # one among them may be of a capture that is under way
            for x in given:
                if type(x) is SymNumber and x.tape.open:
                    return x.tape.need(fn, given, outcome)
        else:
            self.disturbed |= threading.get_ident() != self.thread
            guard = (fn, tuple(map(self.operand, given)), exact(outcome))
            if fn not in _DECIDING and not self.late.isdisjoint(guard[1]):
                self.on_need()
            if guard not in self.guards:
                self.guards.append(guard)
        return outcome

    def waits(self, more: set[int]) -> bool:
        """Whether late numbers have to be known: Python decides by them, returns them, or stores ``more``."""
        return any(not self.late.isdisjoint(found) for found in (
            self.kinds, more, *(operands for _, operands, _ in self.guards)))

    def keep(self, x: SymNumber) -> int:
        """The entry of a number that is to be found anew at each call."""
        self.kinds[x.at] = type(x.value)
        return x.at

    def evaluate(self, start: list, read: list | None = None) -> list | None:
        """All entries where another call begins with the numbers ``start``; None if a guard does not hold.

        ``read`` are the numbers that were read; without them late entries are None, and no guard of what
        follows from them is checked.
        """
        values = list(start)
        constants = self.constants
        late = self.late if read is None else frozenset()
        reads = iter(read or ())

        def at(i: int) -> Any:
            return values[i] if i >= 0 else constants[~i]

        try:
            for fn, *operands in self.steps:
                if len(values) in late:
                    values.append(None)
                else:
                    values.append(next(reads) if fn is None else fn(*map(at, operands)))
            for fn, operands, outcome in self.guards:
                if late.isdisjoint(operands) and exact(fn(*map(at, operands))) != outcome:
                    return None
        except (ArithmeticError, ValueError, TypeError):
            return None  # the function itself will say so
        for entry, kind in self.kinds.items():
            x = values[entry]
            if entry not in late and (
                type(x) is not kind or (kind is int and not -_LARGEST <= x < _LARGEST)
            ):
                return None
        return values


def _nobody_asks() -> None:
    """Called where there is no late number."""


def exact(x: Any) -> tuple:
    """A number in a form that is equal only for the same one: -0.0 is not 0.0, and nan is nan."""
    return type(x), repr(x)


class SymNumber:
    """A number on a `NumberTape`; see NOTE [Numbers of calls]."""

    __slots__ = ("__weakref__", "at", "tape", "value")

    def __init__(self, tape: NumberTape, at: int, value: Any) -> None:
        self.tape, self.at, self.value = tape, at, value
        tape.made.append(weakref.ref(self))

    @property
    def __class__(self) -> type:
        return type(self.value)

    def plain(self) -> Any:
        """The number itself, which has to be the same at each call that is served."""
        return self.tape.need(_itself, (self,), self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.plain(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*(x.plain() if type(x) is SymNumber else x for x in inputs), **options)

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return type(self.value), (self.plain(),)

    def __copy__(self) -> SymNumber:
        return self

    def __deepcopy__(self, memo: dict) -> SymNumber:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain(), name)

    def __round__(self, digits: int | None = None) -> Any:
        return _made(functools.partial(round, ndigits=digits), self)


def _made(fn: Callable, *given: Any) -> Any:
    """What ``fn`` makes of numbers, of which one or more are tracked."""
    tapes = [x.tape for x in given if type(x) is SymNumber]
    tape = next((t for t in tapes if t.open), tapes[0])
    value = fn(*(x.value if type(x) is SymNumber else x for x in given))
    if not tape.open or type(value) not in _NUMBERS:
        return tape.need(fn, given, value)
    return tape.step(fn, tuple(map(tape.operand, given)), value)


def _itself(x: Any) -> Any:
    return x


def as_float(x: Any) -> Any:
    """``float(x)``, which of a tracked number is tracked too."""
    return _made(float, x) if type(x) is SymNumber else float(x)


def settled(x: Any) -> Any:
    """A tracked number as a plain one; a tuple that holds such ones as another one that does not."""
    kind = type(x)
    if kind is SymNumber:
        return x.value
    if kind is frozenset or (isinstance(x, tuple) and (kind is tuple or hasattr(x, "_make"))):
        parts = list(map(settled, x))
        if not all(map(operator.is_, parts, x)):
            return x._make(parts) if hasattr(x, "_make") else kind(parts)
    return x


def _binary(fn: Callable, swapped: bool) -> Callable:
    def method(self: SymNumber, other: Any) -> Any:
        if type(other) not in (*_NUMBERS, bool, SymNumber):
            if isinstance(other, (complex, np.generic, np.ndarray)):
                return fn(other, self.plain()) if swapped else fn(self.plain(), other)
            return NotImplemented
        return _made(fn, other, self) if swapped else _made(fn, self, other)

    return method


def _compared(fn: Callable) -> Callable:
    def method(self: SymNumber, other: Any) -> Any:
        if type(other) not in (*_NUMBERS, bool, SymNumber):
            if type(other) in (str, bytes, type(None), tuple, list, dict):
                return NotImplemented
            return fn(self.plain(), other)
        value = fn(self.value, other.value if type(other) is SymNumber else other)
        return self.tape.need(fn, (self, other), value)

    return method


def _asked(fn: Callable) -> Callable:
    return lambda self: self.tape.need(fn, (self,), fn(self.value))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(SymNumber, f"__{_name}__", _binary(getattr(operator, _name), False))
    setattr(SymNumber, f"__r{_name}__", _binary(getattr(operator, _name), True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(SymNumber, f"__{_name}__", _compared(getattr(operator, _name)))
for _name, _fn in (("neg", operator.neg), ("pos", operator.pos), ("abs", operator.abs),
                   ("floor", math.floor), ("ceil", math.ceil), ("trunc", math.trunc)):
    setattr(SymNumber, f"__{_name}__", lambda self, fn=_fn: _made(fn, self))
for _name, _fn in (("bool", bool), ("int", int), ("float", float), ("complex", complex), ("hash", hash),
                   ("index", operator.index), ("str", str), ("repr", repr)):
    setattr(SymNumber, f"__{_name}__", _asked(_fn))
SymNumber.__format__ = lambda self, spec: format(self.plain(), spec)
for _name in ("divmod", "and", "or", "xor", "lshift", "rshift"):
    _whole = getattr(operator, _name, None) or getattr(operator, f"{_name}_", divmod)
    setattr(SymNumber, f"__{_name}__", lambda self, other, fn=_whole: fn(self.plain(), other))
    setattr(SymNumber, f"__r{_name}__", lambda self, other, fn=_whole: fn(other, self.plain()))
