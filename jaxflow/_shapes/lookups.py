"""Which instruction takes the hash of a size or compares it, and whether it may.

NOTE [Decisions and lookups]
    ``n == 8`` in a body is a decision: what is traced depends on the answer, so that is written down. A hash
    table that makes the same comparison looks for a key, and has to find what is the same and nothing else.
    Python's own tables compare only keys of equal hashes. jax's tables in C++, above all the one of all the
    shapes and dtypes that are alive, compare by seven bits of the hash: there a size was compared with
    numbers in one lookup of six, with other numbers in each process, and what its hint decided became a
    guard; or, where the hint was that number, the result had the number in place of the size.

    The two differ in what comes before: a lookup has taken the hash of its key, in the same instruction of
    the same frame, since nothing of Python lies between but the ``__hash__`` and ``__eq__`` of keys that hold
    the size. A lookup that does not take the hash of a size, because the table keeps hashes or leaves the
    size out of them (jax's tables of tuples that are static arguments), is taken for a decision: that is a
    guard too many, never one too few.

NOTE [No size in a body's tables]
    What is right for a table of what was traced is wrong for one that decides something: with a size in a
    set of dimensions, ``3 in dims`` is false whatever the size stands for, nothing is compared, and no guard
    is written. So only code that keeps what was traced may take the hash: jax, and the modules here that do
    the same. For all other code this raises TypeError, as taking the number itself does, and the sizes are
    traced one by one. For the standard library, NumPy and opt_einsum it depends on the code that called them.
"""

from __future__ import annotations

import sys
from sys import _getframe
from types import FrameType

from jaxflow._core.inner import name_of_module

_OF_KEYS = frozenset({"__eq__", "__hash__", "__ne__", "_decide"})
_ON_BEHALF = sys.stdlib_module_names | {"numpy", "opt_einsum"}
_KEEPERS = ("jax.", "jaxlib.", "jaxflow._core.aval", "jaxflow._core.budget", "jaxflow._core.graph",
            "jaxflow._core.memory_errors", "jaxflow._core.traces", "jaxflow._plans.",
            "jaxflow._transforms.", "jaxflow._shapes.", "jaxflow._exec.", "jaxflow._views.",
            "jaxflow._dispatch.", "jaxflow._memory.", "jaxflow._writes.", "jaxflow._publish.",
            "jaxflow._interpreter.lowering", "jaxflow._interpreter.fallback")


def _asker() -> FrameType:
    """The frame, outside of all ``__hash__`` and ``__eq__``, that takes the hash of a size or compares it."""
    frame = _getframe(3)
    while frame.f_code.co_name in _OF_KEYS:
        frame = frame.f_back
    return frame


def asking() -> tuple[int, int]:
    """The frame and the instruction that is being executed, by which a comparison is recognised."""
    frame = _asker()
    return id(frame), frame.f_lasti


def looking() -> tuple[int, int]:
    """The same for a hash. TypeError where the caller keeps no traces: NOTE [No size in a body's tables]."""
    frame = by = _asker()
    while by is not None:
        name = name_of_module(by.f_globals)
        if name.startswith(_KEEPERS):
            return id(frame), frame.f_lasti
        if name.partition(".")[0] not in _ON_BEHALF:
            raise TypeError(f"{name} asks for the hash of a size that is symbolic")
        by = by.f_back
    return id(frame), frame.f_lasti
