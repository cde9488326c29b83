"""Floating-point operations of a jaxpr: those of its matrix products and convolutions.

A product of matrices ``(m, k)`` and ``(k, n)`` counts as ``2 m n k``, a multiplication and an addition for
each term.
"""

from __future__ import annotations

import math
from typing import Any

from jaxflow._core import jax_compat


class UnknownCount(NotImplementedError):
    """A loop whose number of turns depends on data has products in it."""


def flops_of(jaxpr: Any) -> int:
    """The operations of a jaxpr, of a closed one too.

    Raises:
        UnknownCount: for products in a loop whose number of turns is not known.
    """
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    return sum(map(_of_equation, jaxpr.eqns))


def _of_equation(eqn: Any) -> int:
    kind = eqn.primitive.name
    if kind == "dot_general":
        return _of_dot(eqn)
    if kind == "conv_general_dilated":
        return _of_convolution(eqn)
    if kind == "cond":
        return max(map(flops_of, eqn.params["branches"]))
    inside = sum(map(flops_of, _jaxprs_in(eqn.params)))
    if kind == "scan":
        return inside * eqn.params["length"]
    if kind == "while" and inside:
        raise UnknownCount("FlopCounterMode: an operation has matrix products in a loop whose number of "
                           "turns depends on data, so they cannot be counted.")
    return inside


def _jaxprs_in(params: dict) -> list:
    found = []
    for value in params.values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, (jax_compat.Jaxpr, jax_compat.ClosedJaxpr)):
                found.append(each)
    return found


def _of_dot(eqn: Any) -> int:
    (contracted, _), _ = eqn.params["dimension_numbers"]
    left = eqn.invars[0].aval.shape
    terms = math.prod(left[d] for d in contracted)
    return 2 * terms * math.prod(eqn.outvars[0].aval.shape)


def _of_convolution(eqn: Any) -> int:
    """Twice the products of elements; none with the zeros that are put between those of either operand.

    The gradients of a convolution are convolutions too: each has as many products as it has.
    """
    numbers = eqn.params["dimension_numbers"]
    left, right = (v.aval.shape for v in eqn.invars)
    out = eqn.outvars[0].aval.shape
    # Of an operand with zeros in between, each element meets each of the kernel once.
    spread = any(d > 1 for d in eqn.params["lhs_dilation"])
    shape, spec = (left, numbers.lhs_spec) if spread else (out, numbers.out_spec)
    positions = math.prod(shape[d] for d in spec[2:])
    taps = math.prod(right[d] for d in numbers.rhs_spec[2:])
    out_channels, in_channels = (right[numbers.rhs_spec[i]] for i in (0, 1))
    batch = left[numbers.lhs_spec[0]] // eqn.params["batch_group_count"]
    return 2 * batch * positions * taps * in_channels * out_channels
