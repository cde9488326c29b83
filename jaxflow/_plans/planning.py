"""Plans of op records: promotion, broadcasting and casts decided once, around the op's body."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxflow._core import device as devices
from jaxflow._core import promotion
from jaxflow._core.aval import Aval
from jaxflow._core.cast import cast
from jaxflow._core.dtype import COMPLEX
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._core.saved_names import SAVED_NAMES
from jaxflow._core.threefry import key_of

from .columns import in_columns
from .op import SCALAR, TENSOR, TENSORS, Always, Op
from .plan import (
    NUMBER_DTYPES,
    NUMBER_KINDS,
    NoneKind,
    Plan,
    Traced,
    build_lock,
    operand,
    result_number,
)
from .refused import maker, not_of_complex


def build(op: Op, kinds: tuple, static: tuple, into: Aval | None = None,
          result: Aval | None = None) -> Plan:
    """The Plan of ``op`` for these dynamic kinds (None-kinds included) and static arguments.

    With ``into`` the result is cast to that aval's dtype and must have its shape: the in-place form. Where
    ``result`` is given, it is the aval of the result, and nothing is traced.

    Raises:
        RuntimeError: for devices or dtypes that do not go together, and whatever the body raises.
    """
    with build_lock:
        flat, single, live, device, layout, present = _assembled(op, kinds, static, into)
        traced = Traced(op.name, flat, live, device) if result is None else None
        out_avals = traced.out_avals if result is None else (result,)
        if into is not None and out_avals[0].shape != into.shape:
            raise RuntimeError(
                f"Bad in-place call: input tensor size {list(into.shape)} and output tensor size "
                f"{list(out_avals[0].shape)} should match"
            )
        numbers = tuple(k in NUMBER_DTYPES for k in kinds)
        own = grad_name = _grad_name(op, numbers, static)
        if into is not None and op.inplace_grad_name is not None:
            grad_name = op.inplace_grad_name
        # Where numbers change the node's name they are no operands that were wrapped as tensors.
        wrapped = own == _grad_name(op, (False,) * len(numbers), static)
        saves, checked = _saves(op, kinds, static, layout, present)
        stepwise = saves == "steps"
        if grad_name is not own and "result" in SAVED_NAMES.get(grad_name, ()):
            saves, checked = "result", None
        one = result is not None or single[0]
        always = op.layout.__class__ is Always
        columns = op.columns(**op.named(static)) if callable(op.columns) else op.columns
        plan = Plan(op.name, flat, live, out_avals, device=device, grad_name=grad_name,
                    saves="input" if stepwise else saves, version_checked=checked,
                    differentiable=op.differentiable,
                    preserve=op.layout if always else op.layout != "contiguous",
                    recomputes=_late(op, layout, present),
                    returns=in_columns(columns, one, op.returns) if columns else
                    _FIRST if always and one else op.returns,
                    single=one and not columns and not always, traced=traced,
                    edge_inputs=_edge_inputs(op, kinds, layout, present, wrapped))
        plan.origin = (op, static, layout, present)
        plan.residual_outputs, plan.stepwise = op.residual_outputs, stepwise
        if op.underived is not None:
            plan.node = maker(plan.node, op.underived, into is not None)
        if op.complex_grad is not True and into is None and out_avals[0].dtype.category == COMPLEX:
            plan.node = not_of_complex(op.complex_grad or op.name.lstrip("_"))
        if not one:
            held = (result_number(plan, n) for n, tensor in SAVED_NAMES.get(grad_name, {}).items() if tensor)
            plan.held_results = tuple(sorted(k for k in held if k is not None))
        return plan


_FIRST = operator.itemgetter(0)


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
    compute = result = narrow = None
    wide = _wide(op, kinds, layout)
    if op.promote is not None or op.check is not None:
        promote, operands = _promoted(op, kinds, static, layout)
        if wide is not None and promote == "no_opmath":
            promote = "default"
    later = None if op.check is None else op.check(*operands)
    shape = None
    if op.broadcast:
        shape = broadcast_shapes(*_shapes(kinds, layout, masks_first=into is None))
    if into is not None:
        asked = op.named(static).get("dtype") if "inplace" in op.variants else None
        if asked is not None and asked is not into.dtype:
            raise RuntimeError(f"Bad in-place call: input tensor dtype {into.dtype.c_name} and output tensor "
                               f"dtype {asked.c_name} should match")
        # Of a wrong shape and a wrong dtype PyTorch names the shape.
        if shape is not None and shape != into.shape:
            raise _wrong_shape(shape, into)
    if later is not None:
        raise later
    if op.promote is not None:  # PyTorch, too, refuses what does not broadcast before it promotes
        compute, result = promotion.elementwise(promote, operands)
        narrow = promotion.rounded_to(promote, operands, compute)
    if into is not None:
        result = _check_castable(op, result, into)
    present = [i for i, k in enumerate(kinds) if k is not NoneKind]
    fn = _body(op, kinds, static, layout, present, (narrow, compute, result), wide, shape)
    single: list[bool] = []

    def flat(*inputs):
        outs = fn(*inputs)
        if not single:
            single.append(not isinstance(outs, (tuple, list)))
        return (outs,) if single[0] else tuple(outs)

    flat.__doc__ = op.doc
    return flat, single, [kinds[i] for i in present], device, layout, present


def _promoted(op: Op, kinds: tuple, static: tuple, layout: list) -> tuple[str, list]:
    """The kind of promotion, and what it looks at of each operand that counts."""
    promote = op.promote(**op.named(static)) if callable(op.promote) else op.promote
    return promote, [
        operand(kinds[i]) for p, at, n in layout if p.kind != SCALAR and p.promotes
        for i in range(at, at + n) if kinds[i] is not NoneKind
    ]


def check_operands(op: Op, kinds: tuple, static: tuple) -> None:
    """Refuse what the op's ``check`` refuses."""
    if op.check is not None:
        later = op.check(*_promoted(op, kinds, static, _dynamic_layout(op, kinds))[1])
        if later is not None:
            raise later


