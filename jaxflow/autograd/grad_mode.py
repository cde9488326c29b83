"""Grad modes as context managers and decorators. Each belongs to the thread that enters it."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from jaxflow._core.state import state

# What a mode changes, if it changes only whether operations are recorded.
_OFF = {"grad": False, "constant": True}
_ON = {"grad": True, "constant": False}
_INFERENCE = {"grad": False, "inference": True, "constant": True}
_NORMAL = {"grad": True, "inference": False, "constant": False}


def _noted() -> dict[str, bool]:
    """This thread's modes, as they are to be restored."""
    return {"grad": state.grad, "inference": state.inference, "constant": state.constant}


class _Mode:
    """Sets this thread's mode on entry and restores it on exit; decorates functions and generators.

    See NOTE [Modes and interrupts].
    """

    _values: dict[str, bool] = {}  # what a subclass changes
    _before: tuple | None = None  # what was before the last entry, and this before it

    def clone(self) -> _Mode:
        """A fresh mode of the same kind, for one call of a decorated function."""
        return type(self)()

    def __enter__(self) -> None:
        before = {"grad": state.grad, "inference": state.inference, "constant": state.constant}
        self._before = before, self._before
        fields = state.__dict__
        try:
            fields.update(self._values)
        except BaseException:
            fields.update(before)
            raise

    def __exit__(self, *exc) -> None:
        before, outer = self._before
        try:
            state.__dict__.update(before)
            self._before = outer
        except BaseException:
            state.__dict__.update(before)
            self._before = outer
            raise

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
            before = _noted()
            try:
                with self.clone():
                    return fn(*args, **kwargs)
            except BaseException:
                state.__dict__.update(before)
                raise

        return wrapped


def _step(mode: _Mode, call, *args):
    """``call`` in a fresh mode of this kind."""
    before = _noted()
    try:
        with mode.clone():
            return call(*args)
    except BaseException:
        state.__dict__.update(before)
        raise


def _around_generator(mode: _Mode, fn):
    """The mode holds while the generator runs, and not between its steps."""

    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        gen = fn(*args, **kwargs)
        try:
            item = _step(mode, gen.send, None)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    _step(mode, gen.close)
                    raise
                except BaseException as error:
                    item = _step(mode, gen.throw, error)
                else:
                    item = _step(mode, gen.send, sent)
        except StopIteration as stop:
            return stop.value

    return wrapped


class _NoParamDecoratorContextManager(_Mode):
    """A mode that may be used as ``@no_grad`` as well as ``@no_grad()``."""

    def __new__(cls, fn: Any = None):
        return object.__new__(cls) if fn is None else cls()(fn)

    def __init__(self, fn: Any = None) -> None:
        """Nothing is set before the block."""


class no_grad(_NoParamDecoratorContextManager):
    """Record nothing: results do not require grad. Thread-local; also a decorator."""

    _values = _OFF

    def __init__(self) -> None:
        """Nothing is set before the block."""


class enable_grad(_NoParamDecoratorContextManager):
    """Record again inside ``no_grad``. Thread-local; also a decorator."""

    _values = _ON


class set_grad_enabled(_Mode):
    """Switch recording on or off: at once when called, and back at the end of a ``with`` block."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.mode = mode
        self._values = _ON if mode else _OFF
        self._outer = {"grad": state.grad, "inference": state.inference, "constant": state.constant}
        fields = state.__dict__
        try:
            fields.update(self._values)
        except BaseException:
            fields.update(self._outer)
            raise

    def clone(self) -> set_grad_enabled:
        """A fresh mode of the same kind."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        try:
            before = {**self._outer, "inference": state.inference}
            self._before = before, self._before
            state.__dict__.update(self._values)
        except BaseException:
            state.__dict__.update(grad=self._outer["grad"], constant=self._outer["constant"])
            raise

    def __call__(self, fn):
        # As a decorator it must not change the mode outside the calls.
        state.__dict__.update(grad=self._outer["grad"], constant=self._outer["constant"])
        return super().__call__(fn)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mode={self.mode})"


class inference_mode(_Mode):
    """``no_grad`` whose results may never take part in autograd. Thread-local; also a decorator."""

    def __new__(cls, mode: Any = True):
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._values = _INFERENCE if mode else _NORMAL

    def clone(self) -> inference_mode:
        """A fresh mode of the same kind."""
        return type(self)(self.mode)


def is_grad_enabled() -> bool:
    """Whether this thread records operations.

    Returns:
        A bool: True at first, False inside `no_grad` and `inference_mode`.

    Example:
        >>> torch.is_grad_enabled()
        True
        >>> with torch.no_grad():
        ...     torch.is_grad_enabled()
        False
    """
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return state.inference


class set_multithreading_enabled(_Mode):
    """Whether backward may use several threads: PyTorch's switch, set at once or for a block.

    A pass always runs in the thread that calls it; XLA spreads the work of its programs.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.prev = state.multithreading
        state.multithreading = mode  # last

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
