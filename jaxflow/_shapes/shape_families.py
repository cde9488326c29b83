"""Families: plans of one operation that differ in sizes alone share one symbolic trace.

NOTE [Families of plans]
    The first plan of an operation is traced for its very shapes. Where the operation is called again with
    other sizes, those that were seen to change become symbols (NOTE [Symbolic sizes]), equal ones the same
    symbol, and the operation is traced once more, for all numbers from 2 on that keep the guards. 0 and 1,
    and what never changed, stay numbers. From then on a plan for further sizes is a copy of the family's with
    the expressions of its result shapes evaluated, and so is its backward; nothing is traced, unless XLA is
    to compile it, which traces its own function, as ever. Integers among the static arguments (the size of an
    ``arange``) are treated like extents; where the body needs such a number itself, only extents are tried.
    Where tracing with symbols fails, or the family would have given an earlier plan other results, the shapes
    are traced one by one. A family that serves no earlier plan is held against the plan that tracing gives
    for the sizes at hand.
"""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxflow._core import budget
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.memory_errors import as_memory_error, check_sizes
from jaxflow._plans import planning
from jaxflow._plans.op import Op
from jaxflow._plans.plan import NoneKind, Plan, Vjp
from jaxflow._transforms import data_movement
from jaxflow._transforms.vjp import backward_jaxpr, function_of, late_inputs, vjp_of

from .instantiate import Instances
from .symbolic_dims import LEAST, ShapeEnv, SymInt, source_of

# A call that has more families than this, or failed to make one so often, is traced shape by shape.
_MOST = 8
_MOST_FAILURES = 3

# Calls of other sizes before a family is made: a program with a few fixed shapes needs none.
_EVIDENCE = 2

# Sizes remembered of each call, to see which of them change.
_REMEMBERED = 6

_lock = threading.RLock()
_groups = budget.Table("families of shapes")


class Template:
    """A plan with symbolic sizes: what all plans of a family are copies of."""

    __slots__ = ("_instances", "backward", "env", "holds", "hosts", "jaxpr", "passes", "plan", "shapes")

    def __init__(self, plan: Plan, env: ShapeEnv) -> None:
        self.plan = plan
        self.env = env
        self.backward: dict[tuple, tuple[Vjp, Template] | None] = {}
        self.jaxpr = plan.jaxpr  # those of views are traced when first read: now, while the env is open
        # Guards are those of the symbols: of all that was traced with them so far.
        self.holds = env.holds(env.guards)
        shapes = (f"({''.join(source_of(n) + ', ' for n in a.shape)}), " for a in plan.out_avals)
        self.shapes = env.compiled(f"({''.join(shapes)})")
        self.hosts: list = []  # see `lower.host_of`
        self.passes: tuple | None = None  # see `cost_model`
        self._instances: Instances | None = None

    @property
    def instances(self) -> Instances:
        """The jaxprs of the members."""
        if self._instances is None:
            self._instances = Instances(self.env, self.jaxpr)
        return self._instances

    def out_avals(self, numbers: Sequence[int]) -> tuple[Aval, ...]:
        """What comes out of the member with these numbers of the symbols."""
        return tuple(
            aval_of(shape, a.dtype, a.device)
            for shape, a in zip(self.shapes(*numbers), self.plan.out_avals, strict=True)
        )

    def member(self, numbers: tuple, kinds: Sequence, out_avals: tuple, fn: Callable[[], Callable],
               origin: tuple | None = None) -> Plan:
        """The plan for these numbers; ``fn`` makes its function, if that is ever read."""
        found = self.plan.copied(kinds, out_avals, fn, origin)
        found.member = self, numbers
        return found

    def jaxpr_of(self, numbers: tuple):
        """The jaxpr of the member with these numbers."""
        return self.instances.jaxpr(numbers)

    def vjp(self, plan: Plan, numbers: tuple, needs: tuple, defined: tuple | None) -> Vjp | None:
        """The backward of a member; None where the family has none for it."""
        key = needs, defined
        if key not in self.backward:
            self.backward[key] = self._symbolic_vjp(*key)
        found = self.backward[key]
        if found is None:
            return None
        vjp, template = found
        if not template.holds(*numbers):
            return None
        held = (*plan.kinds, *(plan.out_avals[k] for k in plan.residual_outputs))
        kinds = (*(held[i] for i in vjp.vjp_inputs), *(plan.out_avals[i] for i in vjp.defined))

        def function() -> Callable:
            closed = backward_jaxpr(plan, vjp.wanted, vjp.defined, vjp.vjp_inputs)
            return function_of(closed or template.jaxpr_of(numbers), late_inputs(plan, vjp.vjp_inputs))

        copy = template.member(numbers, kinds, tuple(plan.kinds[i] for i in vjp.wanted), function)
        found = Vjp(copy, vjp.vjp_inputs, vjp.wanted, vjp.defined, vjp.node_inputs, vjp.reads, vjp.silent)
        found.held = vjp.held
        return found.of(plan)

    def _symbolic_vjp(self, needs: tuple, defined: tuple | None) -> tuple[Vjp, Template] | None:
        vjp = attempt(self.env, lambda: vjp_of(self.plan, needs, defined))
        if vjp is None:
            return None
        return vjp, Template(vjp.plan, self.env)


