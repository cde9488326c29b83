"""Functions made with symbolic sizes, made again with numbers in their place.

NOTE [Lowered once]
    The interpreter's functions are closures over shapes and parameters. A family's jaxpr is lowered with its
    symbolic sizes, under guards as when it was traced; the functions that come out cannot run, for NumPy
    refuses a size that is no number. For each member their closures are copied with the sizes evaluated,
    which takes microseconds where lowering takes as long as tracing did. Only what is known to hold no size,
    or is known how to copy, is let through: with anything else in a closure each member is lowered by itself.
    An empty dict might be a cache of one size's arrays, and is not let through either.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .symbolic_dims import SymInt

#: Makes an object again, given the numbers of the sizes by their source.
Maker = Callable[[dict[str, int]], Any]

_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type, range, np.dtype,
          np.generic, np.ufunc, types.BuiltinFunctionType, types.MethodDescriptorType, types.ModuleType,
          type(np.sum))
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def _unfinished(values: dict[str, int]) -> Any:
    """In the place of how to make what is being looked at."""


class Unknown(TypeError):
    """A closure holds what may or may not hold a size."""


class Rebinding:
    """How to make ``function`` again for other numbers; ``sources`` are the sizes it depends on.

    Raises:
        Unknown: see NOTE [Lowered once].
    """

    def __init__(self, function: Callable) -> None:
        self.sources: dict[str, None] = {}
        self._known: dict[int, Maker | None] = {}
        self._kept: list = []  # the objects whose ids are in ``_known``
        self.function = function
        self.maker = self._maker(function)

    def __call__(self, values: dict[str, int]) -> Callable:
        return self.function if self.maker is None else self.maker(values)

    def _maker(self, x: Any) -> Maker | None:
        """How to make ``x`` again; None where it holds no size."""
        kind = type(x)
        if kind is SymInt:
            source = x.source
            self.sources[source] = None
            return lambda values: values[source]
        if issubclass(kind, _PLAIN):
            return None
        if id(x) in self._known:
            found = self._known[id(x)]
            if found is _unfinished:
                raise Unknown("a closure that holds itself")
            return found
        self._known[id(x)] = _unfinished
        self._kept.append(x)
        found = self._known[id(x)] = self._composed(x, kind)
        return found

    def _composed(self, x: Any, kind: type) -> Maker | None:
        if kind is types.FunctionType:
            return self._function(x)
        if issubclass(kind, tuple):
            return self._items(x, kind._make if hasattr(kind, "_make") else kind)
        if kind is list:
            return self._items(x, list)
        if kind is dict:
            if not x:
                raise Unknown("an empty dict")
            return self._items(tuple(x.items()), dict)
        if kind is slice:
            return self._items((x.start, x.stop, x.step), lambda items: slice(*items))
        if kind is functools.partial:
            parts = (x.func, x.args, tuple(x.keywords.items()))
            return self._items(parts, lambda p: functools.partial(p[0], *p[1], **dict(p[2])))
        if kind is np.ndarray and x.dtype != object:
            return None
        if kind in _GETTERS:
            make, arguments = x.__reduce__()
            return self._items((make, *arguments), lambda items: items[0](*items[1:]))
        raise Unknown(f"{kind.__module__}.{kind.__name__}")

    def _items(self, items: Any, make: Callable) -> Maker | None:
        makers = [self._maker(item) for item in items]
        if not any(makers):
            return None
        pairs = list(zip(items, makers, strict=True))
        return lambda values: make([x if m is None else m(values) for x, m in pairs])

    def _function(self, function: types.FunctionType) -> Maker | None:
        cells = function.__closure__ or ()
        try:
            held = tuple(cell.cell_contents for cell in cells)
        except ValueError as error:
            raise Unknown("an empty cell") from error
        inner = self._maker(held) if held else None
        defaults = self._maker(function.__defaults__)
        named = self._maker(function.__kwdefaults__)
        if inner is None and defaults is None and named is None:
            return None

        def make(values: dict[str, int]) -> Callable:
            new = types.FunctionType(
                function.__code__, function.__globals__, function.__name__,
                function.__defaults__ if defaults is None else defaults(values),
                cells if inner is None else tuple(map(types.CellType, inner(values))),
            )
            new.__kwdefaults__ = function.__kwdefaults__ if named is None else named(values)
            return new

        return make
