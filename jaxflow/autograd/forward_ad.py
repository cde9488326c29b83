"""Forward mode: dual tensors inside a ``dual_level``; see NOTE [Duals]."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch import forward
from jaxflow._dispatch.viewing import apply_view

from .grad_mode import _Mode

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]

class OpenLevels(threading.local):
    """The levels this thread has opened, outermost first."""

    def __init__(self) -> None:
        self.levels: list[forward.Level] = []


# The one level of this interface; `jaxflow.func.jvp` opens others inside each other.
_open = OpenLevels()


def enter_dual_level() -> int:
    """Open the forward-mode level and return its number, 0. RuntimeError if it is open: they do not nest."""
    if _open.levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _open.levels.append(forward.Level())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level; all its tangents are dropped. RuntimeError if it is not the last one entered."""
    if not _open.levels and level in (None, -1):
        raise RuntimeError("Dual level must be a positive number.")
    if level is not None and level != len(_open.levels) - 1:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    _open.levels.pop().close()


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
    return forward.make_dual(tensor, tangent, _open.levels[level], level)


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
    return UnpackedDualTensor(*forward.unpack_dual(tensor, _open.levels[level]))


class dual_level(_Mode):
    """The level for the ``with`` block, or for the calls of a decorated function."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: Any) -> None:
        exit_dual_level()


def _is_fwd_grad_enabled() -> bool:
    return forward.is_enabled()


class _set_fwd_grad_enabled(_Mode):
    """Let operations see tangents or not: at once, and as before at the end of a ``with`` block."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.prev = mode, forward.is_enabled()
        forward.set_enabled(mode)

    def clone(self) -> _set_fwd_grad_enabled:
        """A fresh mode of the same kind, for one call of a decorated function."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        forward.set_enabled(self.mode)

    def __exit__(self, *exc: Any) -> None:
        forward.set_enabled(self.prev)
