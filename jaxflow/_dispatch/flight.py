"""What a compiled call gives away while other threads can see it.

NOTE [In flight]
    A compiled call gives away arrays of tensors that go on showing them: the new ones are stored when XLA has
    returned, and until then XLA lets other threads run. So the Values concerned are pending meanwhile: a
    `Flight` stands where the entry of another pending Value does, and who needs one waits until the call is
    over. Both are done in the C call that runs the program, and before it is asked there once more whether
    somebody refers to a Value or its array: who has got hold of one in time keeps it.

    What another thread writes in that time is not seen by this. So where several threads have used tensors
    (``several_threads``), a compiled call gives away copies, and stores what came back in a C call of its
    own, if nobody has changed meanwhile what it was computed from. Threads of this library that compile or
    load data do not count: to copy the whole state at each step because of them would be too dear.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from jaxflow._core.commit import stores
from jaxflow._core.value import Value

_active = threading._active  # type: ignore[attr-defined]  # active_count() takes a lock, ten times as long


def watched() -> bool:
    """Whether there are other threads of Python's: they may look at any tensor."""
    return len(_active) > 1


class Flight:
    """One call under way, as ``producer[0]`` of each of the Values whose arrays it has given away."""

    __slots__ = ("lock", "values")

    first, failed = 0, None

    def __init__(self, values: Sequence[Value]) -> None:
        self.lock = threading.RLock()
        self.values = values

    @property
    def program(self) -> Flight:
        """What has to end before the Values are there."""
        return self

    @property
    def undo(self) -> list:
        """Nobody reads what is noted here: the Values will be there."""
        return []

    gradients = undo

    def start(self) -> Iterable:
        """The stores that make the Values pending."""
        return stores(self.values, "producer", repeat((self, 0)))

    def end(self) -> Iterable:
        """The stores that end that."""
        return stores(self.values, "producer", repeat(None))

    def deliver(self, value: Value) -> None:
        """Wait for the call."""
        self.close("")

    def close(self, reason: str) -> None:
        """Wait for the call; should an interrupt have kept it from ending the flight, that is done here."""
        with self.lock:
            for v in self.values:
                producer: Any = v.producer
                if producer is not None and producer[0] is self:
                    v.producer = None
