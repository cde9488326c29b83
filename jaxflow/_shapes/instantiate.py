"""The jaxpr of one shape, from that of a family: sizes replaced by numbers, nothing traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.core import ShapedArray

from jaxflow._core.jax_compat import ClosedJaxpr, Jaxpr, Literal, Var

from .symbolic_dims import ShapeEnv, SymInt, size_p


def sizes_in(closed: ClosedJaxpr) -> list[str]:
    """The sources of all sizes that occur in a jaxpr: in its avals and parameters, inner ones included."""
    found: dict[str, None] = {}

    def note(size: SymInt) -> SymInt:
        found[size.source] = None
        return size

    _Substitution(note).closed(closed)
    return list(found)


class Instances:
    """The jaxprs of a family's members."""

    def __init__(self, env: ShapeEnv, closed: ClosedJaxpr) -> None:
        self.closed = closed
        self.sources = sizes_in(closed)
        self.evaluate: Callable = env.compiled(f"({''.join(s + ', ' for s in self.sources)})")

    def numbers_of(self, numbers: Sequence[int]) -> dict[str, int]:
        """What each size is for these numbers of the symbols."""
        return dict(zip(self.sources, self.evaluate(*numbers), strict=True))

    def jaxpr(self, numbers: Sequence) -> ClosedJaxpr:
        """The jaxpr for these numbers of the symbols, which may be symbols of another env."""
        values = self.numbers_of(numbers)
        return _Substitution(lambda size: values[size.source]).closed(self.closed)


class _Substitution:
    def __init__(self, number: Callable[[SymInt], Any]) -> None:
        self.number = number
        self.done: dict[int, tuple] = {}  # inner jaxprs, which may be shared; kept alive by the value

    def closed(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        jaxpr = self.jaxpr(closed.jaxpr)
        return closed if jaxpr is closed.jaxpr else closed.replace(jaxpr=jaxpr)

    def jaxpr(self, jaxpr: Jaxpr) -> Jaxpr:
        found = self.done.get(id(jaxpr))
        if found is None:
            found = self.done[id(jaxpr)] = jaxpr, self._jaxpr(jaxpr)
        return found[1]

    def _jaxpr(self, jaxpr: Jaxpr) -> Jaxpr:
        env: dict[Var, Any] = {}

        def binder(v: Var) -> Var:
            aval = self.aval(v.aval)
            if aval is v.aval:
                return v
            new = env[v] = Var(aval)
            return new

        def atom(v):
            return v if isinstance(v, Literal) else env.get(v, v)

        constvars, invars = list(map(binder, jaxpr.constvars)), list(map(binder, jaxpr.invars))
        eqns = []
        changed = bool(env)
        for eqn in jaxpr.eqns:
            if eqn.primitive is size_p:
                number = self.number(eqn.params["size"])
                (out,) = eqn.outvars
                if type(number) is int:
                    env[out] = Literal(np.int64(number), out.aval)
                    changed = True
                    continue
            inputs, outputs = list(map(atom, eqn.invars)), list(map(binder, eqn.outvars))
            params = self.params(eqn.params)
            if params is not eqn.params or inputs != eqn.invars or outputs != eqn.outvars:
                eqn = eqn.replace(invars=inputs, outvars=outputs, params=params)
                changed = True
            eqns.append(eqn)
        if not changed:
            return jaxpr
        return jaxpr.replace(constvars=constvars, invars=invars, eqns=eqns,
                             outvars=list(map(atom, jaxpr.outvars)))

    def aval(self, aval):
        shape = getattr(aval, "shape", ())
        if not any(type(n) is SymInt for n in shape):
            return aval
        new = self.value(shape)
        return aval if new is shape else aval.update(shape=new)

    def params(self, params: dict) -> dict:
        new = {name: self.value(x) for name, x in params.items()}
        return params if all(new[name] is x for name, x in params.items()) else new

    def value(self, x: Any) -> Any:
        """A parameter with its sizes replaced; the same object if there are none."""
        kind = type(x)
        if kind is SymInt:
            return self.number(x)
        if kind is ClosedJaxpr:
            return self.closed(x)
        if kind is Jaxpr:
            return self.jaxpr(x)
        if isinstance(x, ShapedArray):  # what a callback gives
            return self.aval(x)
        if isinstance(x, (tuple, list)):
            items = [self.value(item) for item in x]
            if all(a is b for a, b in zip(items, x, strict=True)):
                return x
            return kind(*items) if hasattr(kind, "_fields") else kind(items)
        if hasattr(x, "__dataclass_fields__"):
            fields = {name: getattr(x, name) for name in x.__dataclass_fields__}
            new = {name: self.value(item) for name, item in fields.items()}
            changed = any(new[name] is not item for name, item in fields.items())
            return kind(**new) if changed else x
        return x
