"""Sizes that stand for any number: what a plan's body is traced with once for all shapes of a family.

NOTE [Symbolic sizes]
    jax traces a function for shapes whose extents are objects of this kind: integer polynomials of a few
    symbols, each with a *hint*, the number it has in the call at hand. What a body, or jax, decides by a size
    (``n == 1``, ``n > 8``, ``n % 4``) is decided by the hint, and written down as a *guard* of the trace.
    The trace serves those numbers, and only those, under which all its guards have the same answer. So a
    trace can never be used where a concrete one would have taken another path, and nobody who writes a body
    has to know of this. What needs the number itself (``int``, ``range``, ``float``) raises TypeError; then
    the number is no symbol. Four things make this sound and must stay so:

    - A size is no ``int``: C code that is given one cannot read its hint behind our back.
    - Its hash is that of the expression, only caches of traces are given it (NOTE [No size in a body's
      tables]), and names are used once: no cache (jax keeps traces of inner
      functions by avals) mistakes a size for its hint, or for a size of another family, whose guards would
      be lost. Guards belong to the `ShapeEnv` of the symbols, so a cached inner trace left its guards there.
    - Some of those caches (in C++) call ``==`` on entries whose hashes differ, and which entries those are
      changes from process to process. A hash table that looks for a key decides nothing: to it a size equals
      nothing but itself, and no guard is written (NOTE [Decisions and lookups]). So neither guards nor
      results depend on what jax has cached.
    - A size equals its hint only inside its env's ``with`` block and thread, where the guard is written
      down; at all other times it equals nothing but itself.

    For ``isinstance`` a size is an ``int``, as the number would be that it stands for: code that
    distinguishes numbers from lists of them, or from arrays, takes the path that it takes for the number.
"""

from __future__ import annotations

import itertools
import operator
import threading
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from jaxflow._core.jax_compat import Primitive

from .lookups import asking, looking

_serials = itertools.count()

#: The smallest number a symbol stands for: 0 and 1 mean something else to many functions.
LEAST = 2


class ShapeEnv:
    """The symbols of one family and the guards of what was traced with them.

    Expressions and guards are Python source over the symbols' names, which is how they are evaluated.
    Tracing happens inside ``with env``, in one thread.
    """

    def __init__(self) -> None:
        self.thread: int | None = None
        self.names: list[str] = []
        self.guards: dict[str, None] = {}
        self.serial = next(_serials)
        self.hashed: tuple[int, int] | None = None  # where the hash of one of these sizes was read last

    def __enter__(self) -> ShapeEnv:
        self.thread = threading.get_ident()
        return self

    def __exit__(self, *_) -> None:
        self.thread = self.hashed = None

    @property
    def open(self) -> bool:
        """Whether this thread traces with these symbols: what is decided by their hints becomes a guard."""
        return self.thread is not None and self.thread == threading.get_ident()

    def symbol(self, hint: int) -> SymInt:
        """A new symbol, of which nothing is known but that it is at least ``LEAST``."""
        name = f"s{len(self.names)}"
        self.names.append(name)
        return SymInt(self, {(name,): 1}, hint)

    def holds(self, guards: Iterable[str]) -> Callable[..., bool]:
        """A function of the symbols' numbers: whether all guards hold."""
        return self.compiled(" and ".join(f"({g})" for g in guards) or "True")

    def compiled(self, source: str) -> Callable:
        """A function of the symbols' numbers that evaluates ``source``."""
        return eval(f"lambda {', '.join(self.names)}: {source}", {**_FUNCTIONS, "__name__": __name__})


_FUNCTIONS = {"__builtins__": {}, "max": max, "min": min}


def source_of(x: Any) -> str:
    """The source of an integer or a size."""
    return x.source if type(x) is SymInt else str(operator.index(x))


