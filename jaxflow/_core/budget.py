"""The budget: how much is kept of what was planned, traced and compiled, and when the rest is let go.

NOTE [What is kept]
    Plans, views' plans, families of shapes and programs are made once for each shape and kept, because a
    program's key holds the plans themselves. A process that uses new shapes all the time would keep them for
    ever. So what is made is charged, in plans and in estimated bytes. Each time half of the budget is spent,
    a *generation* ends, and everything goes that was neither made nor used in the generation that ends: what
    is kept was made or used since the budget was last spent. What is in use stays, however much it is.

    Recording what was used costs nothing where it is used, because every cache has two dicts. Hits are found
    in the young one. At the end of a generation the old one is dropped, the young one becomes the old one,
    and an empty one takes its place; what is missed there and found in the old one is moved over. So a plan
    that was made before is found by one look-up in a plain dict, as without a budget.

    Only caches are emptied: a plan that a pending program, a node, a view or a compiled function refers to
    works as before, and what is needed again is made again. There may then be two plans of one key, so
    nothing may depend on there being one. Avals, which are compared by identity, are never let go while
    anything refers to them (`jaxflow._core.aval`). An exception that comes in the middle leaves caches that
    hold more or less than they might, and nothing wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from jax import monitoring

from jaxflow._core import flags, heap

#: Estimated bytes: of a plan of a family, with its avals and keys; of tracing one; of a compiled program, and
#: of each operation in it (kernels have pages, symbols and instructions of their own).
PLAN, TRACE, PROGRAM, STEP = 3_000, 24_000, 400_000, 20_000

#: The budget: bytes, and plans. The latter are counted by themselves, so that how many small ones are kept
#: does not hang on an estimate.
BYTES = flags.KEEP_MB << 20
PLANS = 32 * flags.KEEP_MB

_COMPILED = "/jax/core/compile/backend_compile_duration"


class Table:
    """A cache in two generations; see the NOTE."""

    __slots__ = ("each", "evicted", "name", "old", "young")

    def __init__(self, name: str, each: int = PLAN) -> None:
        self.name = name
        self.each = each
        self.young: dict = {}
        self.old: dict = {}
        self.evicted = 0
        tables.append(self)

    def get(self, key: Any) -> Any:
        """What is kept under ``key``, used by this; None if there is nothing."""
        found = self.young.get(key)
        if found is None:
            found = self.old.get(key)
            if found is not None:
                found = self.young.setdefault(key, found)
        return found

    def add(self, key: Any, value: Any) -> Any:
        """Keep ``value``; what another thread has put there meanwhile, if it has."""
        return self.young.setdefault(key, value)

    def rotate(self) -> None:
        """The end of a generation."""
        young, old = self.young, self.old
        self.evicted += sum(key not in young for key in list(old))
        self.old = young
        self.young = {}

    def clear(self) -> None:
        """Keep nothing."""
        self.young, self.old = {}, {}

    def __len__(self) -> int:
        return len({**self.old, **self.young})


class _Account:
    """What was made since the generation began, and which generation it is."""

    __slots__ = ("bytes", "generation", "plans")

    def __init__(self) -> None:
        self.generation = 1
        self.plans = self.bytes = 0


account = _Account()
tables: list[Table] = []

#: What ends a generation of the caches that are no `Table`.
on_rotate: list[Callable[[], None]] = []

#: For every cache of these a row ``(name, how many, estimated bytes, evicted)``.
reports: list[Callable[[], tuple[str, int, int, int]]] = []

_lock = threading.RLock()


def charge(size: int, plans: int = 0) -> None:
    """Something of about this many bytes was made. Nothing is let go before the next `settle`.

    A charge that is lost between two threads does not matter.
    """
    account.bytes += size
    account.plans += plans


def settle() -> None:
    """End the generation if half of the budget is spent. Called where something new was put into a cache."""
    if account.plans * 2 > PLANS or account.bytes * 2 > BYTES:
        rotate()


def rotate() -> None:
    """Let go what was neither made nor used since the last call."""
    with _lock:
        account.plans = account.bytes = 0
        account.generation += 1
        for table in tables:
            table.rotate()
        for end in on_rotate:
            end()
    heap.hand_back()


def report() -> dict[str, dict[str, int]]:
    """What each cache holds: ``count``, estimated ``bytes``, and how many were ``evicted``."""
    rows = [row() for row in reports]
    rows += [(table.name, len(table), len(table) * table.each, table.evicted) for table in tables]
    return {name: {"count": count, "bytes": size, "evicted": evicted} for name, count, size, evicted in rows}


def _note_compilation(event: str, seconds: float, **_: Any) -> None:
    if event == _COMPILED:
        charge(PROGRAM)


monitoring.register_event_duration_secs_listener(_note_compilation)
