"""From a jaxpr to a list of steps, and the loop that runs them.

Lowering walks the equations once. Calls are inlined, what depends on no input is computed at once if it is
small, what nobody reads is dropped. Each equation that is left is one step: a function and the slots of its
inputs and results. A slot is used again once the value in it has been read for the last time.

Between steps a value of no dimensions may be a NumPy scalar, which is much quicker than an array of that
shape; its dtype is exact either way. Steps never write into their inputs, so results may alias inputs,
constants and each other, or be views of them. A run keeps its values in a list of its own: any number may
go on at once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxflow._core.geometry import broadcast_shapes
from jaxflow._core.jax_compat import Literal

from .fallback import is_key, through_xla
from .numbers import KNOWN
from .surroundings import interpreting
from .table import RULES, SAME, Site

#: Primitives that only call a jaxpr, and the parameter in which it lies.
CALLS = {
    "jit": "jaxpr", "pjit": "jaxpr",
    "closed_call": "call_jaxpr", "core_call": "call_jaxpr", "call": "call_jaxpr",
    "remat": "jaxpr", "remat2": "jaxpr", "checkpoint": "jaxpr", "composite": "jaxpr",
    "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "custom_vmap_call": "call",
}
#: Functions whose calls have a rule of their own, in the table under their name, and how many arguments they
#: take: where jax has differentiated one, its call takes more, and is inlined.
NAMED = {"float_to_integer": 1}
#: Primitives that BLAS computes, and the size of an operand up to which it uses one thread for them anyway.
PRODUCTS, ONE_THREAD = frozenset(("dot_general", "conv_general_dilated")), 4096
#: The most elements of a constant that is computed while lowering.
LARGEST_CONSTANT = 1 << 16


class Ref:
    """A value of the program:

    its number, its aval's shape, that of its array, and the array if it is known.
    """

    __slots__ = ("aval", "full", "number", "shape", "value")

    def __init__(self, number: int, aval, shape: tuple, value=None) -> None:
        self.number, self.aval, self.shape, self.value = number, aval, shape, value
        self.full: Ref | None = None  # the same, spread out


class Step(NamedTuple):
    function: Callable
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    several: bool
    effect: bool = False  # whether it does something besides: it runs each time, read or not


def array_shape(aval) -> tuple[int, ...]:
    """The shape of the array that stands for a value of this aval."""
    if is_key(aval):
        return (*aval.shape, *_key_words(aval.dtype))
    return aval.shape


@functools.cache
def _key_words(dtype) -> tuple[int, ...]:
    """The shape of one key's data."""
    return jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct((), dtype)).shape


