"""What is otherwise for the length of a block: set by one call, and what it was after whatever happens.

NOTE [Modes and interrupts]
    A KeyboardInterrupt may come between any two bytecodes, and a mode that stays on after it silently changes
    what a program computes. So what was before is noted before anything is changed; all fields of a mode are
    changed by one C call; entering undoes it if it does not end well, and leaving does it again. What
    remains are windows of Python's ``with`` itself: between the end of the block and the first ``try`` of
    ``__exit__``, and between the last call of ``__enter__`` and its return (where no signal is answered).
    Functions that run another one in a mode have no window at all: they restore the modes once more
    where an exception leaves them (`Restored.run`, and all of these as decorators). So whatever is put back
    may be put back twice. ``tests/hazards/modes.py`` tries all of it.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any


class Restored:
    """A ``with`` block after which something is as it was before, whatever happens; also a decorator.

    Subclasses say what is noted, what is changed, and how it is put back. The block gets ``given``.
    """

    __slots__ = ("_before", "given")

    def __init__(self, given: Any = None) -> None:
        self.given = given
        self._before: tuple | None = None

    def noted(self) -> Any:
        """How it is now."""
        raise NotImplementedError

    def change(self) -> None:
        """Begin the block."""

    def put_back(self, before: Any) -> None:
        """Make it what was ``noted``, by one C call; a second one must do no harm."""
        raise NotImplementedError

    def left(self) -> None:
        """Called when the block was left, and all is as before."""

    def __enter__(self) -> Any:
        before = self.noted()
        self._before = before, self._before
        try:
            self.change()
            return self.given
        except BaseException:
            self.put_back(before)
            raise

    def __exit__(self, *exc: object) -> None:
        before, outer = self._before
        try:
            self.put_back(before)
            self._before = outer
        except BaseException:
            self.put_back(before)
            self._before = outer
            raise
        self.left()

    def run(self, fn: Callable, *args: Any, **kwargs: Any) -> Any:
        """What ``fn`` returns in such a block, which has no window: NOTE [Modes and interrupts]."""
        before = self.noted()
        try:
            with self:
                return fn(*args, **kwargs)
        except BaseException:
            self.put_back(before)
            raise

    def __call__(self, fn: Callable) -> Callable:
        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return copy.copy(self).run(fn, *args, **kwargs)

        return wrapped


class Kept(Restored):
    """Attributes of an object, such as a thread's state, that are after the block what they were before.

    The object keeps them in its ``__dict__`` and may have defaults in its class.
    """

    __slots__ = ("holder", "names")

    def __init__(self, holder: Any, *names: str) -> None:
        super().__init__()
        self.holder, self.names = holder, names

    def noted(self) -> dict[str, Any]:
        """Their values."""
        holder = self.holder
        return {name: getattr(holder, name) for name in self.names}

    def put_back(self, before: dict[str, Any]) -> None:
        """Set all of them at once."""
        self.holder.__dict__.update(before)


class Changed(Kept):
    """Attributes of an object that have other values inside the block, which gets ``given``."""

    __slots__ = ("values",)

    def __init__(self, holder: Any, given: Any = None, /, **values: Any) -> None:
        super().__init__(holder, *values)
        self.given, self.values = given, values

    def change(self) -> None:
        """Set all of them at once."""
        self.holder.__dict__.update(self.values)
