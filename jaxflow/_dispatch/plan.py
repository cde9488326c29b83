"""Plans: an op met with particular avals and static arguments, inferred once and kept.

A Plan owns the pure function of exactly its dynamic inputs (arrays and numbers), what comes out of it,
and the plans of its backward passes. It is interned, so a Program's key can hold the Plan itself.

NOTE [What backward keeps]
    The backward of a Plan is ``jax.vjp`` of its function, traced once. Dead code is then removed, and
    only the inputs the rest still reads are kept by the graph: ``add`` keeps nothing, ``mul`` the other
    factor, ``relu`` its input. A cheap forward is computed again from the kept inputs; inside one
    Program XLA finds that it has it already, and so keeps its intermediate results until then. Where
    those are as large as the input and cheap (``gelu``, ``layer_norm``), the op ``recomputes``: its
    backward gets the kept inputs through a selection that seems to depend on the last cotangent, so that
    nothing of the body runs again before that is there, nor is taken over from the first time.
    It may name the operands that this is for: a convolution's weight is turned round for backward, which
    depends on nothing but the weight, so that XLA would do it for all layers when the program begins.
    Of loops XLA does not find out that it has them. So where the forward is one, the op ``keeps`` results for
    its backward: the node holds all inputs, then these results, and the backward is traced with the results
    in the place of what computes them.

NOTE [Complex gradients]
    PyTorch's gradient of a real loss is the conjugate of jax's cotangent. So cotangents are conjugated on
    the way into ``jax.vjp`` and results on the way out; nothing else in the project knows of it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal, Var, jaxpr_as_fun
from jax.interpreters import partial_eval

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.cast import cast
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._core.threefry import key_of
from jaxflow._ops._xla import held_back

from . import room
from .columns import in_columns
from .graph import node_class
from .op import SCALAR, TENSOR, TENSORS, Op
from .saved_names import SAVED_NAMES

# How a Python number enters a plan: as a 0-d array of the widest dtype of its kind.
NUMBER_DTYPES = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
NUMBER_KINDS = {
    bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128
}
NoneKind = type(None)

_build_lock = threading.RLock()


class Plan:
    """A pure function of known avals; see the module docstring.

    Attributes:
        kinds: per dynamic input an Aval or a Python number type (absent optional inputs left out).
        fn: the function of exactly those inputs; returns a tuple of arrays.
        jitted: ``fn`` under ``jax.jit``; equal layers share its trace. Made when first asked for.
        jaxpr: the ClosedJaxpr of ``fn`` for these kinds. Made when first asked for, by the trace that
            ``jitted`` uses, and the other way round: nothing is traced twice.
        out_avals: what comes out.
        diff_outputs: which outputs may require grad.
        arrays: how many of the inputs are arrays.
        faces: the inputs that a node's ``next_functions`` lists.
        holds: the inputs that PyTorch's node holds; None for those that the backward reads.
        keeps: the results that the backward takes after the inputs, see NOTE [What backward keeps].
        twice: whether its gradient has a gradient; None where its jaxpr tells.
        batched: its plans for batched inputs, see NOTE [Batched values].
        arity: how many cotangents a node of it gets: its results up to the last that may require grad.
        held_results: of several results those that PyTorch's node holds.
        quick: what runs it at once, if that needs nothing around it; None until `at_once` found out.
        rent: seconds that interpreting it takes, about; None until `work` was asked.
        origin: op, static arguments, layout and present inputs of a plan that was built from an op.
        view: key and parent of a view op; None for other plans.
        member: template and numbers of a plan that was not traced; see NOTE [Families of plans].
        backs: of the plan of a backward, the plan it belongs to and its Vjp.
        untraced: what makes a Vjp without a trace (``moving``); None for most.
    """

    __slots__ = ("arity", "arrays", "backs", "batched", "device", "diff_outputs", "differentiable", "faces",
                 "fn", "grad_name", "held_results", "holds", "host", "jaxpr", "jitted", "keeps", "kinds",
                 "make_fn", "member", "name", "node", "origin", "out_avals", "preserve", "quick",
                 "recomputes", "rent", "returns", "saves", "single", "twice", "untraced", "view", "vjps")

    def __init__(self, name: str, fn: Callable | None, kinds: Sequence, out_avals: Sequence[Aval], *,
                 device, grad_name: str, saves: str = "input", holds: tuple[int, ...] | None = None,
                 differentiable: bool | Sequence[bool] = True,
                 preserve: bool = False, recomputes: bool | tuple = False, returns: Any = None,
                 single: bool = True, faces: tuple[int, ...] | None = None, twice: bool | None = None,
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
        self.saves, self.holds = saves, holds
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
        self.faces = arrays if faces is None else faces
        self.twice = twice
        self.vjps: dict = {}
        self.batched: dict | None = None
        self.arity = max((i + 1 for i, d in enumerate(self.diff_outputs) if d), default=1)
        self.held_results: tuple[int, ...] = ()
        self.keeps: tuple[int, ...] = ()
        self.origin: tuple | None = None
        self.view: tuple | None = None
        self.member: tuple | None = None
        self.backs: tuple | None = None
        self.untraced: Callable | None = None

    def copied(self, kinds: Sequence, out_avals: tuple, fn: Callable[[], Callable],
               origin: tuple | None = None) -> Plan:
        """The same with other sizes; ``fn`` makes its function, when that is first asked for."""
        new = Plan.__new__(Plan)
        for name in _COPIED:
            setattr(new, name, getattr(self, name))
        new.kinds, new.out_avals, new.make_fn, new.origin = kinds, out_avals, fn, origin
        new.vjps = {}
        new.batched = new.view = new.member = new.backs = new.untraced = None
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
        elif name in ("host", "quick", "rent"):  # see `host.host_of`, `at_once` and `work`
            found = None
            setattr(self, name, found)
        else:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return found

    def __repr__(self) -> str:
        return f"<plan {self.name}({', '.join(map(_kind_name, self.kinds))})>"

    def vjp(self, needs: tuple[bool, ...], defined: tuple[bool, ...] | None = None) -> Vjp:
        """The backward for the inputs marked in ``needs``, given cotangents of the marked outputs."""
        key = (needs, defined)
        found = self.vjps.get(key)
        if found is None:
            with _build_lock:
                found = self.vjps.get(key)
                if found is None and self.untraced is not None:
                    found = self.untraced(self, needs, defined or self.diff_outputs)
                elif found is None and self.member is not None:
                    template, numbers = self.member
                    found = template.vjp(self, numbers, needs, defined)
                if found is None:
                    found = _build_vjp(self, needs, defined or self.diff_outputs)
                self.vjps[key] = found
        return found


# What a plan has in common with those of the same operation in other sizes.
_COPIED = ("arity", "arrays", "device", "diff_outputs", "differentiable", "faces", "grad_name",
           "held_results", "holds", "keeps", "name", "node", "preserve", "recomputes", "returns", "saves",
           "single", "twice")


class Vjp:
    """One backward of a Plan: which inputs it keeps, and the Plan that computes the gradients.

    ``plan`` takes the inputs listed in ``kept``, then one cotangent for each output in ``defined``; it
    returns one gradient for each input listed in ``wanted``. A node holds what is ``noted``: what is kept,
    and all plain numbers, which it can show.
    """

    __slots__ = ("defined", "kept", "noted", "plan", "wanted")

    def __init__(self, plan: Plan, kept, wanted, defined, noted) -> None:
        self.plan, self.kept, self.wanted, self.defined = plan, kept, wanted, defined
        self.noted = noted

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
    room.made()
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


# ---------------------------------------------------------------------------------- from an op record


def build(op: Op, kinds: tuple, static: tuple, into: Aval | None = None,
          told: Aval | None = None) -> Plan:
    """The Plan of ``op`` for these dynamic kinds (None-kinds included) and static arguments.

    With ``into`` the result is cast to that aval's dtype and must have its shape: the in-place form. Where
    the result is ``told``, nothing is traced.

    Raises:
        RuntimeError: for devices or dtypes that do not go together, and whatever the body raises.
    """
    with _build_lock:
        flat, single, live, device, layout, present = _assembled(op, kinds, static, into)
        traced = Traced(op.name, flat, live, device) if told is None else None
        out_avals = traced.out_avals if told is None else (told,)
        if into is not None and out_avals[0].shape != into.shape:
            raise RuntimeError(
                f"Bad in-place call: input tensor size {list(into.shape)} and output tensor size "
                f"{list(out_avals[0].shape)} should match"
            )
        numbers = tuple(k in NUMBER_DTYPES for k in kinds)
        grad_name = _grad_name(op, numbers, static)
        # Where numbers change the node's name they are no operands that were wrapped as tensors.
        wrapped = grad_name == _grad_name(op, (False,) * len(numbers), static)
        saves, holds = _saves(op, static, layout, present)
        one = told is not None or single[0]
        columns = op.columns(**op.named(static)) if callable(op.columns) else op.columns
        plan = Plan(op.name, flat, live, out_avals, device=device, grad_name=grad_name,
                    saves=saves, holds=holds, differentiable=op.differentiable,
                    preserve=op.layout == "preserve", recomputes=_late(op, layout, present),
                    returns=in_columns(columns, one, op.returns) if columns else op.returns,
                    single=one and not columns, traced=traced,
                    faces=_faces(op, kinds, layout, present, wrapped))
        plan.origin = (op, static, layout, present)
        plan.keeps = op.keeps
        if not one:
            held = (result_number(plan, n) for n, tensor in SAVED_NAMES.get(grad_name, {}).items() if tensor)
            plan.held_results = tuple(sorted(k for k in held if k is not None))
        return plan


def function(op: Op, kinds: tuple, static: tuple, into: Aval | None = None) -> Callable:
    """The function alone of the Plan that `build` makes of these; nothing is traced."""
    return _assembled(op, kinds, static, into)[0]


def _assembled(op: Op, kinds: tuple, static: tuple, into: Aval | None) -> tuple:
    """The function of a plan, and what it is made of.

    The list that comes second holds, once the function was traced, whether the body returns one result.
    """
    _check_numbers(op, kinds)
    device = common_device(kinds)
    if "device" in op.static_names:  # an op without tensors that makes one
        device = static[op.static_names.index("device")]
    layout = _dynamic_layout(op, kinds)
    promote = op.promote
    if callable(promote):
        promote = promote(**op.named(static))
    compute = result = None
    if promote is not None:
        operands = [
            _operand(kinds[i]) for p, at, n in layout if p.kind != SCALAR and p.promotes
            for i in range(at, at + n) if kinds[i] is not NoneKind
        ]
        if op.check is not None:
            op.check(*operands)
        compute, result = promotion.elementwise(promote, operands)
    shape = None
    if op.broadcast:
        shape = broadcast_shapes(*_shapes(kinds, layout, masks_first=into is None))
    if into is not None:
        # Of a wrong shape and a wrong dtype PyTorch names the shape.
        if shape is not None and shape != into.shape:
            raise _wrong_shape(shape, into)
        result = _check_castable(op, result, into)
    present = [i for i, k in enumerate(kinds) if k is not NoneKind]
    fn = _body(op, kinds, static, layout, present, compute, result, shape)
    single: list[bool] = []

    def flat(*inputs):
        outs = fn(*inputs)
        if not single:
            single.append(not isinstance(outs, (tuple, list)))
        return (outs,) if single[0] else tuple(outs)

    flat.__doc__ = op.doc
    return flat, single, [kinds[i] for i in present], device, layout, present


def result_number(plan: Plan, name: str) -> int | None:
    """Which result is shown as ``name``: ``result``, ``result1``, or a field of the named tuple."""
    match = re.fullmatch(r"result(\d*)", name)
    number = int(match[1] or 0) if match else None
    if match is None and plan.origin is not None:
        returns = plan.origin[0].returns
        fields = getattr(returns, "fields", returns)
        number = fields.index(name) if name in fields else None
    return None if number is None or number >= len(plan.out_avals) else number


def _grad_name(op: Op, numbers: tuple[bool, ...], static: tuple) -> str:
    """PyTorch's name of the node, given which dynamic arguments are Python numbers."""
    if not callable(op.grad_name):
        return op.grad_name
    return op.grad_name(numbers, **op.named(static))