class Builder:
    """Gathers the steps of one jaxpr."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.constants: dict[int, Any] = {}
        self.fallbacks: list[str] = []
        self.products = False  # whether BLAS might use several threads
        self.count = 0
        self.literals: dict[tuple, Ref] = {}
        self.numbers: dict[tuple, list[Ref]] = {}  # results of equations that yield single numbers

    def value(self, aval, shape=None) -> Ref:
        self.count += 1
        return Ref(self.count - 1, aval, array_shape(aval) if shape is None else shape)

    def constant(self, array, aval) -> Ref:
        ref = self.value(aval, np.shape(array))
        ref.value = self.constants[ref.number] = array
        return ref

    def emit(self, function: Callable, ins: Sequence[Ref], outs: Sequence[Ref],
             several: bool = False) -> None:
        """A step; or its result, if all that it reads is known and it is small."""
        values = [ref.value for ref in ins]
        if not any(value is None for value in values) and all(
                math.prod(out.shape) <= LARGEST_CONSTANT for out in outs):
            found = function(*values)
            for ref, array in zip(outs, found if several else [found]):
                ref.value = self.constants[ref.number] = array
            return
        self.steps.append(Step(function, tuple([r.number for r in ins]), tuple([r.number for r in outs]),
                               several))

    def literal(self, atom: Literal) -> Ref:
        """The constant that a literal stands for, one for all literals of its value."""
        array = np.asarray(atom.val, atom.aval.dtype)
        key = atom.aval, array.tobytes()
        ref = self.literals.get(key)
        if ref is None:
            ref = self.literals[key] = self.constant(array[()], atom.aval)
        return ref

    # ------------------------------------------------------------------------------- equations

    def jaxpr(self, jaxpr, constants: Sequence, args: Sequence[Ref]) -> list[Ref]:
        """Append the jaxpr's equations; what it returns."""
        env = dict(zip(jaxpr.invars, args))
        for var, array in zip(jaxpr.constvars, constants):
            env[var] = array if isinstance(array, Ref) else \
                self.constant(_host_array(array, var.aval), var.aval)

        def read(atom):
            return self.literal(atom) if isinstance(atom, Literal) else env[atom]

        for eqn in jaxpr.eqns:
            env.update(zip(eqn.outvars, self.equation(eqn, [read(atom) for atom in eqn.invars])))
        return [read(atom) for atom in jaxpr.outvars]

    def equation(self, eqn, ins: list[Ref]) -> list[Ref]:
        """Append one equation; its results."""
        name = eqn.primitive.name
        if name in ("jit", "pjit") and NAMED.get(eqn.params["name"]) == len(ins):
            name = eqn.params["name"]
        if name in CALLS:
            inner = eqn.params[CALLS[name]]
            if hasattr(inner, "jaxpr"):
                return self.jaxpr(inner.jaxpr, inner.consts, ins)
            return self.jaxpr(inner, (), ins)
        if name == "broadcast_in_dim" and len(ins) == 1 and not is_key(eqn.outvars[0].aval):
            return [self.broadcast(ins[0], eqn)]
        key = _key_of_numbers(name, eqn, ins)
        outs = None if key is None else self.numbers.get(key)
        if outs is None:
            outs = self.computed(name, eqn, ins)
            if key is not None:
                self.numbers[key] = outs
        return outs

    def computed(self, name: str, eqn, ins: list[Ref]) -> list[Ref]:
        """Append the step of an equation that is no call; its results."""
        avals = tuple([v.aval for v in eqn.outvars])
        in_avals = tuple([atom.aval for atom in eqn.invars])
        if name in PRODUCTS and self.large(in_avals):
            self.products = True
        rule = RULES.get(name)
        function = None
        if rule is not None and (rule.keys or _all_known(in_avals, avals)):
            if not rule.compact:
                ins = [self.spread(ref) for ref in ins]
            site = Site(name, eqn.params, in_avals, avals, tuple([ref.value for ref in ins]),
                        tuple([ref.shape for ref in ins]), self.lower)
            function = rule.make(site)
            if function is SAME:
                return [Ref(ins[0].number, avals[0], ins[0].shape, ins[0].value)]
        if function is not None and rule.compact:
            shape = _together([ref.shape for ref in ins])
            outs = [self.value(aval, shape) for aval in avals]
        else:
            outs = [self.value(aval) for aval in avals]
        if function is None:
            ins = [self.spread(ref) for ref in ins]
            function = through_xla(eqn.primitive, eqn.params, in_avals, avals)
            self.fallbacks.append(name)
        several = name not in NAMED and eqn.primitive.multiple_results
        if eqn.effects:  # a callback's
            numbers = tuple([r.number for r in ins]), tuple([r.number for r in outs])
            self.steps.append(Step(function, *numbers, several, effect=True))
        else:
            self.emit(function, ins, outs, several)
        return outs

    def large(self, avals: tuple) -> bool:
        """Whether a product of these is large enough for threads."""
        return any(math.prod(aval.shape) > ONE_THREAD for aval in avals)

    def lower(self, closed) -> Callable:
        """Lower a jaxpr that a loop or a branch runs; its fallbacks are this one's."""
        run = lower(closed)
        self.fallbacks.extend(run.fallbacks)
        self.products |= run.products
        return run.bare

    # -------------------------------------------------------------------------- compact values

    def broadcast(self, ref: Ref, eqn) -> Ref:
        """``broadcast_in_dim``: no more than a reshape, see NOTE [Compact values]."""
        aval, dims = eqn.outvars[0].aval, eqn.params["broadcast_dimensions"]
        padded = (1,) * (len(dims) - len(ref.shape)) + ref.shape
        shape = [1] * len(aval.shape)
        for dim, size in zip(dims, padded):
            shape[dim] = size
        while shape and shape[0] == 1:
            del shape[0]
        return self.reshaped(ref, aval, tuple(shape))

    def reshaped(self, ref: Ref, aval, shape: tuple) -> Ref:
        if shape == ref.shape:
            out = Ref(ref.number, aval, shape, ref.value)
        else:
            out = self.value(aval, shape)
            self.emit(lambda x: x.reshape(shape), [ref], [out])
        return out

    def spread(self, ref: Ref) -> Ref:
        """The value with all its elements."""
        if ref.shape == ref.aval.shape or is_key(ref.aval):
            return ref
        if ref.full is None:
            shape, dtype = ref.aval.shape, ref.aval.dtype
            if math.prod(shape) == math.prod(ref.shape):
                ref.full = self.reshaped(ref, ref.aval, shape)
            else:
                ref.full = self.value(ref.aval)
                self.emit(_spreader(shape, dtype), [ref], [ref.full])
        return ref.full


