"""How to make an object like one that the captured call made: NOTE [Objects made anew]."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any


def maker_of(x: Any, parts: list[Callable]) -> Callable[[Any], Any]:
    """A function of a `Call` that makes one; ``parts`` give what stands in it, in the order of `apart`."""
    kind = type(x)
    if kind is FunctionType:
        return _function(x, parts)
    if kind is CellType:
        return lambda call: CellType(*[part(call) for part in parts])
    if kind is set or kind is frozenset:
        names = frozenset(x)
        return lambda call: kind(names)
    if kind is functools.partial:
        fn, args, keywords = parts
        return lambda call: kind(fn(call), *args(call), **keywords(call))
    names = tuple(vars(x))

    def made(call: Any) -> Any:
        new = kind.__new__(kind)
        new.__dict__.update(zip(names, [part(call) for part in parts]))
        return new

    return made


def _function(f: FunctionType, parts: list[Callable]) -> Callable[[Any], FunctionType]:
    *cells, defaults, keyword_defaults, attributes = parts
    code, space, name, doc, annotations = f.__code__, f.__globals__, f.__name__, f.__doc__, f.__annotations__
    qualname, module = f.__qualname__, f.__module__

    def made(call: Any) -> FunctionType:
        new = FunctionType(code, space, name, defaults(call), tuple([cell(call) for cell in cells]) or None)
        new.__kwdefaults__, new.__qualname__, new.__module__ = keyword_defaults(call), qualname, module
        new.__doc__, new.__annotations__ = doc, dict(annotations)
        new.__dict__.update(attributes(call))
        return new

    return made