def _saves(op: Op, static: tuple, layout: list,
           present: list) -> tuple[str, tuple[int, ...] | None]:
    """What the plan ``saves`` and ``holds``."""
    saves = op.saves
    if callable(saves):
        saves = saves(**op.named(static))
    if isinstance(saves, str):
        return saves, None
    return "both" if "result" in saves else "input", _named(saves, layout, present)


def _late(op: Op, layout: list, present: list) -> bool | tuple[int, ...]:
    """The op's ``recomputes``, with names as numbers of inputs."""
    return op.recomputes if isinstance(op.recomputes, bool) else _named(op.recomputes, layout, present)


def _named(names: Sequence[str], layout: list, present: list) -> tuple[int, ...]:
    return tuple(sorted(present.index(i) for p, at, count in layout if p.name in names
                        for i in range(at, at + count) if i in present))


def _faces(op: Op, kinds: tuple, layout: list, present: list, wrapped: bool) -> tuple[int, ...]:
    """Which present inputs stand for operands PyTorch differentiates: no index, mask or plain number."""
    found = []
    for p, at, count in layout:
        for i in range(at, at + count):
            kind = kinds[i]
            if kind is NoneKind or p.kind == SCALAR or not p.promotes:
                continue
            if isinstance(kind, Aval):
                operand = op.promote is not None or kind.dtype.category >= 2
            else:
                operand = wrapped
            if operand:
                found.append(present.index(i))
    return tuple(found)


