"""Modes for the length of a block: set by one call, and what they were after whatever happens.

NOTE [Modes and interrupts]
    A KeyboardInterrupt may come between any two bytecodes, and a mode that stays on after it silently changes
    what a program computes. So what was before is noted before anything is changed; all fields of a mode are
    changed by one C call; entering undoes it if it does not end well, and leaving does it again. What
    remains are windows of Python's ``with`` itself: between the end of the block and the first ``try`` of
    ``__exit__``, and between the last call of ``__enter__`` and its return (where no signal is answered).
    Functions that run another one in a mode have no window at all: they restore the modes once more
    where an exception leaves them. ``tests/hazards/modes.py`` tries all of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class Changed:
    """Attributes of an object, such as a thread's state, with other values inside a ``with`` block.

    The object keeps them in its ``__dict__`` and may have defaults in its class. The block gets ``given``.
    It decorates functions as well.
    """

    __slots__ = ("_before", "given", "holder", "values")

    def __init__(self, holder: Any, given: Any = None, /, **values: Any) -> None:
        self.holder, self.given, self.values = holder, given, values
        self._before: tuple | None = None

    def __enter__(self) -> Any:
        holder = self.holder
        before = {name: getattr(holder, name) for name in self.values}
        self._before = before, self._before
        try:
            holder.__dict__.update(self.values)
            return self.given
        except BaseException:
            holder.__dict__.update(before)
            raise

    def __exit__(self, *exc: object) -> None:
        before, outer = self._before
        try:
            self.holder.__dict__.update(before)
            self._before = outer
        except BaseException:
            self.holder.__dict__.update(before)
            self._before = outer
            raise
        self.left()

    def left(self) -> None:
        """Called when the block was left, with the values of before."""

    def __call__(self, fn: Callable) -> Callable:
        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            before = {name: getattr(self.holder, name) for name in self.values}
            try:
                with Changed(self.holder, **self.values):
                    return fn(*args, **kwargs)
            except BaseException:
                self.holder.__dict__.update(before)
                raise

        return wrapped