def _key_of_numbers(name: str, eqn, ins: list[Ref]) -> tuple | None:
    """What equations of one result have in common, where that is a single number; None for others.

    An optimizer's update has the same few for each of its parameters. Larger results are computed anew: to
    keep one until it is read again takes memory, and `jax.checkpoint` computes twice on purpose.
    """
    if eqn.effects or any([v.aval.shape for v in eqn.outvars]):
        return None
    key = (name, *eqn.params.items(), *[v.aval for v in eqn.outvars],
           *[(ref.number, ref.aval, ref.shape) for ref in ins])
    try:
        hash(key)
    except TypeError:  # a parameter of the equation cannot be hashed
        return None
    return key


def _together(shapes: list[tuple]) -> tuple:
    """The shape of what is broadcast together; mostly there is but one that is not ()."""
    different = {*shapes} - {()}
    if len(different) <= 1:
        return different.pop() if different else ()
    return broadcast_shapes(*different)


def _host_array(array, aval):
    if is_key(aval):
        array = jax.random.key_data(array)
    return np.asarray(array)


def _all_known(ins: tuple, outs: tuple) -> bool:
    for aval in (*ins, *outs):
        if aval.dtype not in KNOWN:
            return False
    return True


def _spreader(shape: tuple, dtype: np.dtype) -> Callable:
    if math.prod(shape) > 4096:
        return lambda x: np.broadcast_to(x, shape)

    def spread(x):  # a third of the time of a view, for small ones
        out = np.empty(shape, dtype)
        out[...] = x
        return out

    return spread


# --------------------------------------------------------------------------------- the program


def lower(closed: jax.core.ClosedJaxpr, builder: Builder | None = None) -> Callable:
    """Make a jaxpr a function of NumPy arrays.

    Args:
        closed: the jaxpr. Any primitive is allowed; those without a rule run through XLA.
        builder: gathers the steps, if it is to do so in another way than `Builder`.

    Returns:
        ``run(*arrays) -> list[np.ndarray]``. It takes and returns arrays of exactly the jaxpr's avals, may
        return inputs, parts of them and views that cannot be written, writes into none of them, and may run
        in several threads at once. Arrays of random keys travel as their uint32 data. Attributes:
        ``run.bare``, the same without `interpreting` around it (for callers that set it around many
        runs), ``run.fallbacks``, the names of the primitives that go through XLA, ``run.products``, whether
        BLAS might use threads in it, and ``run.steps``, how many steps a run takes.
    """
    builder = Builder() if builder is None else builder
    with np.errstate(all="ignore"):
        args = [builder.value(aval) for aval in closed.in_avals]
        results = [builder.spread(ref) for ref in builder.jaxpr(closed.jaxpr, closed.consts, args)]
    steps = _alive(builder.steps, [ref.number for ref in results])
    program, template, out_slots = _allocate(steps, builder.constants, len(args), [r.number for r in results])
    bare = _runner(program, template, len(args), out_slots, [i for i, r in enumerate(results) if not r.shape])

    def run(*arrays):
        with interpreting():
            return bare(*arrays)

    run.bare = bare
    run.fallbacks = tuple(dict.fromkeys(builder.fallbacks))
    run.products = builder.products
    run.steps = len(program)
    return run