def _wrong_shape(shape: tuple[int, ...], into: Aval) -> RuntimeError:
    return RuntimeError(
        f"output with shape {list(into.shape)} doesn't match the broadcast shape {list(shape)}"
    )


def _check_numbers(op: Op, kinds: tuple) -> None:
    """Refuse numbers (and None) where PyTorch wants tensors, in its words."""
    if not op.variants or "all" in op.numbers:
        return
    tensors = [p for p in op.params if p.kind == TENSOR]
    if len(tensors) == len(op.params) or not any(p.kind == TENSORS for p in op.params):
        found = list(zip(tensors, kinds))
        for p, kind in found:
            missing = kind is NoneKind and p.default is p.empty
            if missing or (kind in NUMBER_KINDS and p.name not in op.numbers):
                if op.numbers and not missing:
                    raise _no_overload(op, found)
                raise TypeError(
                    f"{op.name}(): argument '{p.name}' (position {op.params.index(p) + 1}) must be "
                    f"Tensor, not {kind.__name__}"
                )
        if op.numbers and not any(isinstance(kind, Aval) for _, kind in found):
            raise _no_overload(op, found)


def _no_overload(op: Op, found: list) -> TypeError:
    got = ", ".join("Tensor" if isinstance(k, Aval) else k.__name__ for _, k in found)
    return TypeError(
        f"{op.name}() received an invalid combination of arguments - got ({got}), but expected one "
        f"of:\n{op.doc}"
    )


