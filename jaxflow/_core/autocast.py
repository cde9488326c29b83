"""What a thread's autocasting is set to, and which threads have it switched on.

NOTE [Autocast state]
    All of it is one tuple of the thread's state, which one store replaces. `CASTING` holds the threads in
    which it may be switched on; dispatch tests it for truth, which costs a few nanoseconds where no thread
    casts. A thread enters `CASTING` before its tuple says so and leaves it afterwards, so an interrupt in
    between costs time and changes no result.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from . import dtype as dtypes
from .device import device
from .modes import Restored
from .state import state

#: The identifiers of the threads that may cast.
CASTING: set[int] = set()

#: The lower precision of each type of device that autocasting exists for, as long as no other one is set.
LOWER = {
    "cpu": dtypes.bfloat16, "cuda": dtypes.float16, "mtia": dtypes.float16, "maia": dtypes.bfloat16,
    "xpu": dtypes.float16, "ipu": dtypes.float16, "hpu": dtypes.bfloat16, "xla": dtypes.bfloat16,
    "tpu": dtypes.bfloat16, "privateuseone": dtypes.float16, "mps": dtypes.float16,
}


class Settings(NamedTuple):
    """Autocasting of one thread.

    Attributes:
        enabled: the types of devices whose operations are cast.
        dtypes: the lower precision of each type of device that one was set for, as sorted pairs.
        cache: whether casts of weights are kept.
        nesting: how many regions are open.
    """

    enabled: frozenset[str] = frozenset()
    dtypes: tuple[tuple[str, dtypes.dtype], ...] = ()
    cache: bool = True
    nesting: int = 0

    def lower(self, device_type: str) -> dtypes.dtype:
        """The lower precision of a type of device."""
        if not self.dtypes:
            return LOWER[device_type]
        return dict(self.dtypes).get(device_type) or LOWER[device_type]

    def with_enabled(self, device_type: str, enabled: bool) -> Settings:
        """These settings with a type of device switched on or off."""
        one = frozenset((device_type,))
        return self._replace(enabled=self.enabled | one if enabled else self.enabled - one)

    def with_dtype(self, device_type: str, dtype: dtypes.dtype) -> Settings:
        """These settings with another lower precision of a type of device."""
        others = {**dict(self.dtypes), device_type: dtype}
        if dtype is LOWER[device_type]:
            del others[device_type]
        return self._replace(dtypes=tuple(sorted(others.items(), key=lambda pair: pair[0])))


DEFAULT = Settings(frozenset())


def settings() -> Settings:
    """This thread's autocasting."""
    return state.autocast or DEFAULT


def put(new: Settings) -> None:
    """Make these the thread's settings; a second call with the same does no harm.

    Casts of weights that were kept go with the last region.
    """
    changed: dict[str, Any] = {"autocast": None if new == DEFAULT else new}
    if not new.nesting:
        changed["casts"] = None
    if new.enabled:
        CASTING.add(threading.get_ident())
        state.__dict__.update(changed)
    else:
        state.__dict__.update(changed)
        CASTING.discard(threading.get_ident())


def type_of(device_type: str) -> str:
    """The type of device that a string such as ``"cuda:0"`` names. RuntimeError for a name that is none."""
    return device(device_type).type


def is_any_enabled() -> bool:
    """Whether this thread casts the operations of some type of device."""
    return bool(settings().enabled)


class Region(Restored):
    """A block after which this thread's settings are as they were before."""

    __slots__ = ()

    def noted(self) -> Settings:
        """The thread's settings."""
        return settings()

    def put_back(self, before: Settings) -> None:
        """End the region."""
        put(before)


class within(Region):  # noqa: N801 - reads like a function
    """A region with these settings, whatever the thread's are; for what runs again, later."""

    __slots__ = ()

    def change(self) -> None:
        """Begin the region."""
        put(self.given._replace(nesting=settings().nesting + 1))


class switched_off(Region):  # noqa: N801 - reads like a function
    """A block in which nothing on these types of devices is cast; a set of names."""

    __slots__ = ()

    def change(self) -> None:
        """Begin the block."""
        now = settings()
        put(now._replace(enabled=now.enabled - self.given))
