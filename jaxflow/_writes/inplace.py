"""Operations in place: compute, check, and put a new Value where the old one was.

NOTE [Writing through a view]
    A write to a view becomes a write of its base: ``base' = write(base, new)``. The base's storage gets
    the new Value, the version goes up, and every other view finds at its next use that its epoch is
    old. With grad on, the write is a node (``CopySlices``) of the base with an edge to its old history
    and one to the node of the new part.

All checks come before the storage is touched, and the new Value is complete by then. A refused or
failed in-place operation leaves tensor, version and history as they were. If somebody else (a finalizer,
another thread) wrote to the storage while the new Value was computed, it is computed again from theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core.commit import Overtaken
from jaxflow._core.fields import init_history
from jaxflow._core.generator import Generator, source_of
from jaxflow._core.geometry import contiguous_strides, has_internal_overlap, overlaps, overlaps_partially
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.shared import SHARED as HOST_SHARED
from jaxflow._core.shared import HostValue, unshared
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, version_cell
from jaxflow._core.value import Untracked, Value
from jaxflow._dispatch.dispatch import apply, only_inference, plan_for, plan_of, strides_of, values_of
from jaxflow._dispatch.saved_tensors import Packed
from jaxflow._plans.op import OPS, Op
from jaxflow._plans.planning import check_operands
from jaxflow._transforms.vjp import held_by
from jaxflow._views.chain import is_marked
from jaxflow._views.history import refreshed, refusal
from jaxflow._views.values import value_of

from .parts import part_of
from .writes import Beside, Draws, write, write_all, write_part


def apply_inplace(op: Op, args: tuple, static: tuple = (), *,
                  asking: Callable[[Tensor], Beside | None] | None = None) -> Tensor:
    """Apply an op and write its result into ``args[0]``, which keeps its shape and dtype.

    ``asking`` is called with the result, for the checks that are to be recorded together with the write.
    """
    while True:
        try:
            return apply_once(op, args, static, asking)
        except Overtaken:
            continue
        except RuntimeError as error:
            by_places = BY_PLACES.get(op.name)
            if error.args != (SHARED,):
                if error.args == (PARTIAL_OVERLAP,) and op.promote is not None:
                    _said_first(op, args, static)
                raise
            if by_places is None:
                _said_first(op, args, static)
                raise
        return by_places(op, args, static)


def _said_first(op: Op, args: tuple, static: tuple) -> None:
    """Raise what PyTorch has to say of these operands before it looks at the memory that is written to."""
    if op.promote is None:  # what is not done element by element looks at its shapes first
        plan_for(op, args, static, args[0]._aval)
        return
    try:
        check_operands(op, tuple([a._aval if isinstance(a, Tensor) else a.__class__ for a in args]), static)
        if sum(isinstance(a, Tensor) for a in args) == 1:
            plan_for(op, args, static)
    except NotImplementedError as error:
        if '" not implemented for' not in str(error):  # kernels are looked for later
            raise


def apply_once(op: Op, args: tuple, static: tuple,
               asking: Callable[[Tensor], Beside | None] | None = None) -> Tensor:
    """`apply_inplace`, but Overtaken if somebody else wrote to the storage, or drew, meanwhile."""
    target = args[0]
    epoch = target._storage.epoch
    if state.saving is not None and state.saving.under_way[0] is not target:
        return state.saving.overwriting(target, apply_once, op, args, static, asking)
    operands, recorded = _checked(op, args)
    if HOST_SHARED and asking is None and not recorded:
        row = part_of(op, args, static)
        if row is not None:
            write_part(target, row, epoch)
            return target
    result = _computed(op, operands, static, recorded)
    beside = None
    if asking is not None:
        result = make(result) if isinstance(result, Value) else result
        beside = asking(result)
    write(target, result, epoch, beside=beside)
    return target


def apply_together(calls: Sequence[tuple], *, counted: bool = True) -> None:
    """`apply_inplace` of every ``(op, args, static)``; what they write is seen at once, or not at all.

    ``counted`` says whether versions go up.
    """
    targets = [args[0] for _, args, _ in calls]
    while True:
        epochs = [t._storage.epoch for t in targets]
        try:
            write_all(targets, [_result(*call) for call in calls], epochs, counted=counted)
            return
        except Overtaken:
            continue


def apply_drawn(op: Op, target: Tensor, draws: Callable[[Generator], tuple], static: tuple = (),
                generator: Generator | None = None) -> Tensor:
    """`apply_inplace` with further operands that ``draws`` takes from a generator.

    It is given a copy of ``generator``, which changes together with the tensor.
    """
    source = source_of(generator, target._aval.device)
    while True:
        before, copy = source._offset, source.clone_state()
        operands = draws(copy)
        moved = Draws(source, before, copy._offset)
        try:
            return apply_once(op, (target, *operands), static, lambda _, moved=moved: moved)
        except Overtaken:
            continue


def _result(op: Op, args: tuple, static: tuple) -> Tensor | Value:
    """What an in-place operation is going to write to ``args[0]``; all checks are made.

    A Value where it has no history and nobody has to see it before.
    """
    operands, recorded = _checked(op, args)
    return _computed(op, operands, static, recorded)


def _checked(op: Op, args: tuple) -> tuple[tuple, bool]:
    """The operands of an in-place operation, of which all is checked, and whether a tensor has to be made."""
    target = args[0]
    requires_grad, sharing, tensors = False, False, 0
    storage = target._storage
    for a in args:
        if isinstance(a, Tensor):
            tensors += 1
            if a._view is not None:
                refreshed(a)
            if a._requires_grad:
                requires_grad = True
            if a._storage is storage and (a is not target or (tensors > 1 and op.apart in _STRICT)):
                sharing = True
    uniform = tensors == 1 and op.name in _UNIFORM and not is_marked(target)
    if not check_writable(target, requires_grad and op.name not in _UNTRACKED, args, uniform=uniform):
        args = (_normal(target), *args[1:])
    if sharing:
        _check_sharing(op, args)
    return args, bool(requires_grad and state.grad or LEVELS or state.captors)


def _computed(op: Op, args: tuple, static: tuple, recorded: bool) -> Tensor | Value:
    """The result of an in-place operation of which all is checked."""
    target = args[0]
    if not recorded:
        found = _without_reading(op, args) if op.name in _REPLACING and not WATCHERS else None
        return values_of(op, args, static, target._aval)[0] if found is None else found
    result = apply(op, args, static, target._aval)
    node = result._grad_fn
    if node is not None and node._guards and node._guards.__class__ is not Packed:
        # The node keeps the old Value of the target; this very write does not invalidate it.
        if node._guards[0][0] is version_cell(target) and 0 in held_by(node._plan, node._needs):
            node._guards = node._guards[1:]
    if node is not None and node._inputs and node._inputs[0].__class__ is HostValue:
        node._inputs = [unshared(node._inputs[0]), *node._inputs[1:]]  # as it was before this write
    for transform in state.captors:
        transform.check_write(op, target, result)
    if LEVELS:
        FORWARD.check_write(op, target, result)
    return result


# The result of these has nothing of what the target shows.
_REPLACING = frozenset(("_assign", "_copy", "_drawn", "_fill", "_zero"))


def _without_reading(op: Op, args: tuple) -> Value | None:
    """What an operation writes that replaces all its target shows; None where the operation has to say it.

    So nothing is recorded that reads a view before it is written to, and nothing is copied.
    """
    target, view = args[0], args[0]._view
    new: Any = args[1] if len(args) == 2 else 0
    if op.name == "_drawn":  # nobody else has it
        return new._storage.value if new._aval is target._aval and new._view is None else None
    if view is None or view.plan.identity or target._storage.value.__class__ is not Value:
        return None
    aval = target._aval
    if isinstance(new, Tensor):
        value = value_of(new) if new._aval is aval and op.name == "_copy" else None
        return value if value.__class__ is Value else None
    if new.__class__ is int and not -(2**63) <= new < 2**63 or new.__class__ not in _NUMBERS:
        return None
    return values_of(OPS["_full"], (new,), (aval.shape, aval.dtype, aval.device))[0]


_NUMBERS = frozenset((bool, int, float))


def copied_over(target: Tensor, source: Tensor) -> Tensor:
    """What ``target.copy_(source)`` is going to write, as a tensor; all checks are made."""
    result = _result(OPS["_copy"], (target, source), ())
    return make(result) if isinstance(result, Value) else result


def check_inplace(op: Op, args: tuple, static: tuple) -> None:
    """Refuse what `apply_inplace` refuses before it computes anything."""
    target = args[0]
    tensors = [a for a in args if isinstance(a, Tensor)]
    uniform = len(tensors) == 1 and op.name in _UNIFORM and not is_marked(target)
    check_writable(target, any([a._requires_grad for a in tensors]), args, uniform=uniform)
    _check_sharing(op, args)
    plan_for(op, args, static, target._aval)


def captured(op: Op) -> RuntimeError:
    """What a transform raises for a write to a tensor that its function captured."""
    return RuntimeError(
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
        f"operation (aten::{op.name.strip('_')}_) that would mutate a captured Tensor. This is not "
        "supported; please rewrite the function being transformed to explicitly accept the mutated "
        "Tensor(s) as inputs."
    )


SHARED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
#: Operations that PyTorch lets write where elements share memory: how, by the op's name; `expanded` fills it.
BY_PLACES: dict[str, Callable] = {}

PARTIAL_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation."
)

#: What an op declares as ``apart`` that takes no operand which is the written tensor itself.
_STRICT = (True, "others")

# PyTorch lets these read what they write: a number, a mask of places it looks for first, and exponents, of
# which it makes powers first.
_READS_FREELY = frozenset(("_fill", "_assign", "masked_scatter", "_ldexp"))
# Of these it reads the number first: by name the place of that operand.
_READS_NUMBER = {"masked_fill": 2, "_masked_write": 2, "index_fill": 2}
# Written element by element: an operand that is the whole target is read in time.
_STEPWISE = frozenset(("_copy", "_masked_write"))


def _check_sharing(op: Op, args: tuple) -> None:
    """Check each operand on the target's storage; the target itself where it is one operand more."""
    target, number = args[0], _READS_NUMBER.get(op.name)
    for k, a in enumerate(args):
        if isinstance(a, Tensor) and a._storage is target._storage and k != number and (
                a is not target or (k and op.apart in _STRICT)):
            _check_operand(op, target, a)