def _dynamic_layout(op: Op, kinds: tuple) -> list[tuple]:
    """``(parameter, first position, count)`` among the dynamic inputs: tensors, then scalars, then key."""
    layout = []
    n_list = len(kinds) - sum(p.kind in (TENSOR, SCALAR) for p in op.params) - 2 * op.random
    at = 0
    for p in (*(p for p in op.params if p.kind in (TENSOR, TENSORS)),
              *(p for p in op.params if p.kind == SCALAR)):
        count = n_list if p.kind == TENSORS else 1
        layout.append((p, at, count))
        at += count
    return layout


def _shapes(kinds: tuple, layout: list, masks_first: bool) -> list[tuple[int, ...]]:
    """The tensors' shapes, in the order in which PyTorch's error names two that do not broadcast."""
    order = sorted(layout, key=lambda entry: entry[0].promotes) if masks_first else layout
    return [kinds[i].shape for _, at, n in order for i in range(at, at + n)
            if isinstance(kinds[i], Aval)]


def _operand(kind) -> tuple:
    if isinstance(kind, Aval):
        return kind.dtype, "tensor" if kind.ndim else "zerodim"
    return NUMBER_KINDS[kind], "scalar"


def common_device(kinds: tuple):
    """The device of an operation on these inputs; numbers on the CPU go along. RuntimeError for two."""
    found = None
    for kind in kinds:
        if isinstance(kind, Aval) and kind.device is not found:
            if found is None or (found.type == "cpu" and kind.ndim):
                if found is not None and any(
                    isinstance(k, Aval) and k.ndim and k.device is found for k in kinds
                ):
                    raise _device_error(found, kind.device)
                found = kind.device
            elif kind.ndim or kind.device.type != "cpu":
                raise _device_error(found, kind.device)
    return found if found is not None else devices.get_default_device()


