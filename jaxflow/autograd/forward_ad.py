"""Forward mode: dual tensors inside a ``dual_level``; see NOTE [Duals]."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any, NamedTuple

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.viewing import apply_view

from . import forward_mode
from .grad_mode import _Mode

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]

class OpenLevels(threading.local):
    """The levels this thread has opened, outermost first."""

    levels: tuple[forward_mode.Level, ...] = ()


# The one level of this interface; `jaxflow.func.jvp` opens others inside each other.
_open = OpenLevels()


def __getattr__(name: str) -> int:
    if name == "_current_level":  # of this thread, -1 outside
        return len(_open.levels) - 1
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def enter_dual_level() -> int:
    """Open the forward-mode level and return its number, 0. RuntimeError if it is open: they do not nest."""
    if _open.levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    level = forward_mode.Level()
    try:  # NOTE [Modes and interrupts]
        level.open()
        _open.levels = (level,)
        return 0
    except BaseException:
        _open.levels = ()
        level.close()
        raise


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level; all its tangents are dropped. RuntimeError if it is not the last one entered."""
    if not _open.levels and level in (None, -1):
        raise RuntimeError("Dual level must be a positive number.")
    if level is not None and level != len(_open.levels) - 1:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    ended = _open.levels[-1]
    try:
        _open.levels = _open.levels[:-1]
        ended.close()
    except BaseException:
        _open.levels = tuple(x for x in _open.levels if x is not ended)
        ended.close()
        raise


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` that carries ``tangent``, a tensor of its shape, through what is computed from it.

    In-place operations on the dual write into ``tangent``, unless it is laid out differently.

    Raises:
        ValueError: for tensors that are neither floating point nor complex.
        RuntimeError: outside a level, for another size, and for duals of the same level.
    """
    if level is None:
        level = len(_open.levels) - 1
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    check_dtypes(tensor, tangent)
    if level >= len(_open.levels):
        raise RuntimeError("Invalid level given to _make_dual")
    return forward_mode.make_dual(tensor, tangent, _open.levels[level], level)


def check_dtypes(primal: Tensor, tangent: Tensor) -> None:
    """ValueError unless both are floating point or complex."""
    for name, t in (("primal", primal), ("tangent", tangent)):
        if t._aval.dtype.category < 2:
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: a dual's value and its tangent, None if it has none."""

    primal: Tensor
    tangent: Tensor | None


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a dual, as a view without tangent, and its tangent. Both may have a history."""
    if level is None:
        level = len(_open.levels) - 1
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if level >= len(_open.levels):
        return UnpackedDualTensor(apply_view("alias", tensor), None)
    return UnpackedDualTensor(*forward_mode.unpack_dual(tensor, _open.levels[level]))


class dual_level(_Mode):
    """The level for the ``with`` block, or for the calls of a decorated function."""

    def __call__(self, fn: Any) -> Any:
        inside = super().__call__(fn)
        if inspect.isclass(fn) or inspect.isgeneratorfunction(fn):
            return inside

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            before = _open.levels
            try:
                return inside(*args, **kwargs)
            except BaseException:
                _end(before)
                raise

        return wrapped

    def __enter__(self) -> int:
        before = _open.levels
        try:
            return enter_dual_level()
        except BaseException:
            _end(before)
            raise

    def __exit__(self, *exc: Any) -> None:
        before = _open.levels[:-1]
        try:
            exit_dual_level()
        except BaseException:
            _end(before)
            raise


def _end(before: tuple[forward_mode.Level, ...]) -> None:
    """End this thread's levels that were not open ``before``."""
    for level in _open.levels[len(before):]:
        level.close()
    _open.levels = before


def _is_fwd_grad_enabled() -> bool:
    return forward_mode.is_enabled()


class _set_fwd_grad_enabled(_Mode):
    """Let operations see tangents or not: at once, and as before at the end of a ``with`` block."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.prev = mode, forward_mode.is_enabled()
        forward_mode._state.enabled = mode  # one store, the last thing

    def clone(self) -> _set_fwd_grad_enabled:
        """A fresh mode of the same kind, for one call of a decorated function."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        try:
            return forward_mode.set_enabled(self.mode)
        except BaseException:
            forward_mode.set_enabled(self.prev)
            raise

    def __exit__(self, *exc: Any) -> None:
        try:
            forward_mode.set_enabled(self.prev)
        except BaseException:
            forward_mode.set_enabled(self.prev)
            raise