class Family:
    """A template, and which sizes belong to it."""

    __slots__ = ("match", "template")

    def __init__(self, plan: Plan, env: ShapeEnv, pattern: Sequence) -> None:
        self.template = Template(plan, env)
        first: dict[str, int] = {}
        tests = []
        for i, n in enumerate(pattern):
            if type(n) is not SymInt:
                tests.append(f"v[{i}] == {n}")
            elif n.source in first:
                tests.append(f"v[{i}] == v[{first[n.source]}]")
            else:
                first[n.source] = i
                tests.append(f"v[{i}] >= {LEAST}")
        numbers = ", ".join(f"v[{first[name]}]" for name in env.names)
        # The numbers of the symbols, or None if these sizes have another pattern.
        source = f"lambda v: ({numbers},) if {' and '.join(tests)} else None"
        self.match = eval(source, {"__builtins__": {}, "__name__": __name__})

    def numbers(self, values: tuple[int, ...]) -> tuple[int, ...] | None:
        """The numbers of the symbols; None where these sizes do not belong to the family."""
        found = self.match(values)
        return found if found is not None and self.template.holds(*found) else None


class Group:
    """Calls that differ in sizes alone: those seen first, and the families made of them."""

    __slots__ = ("families", "failed", "seen")

    def __init__(self) -> None:
        self.families: list[Family] = []
        self.failed: set[tuple] = set()
        self.seen: list[tuple[tuple[int, ...], Plan]] = []

    def find(self, values: tuple[int, ...]) -> tuple[Template, tuple[int, ...]] | None:
        """Template and numbers of the family these sizes belong to."""
        for family in self.families:
            numbers = family.numbers(values)
            if numbers is not None:
                return family.template, numbers
        return None

    def remember(self, values: tuple[int, ...], plan: Plan) -> None:
        """A plan that was traced for its own sizes."""
        if len(self.seen) < _REMEMBERED:
            self.seen.append((values, plan))

    def extend(self, values: tuple[int, ...], extents: int, make: Callable[[tuple], Plan],
               plain: Callable[[], Plan]) -> None:
        """Make a family of these sizes and those seen before, if it can be done.

        ``make`` builds the symbolic plan, ``plain`` the one of these sizes; the first ``extents`` of the
        sizes are of shapes.
        """
        if len(self.seen) < _EVIDENCE or len(self.families) >= _MOST or len(self.failed) >= _MOST_FAILURES:
            return
        if 0 in values[:extents]:
            return  # of what is empty, jax leaves out other parts where all sizes are numbers
        for upto in dict.fromkeys((len(values), extents)):
            pattern = self._pattern(values, upto)
            if not any(type(n) is tuple for n in pattern) or pattern in self.failed:
                continue
            env = ShapeEnv()
            symbols: dict[tuple, SymInt] = {}
            for n in pattern:
                if type(n) is tuple and n not in symbols:
                    symbols[n] = env.symbol(n[0])
            sizes = tuple(symbols[n] if type(n) is tuple else n for n in pattern)
            family = attempt(env, lambda sizes=sizes, env=env: Family(make(sizes), env, sizes))
            if family is not None and self._agrees(family, values, plain):
                self.families.insert(0, family)
                return
            self.failed.add(pattern)

    def _pattern(self, values: tuple[int, ...], upto: int) -> tuple:
        """Per position the number, or for one that becomes a symbol all numbers seen there."""
        histories = list(zip(values, *(v for v, _ in self.seen), strict=True))
        return tuple(
            h if k < upto and h[0] >= LEAST and any(n != h[0] for n in h) else h[0]
            for k, h in enumerate(histories)
        )

    def _agrees(self, family: Family, values: tuple[int, ...], plain: Callable[[], Plan]) -> bool:
        """Whether the family gives what tracing gives, for these sizes or for some seen before."""
        numbers = family.numbers(values)
        if numbers is None:
            return False
        members = [(family.numbers(earlier), plan) for earlier, plan in self.seen]
        members = [(found, plan) for found, plan in members if found is not None] or [(numbers, plain())]
        return all(family.template.out_avals(found) == plan.out_avals for found, plan in members)