def _device_error(a, b) -> RuntimeError:
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {a} and {b}!"
    )


def _check_castable(op: Op, result, into: Aval):
    if result is not None and not promotion.can_cast(result, into.dtype):
        raise RuntimeError(
            f"result type {result.scalar_name} can't be cast to the desired output type "
            f"{into.dtype.scalar_name}"
        )
    return into.dtype


def _body(op, kinds, static, layout, present, compute, result, shape) -> Callable:
    """The op's function of its present dynamic inputs: promotion and broadcasting, body, result cast."""
    kwargs = op.named(static)
    compute_np = None if compute is None else compute.np
    result_np = None if result is None else result.np
    out_count = len(kinds)
    random = op.random

    def prepare(x, kind, p):
        if not isinstance(kind, Aval):
            x = jnp.asarray(x, NUMBER_DTYPES[kind])
            if compute_np is None:
                return x  # a fill or a copy, which casts from all of the number's digits
        if compute_np is not None and p.promotes:
            x = cast(x, compute_np)
        if shape is not None and x.shape != shape:
            x = jnp.broadcast_to(x, shape)
        return x

    def run(*inputs):
        slots: list[Any] = [None] * out_count
        for i, x in zip(present, inputs, strict=True):
            slots[i] = x
        positional, named = [], dict(kwargs)
        for p, at, count in layout:
            if p.kind == SCALAR:
                kind = kinds[at]
                named[p.name] = (
                    p.default if kind is NoneKind else
                    _as_scalar(slots[at], kind)
                )
            elif p.kind == TENSORS:
                positional.extend(prepare(slots[i], kinds[i], p) for i in range(at, at + count))
            else:
                tensor = None if kinds[at] is NoneKind else prepare(slots[at], kinds[at], p)
                if p.by_name:
                    named[p.name] = tensor
                else:
                    positional.append(tensor)
        if random:
            seed, offset = (jnp.asarray(s, np.int64) for s in slots[-2:])
            named["key"] = key_of(seed, offset)
        outs = op.fn(*positional, **named)
        if result_np is not None:
            if isinstance(outs, (tuple, list)):
                return tuple(cast(o, result_np) for o in outs)
            return cast(outs, result_np)
        return outs

    return run


def _as_scalar(x, kind):
    """A Scalar parameter as a 0-d array (a 0-d tensor is welcome where a number is)."""
    return x if isinstance(kind, Aval) else jnp.asarray(x, NUMBER_DTYPES[kind])


