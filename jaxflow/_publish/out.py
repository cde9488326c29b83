"""``out=``: writing a result into a tensor that is there already."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import user_level, warn_once
from jaxflow._dispatch.dispatch import apply, plan_for
from jaxflow._dispatch.not_derived import without_derivative
from jaxflow._dispatch.viewing import alias
from jaxflow._plans.op import OPS, Op, Out, spelled
from jaxflow._plans.planning import promoted_dtype
from jaxflow._writes.inplace import apply_inplace, check_apart, check_writable, is_leaf_or_view_of_one
from jaxflow._writes.resizing import Taken, take_results
from jaxflow._writes.writes import write

_ANY = Out()


def write_out(name: str, out: Any, result: Any, args: tuple, op: Op | None = None,
              rule: Out | tuple[Out, ...] | None = None) -> Any:
    """Write a result into ``out``; a tuple of results into a tuple. Raises as PyTorch's ``out=`` does.

    All are written at once: where one is refused, all are left as they were.

    Args:
        name: the public function's, for errors.
        args: the operands, with which ``out`` may have to share nothing.
        op: whose rules for ``out=`` hold, where that is not the op ``name``.
        rule: the rule itself, for functions without an op of their own.
    """
    op = op or OPS.get(name)
    rule = rule or (op and op.out) or _ANY
    check_form(name, op, out, len(result) if isinstance(result, tuple) else None)
    if isinstance(result, tuple):
        rules = rule if isinstance(rule, tuple) else (rule,) * len(result)
        take_results([_taken(o, _checked(name, o, r, args, op, each, out), args, each)
                      for o, r, each in zip(out, result, rules, strict=True)])
        return tuple(out) if type(result) is tuple else type(result)._into(*out)
    _put(out, _checked(name, out, result, args, op, rule), args, rule)
    return out


def _refuse_growing(op: Op, out: Tensor, result: Tensor) -> None:
    """Refuse an operand of an elementwise operation as its ``out=`` that has not the shape of the result."""
    shape, have = result._aval.shape, out._aval.shape
    if have != shape and op.name not in _NOT_ELEMENTWISE:
        raise RuntimeError(
            f"output with shape {list(have)} doesn't match the broadcast shape {list(shape)}")


# Operations that promote their operands and resize one of them all the same.
_NOT_ELEMENTWISE = frozenset(("addr", "cat", "kron", "outer"))


def check_form(name: str, op: Op | None, out: Any, count: int | None) -> None:
    """Refuse an ``out=`` that is no tensor, or, for ``count`` results, no tuple of so many. TypeError."""
    if count is None:
        if not isinstance(out, Tensor):
            raise _wrong_form(name, op, "Tensor", out)
        return
    if not isinstance(out, (tuple, list)):
        raise _wrong_form(name, op, "tuple of Tensors", out)
    if len(out) != count:
        raise TypeError(f"expected tuple of {count} elements but got {len(out)}")
    for at, o in enumerate(out):
        if not isinstance(o, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 'out', but got {type(o).__name__}")


def dtype_into(name: str, out: Any) -> Any:
    """The dtype of an ``out=`` whose dtype the function ``name`` computes in. TypeError for no tensor."""
    check_form(name, None, out, None)
    return out._aval.dtype


def _wrong_form(name: str, op: Op | None, wanted: str, out: Any) -> TypeError:
    return TypeError(f"{spelled(name, op)}(): argument 'out' must be {wanted}, not {type(out).__name__}")


def _checked(name: str, out: Tensor, result: Tensor, args: tuple, op: Op | None, rule: Out,
             outs: Sequence[Tensor] = ()) -> Tensor:
    """The result in the dtype of ``out``, one of ``outs``, which takes it: what follows cannot fail."""
    if op is not None and op.promote is not None and any(a is out for a in args):
        _refuse_growing(op, out, result)
    if rule.reshaped is not None and out._aval.shape != result._aval.shape:
        rule = rule.reshaped
    recorded = (out._requires_grad or result._requires_grad) and _is_recorded(op)
    have, want = result._aval.dtype, out._aval.dtype
    if rule.first is True:
        check_dtype(rule, have, want, args)
    if rule.resizes == "refused" and out._requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if recorded and not rule.recorded and not rule.lost:
        if rule.composed:
            _refuse(rule, have, want, args)
        raise _recorded(rule.composed or spelled(name, op))
    if rule.lost and state.grad:
        # PyTorch's node is one of its ``out=`` form, whether or not the form without has a derivative.
        recorded = recorded or out._aval.dtype.category >= dtypes.FLOATING and any(
            isinstance(t, Tensor) and t._requires_grad for t in (*outs, *args))
        if out._requires_grad and is_leaf_or_view_of_one(out):
            raise _recorded(f"aten::{rule.composed or name}")
    if LEVELS and (FORWARD.is_dual(out) or FORWARD.is_dual(result)):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
            "function"
        )
    check_dtype(rule, have, want, args)
    if op is not None:
        check_apart(op, out, args, result._aval.shape)
    if have is not want:
        stride, fresh = result._stride, result._view is None
        result = apply(OPS["_to_dtype"], (result,), (want,))
        # PyTorch's kernel writes numbers of the other dtype; a copy of nothing would have no order, and one
        # with dimensions of size one another.
        if rule.rows:
            result._stride = None
        elif fresh or not result._aval.numel:
            result._stride = stride
    check_writable(out, recorded)
    if recorded and not rule.recorded:
        result = without_derivative(
            alias(result), f"aten::{name}", *(t for t in (out, *outs, *args) if isinstance(t, Tensor)))
    if out._aval.shape != result._aval.shape and out._aval.numel and not rule.resizes:
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out._aval.shape)}, which does not match the required output shape "
            f"{list(result._aval.shape)}. This behavior is deprecated, and in a future PyTorch "
            "release outputs will not be resized unless they have zero elements. You can explicitly "
            "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            stacklevel=user_level(),
        )
    return result


def _is_recorded(op: Op | None) -> bool:
    """Whether autograd has a say in where a result goes; it has none in those without a derivative."""
    return state.grad and (op is None or op.differentiable and op.promote != "always_bool")


def _recorded(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, but "
        "one of the arguments requires grad."
    )


def refuse_recorded(op: Op, out: Any, args: tuple, kwargs: dict) -> None:
    """Refuse operands, and an ``out=``, that require grad, as PyTorch does before it looks at the call.

    It composes some functions of others, its Fourier transforms among them, which find out later.
    """
    rules = op.out if isinstance(op.out, tuple) else () if op.out is None else (op.out,)
    late = op.namespace == "fft" or any(r.lost or r.recorded or r.composed for r in rules)
    if not _is_recorded(op) or late:
        return
    refuse_operands(spelled(op.name, op), *args, *kwargs.values(), out)


def refuse_operands(name: str, *operands: Any) -> None:
    """Refuse operands that require grad, lists of them too, beside an ``out=`` of the function ``name``."""
    for a in operands if state.grad else ():
        for t in a if isinstance(a, (list, tuple)) else (a,):
            if isinstance(t, Tensor) and t._requires_grad:
                raise _recorded(name)


def refuse_dtype(op: Op, out: Any, dynamic: tuple, static: tuple) -> None:
    """Refuse an ``out=`` whose dtype the op cannot write, for a call that its kernel refused.

    PyTorch compares the dtypes of results and operands before it looks for a kernel.
    """
    if not isinstance(out, Tensor):
        return
    if isinstance(op.out, Out) and op.out.dtype is not None:
        have = op.out.dtype(dynamic[0]._aval.dtype, **op.named(static))
    else:
        have = promoted_dtype(op, tuple(a._aval if isinstance(a, Tensor) else a.__class__ for a in dynamic),
                              static)
    if have is not None:
        check_dtype(op.out or _ANY, have, out._aval.dtype, dynamic)


def computed(op: Op, out: Any, run: Callable, dynamic: tuple, static: tuple) -> Any:
    """What ``run(op, dynamic, static)`` gives for a call with ``out=``, with `refuse_dtype`."""
    if op.complex_grad is not True and getattr(op.out, "lost", False):
        # A history, which would be refused, reaches no ``out``.
        dynamic = tuple([x.detach() if isinstance(x, Tensor) else x for x in dynamic])
    try:
        return run(op, dynamic, static)
    except NotImplementedError as error:
        if "\" not implemented for '" in str(error):  # said of a kernel
            refuse_dtype(op, out, dynamic, static)
        raise
    except (IndexError, RuntimeError) as error:
        if str(error).startswith(_OF_SIZES if op.promote else (*_OF_SIZES, _OF_SHAPES)):
            refuse_dtype(op, out, dynamic, static)
        _refuse_before_values(op, out, dynamic, static)
        raise


# What PyTorch says of tensors to join after it has compared dtypes.
_OF_SIZES = ("Sizes of tensors must match", "Tensors must have same number of dimensions")
# And of those that broadcast, after it has compared the dtypes of what is not promoted.
_OF_SHAPES = "The size of tensor a ("


def _refuse_before_values(op: Op, out: Any, dynamic: tuple, static: tuple) -> None:
    """Refuse the dtype of ``out`` where nothing but values was wrong, which PyTorch looks at later."""
    if op.guard is None or not isinstance(out, Tensor) or isinstance(op.out, tuple):
        return
    try:
        have = plan_for(op, dynamic, static).out_avals[0].dtype
    except (IndexError, RuntimeError):
        return  # the call itself is wrong
    check_dtype(op.out or _ANY, have, out._aval.dtype, dynamic)


def refuse_call(op: Op, out: Any, args: tuple, kwargs: dict) -> None:
    """Refuse a call without what only the form with ``out=`` needs, and dtypes of ``out`` said first."""
    if getattr(op.out, "tensors", False) and args and not isinstance(args[0], Tensor):
        got = ", ".join([*(type(a).__name__ for a in args), f"out={type(out).__name__}"])
        raise TypeError(f"{op.name}() received an invalid combination of arguments - got ({got}), but "
                        f"expected one of:\n{op.summary}")
    needs = getattr(op.out, "needs", "")
    if needs and len(args) < 2 and kwargs.keys().isdisjoint((needs, *_ALSO.get(needs, ()))):
        raise TypeError(f'{op.name}() missing 1 required positional arguments: "{needs}"')
    refuse_kind(op.out, out, args[0] if args else kwargs.get("input"))
    first = getattr(op.out, "first", False)
    if first and isinstance(out, Tensor) and args and isinstance(args[0], Tensor):
        _refuse(op.out if first is True else first, args[0]._aval.dtype, out._aval.dtype, args)


def refuse_kind(rule: Any, out: Any, operand: Any) -> None:
    """Refuse a tensor given as ``out=`` that is of another kind than the result will be."""
    kind = getattr(rule, "kind", None)
    if callable(kind):
        kind = kind(operand._aval.dtype) if isinstance(operand, Tensor) else None
    if kind is not None and isinstance(out, Tensor):
        _refuse(rule.before or rule, kind, out._aval.dtype, ())


# By which other names NumPy's users give an argument.
_ALSO = {"dim": ("axis",)}


def _put(out: Tensor, result: Tensor, args: tuple, rule: Out) -> None:
    if out._aval.shape != result._aval.shape:
        take_results((_taken(out, result, args, rule),))
    elif _has_history(rule, out, result):
        apply_inplace(OPS["_copy"], (out, result))
    else:
        write(out, result)


def _taken(out: Tensor, result: Tensor, args: tuple, rule: Out) -> Taken:
    """How ``out`` takes a result that it can take."""
    recorded = _has_history(rule, out, result)
    copied = recorded or (rule.copied if isinstance(rule.copied, bool) else rule.copied(args))
    contiguous = copied or (rule.rows and out._aval.numel)
    return Taken(out, result, None if contiguous else result._stride, recorded)


def _has_history(rule: Out, out: Tensor, result: Tensor) -> bool:
    """Whether the write of a result is recorded as a copy."""
    return rule.recorded and state.grad and (out._requires_grad or result._requires_grad)


def check_dtype(rule: Out, have: Any, want: Any, operands: tuple) -> None:
    """Refuse a result of dtype ``have`` for an ``out=`` of dtype ``want`` as ``rule`` says."""
    _refuse(rule, have, want, operands)
    if not (rule.casts or promotion.can_cast(have, want)):
        raise RuntimeError(
            f"result type {have.scalar_name} can't be cast to the desired output type {want.scalar_name}"
        )


def _refuse(rule: Out, have: Any, want: Any, operands: tuple) -> None:
    if rule.before is not None and not rule.follows:  # else `following` checked it
        _refuse(rule.before, have, want, operands)
    if rule.text and rule.refuses(have, want, operands):
        raise rule.error(rule.text.format(result=have.scalar_name, out=want.scalar_name,
                                          result_c=have.c_name, out_c=want.c_name,
                                          result_is_int=have is dtypes.int32))


def following(op: Op, out: Tensor, args: tuple, kwargs: dict) -> dict:
    """The keyword arguments of a call of ``op`` in the dtype of ``out``, which its rule may refuse."""
    check_form(op.name, op, out, None)
    operand = args[0] if args else kwargs.get("input")
    rule, want = op.out, out._aval.dtype
    if isinstance(operand, Tensor):
        have = operand._aval.dtype
        if rule.composed:
            refuse_operands(rule.composed, operand, out)
        if rule.before is not None:
            _refuse(rule.before, have, want, (operand, *args[1:], *(kwargs.keys() - {"input"})))
        if have.is_complex and not want.is_complex and want is not dtypes.bool:
            warn_once("Casting complex values to real discards the imaginary part")
    return dict(kwargs, dtype=want)