def _check_operand(op: Op, target: Tensor, other: Tensor) -> None:
    """Refuse an operand on the target's storage that a write in steps would change while reading.

    Nothing here is written in steps; PyTorch refuses it, and programs may count on that. It copies first what
    shows its memory conjugated or negated.
    """
    if op.name in _READS_FREELY or is_marked(target) or is_marked(other):
        return
    stepwise = op.promote is not None or op.name in _STEPWISE
    test = overlaps_partially if stepwise else overlaps
    itself = other is target and op.apart in _STRICT  # refused even where it is empty
    if itself or test(layout_of(target), layout_of(other)):
        raise RuntimeError(PARTIAL_OVERLAP)


# PyTorch looks at the memory of these before it gives ``out`` the shape of the result; of others that are to
# be apart afterwards.
_BEFORE_RESIZING = frozenset((
    "addbmm", "addmm", "angle", "baddbmm", "index_select", "kthvalue", "scatter", "take", "take_positions"))


def check_apart(op: Op, out: Tensor, args: tuple, shape: tuple[int, ...]) -> None:
    """Refuse an ``out=`` that shares memory with an operand where PyTorch refuses it. RuntimeError.

    ``shape`` is the result's, which ``out`` will have.
    """
    if op.apart or op.promote is not None:
        resized = op.apart and op.name not in _BEFORE_RESIZING
        args = args[:1] if op.apart == "input" else args[1:] if op.apart == "others" else args
        check_overlaps(out, args, shape if resized else out._aval.shape, strict=op.apart in _STRICT)