# ----------------------------------------------------------------------------------------- backward


def _build_vjp(plan: Plan, needs: tuple[bool, ...], defined: tuple[bool, ...]) -> Vjp:
    """Trace ``jax.vjp`` of the plan, drop dead code, and keep only the inputs still read."""
    wanted = tuple(i for i, need in enumerate(needs) if need)
    with_ct = tuple(i for i, d in enumerate(defined) if d)
    return finish_vjp(plan, *_backward(plan, wanted, with_ct), wanted, with_ct)


def _backward(plan: Plan, wanted: tuple, with_ct: tuple) -> tuple[Callable, Sequence]:
    """The function from what a node may keep and the cotangents to the gradients; kinds of the former."""
    if plan.keeps:
        return backward_from_results(plan, wanted, with_ct, plan.keeps)
    n = len(plan.kinds)

    def backward(*inputs):
        return forward_and_backward(plan, wanted, with_ct, inputs[:n], inputs[n:])[1]

    return backward, plan.kinds


def backward_jaxpr(plan: Plan, wanted: tuple, with_ct: tuple, kept: tuple) -> ClosedJaxpr | None:
    """The backward as a jaxpr of the ``kept`` inputs and the cotangents; None if it reads others."""
    closed, found = _live(plan, *_backward(plan, wanted, with_ct), wanted, with_ct, kept)
    return closed if found == kept else None


def _live(plan: Plan, backward: Callable, kinds: Sequence, wanted: tuple, with_ct: tuple,
          anyway: tuple = ()) -> tuple[ClosedJaxpr, tuple[int, ...]]:
    """The jaxpr of a backward without its dead code, and the inputs it keeps, ``anyway`` among them."""
    n = len(kinds)
    ct_kinds = [plan.out_avals[i] for i in with_ct]
    closed = jax.make_jaxpr(backward)(*map(struct_of, (*kinds, *ct_kinds)))
    jaxpr, used = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(wanted))
    anyway = {*anyway, *_kept_anyway(plan)}
    kept = tuple(i for i in range(n) if used[i] or i in anyway)
    # The cotangents always come along, used or not: one calling convention for every backward.
    invars = closed.jaxpr.invars
    return closed.replace(jaxpr=jaxpr.replace(invars=[*(invars[i] for i in kept), *invars[n:]])), kept


def backward_from_results(plan: Plan, wanted: tuple, with_ct: tuple,
                          results: tuple[int, ...]) -> tuple[Callable, Sequence]:
    """The same for a backward that takes ``results`` after the inputs, and reads them wherever it can."""
    n, m = len(plan.kinds), len(results)

    def both(*inputs):
        outs, grads = forward_and_backward(plan, wanted, with_ct, inputs[:n], inputs[n:])
        return (*(outs[k] for k in results), *grads)

    closed = jax.make_jaxpr(both)(*map(struct_of, plan.kinds), *(plan.out_avals[i].struct for i in with_ct))

    def backward(*inputs):
        pairs = zip(closed.jaxpr.outvars[:m], inputs[n:n + m])
        given = {v: x for v, x in pairs if isinstance(v, Var)}
        return _evaluate(closed, (*inputs[:n], *inputs[n + m:]), given)[m:]

    return backward, (*plan.kinds, *(plan.out_avals[k] for k in results))


def _evaluate(closed: ClosedJaxpr, inputs: Sequence, given: dict) -> list:
    """The values of a jaxpr, with those of the variables in ``given`` as given instead of computed."""
    env: dict = dict(zip(closed.jaxpr.constvars, closed.consts))
    env.update(zip(closed.jaxpr.invars, inputs))

    def read(v):
        return v.val if isinstance(v, Literal) else env[v]

    for eqn in closed.jaxpr.eqns:
        params = eqn.primitive.get_bind_params(eqn.params)
        outs = eqn.primitive.bind(*map(read, eqn.invars), **params)
        for v, x in zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]):
            env[v] = given.get(v, x)
    return [read(v) for v in closed.jaxpr.outvars]