def promoted_dtype(op: Op, kinds: tuple, static: tuple):
    """The dtype of a result of an op that promotes, known before anything is traced; None for other ops."""
    if op.promote is None:
        return None
    return promotion.elementwise(*_promoted(op, kinds, static, _dynamic_layout(op, kinds)))[1]


def _grad_name(op: Op, numbers: tuple[bool, ...], static: tuple) -> str:
    """PyTorch's name of the node, given which dynamic arguments are Python numbers."""
    if not callable(op.grad_name):
        return op.grad_name
    return op.grad_name(numbers, **op.named(static))


def _saves(op: Op, kinds: tuple, static: tuple, layout: list, present: list) -> tuple[str, tuple | None]:
    """What the plan ``saves``, and which operands are ``version_checked``."""
    saves = op.saves
    if callable(saves):
        saves = saves(kinds, **op.named(static))
    if isinstance(saves, str):
        return saves, None
    rows = []
    for entry in saves:
        name, *only = entry.replace(" for ", " ").split()
        wanted = _named(only, layout, present)
        if wanted or not only:
            rows += [(i, wanted) for i in _named((name,), layout, present)]
    return "both" if "result" in saves else "input", tuple(sorted(rows))


def _late(op: Op, layout: list, present: list) -> bool | tuple[int, ...]:
    """The op's ``recomputes``, with names as numbers of inputs."""
    return op.recomputes if isinstance(op.recomputes, bool) else _named(op.recomputes, layout, present)


def _named(names: Sequence[str], layout: list, present: list) -> tuple[int, ...]:
    place = {i: k for k, i in enumerate(present)}
    return tuple(sorted(place[i] for p, at, count in layout if p.name in names
                        for i in range(at, at + count) if i in place))


def _edge_inputs(op: Op, kinds: tuple, layout: list, present: list, wrapped: bool) -> tuple[int, ...]:
    """Which present inputs stand for operands PyTorch differentiates: no index, mask or plain number."""
    found = []
    place = {i: k for k, i in enumerate(present)}
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
                found.append(place[i])
    return tuple(found)


def _wrong_shape(shape: tuple[int, ...], into: Aval) -> RuntimeError:
    return RuntimeError(
        f"output with shape {list(into.shape)} doesn't match the broadcast shape {list(shape)}"
    )


def _check_numbers(op: Op, kinds: tuple) -> None:
    """Refuse numbers (and None) where PyTorch needs tensors, in its words."""
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
        f"of:\n{op.summary}"
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


def _wide(op: Op, kinds: tuple, layout: list) -> int | None:
    """The number of the dynamic argument that kernels of half precisions take with all its digits."""
    for p, at, _ in layout:
        if p.name in (op.wide, op.wide_number):
            kind = kinds[at]
            if not isinstance(kind, Aval) or (p.name == op.wide and all(n == 1 for n in kind.shape)):
                return at
    return None


def _body(op, kinds, static, layout, present, promoted, wide, shape) -> Callable:
    """The op's function of its present dynamic inputs: promotion and broadcasting, body, result cast.

    ``promoted``: the half precision that operands are rounded to, or None, and the dtypes of the computation
    and of the result. ``wide``: the number of the input that is not rounded, or None.
    """
    kwargs = op.named(static)
    narrow_np, compute_np, result_np = (None if dtype is None else dtype.np for dtype in promoted)
    out_count = len(kinds)
    random = op.random

    def prepare(x, kind, p, at):
        if not isinstance(kind, Aval):
            x = jnp.asarray(x, NUMBER_DTYPES[kind])
            if compute_np is None:
                return x  # a fill or a copy, which casts from all of the number's digits
        if compute_np is not None and p.promotes:
            if narrow_np is not None and at != wide:
                x = cast(x, narrow_np)
            x = cast(x, compute_np)
        if shape is not None and x.shape != shape:
            x = jnp.broadcast_to(x, shape)
        return x

    def is_real(kind):
        return kind is not NoneKind and operand(kind)[0].category < COMPLEX

    def run(*inputs):
        slots: list[Any] = [None] * out_count
        for i, x in zip(present, inputs, strict=True):
            slots[i] = x
        positional, named = [], dict(kwargs)
        for p, at, count in layout:
            if p.kind == SCALAR:
                kind = kinds[at]
                value = p.default if kind is NoneKind else _as_scalar(slots[at], kind)
                if narrow_np is not None and op.factors == "rounded" and is_real(kind):
                    value = cast(value, narrow_np)
                named[p.name] = value
            elif p.kind == TENSORS:
                positional.extend(prepare(slots[i], kinds[i], p, i) for i in range(at, at + count))
            else:
                tensor = None if kinds[at] is NoneKind else prepare(slots[at], kinds[at], p, at)
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