def forget() -> None:
    """Forget all families; the plans made of them stay."""
    with _lock:
        _groups.clear()


def attempt(env: ShapeEnv, make: Callable[[], Any]) -> Any:
    """What ``make`` traces with these symbols; None where that fails.

    When jax needs the number of a size, the error that this raises is kept in a reference cycle, and with it
    all frames up to the user's, and the Values in them: which Values are alive is part of a program's key. So
    those cycles go at once, while they are young: a collection in between would let them grow old.
    """
    collecting = gc.isenabled()
    try:
        found = _traced(env, make)
        if collecting:
            gc.enable()
    except BaseException:  # an interrupt
        if collecting:
            gc.enable()
        raise
    return found


def _traced(env: ShapeEnv, make: Callable[[], Any]) -> Any:
    """`attempt`, which lets garbage be collected again."""
    gc.disable()
    try:
        with env:
            return make()
    except Exception:  # a body may do anything; what is wrong in earnest is raised by the concrete trace
        return None
    finally:
        gc.collect(0)


def build(op: Op, kinds: tuple, static: tuple, into: Aval | None = None) -> Plan:
    """`planning.build`, without tracing where these sizes belong to a family, or elements are only moved.

    Raises what `check_sizes` does for results that no memory could hold.
    """
    try:
        plan = _built(op, kinds, static, into)
    except MemoryError as error:  # a body that makes its constants with NumPy
        raise as_memory_error(error) from error
    if into is None:  # what is written in place is there already
        check_sizes(op.name, plan.out_avals, any(kind.__class__ is Aval for kind in kinds))
    return plan


def _built(op: Op, kinds: tuple, static: tuple, into: Aval | None) -> Plan:
    if op.moves is not None and into is None:
        plan = data_movement.build(op, kinds, static)
        if plan is not None:
            return plan
    head: list = [op, dtypes.get_default_dtype()]
    values: list[int] = []
    for kind in (into, *kinds):
        if kind.__class__ is Aval:
            head += kind.dtype, kind.device, kind.ndim
            values += kind.shape
        else:
            head.append(kind)
    extents = len(values)
    flatten(static, head, values)
    if not values:
        return planning.build(op, kinds, static, into)

    def copy(template: Template, numbers: tuple) -> Plan:
        _, _, layout, present = template.plan.origin
        return template.member(
            numbers, tuple(k for k in kinds if k is not NoneKind), template.out_avals(numbers),
            lambda: planning.function(op, kinds, static, into), (op, static, layout, present),
        )

    return of_family(
        tuple(head), tuple(values), extents,
        lambda symbolic: planning.build(op, *_renewed(kinds, static, into, symbolic)),
        lambda: planning.build(op, kinds, static, into), copy,
    )


def of_family(head: tuple, sizes: tuple[int, ...], extents: int, make: Callable[[tuple], Plan],
              plain: Callable[[], Plan], copy: Callable[[Template, tuple], Plan]) -> Plan:
    """The plan of a call that ``head`` describes but for its sizes, the first ``extents`` of them of shapes.

    ``make`` builds the plan for symbolic sizes, ``plain`` the one for these, ``copy`` that of a family.
    """
    with _lock:
        group = _groups.get(head)
        if group is None:
            group = _groups.add(head, Group())
        found = group.find(sizes)
        if found is None:
            plain = functools.cache(plain)
            group.extend(sizes, extents, make, plain)
            found = group.find(sizes)
        if found is not None:
            return copy(*found)
        plan = plain()
        group.remember(sizes, plan)
        return plan


def flatten(items: tuple, head: list, values: list) -> None:
    """Integers go into ``values``; what says where they stood, and all else, into ``head``."""
    for x in items:
        kind = x.__class__
        if kind is int:
            head.append(int)
            values.append(x)
        elif kind is tuple:
            head += "(", len(x)
            flatten(x, head, values)
        else:
            head += kind, x  # the class as well: True, 1.0 and 1 are equal


def _renewed(kinds: tuple, static: tuple, into: Aval | None, sizes: tuple) -> tuple:
    """Kinds, static arguments and aval of the result with other sizes."""
    rest = iter(sizes)
    into = renewed(into, rest)
    kinds = tuple(renewed(k, rest) if k.__class__ is Aval else k for k in kinds)
    return kinds, renewed(static, rest), into


def renewed(x: Any, rest: Iterator) -> Any:
    """What `flatten` took apart, or an aval, with its integers replaced by the next ones of ``rest``."""
    if x.__class__ is Aval:
        return aval_of(tuple(next(rest) for _ in x.shape), x.dtype, x.device)
    if x.__class__ is int:
        return next(rest)
    return tuple(renewed(item, rest) for item in x) if x.__class__ is tuple else x
