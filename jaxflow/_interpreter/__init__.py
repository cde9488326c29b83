"""An interpreter of jaxprs in NumPy, for programs not worth compiling yet. CPU only.

`lower` makes a jaxpr a function of NumPy arrays; the rules, one per lax primitive, stand in one table, by
family. A primitive without a rule runs through XLA, as one op. What a rule computes is what XLA computes:
dtypes, the rounding of halves, integers that wrap around, NaN and infinity, indices out of range.
"""

from . import (
    contraction,
    control,
    elementwise,
    fourier,
    indexing,
    randomness,
    reductions,
    scattering,
    shaping,
    sorting,
    special,
    windows,
)
from .kernels import Call, whole
from .lowering import lower
from .surroundings import interpreting

__all__ = ["Call", "interpreting", "lower", "whole"]

# Imported for the rules that they enter.
_FAMILIES = (contraction, control, elementwise, fourier, indexing, randomness, reductions, scattering,
             shaping, sorting, special, windows)
