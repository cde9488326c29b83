"""Constructors with some arguments given: how a `QConfig` says which observers are made."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class PartialWrapper:
    """A constructor with arguments given, and with functions that are called for others when it is called.

    Args:
        made: a `functools.partial` of the constructor.
    """

    def __init__(self, made: functools.partial) -> None:
        self.p = made
        self.callable_args: dict[str, Callable] = {}

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        for name, fn in self.callable_args.items():
            if name not in keywords:
                keywords[name] = fn()
        return self.p(*args, **keywords)

    def __repr__(self) -> str:
        return repr(self.p) + repr(self.callable_args)

    def with_args(self, **kwargs: Any) -> PartialWrapper:
        """The same with further arguments."""
        return with_args(self, **kwargs)

    def with_callable_args(self, **kwargs: Callable) -> PartialWrapper:
        """The same with functions that give further arguments at each call."""
        return with_callable_args(self, **kwargs)


def with_args(made: Any, **kwargs: Any) -> PartialWrapper:
    """A constructor with arguments given."""
    return PartialWrapper(functools.partial(made, **kwargs))


def with_callable_args(made: Any, **kwargs: Callable) -> PartialWrapper:
    """A constructor with functions that are called for arguments at each call."""
    given = PartialWrapper(functools.partial(made))
    given.callable_args = {**kwargs}
    return given