class SymInt:
    """An integer polynomial of symbols; see NOTE [Symbolic sizes]."""

    __slots__ = ("_hash", "hint", "env", "source", "terms")

    def __init__(self, env: ShapeEnv, terms: dict[tuple[str, ...], int], hint: int) -> None:
        self.env = env
        self.terms = terms
        self.hint = hint
        self.source = " + ".join(
            "*".join((*((str(c),) if c != 1 or not m else ()), *m)) for m, c in sorted(terms.items())
        )
        self._hash = hash((env.serial, self.source))

    @property
    def __class__(self):
        return int

    def __repr__(self) -> str:
        return self.source

    def __hash__(self) -> int:
        if self.env.thread is not None:
            self.env.hashed = looking()
        return self._hash

    def __reduce__(self):
        raise TypeError("a symbolic size cannot be pickled")

    # -- the number itself is not to be had
    def __index__(self) -> int:
        raise TypeError(f"the size {self.source} is symbolic")

    __int__ = __float__ = __complex__ = __round__ = __index__

    # -- arithmetic
    def _new(self, terms: dict, hint: int):
        terms = {m: c for m, c in terms.items() if c}
        if not terms:
            return 0
        if len(terms) == 1 and () in terms:
            return terms[()]
        return SymInt(self.env, terms, hint)

    def _atom(self, source: str, hint: int) -> SymInt:
        return SymInt(self.env, {(source,): 1}, hint)

    def __add__(self, other):
        other = _exact(other)
        if other is None:
            return NotImplemented
        terms = dict(self.terms)
        for m, c in _terms(other).items():
            terms[m] = terms.get(m, 0) + c
        return self._new(terms, self.hint + hint_of(other))

    def __mul__(self, other):
        other = _exact(other)
        if other is None:
            return NotImplemented
        terms: dict = {}
        for (m, c), (n, d) in itertools.product(self.terms.items(), _terms(other).items()):
            key = tuple(sorted((*m, *n)))
            terms[key] = terms.get(key, 0) + c * d
        return self._new(terms, self.hint * hint_of(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __pos__(self):
        return self

    def __abs__(self):
        return self if self >= 0 else -self

    def __sub__(self, other):
        other = _exact(other)
        return NotImplemented if other is None else self + -1 * other

    def __rsub__(self, other):
        return -self + other

    def __pow__(self, power):
        power = operator.index(power)
        if power < 0:
            return NotImplemented
        result = 1
        for _ in range(power):
            result = result * self
        return result

    def __divmod__(self, other):
        return _divided(self, other)

    def __rdivmod__(self, other):
        return _divided(other, self)

    def __floordiv__(self, other):
        return _divided(self, other)[0]

    def __rfloordiv__(self, other):
        return _divided(other, self)[0]

    def __mod__(self, other):
        return _divided(self, other)[1]

    def __rmod__(self, other):
        return _divided(other, self)[1]

    def max(self, other):
        """The larger one; jax calls it by this name."""
        return _extreme("max", self, other)

    def min(self, other):
        """The smaller one."""
        return _extreme("min", self, other)

    rmax, rmin = max, min

    # -- decisions
    def _decide(self, other, test: str, answer: Callable[[int, int], bool]):
        other = _exact(other)
        if other is None:
            return NotImplemented
        env = self.env
        if test == "==":
            if type(other) is SymInt and (other.env is not env or other.source == self.source):
                return other.env is env
            if not env.open or env.hashed == asking():
                return False
        elif not env.open or (type(other) is SymInt and other.env is not env):
            raise RuntimeError(f"the size {self.source} is compared outside of its trace")
        env.hashed = None
        rest = self - other
        if type(rest) is not SymInt:
            return answer(rest, 0)
        found = answer(rest.hint, 0)
        low, high = rest._bounds()
        if not ((low is not None and low > 0) or (high is not None and high < 0)
                or (low is not None and low == 0 and test == ">=")):
            env.guards[f"{rest.source} {test} 0" if found else f"not {rest.source} {test} 0"] = None
        return found

    def _bounds(self) -> tuple[int | None, int | None]:
        """A lower and an upper bound, where they follow from every symbol being at least ``LEAST``."""
        constant = self.terms.get((), 0)
        rest = [(m, c) for m, c in self.terms.items() if m]
        if not all(name in self.env.names for m, _ in rest for name in m):
            return None, None
        total = constant + sum(c * LEAST ** len(m) for m, c in rest)
        signs = {c > 0 for _, c in rest}
        return (total if signs == {True} else None), (total if signs == {False} else None)

    def __eq__(self, other):
        return self._decide(other, "==", operator.eq)

    def __ne__(self, other):
        found = self.__eq__(other)
        return found if found is NotImplemented else not found

    def __lt__(self, other):
        return self._decide(other, "<", operator.lt)

    def __le__(self, other):
        return self._decide(other, "<=", operator.le)

    def __gt__(self, other):
        return self._decide(other, ">", operator.gt)

    def __ge__(self, other):
        return self._decide(other, ">=", operator.ge)

    def __bool__(self) -> bool:
        return self != 0

    # -- as a number in a computation
    def dimension_as_value(self):
        """The size as a 0-d integer array; jax calls it by this name."""
        return size_p.bind(size=self)

    __jax_array__ = dimension_as_value

    @property
    def dtype(self):
        """The dtype of the value; jax reads that of arrays and sizes alike."""
        return _VALUE.dtype


def _exact(other: Any):
    """An operand as an int or a SymInt; None for anything else."""
    kind = type(other)
    if kind is SymInt or kind is int:
        return other
    return operator.index(other) if isinstance(other, (int, np.integer)) else None


def _terms(x) -> dict:
    return x.terms if type(x) is SymInt else ({(): x} if x else {})


def hint_of(x) -> int:
    """The number that an integer or a size has in the call at hand."""
    return x.hint if type(x) is SymInt else x


def _divided(a, b) -> tuple:
    """Quotient, rounded down, and remainder."""
    a, b = _exact(a), _exact(b)
    if a is None or b is None:
        return NotImplemented, NotImplemented
    if b == 0:
        raise ZeroDivisionError("division by zero")
    exact = _quotient(a, b)
    if exact is not None:
        return exact, 0
    either = a if type(a) is SymInt else b
    rest = either._atom(f"(({source_of(a)}) % ({source_of(b)}))", hint_of(a) % hint_of(b))
    # The remainder is mostly computed to be compared with 0; where it is 0 nothing else depends on it.
    if rest == 0:
        return either._atom(f"(({source_of(a)}) // ({source_of(b)}))", hint_of(a) // hint_of(b)), 0
    return either._atom(f"(({source_of(a)}) // ({source_of(b)}))", hint_of(a) // hint_of(b)), rest


def _quotient(a, b):
    """``a / b`` where every term of ``a`` is a multiple of the single term ``b``; None otherwise."""
    terms = _terms(b)
    if len(terms) != 1 or type(a) is not SymInt:
        return None
    ((names, factor),) = terms.items()
    result = {}
    for m, c in a.terms.items():
        left = list(m)
        for name in names:
            if name not in left:
                return None
            left.remove(name)
        if c % factor:
            return None
        result[tuple(left)] = c // factor
    return a._new(result, hint_of(a) // hint_of(b))


def _extreme(name: str, a, b):
    b = _exact(b)
    if b is None:
        return NotImplemented
    return (a if a >= b else b) if name == "max" else (a if a <= b else b)


_VALUE = jax.core.ShapedArray((), np.dtype(np.int64), weak_type=True)  # as of a Python int


size_p = Primitive("size")


@size_p.def_abstract_eval
def _value_of_size(*, size: SymInt) -> jax.core.ShapedArray:
    return _VALUE
