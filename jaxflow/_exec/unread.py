"""Inputs that an operation does not read, so that a tensor whose value was lost can be written over.

NOTE [Written over unread]
    ``x.copy_(y)`` takes what ``x`` shows as an input, for its shape alone. Where that could not be computed
    (NOTE [What a failed run leaves]) the operation can be done nevertheless: an array of its shape stands in,
    which nobody reads. So a model that a failure took values from can be given others, as ``load_state_dict``
    does. Which inputs an operation reads is found out from its jaxpr, without dead code, and only where one
    of them was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxflow._core.aval import Aval
from jaxflow._core.device import CPU
from jaxflow._core.jax_compat import partial_eval
from jaxflow._core.value import Value, host_array
from jaxflow._plans.plan import Plan

from . import buffer_reuse


def slots_read(plan: Plan, slots: Sequence[int]) -> list[int]:
    """Those of the ``slots`` of its arrays that a plan reads."""
    arrays = [read for read, kind in zip(_read(plan), plan.kinds) if isinstance(kind, Aval)]
    return [slot for slot, read in zip(slots, arrays, strict=True) if read]


def without_lost(plan: Plan, inputs: list) -> list | None:
    """The inputs with others in the place of those that were lost; None if none was, or one is read."""
    lost = [is_lost(x) for x in inputs]
    if not any(lost) or any(gone and read for gone, read in zip(lost, _read(plan), strict=True)):
        return None
    return [Value(x.aval, blank(x.aval)) if gone else x for x, gone in zip(inputs, lost)]


def blank(aval: Aval) -> Any:
    """An array for an input that is not read."""
    return host_array(np.zeros(aval.shape, aval.dtype.np)) if aval.device is CPU else buffer_reuse.blank(aval)


def _read(plan: Plan) -> Iterable[bool]:
    jaxpr = plan.jaxpr.jaxpr
    return partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))[1]


def is_lost(x: Any) -> bool:
    """Whether it is known that an input could not be computed."""
    producer = x.producer if x.__class__ is Value else None
    if producer is None:
        return False
    failed = getattr(producer[0].program, "failed", None)  # a call that is captured keeps no such account
    return bool(failed) and producer[0].first + producer[1] in failed
