"""Plans as functions of NumPy arrays, for the interpreter of cold programs."""

from __future__ import annotations

from collections.abc import Callable

from .plan import Plan


def host_of(plan: Plan) -> Callable[..., list]:
    """The plan as a function of NumPy arrays that returns a list of them; made once, without XLA.

    It takes what ``plan.kinds`` lists, numbers as 0-d arrays of the dtypes in ``plan.NUMBER_DTYPES``.
    """
    found = plan.host
    if found is None:
        from jaxflow._interpreter import lower  # loaded where a cold program runs, not at start

        found = plan.host = lower(plan.jaxpr)
    return found
