"""Who watches what runs: the profiler, while there is one.

``run`` checks whether one global list has a watcher; that is all a profiler costs when it is off. A watcher
gets the plan and its inputs, runs them, and takes the time. Programs and compilations are reported by
``explain``, which is called for each of them anyway.
"""

from __future__ import annotations

from typing import Any, Protocol


class Watcher(Protocol):
    """What a watcher has to be able to do."""

    def run(self, run: Any, plan: Any, inputs: list) -> list:
        """Run a plan by ``run(plan, inputs, True)`` and return what that returns."""

    def ran(self, name: str, seconds: float) -> None:
        """A program was run just now; closing and dispatch took ``seconds``."""

    def compiled(self, name: str, seconds: float) -> None:
        """A program was compiled just now, in ``seconds``."""


WATCHERS: list[Watcher] = []
