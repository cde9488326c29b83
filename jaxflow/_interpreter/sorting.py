"""Ordering: sorts, and the largest few.

Floats in XLA's order are in NumPy's: NaN last, both zeros equal. Sorts with more than one operand are stable,
so that an order among equals is the same as in the compiled program.
"""

from __future__ import annotations

import numpy as np

from .numbers import COMPLEX, FLOATS, HALVES
from .table import rule


def _sortable(x):
    """Halves as float32, which has the same order."""
    return x.astype(np.float32) if x.dtype in HALVES else x


def _bits(x):
    """float32 as integers in the order of their bits: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    bits = x.view(np.int32)
    return bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))


def _has_negative_zero(x) -> bool:
    return bool(((x == 0) & np.signbit(x)).any())


@rule("sort")
def _sort(site):
    axis, keys = site.params["dimension"], site.params["num_keys"]
    if any(aval.dtype in COMPLEX for aval in site.ins[:keys]):
        return None
    if len(site.ins) == 1:
        dtype = site.dtype
        if dtype in HALVES:
            return lambda x: (np.sort(x.astype(np.float32), axis, "stable").astype(dtype),)
        if dtype in FLOATS and site.params["is_stable"]:
            return lambda x: (np.sort(x, axis, "stable" if _has_negative_zero(x) else None),)
        return lambda x: (np.sort(x, axis),)

    def sort(*operands):
        if keys == 1:
            order = np.argsort(_sortable(operands[0]), axis, "stable")
        else:
            order = np.lexsort([_sortable(x) for x in operands[keys - 1::-1]], axis)
        return [np.take_along_axis(x, order, axis) for x in operands]

    return sort


@rule("top_k")
def _top_k(site):
    """Descending; of equals the first come first, and NaN before all.

    Of float32 XLA compares the bits: -0 comes after 0, and a NaN with a sign after everything.
    """
    k, operand = site.params["k"], site.ins[0]
    axis = site.params.get("axis", -1) % len(operand.shape)
    if operand.dtype in COMPLEX:
        return None
    turned = (slice(None),) * axis + (slice(None, None, -1),)
    first = (slice(None),) * axis + (slice(0, k),)
    last, dtype = operand.shape[axis] - 1, site.outs[1].dtype

    def top_k(x):
        keys = _bits(x) if x.dtype == np.float32 else _sortable(x)
        order = np.argsort(keys[turned], axis, "stable")[turned][first]
        order = last - order
        return np.take_along_axis(x, order, axis), order.astype(dtype)

    return top_k
