"""The table of rules: what each lax primitive is in NumPy.

A rule gets a `Site`, which is one equation, and returns a function of that equation's arrays, with everything
decided that does not depend on their numbers. It returns `SAME` where the result is the first input, and
None where it does not support these dtypes or parameters: the equation then runs through XLA.

NOTE [Compact values]
    A value that is constant along an axis need not be spread out: ``broadcast_in_dim`` of a row is the row
    itself, as long as what reads it is elementwise, for NumPy broadcasts on its own. So lowering keeps for
    each value two shapes: that of its aval, and the *compact* one of the array that stands for it, which
    broadcasts to the first by NumPy's rules. Rules that are ``compact`` take and return such arrays;
    before any other rule reads one, and before it is returned, it is spread out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

#: What a rule returns where its result is its first input.
SAME = object()


class Site(NamedTuple):
    """One equation, as a rule sees it.

    Attributes:
        name: the primitive's name.
        params: its parameters.
        ins, outs: avals.
        known: per input its array where lowering has it already, else None.
        shapes: per input the shape of the array that stands for it; differs from the aval's for
            compact rules only.
        lower: lowers a ClosedJaxpr inside this one (loops and branches).
    """

    name: str
    params: dict[str, Any]
    ins: tuple
    outs: tuple
    known: tuple
    shapes: tuple
    lower: Callable

    @property
    def dtype(self) -> np.dtype:
        """The first result's dtype."""
        return self.outs[0].dtype


class Rule(NamedTuple):
    """A row: the function that makes a site's function, and what lowering needs to use it."""

    make: Callable[[Site], Any]
    compact: bool = False
    keys: bool = False


RULES: dict[str, Rule] = {}


def rule(*names: str, compact: bool = False, keys: bool = False) -> Callable:
    """Enter the decorated rule for these primitives; see NOTE [Compact values] for ``compact``.

    ``keys`` says that it takes arrays of random keys, which are arrays of uint32 with one more axis here.
    """

    def enter(make):
        for name in names:
            if name in RULES:
                raise ValueError(f"two rules for {name}")
            RULES[name] = Rule(make, compact, keys)
        return make

    return enter


def rows(functions: dict[str, Callable], wrap: Callable) -> None:
    """Enter many compact rules at once: ``wrap(function)`` is the rule of each name."""
    for name, function in functions.items():
        rule(name, compact=True)(wrap(function))
