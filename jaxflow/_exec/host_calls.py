"""Which operations call the host: their failures come late, and their programs give nothing away.

NOTE [Calls of the host]
    A body may call Python from inside a compiled program (``jax.pure_callback``, ``io_callback``, ``debug``).
    What it calls can fail at any time, and is by far the likeliest thing to fail in a program that was
    compiled and handed over. So such a program donates none of its arguments: all it was to compute can be
    computed again, operation by operation. On an accelerator the call returns before the failure is there, so
    the results of such a program are waited for before they are delivered. It waits for Python in its middle
    anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.jax_compat import subjaxprs
from jaxflow._plans.plan import Plan, traced_jaxpr


def call_host(plans: Iterable[Plan]) -> bool:
    """Whether any of ``plans`` calls the host, itself or in what it is made of."""
    return any(_calls(traced_jaxpr(plan)) for plan in set(plans))


def _calls(jaxpr: Any) -> bool:
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    return any(_names_host(eqn.primitive.name) for eqn in jaxpr.eqns) or any(map(_calls, subjaxprs(jaxpr)))


def _names_host(primitive: str) -> bool:
    return "callback" in primitive or primitive == "debug_print"
