"""Plans: an op for particular avals and static arguments, inferred once and kept.

A Plan owns the pure function of exactly its dynamic inputs (arrays and numbers), what comes out of it,
and the plans of its backward passes. It is interned, so a Program's key can hold the Plan itself.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxflow._core import budget, cache_pressure
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.graph import node_class
from jaxflow._core.jax_compat import ClosedJaxpr
from jaxflow._core.user_line import user_line

# How a Python number enters a plan: as a 0-d array of the widest dtype of its kind.
NUMBER_DTYPES = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
NUMBER_KINDS = {
    bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128
}
NoneKind = type(None)

build_lock = threading.RLock()


class Plan:
    """A pure function of known avals; see the module docstring.

    Attributes:
        kinds: per dynamic input an Aval or a Python number type (absent optional inputs left out).
        fn: the function of exactly those inputs; returns a tuple of arrays.
        jitted: ``fn`` under ``jax.jit``; equal layers share its trace. Made when first read.
        jaxpr: the ClosedJaxpr of ``fn`` for these kinds. Made when first read, by the trace that ``jitted``
            uses, and the other way round: nothing is traced twice.
        out_avals: what comes out.
        diff_outputs: which outputs may require grad.
        depends: of the plan of a backward, for each result the set of inputs that it has a derivative by, as
            bits of a number; None where that is any of them. See NOTE [Constant gradients].
        arrays: how many of the inputs are arrays.
        edge_inputs: the inputs that a node's ``next_functions`` lists.
        version_checked: a row for each input that PyTorch's node holds: its number, and those of the inputs
            for whose gradients alone it does (none: for any); None for the inputs that the backward reads.
        stepwise: the inputs that it holds are those that a composition of PyTorch's operations would.
        residual_outputs: the results that the backward takes after the inputs: NOTE [What backward keeps].
        twice: whether its gradient has a gradient; None where its jaxpr shows it.
        batched: its plans for batched inputs, see NOTE [Batched values].
        computed: its plans where inputs that are numbers here are tensors, by their positions; None for most.
        arity: how many cotangents a node of it gets: its results up to the last that may require grad.
        held_results: of several results those that PyTorch's node holds.
        quick: what runs it at once, if that needs nothing around it; None until `immediate` found out.
        interpret_cost: seconds that interpreting it takes, about; None until `cost_model` estimated it.
        spent: seconds that interpreting it by itself has taken so far, about (``tiering.alone_in_numpy``).
        origin: op, static arguments, layout and present inputs of a plan that was built from an op.
        view: key and parent of a view op; None for other plans.
        member: template and numbers of a plan that was not traced; see NOTE [Families of plans].
        backs: of the plan of a backward, the plan it belongs to and its Vjp.
        untraced: what makes a Vjp without a trace (``data_movement``); None for most.
        laid: strides of its results by those of its operands, where not all are contiguous; None for most.
        line: the user's line at which it was made, for errors: noting the line of each call would cost more
            than the rest of recording it does.
    """

    __slots__ = ("arity", "arrays", "backs", "batched", "computed", "depends", "device", "diff_outputs",
                 "differentiable", "edge_inputs", "fn", "grad_name", "held_results", "host",
                 "interpret_cost", "jaxpr", "jitted", "kinds", "laid", "line", "make_fn", "member",
                 "name", "node", "origin", "out_avals", "preserve", "quick", "recomputes",
                 "residual_outputs", "returns", "saves", "single", "spent", "stepwise", "twice", "untraced",
                 "version_checked", "view", "vjps")

    def __init__(self, name: str, fn: Callable | None, kinds: Sequence, out_avals: Sequence[Aval], *,
                 device, grad_name: str, saves: str = "input",
                 version_checked: tuple[tuple, ...] | None = None,
                 differentiable: bool | Sequence[bool] = True,
                 preserve: bool = False, recomputes: bool | tuple = False, returns: Any = None,
                 single: bool = True, edge_inputs: tuple[int, ...] | None = None, twice: bool | None = None,
                 traced: Traced | None = None, jaxpr: ClosedJaxpr | None = None) -> None:
        self.name = name
        if fn is not None:  # else ``make_fn`` is still to be set
            self.fn = fn
        if traced is not None:
            self.jitted, self.jaxpr = traced.jitted, traced.jaxpr
        elif jaxpr is not None:
            self.jaxpr = jaxpr
        self.kinds = tuple(kinds)
        self.out_avals = tuple(out_avals)
        self.device = device
        self.grad_name = grad_name
        self.node = node_class(grad_name)
        self.saves, self.version_checked = saves, version_checked
        if isinstance(differentiable, bool):
            differentiable = [differentiable] * len(self.out_avals)
        self.diff_outputs = tuple(
            d and a.dtype.category >= 2 for d, a in zip(differentiable, self.out_avals, strict=True)
        )
        self.differentiable = any(self.diff_outputs)
        self.preserve = preserve
        self.recomputes = recomputes
        self.returns = returns
        self.single = single
        arrays = tuple(i for i, k in enumerate(self.kinds) if isinstance(k, Aval))
        self.arrays = len(arrays)
        self.edge_inputs = arrays if edge_inputs is None else edge_inputs
        self.twice = twice
        self.depends: tuple[int, ...] | None = None
        self.vjps: dict = {}
        self.batched: dict | None = None
        self.computed: dict[tuple, Plan] | None = None
        self.arity = max((i + 1 for i, d in enumerate(self.diff_outputs) if d), default=1)
        self.held_results: tuple[int, ...] = ()
        self.residual_outputs: tuple[int, ...] = ()
        self.stepwise = False
        self.origin: tuple | None = None
        self.view: tuple | None = None
        self.member: tuple | None = None
        self.backs: tuple | None = None
        self.untraced: Callable | None = None
        self.laid: dict[tuple, tuple] | None = None
        self.line = user_line()
        budget.charge(budget.PLAN if traced is None and jaxpr is None else budget.TRACE, 1)

    def copied(self, kinds: Sequence, out_avals: tuple, fn: Callable[[], Callable],
               origin: tuple | None = None) -> Plan:
        """The same with other sizes; ``fn`` makes its function, when that is first read."""
        new = Plan.__new__(Plan)
        for name in _COPIED:
            setattr(new, name, getattr(self, name))
        new.kinds, new.out_avals, new.make_fn, new.origin = kinds, out_avals, fn, origin
        new.vjps, new.line = {}, user_line()
        new.batched = new.computed = new.view = new.member = new.backs = new.untraced = new.laid = None
        budget.charge(budget.PLAN, 1)
        return new

    def __getattr__(self, name: str):
        # Reached once for each of these slots: until it is filled.
        if name == "jitted":
            self.jitted = found = jit(self.name, self.fn)
        elif name == "jaxpr":
            self.jaxpr = found = (
                self.jitted.trace(*map(struct_of, self.kinds)).jaxpr if self.member is None
                else self.member[0].jaxpr_of(self.member[1])
            )
        elif name == "fn":
            self.fn = found = self.make_fn()
        elif name in ("host", "quick", "interpret_cost"):  # filled by `lower`, `immediate` and `cost_model`
            found = None
            setattr(self, name, found)
        elif name == "spent":
            self.spent = found = 0.0
        else:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return found

    def __repr__(self) -> str:
        return f"<plan {self.name}({', '.join(map(_kind_name, self.kinds))})>"

    def declared(self, needs: tuple[bool, ...]) -> tuple[int, ...]:
        """Which inputs the operation's declaration says that PyTorch's node holds for these gradients."""
        rows = self.version_checked or ()
        return tuple([i for i, only in rows if not only or any([needs[k] for k in only])])


def traced_jaxpr(plan: Plan) -> ClosedJaxpr:
    """A jaxpr of the operations of a plan: its own, or the one that was traced for its family.

    The members of a family are made of the same operations.
    """
    return plan.jaxpr if plan.member is None else plan.member[0].jaxpr


# What a plan has in common with those of the same operation in other sizes.
_COPIED = ("arity", "arrays", "depends", "device", "diff_outputs", "differentiable", "edge_inputs",
           "grad_name", "held_results", "name", "node", "preserve", "recomputes", "residual_outputs",
           "returns", "saves", "single", "stepwise", "twice", "version_checked")


class Vjp:
    """One backward of a Plan: which inputs it reads, and the Plan that computes the gradients.

    ``plan`` takes the inputs listed in ``vjp_inputs``, then one cotangent for each output in ``defined``; it
    returns one gradient for each input listed in ``wanted``. A node holds ``node_inputs``: these,
    and all plain numbers, which it can show. ``reads`` are for each gradient the bits of what it is made of:
    of the inputs and kept results, then of the cotangents; ``silent`` are for each the numbers of those that
    ``plan`` does not take. See NOTE [Constant gradients]. ``held`` are the inputs that may not be overwritten
    before it runs: those that PyTorch's node holds, which is what is kept if nothing else is declared.
    """

    __slots__ = ("defined", "held", "node_inputs", "plan", "reads", "silent", "vjp_inputs", "wanted")

    def __init__(self, plan: Plan, vjp_inputs, wanted, defined, node_inputs, reads=(), silent=()) -> None:
        self.plan, self.vjp_inputs, self.wanted, self.defined = plan, vjp_inputs, wanted, defined
        self.node_inputs, self.reads, self.silent, self.held = node_inputs, reads, silent, vjp_inputs

    def of(self, plan: Plan) -> Vjp:
        """This, as a backward of ``plan``; noted where the interpreter looks for it."""
        self.plan.backs = plan, self
        return self


def _kind_name(kind) -> str:
    return repr(kind) if isinstance(kind, Aval) else kind.__name__


def struct_of(kind) -> jax.ShapeDtypeStruct:
    """The jax description of one dynamic input."""
    return kind.struct if isinstance(kind, Aval) else jax.ShapeDtypeStruct((), NUMBER_DTYPES[kind])


def jit(name: str, fn: Callable) -> Callable:
    """``fn`` under ``jax.jit``, called ``name`` in what XLA shows of it."""
    fn.__name__ = fn.__qualname__ = name
    cache_pressure.made()
    return jax.jit(fn)


class Traced:
    """The one trace of a function for inputs of these ``kinds``: the body runs here, on shapes alone.

    Its errors are the user's. ``out_avals`` are of what it returns.
    """

    __slots__ = ("jaxpr", "jitted", "out_avals")

    def __init__(self, name: str, fn: Callable, kinds: Sequence, device) -> None:
        self.jitted = jit(name, fn)
        self.jaxpr = self.jitted.trace(*map(struct_of, kinds)).jaxpr
        self.out_avals = tuple(
            aval_of(o.shape, dtypes.from_numpy_dtype(o.dtype), device) for o in self.jaxpr.out_avals
        )


def operand(kind: Any) -> tuple:
    """What promotion needs of an operand: its dtype, and whether it is a tensor, one of 0-d, or a number."""
    if isinstance(kind, Aval):
        return kind.dtype, "tensor" if kind.ndim else "zerodim"
    return NUMBER_KINDS[kind], "scalar"


def result_number(plan: Plan, name: str) -> int | None:
    """Which result is shown as ``name``: ``result``, ``result1``, or a field of the named tuple."""
    match = re.fullmatch(r"result(\d*)", name)
    number = int(match[1] or 0) if match else None
    if match is None and plan.origin is not None:
        returns = plan.origin[0].returns
        fields = getattr(returns, "fields", returns)
        number = fields.index(name) if name in fields else None
    return None if number is None or number >= len(plan.out_avals) else number