def forward_and_backward(plan: Plan, wanted: tuple, with_ct: tuple, inputs, cotangents) -> tuple:
    """All results of a plan, and the gradients of the ``wanted`` inputs for cotangents of some results."""
    primals = list(inputs)

    def forward(*varied):
        for i, x in zip(wanted, varied, strict=True):
            primals[i] = x
        outs = plan.fn(*primals)
        return tuple(outs[i] for i in with_ct), tuple(outs)

    _, pullback, outs = jax.vjp(forward, *(primals[i] for i in wanted), has_aux=True)
    return outs, tuple(map(_conj, pullback(tuple(map(_conj, cotangents)))))


def finish_vjp(plan: Plan, backward: Callable, kinds: Sequence, wanted: tuple, with_ct: tuple) -> Vjp:
    """The Vjp of a function of inputs of these ``kinds`` and cotangents, dead code removed."""
    closed, kept = _live(plan, backward, kinds, wanted, with_ct)
    name = plan.name + "_vjp"
    out_avals = [plan.kinds[i] for i in wanted]
    fn = function_of(closed, late_inputs(plan, kept))
    vjp_plan = Plan(name, fn, [*(kinds[i] for i in kept), *(plan.out_avals[i] for i in with_ct)], out_avals,
                    device=plan.device, grad_name=backward_name(plan.grad_name), single=False,
                    differentiable=_varying(closed.jaxpr) if plan.twice is None else plan.twice, jaxpr=closed)
    numbers = {i for i, kind in enumerate(plan.kinds) if not isinstance(kind, Aval)}
    return Vjp(vjp_plan, kept, wanted, with_ct, tuple(sorted({*kept, *numbers}))).of(plan)


def late_inputs(plan: Plan, kept: tuple[int, ...]) -> tuple[int, ...]:
    """Which inputs of a backward, that keeps these of its forward's, nothing is computed from early."""
    late = plan.recomputes
    if late is True:
        return tuple(range(len(kept)))
    return tuple(kept.index(i) for i in late or () if i in kept)


def function_of(closed: ClosedJaxpr, late: tuple[int, ...] = ()) -> Callable:
    """The function of a jaxpr, which takes numbers for 0-d inputs.

    Nothing is computed from the inputs of these numbers before the last one is there: NOTE [What backward
    keeps].
    """
    run = jaxpr_as_fun(closed)
    in_dtypes = tuple(a.dtype for a in closed.in_avals)

    def fn(*inputs):
        if late:
            inputs = held_back(inputs, late)
        return tuple(run(*(
            jnp.asarray(x, d) if isinstance(x, (bool, int, float, complex)) else x
            for x, d in zip(inputs, in_dtypes, strict=True)
        )))

    return fn


def _varying(jaxpr) -> list[bool]:
    """Which results depend on an input. The others (the gradient of a rounding) are new zeros."""
    varying = set(jaxpr.invars)
    for eqn in jaxpr.eqns:
        if any(isinstance(v, Var) and v in varying for v in eqn.invars):
            varying.update(eqn.outvars)
    return [isinstance(v, Var) and v in varying for v in jaxpr.outvars]


def _kept_anyway(plan: Plan) -> tuple[int, ...]:
    """Indices and masks of an empty operation: its backward reads none, but PyTorch's node holds them."""
    if plan.saves == "none" or all(k.numel for k in plan.kinds if isinstance(k, Aval)):
        return ()
    return tuple(i for i, k in enumerate(plan.kinds) if isinstance(k, Aval) and k.dtype.category < 2)


def _conj(x):
    return jnp.conj(x) if jnp.issubdtype(x.dtype, np.complexfloating) else x


def backward_name(grad_name: str) -> str:
    """PyTorch's name of the node of a node's backward."""
    return grad_name[:-1] + "Backward0" if grad_name.endswith("0") else grad_name + "Backward0"