def check_overlaps(out: Tensor, args: tuple, shape: tuple[int, ...], *, strict: bool = False) -> None:
    """Refuse an ``out=``, to be of ``shape``, that shows memory of an operand in part. RuntimeError.

    With ``strict`` it may not be all of an operand's memory either.
    """
    if is_marked(out):
        return
    test = overlaps if strict else overlaps_partially
    written = layout_of(out)
    if shape != out._aval.shape:
        written = shape, contiguous_strides(shape), written[2]
    for a in args:
        for t in a if isinstance(a, (list, tuple)) else (a,):
            if isinstance(t, Tensor) and t._storage is out._storage and not is_marked(t) and (
                (strict and t is out) or test(layout_of(t), written)
            ):
                raise RuntimeError(PARTIAL_OVERLAP)


def layout_of(t: Tensor) -> tuple:
    """Shape, strides and offset: which elements of its storage a tensor shows."""
    return t._aval.shape, strides_of(t), plan_of(t).offset


# PyTorch's autograd layer has no part in these, and so lets them write into leaves.
_UNTRACKED = frozenset(("logical_and", "logical_not", "logical_or", "logical_xor"))

# These write one number everywhere, so it does not matter that elements share a place.
_UNIFORM = frozenset(("_fill", "_zero"))


def check_writable(t: Tensor, requires_grad: bool, args: tuple = (0,), *, uniform: bool = False) -> bool:
    """Refuse an in-place write of ``args`` where PyTorch refuses it; else whether ``t`` can be saved."""
    tracked = version_cell(t).__class__ is list
    if requires_grad:
        _check_history(t, args)
    if t._stride is not None and has_internal_overlap(t._aval.shape, t._stride) and not uniform:
        raise RuntimeError(SHARED)
    if not tracked and version_cell(t).__class__ is Untracked and not state.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
            "clone to get a normal tensor before doing inplace update.See "
            "https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    return tracked or state.inference


def _normal(t: Tensor) -> Tensor:
    """A normal tensor in the place of an inference tensor that is written to, and so may be saved."""
    normal = make(value_of(t))
    normal._stride, normal._tangents = t._stride, t._tangents
    init_history(normal, t._grad_fn, t._output_nr, t._requires_grad)
    return normal


def check_recorded(args: Sequence) -> None:
    """Refuse a write of ``args`` to the first of them that autograd could not record.

    For what is refused before the write: PyTorch's autograd layer stands before its kernels.
    """
    if not state.grad:
        return
    for a in args:
        if isinstance(a, Tensor):
            if a._view is not None:
                refreshed(a)
            if a._requires_grad:
                _check_history(args[0], args)
                return


def is_leaf_or_view_of_one(t: Tensor) -> bool:
    """Whether no operation gave a tensor, or what it is a view of for autograd, its history."""
    base = None if t._view is None else t._view.base
    return (t if base is None else base)._grad_fn is None


def _check_history(t: Tensor, args: Sequence) -> None:
    if not state.grad or (version_cell(t).__class__ is not list and only_inference(args)):
        return
    view = t._view
    if view is not None and view.base is not None:
        if view.origin is not None:
            raise RuntimeError(refusal(t, "is being"))
        if t._requires_grad and view.base._grad_fn is None:
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation."
            )
    if t._requires_grad and t._grad_fn is None:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
