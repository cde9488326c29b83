"""Loops and branches: their bodies are lowered with the program around them, and run in Python."""

from __future__ import annotations

import numpy as np

from jaxflow._core.jax_compat import ClosedJaxpr, scan_counts

from .fallback import is_key
from .lowering import array_shape
from .table import rule


def _closed(jaxpr):
    return jaxpr if hasattr(jaxpr, "consts") else ClosedJaxpr(jaxpr, ())


@rule("cond", keys=True)
def _cond(site):
    branches = [site.lower(_closed(branch)) for branch in site.params["branches"]]
    last = len(branches) - 1

    def cond(which, *operands):
        return branches[min(max(int(which), 0), last)](*operands)

    return cond


@rule("platform_index")
def _platform_index(site):
    """Which of the branches is the CPU's."""
    choices = site.params["platforms"]
    found = next((i for i, names in enumerate(choices) if names is None or "cpu" in names), None)
    return None if found is None else lambda: np.int32(found)


@rule("while", keys=True)
def _while(site):
    params = site.params
    test, body = site.lower(_closed(params["cond_jaxpr"])), site.lower(_closed(params["body_jaxpr"]))
    n_test, n_body = params["cond_nconsts"], params["body_nconsts"]
    if site.params["cond_jaxpr"].out_avals[0].shape != ():
        return None

    def loop(*operands):
        test_consts, body_consts = operands[:n_test], operands[n_test:n_test + n_body]
        carry = operands[n_test + n_body:]
        while test(*test_consts, *carry)[0]:
            carry = body(*body_consts, *carry)
        return carry

    return loop


@rule("scan", keys=True)
def _scan(site):
    params = site.params
    body = site.lower(_closed(params["jaxpr"]))
    n_consts, n_carry = scan_counts(params)
    length, results = params["length"], site.outs[n_carry:]
    order = range(length - 1, -1, -1) if params["reverse"] else range(length)
    places = [(array_shape(aval), np.dtype(np.uint32) if is_key(aval) else aval.dtype) for aval in results]

    def scan(*operands):
        consts, carry = operands[:n_consts], operands[n_consts:n_consts + n_carry]
        xs = operands[n_consts + n_carry:]
        ys = [np.empty(shape, dtype) for shape, dtype in places]
        for i in order:
            found = body(*consts, *carry, *[x[i] for x in xs])
            carry = found[:n_carry]
            for y, row in zip(ys, found[n_carry:]):
                y[i] = row
        return [*carry, *ys]

    return scan


@rule("custom_linear_solve")
def _linear_solve(site):
    """The function that solves; the others are for derivatives."""
    counts, jaxprs = site.params["const_lengths"], site.params["jaxprs"]
    solve = site.lower(_closed(jaxprs.solve))
    first = counts.matvec + counts.vecmat
    last = first + counts.solve + counts.transpose_solve

    def linear_solve(*operands):
        return solve(*operands[first:first + counts.solve], *operands[last:])

    return linear_solve
