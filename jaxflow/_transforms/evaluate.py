"""A jaxpr computed equation by equation, where something is to be done differently on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from jaxflow._core.jax_compat import ClosedJaxpr, Literal

_NOTHING: Mapping = MappingProxyType({})


def performed(eqn: Any, values: list) -> Sequence:
    """The results of an equation for these values."""
    made = eqn.primitive.bind(*values, **eqn.primitive.get_bind_params(eqn.params))
    return made if eqn.primitive.multiple_results else [made]


def evaluate(closed: ClosedJaxpr, inputs: Sequence, perform: Callable[[Any, list], Sequence] = performed,
             given: Mapping = _NOTHING) -> list:
    """The results of a jaxpr; ``perform`` computes each equation.

    The values of the variables in ``given`` are as given instead of computed.
    """
    env: dict = dict(zip(closed.jaxpr.constvars, closed.consts))
    env.update(zip(closed.jaxpr.invars, inputs))

    def read(v: Any) -> Any:
        return v.val if isinstance(v, Literal) else env[v]

    for eqn in closed.jaxpr.eqns:
        for v, x in zip(eqn.outvars, perform(eqn, list(map(read, eqn.invars)))):
            env[v] = given.get(v, x)
    return [read(v) for v in closed.jaxpr.outvars]
