"""Lowering with symbolic sizes: nothing that depends on one is computed at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import numpy as np

from .lowering import Builder, Ref, Step, lower
from .table import rule


@rule("size")
def _size(site):
    """A symbolic size as a number; once a family's member has put its own number in the place of it."""
    number, dtype = site.params["size"], site.dtype
    return lambda: np.array(number, dtype)[()]


class SymbolicBuilder(Builder):
    """Gathers steps some of which depend on sizes yet unknown: those whose function is ``symbolic``."""

    def __init__(self, symbolic: Callable[[Callable], bool]) -> None:
        super().__init__()
        self.symbolic = symbolic

    def large(self, avals: tuple) -> bool:
        """Of some of the sizes it may be."""
        return True

    def emit(self, function: Callable, ins: Sequence[Ref], outs: Sequence[Ref],
             several: bool = False) -> None:
        """A step, or its result, if all that it reads is known, sizes included."""
        if self.symbolic(function):
            self.steps.append(Step(function, tuple(r.number for r in ins), tuple(r.number for r in outs),
                                   several))
        else:
            super().emit(function, ins, outs, several)


def lower_symbolic(closed: jax.core.ClosedJaxpr, symbolic: Callable[[Callable], bool]) -> Callable:
    """`lower` for a jaxpr with symbolic sizes; what it returns cannot run before they are numbers."""
    return lower(closed, SymbolicBuilder(symbolic))
