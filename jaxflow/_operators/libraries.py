"""Compiled libraries of operators, by the name of their package, that jaxflow has the operators of."""

from __future__ import annotations

import os
from collections.abc import Callable

#: What registers the operators, by package and file without endings.
_known: dict[tuple[str, str], Callable[[], object]] = {}
#: The paths that were loaded.
loaded: set[str] = set()


def provide(package: str, stem: str, register: Callable[[], object]) -> None:
    """Have ``register`` called in place of loading the file ``<package>/<stem>.so``."""
    _known[package, stem] = register


def load(path: str) -> None:
    """Register the operators of a library. OSError for one that jaxflow has none of."""
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    register = _known.get((os.path.basename(folder), name.partition(".")[0]))
    if register is None:
        raise OSError(f"Could not load this library: {path}: it is compiled against PyTorch, which jaxflow "
                      "does not use")
    if path not in loaded:
        register()
        loaded.add(path)
