"""Plans as functions of NumPy arrays, for the interpreter of cold programs."""

from __future__ import annotations

import sys
from collections.abc import Callable

from jaxflow._core import cache_pressure
from jaxflow._plans.plan import Plan, struct_of
from jaxflow._shapes.shape_families import Template, attempt
from jaxflow._shapes.substitute import Rebinding
from jaxflow._shapes.symbolic_dims import ShapeEnv


def host_of(plan: Plan) -> Callable[..., list]:
    """The plan as a function of NumPy arrays that returns a list of them; made once, without XLA.

    It takes what ``plan.kinds`` lists, numbers as 0-d arrays of the dtypes in ``plan.NUMBER_DTYPES``.
    """
    found = plan.host
    if found is None:
        from jaxflow._interpreter import lower  # loaded where a cold program runs, not at start

        found = whole_of(plan)
        if found is None and plan.member is not None:
            found = _of_member(*plan.member)
        plan.host = found = lower(plan.jaxpr) if found is None else found
    return found


def whole_of(plan: Plan) -> Callable[..., list] | None:
    """The same by the kernel of the whole operation, if it has one: NOTE [Whole operations]."""
    call = _call_of(plan)
    if call is None:
        return None
    from jaxflow._interpreter import whole

    return whole(plan.name, call)


def _call_of(plan: Plan):
    from jaxflow._interpreter import Call, lower

    forward = kept = wanted = defined = ()
    if plan.backs is not None:
        owner, vjp = plan.backs
        forward = _call_of(owner)
        if forward is None:
            return None
        static, kept, wanted, defined = {}, vjp.vjp_inputs, vjp.wanted, vjp.defined
    elif plan.origin is not None:
        static = dict(zip(plan.origin[0].static_names, plan.origin[1], strict=True))
    elif plan.view is not None and plan.view[0][0] == "joint":
        static = {"pieces": plan.view[0][2]}
    else:
        return None
    return Call(static, tuple(map(struct_of, plan.kinds)), tuple(a.struct for a in plan.out_avals),
                lambda: lower(plan.jaxpr).bare, forward or None, kept, wanted, defined)


# How many ways of lowering a family has: the interpreter decides by size what is quickest.
_MOST = 6


def _of_member(template: Template, numbers: tuple) -> Callable | None:
    """The function of one member of a family, see NOTE [Lowered once]; None where there is none for it."""
    for host in template.hosts:
        if host is None:
            return None  # it cannot be lowered so
        if host.holds(*numbers):
            return host(numbers)
    if len(template.hosts) >= _MOST:
        return None
    env = ShapeEnv()
    host = attempt(env, lambda: _Host(template, env, numbers))
    template.hosts.append(host)
    return host if host is None else host(numbers)


class _Host:
    """A family's jaxpr lowered, as is right for these numbers of its symbols and all that keep the guards."""

    def __init__(self, template: Template, env: ShapeEnv, numbers: tuple) -> None:
        from jaxflow._interpreter.symbolic import lower_symbolic

        closed = template.jaxpr_of(tuple(map(env.symbol, numbers)))
        run = lower_symbolic(closed, lambda function: bool(Rebinding(function).sources))
        self.fallbacks, self.products, self.steps = run.fallbacks, run.products, run.steps
        self.rebinding = Rebinding(run.bare)
        self.holds = env.holds(env.guards)
        self.sources = tuple(self.rebinding.sources)
        self.evaluate = env.compiled(f"({''.join(s + ', ' for s in self.sources)})")

    def __call__(self, numbers: tuple) -> Callable:
        from jaxflow._interpreter import interpreting

        bare = self.rebinding(dict(zip(self.sources, self.evaluate(*numbers), strict=True)))

        def run(*arrays):
            with interpreting():
                return bare(*arrays)

        run.bare, run.fallbacks, run.products, run.steps = bare, self.fallbacks, self.products, self.steps
        return run


def _forget_kernels() -> None:
    """Let go of what the interpreter has compiled, if it was ever loaded."""
    fallback = sys.modules.get("jaxflow._interpreter.fallback")
    if fallback is not None:
        fallback.forget()


cache_pressure.on_forget.append(_forget_kernels)