def _alive(steps: list[Step], results: list[int]) -> list[Step]:
    """The steps that somebody reads, and those with effects."""
    needed, kept = set(results), []
    for step in reversed(steps):
        if step.effect or not needed.isdisjoint(step.outs):
            needed.update(step.ins)
            kept.append(step)
    kept.reverse()
    return kept


def _allocate(steps: list[Step], constants: dict[int, Any], inputs: int, results: list[int]) -> tuple:
    """Give every value a slot; inputs come first, then constants, then what steps share in turn."""
    last = {}
    for at, step in enumerate(steps):
        for number in step.ins:
            last[number] = at
    kept = set(results)
    slots = {number: number for number in range(inputs)}
    template: list = [None] * inputs
    for number in [n for n in {*last, *kept} if n in constants]:
        slots[number] = len(template)
        template.append(constants[number])
    free: list[int] = []
    program = []
    for at, step in enumerate(steps):
        ins = [slots[n] for n in step.ins]
        dying = [slots[n] for n in dict.fromkeys(step.ins)
                 if last[n] == at and n not in kept and n not in constants]
        outs = []
        for number in step.outs:
            if dying:
                slot = dying.pop()
            elif free:
                slot = free.pop()
            else:
                slot = len(template)
                template.append(None)
            slots[number] = slot
            outs.append(slot)
        unread = [slots[n] for n in step.outs if n not in last and n not in kept]
        dead = (*dying, *unread)
        free.extend(dead)
        if step.several:
            program.append((3, step.function, tuple(ins), tuple(outs), None, dead))
        elif len(ins) == 1:
            program.append((1, step.function, ins[0], None, outs[0], dead))
        elif len(ins) == 2:
            program.append((2, step.function, *ins, outs[0], dead))
        else:
            program.append((0, step.function, tuple(ins), None, outs[0], dead))
    return program, template, [slots[n] for n in results]


def _runner(program: list, template: list, inputs: int, results: list[int], scalars: list[int]) -> Callable:
    """The loop over the steps."""
    if len(program) == 1 and len(results) == 1:
        alone = _alone(*program[0], template, inputs, results[0], bool(scalars))
        if alone is not None:
            return alone

    def bare(*arrays):
        env = template.copy()
        env[:inputs] = arrays
        for arity, function, a, b, out, dead in program:
            if arity == 2:
                env[out] = function(env[a], env[b])
            elif arity == 1:
                env[out] = function(env[a])
            elif arity == 0:
                env[out] = function(*[env[i] for i in a])
            else:
                for slot, array in zip(b, function(*[env[i] for i in a])):
                    env[slot] = array
            if dead:
                for slot in dead:
                    env[slot] = None
        found = [env[slot] for slot in results]
        for i in scalars:
            found[i] = np.asarray(found[i])
        return found

    return bare


def _alone(arity: int, function: Callable, a, b, out: int, dead, template: list, inputs: int,
           result: int, scalar: bool) -> Callable | None:
    """One step without the loop, in the usual cases: what is elementwise is mostly no more than that.

    What is ``scalar`` may be a NumPy scalar between steps, but no result.
    """
    if out != result or arity not in (1, 2):
        return None
    if arity == inputs == 1 and a == 0:
        return (lambda x: [np.asarray(function(x))]) if scalar else lambda x: [function(x)]
    if arity == 2 and inputs == 2 and (a, b) == (0, 1):
        return (lambda x, y: [np.asarray(function(x, y))]) if scalar else lambda x, y: [function(x, y)]
    if arity == 2 and inputs == 1 and a == 0 and b != 0 and not scalar:
        constant = template[b]
        return lambda x: [function(x, constant)]
    return None
