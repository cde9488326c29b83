"""Which instruction asks for a hash or a comparison.

NOTE [Decisions and lookups]
    ``n == 8`` in a body is a decision: what is traced depends on the answer, so that is written down. A hash
    table that asks the same looks for a key, and has to find what is the same and nothing else. Python's own
    tables compare only keys of equal hashes. jax's tables in C++, above all the one of all the shapes and
    dtypes that are alive, compare by seven bits of the hash: there a size met numbers in one lookup of six,
    other numbers in each process, and what it answered by its hint became a guard; or, where the hint was
    that number, the result had the number in place of the size.

    The two differ in what comes before: a lookup has asked for the hash of its key, in the same instruction
    of the same frame, since nothing of Python lies between but the ``__hash__`` and ``__eq__`` of keys that
    hold the size. A lookup that does not ask a size for its hash, because the table keeps hashes or leaves
    the size out of them (jax's tables of tuples that are static arguments), is taken for a decision: that is
    a guard too many, never one too few.
"""

from __future__ import annotations

from sys import _getframe

_OF_KEYS = frozenset({"__eq__", "__hash__", "__ne__", "_decide"})


def asking() -> tuple[int, int]:
    """The frame and the instruction, outside of all ``__hash__`` and ``__eq__``, that is being executed."""
    frame = _getframe(2)
    while frame.f_code.co_name in _OF_KEYS:
        frame = frame.f_back
    return id(frame), frame.f_lasti
