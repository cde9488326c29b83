"""A bar of progress: tqdm's where that is installed, or a count on the standard error stream."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from typing import Any


class Bar:
    """Counts what it goes through, and writes how far it is.

    Args:
        iterable: what it goes through; None where `update` is called instead.
        total: how much there is; the iterable's length by default, where it has one.
        disable: write nothing.
        kwargs: further options of tqdm's, of which ``desc`` is written before the count.
    """

    def __init__(self, iterable: Iterable | None = None, total: int | None = None, disable: bool = False,
                 **kwargs: Any) -> None:
        self.iterable, self.disable, self.desc, self.n = iterable, disable, kwargs.get("desc"), 0
        self.total = len(iterable) if total is None and hasattr(iterable, "__len__") else total

    def __iter__(self) -> Iterator:
        with self:
            for x in self.iterable or ():
                yield x
                self.update(1)

    def update(self, n: int = 1) -> None:
        """Add ``n``."""
        self.n += n
        if not self.disable:
            of = f"/{self.total}" if self.total else ""
            sys.stderr.write(f"\r{f'{self.desc}: ' if self.desc else ''}{self.n}{of}")
            sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if not self.disable and self.n:
            sys.stderr.write("\n")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def tqdm() -> type:
    """The class of bars."""
    if importlib.util.find_spec("tqdm") is None:
        return Bar
    return importlib.import_module("tqdm.auto").tqdm
