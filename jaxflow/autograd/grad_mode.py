"""Grad modes as context managers and decorators. Each belongs to the thread that enters it."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from jaxflow._dispatch.state import state


class _Mode:
    """Sets this thread's mode on entry and restores it on exit; decorates functions and generators."""

    def __init__(self) -> None:
        self._before: list[tuple[bool, bool]] = []

    def _values(self) -> tuple[bool, bool]:
        raise NotImplementedError("a mode says what grad and inference become")

    def clone(self) -> _Mode:
        """A fresh mode of the same kind, for one call of a decorated function."""
        return type(self)()

    def __enter__(self) -> None:
        self._before.append((state.grad, state.inference, state.constant))
        state.grad, state.inference = self._values()
        state.constant = not state.grad

    def __exit__(self, *exc) -> None:
        state.grad, state.inference, state.constant = self._before.pop()

    def __call__(self, fn):
        if inspect.isclass(fn):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should "
                "only decorate functions or methods. To preserve the current behavior of class "
                "decoration, you can directly decorate the `__init__` method and nothing else.",
                FutureWarning, stacklevel=2,
            )
            fn.__init__ = self(fn.__init__)
            return fn
        if inspect.isgeneratorfunction(fn):
            return _around_generator(self, fn)

        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            with self.clone():
                return fn(*args, **kwargs)

        return wrapped


def _around_generator(mode: _Mode, fn):
    """The mode holds while the generator runs, and not between its steps."""

    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        gen = fn(*args, **kwargs)
        try:
            with mode.clone():
                item = gen.send(None)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    with mode.clone():
                        gen.close()
                    raise
                except BaseException as error:
                    with mode.clone():
                        item = gen.throw(error)
                else:
                    with mode.clone():
                        item = gen.send(sent)
        except StopIteration as stop:
            return stop.value

    return wrapped


class _NoParamDecoratorContextManager(_Mode):
    """A mode that may be used as ``@no_grad`` as well as ``@no_grad()``."""

    def __new__(cls, fn: Any = None):
        return object.__new__(cls) if fn is None else cls()(fn)

    def __init__(self, fn: Any = None) -> None:
        super().__init__()


class no_grad(_NoParamDecoratorContextManager):
    """Record nothing: results do not require grad. Thread-local; also a decorator."""

    def __init__(self) -> None:
        super().__init__()

    def _values(self) -> tuple[bool, bool]:
        return False, state.inference


class enable_grad(_NoParamDecoratorContextManager):
    """Record again inside ``no_grad``. Thread-local; also a decorator."""

    def _values(self) -> tuple[bool, bool]:
        return True, state.inference


class set_grad_enabled(_Mode):
    """Switch recording on or off: at once when called, and back at the end of a ``with`` block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.mode = mode
        self._outer, self._outer_constant = state.grad, state.constant
        state.grad, state.constant = mode, not mode

    def clone(self) -> set_grad_enabled:
        """A fresh mode of the same kind."""
        return type(self)(self.mode)

    def _values(self) -> tuple[bool, bool]:
        return bool(self.mode), state.inference

    def __enter__(self) -> None:
        self._before.append((self._outer, state.inference, self._outer_constant))
        state.grad, state.constant = bool(self.mode), not self.mode

    def __call__(self, fn):
        # As a decorator it must not change the mode outside the calls.
        state.grad, state.constant = self._outer, self._outer_constant
        return super().__call__(fn)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mode={self.mode})"


class inference_mode(_Mode):
    """``no_grad`` whose results may never take part in autograd. Thread-local; also a decorator."""

    def __new__(cls, mode: Any = True):
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def clone(self) -> inference_mode:
        """A fresh mode of the same kind."""
        return type(self)(self.mode)

    def _values(self) -> tuple[bool, bool]:
        return not self.mode, self.mode


def is_grad_enabled() -> bool:
    """Whether this thread records operations."""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return state.inference


class set_multithreading_enabled(_Mode):
    """Whether backward may use several threads: PyTorch's switch, set at once or for a block.

    A pass runs in the thread that asks for it anyhow; XLA spreads the work of its programs.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.prev = state.multithreading
        self.mode = state.multithreading = mode

    def clone(self) -> set_multithreading_enabled:
        """A fresh one, for one call of a decorated function."""
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        """Nothing: it was set when made."""

    def __exit__(self, *exc) -> None:
        state.multithreading = self.prev


def is_multithreading_enabled() -> bool:
    """What ``set_multithreading_enabled`` says in this thread."""
    return state.multithreading
