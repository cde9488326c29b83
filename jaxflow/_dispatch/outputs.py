"""``out=``: writing a result into a tensor that is there already."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow._core import promotion
from jaxflow._core.levels import LEVELS

from .door import apply
from .forward import is_dual
from .inplace import check_apart, check_writable, write
from .op import OPS, Op, Out
from .state import state

_ANY = Out()


def write_out(name: str, out: Any, result: Any, args: tuple, op: Op | None = None,
              rule: Out | None = None) -> Any:
    """Write a result into ``out``; a tuple of results into a tuple. Raises as PyTorch's ``out=`` does.

    Args:
        name: the public function's, for errors.
        args: the operands, with which ``out`` may have to share nothing.
        op: whose rules for ``out=`` hold, where that is not the op ``name``.
        rule: the rule itself, for functions without an op of their own.
    """
    if isinstance(result, tuple):
        for o, r in zip(out, result, strict=True):
            write_out(name, o, r, args, op, rule)
        return type(result)(out) if type(result) is tuple else out
    if state.grad and (out._requires_grad or result._requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but "
            "one of the arguments requires grad."
        )
    if LEVELS and (is_dual(out) or is_dual(result)):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
            "function"
        )
    op = op or OPS.get(name)
    rule = rule or (op and op.out) or _ANY
    have, want = result._aval.dtype, out._aval.dtype
    _check_dtype(rule, have, want, args)
    if op is not None:
        check_apart(op, out, args)
    if have is not want:
        result = apply(OPS["_to_dtype"], (result,), (want,))
    check_writable(out, False)
    if out._aval.shape != result._aval.shape:
        if out._aval.numel and not rule.resizes:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out._aval.shape)}, which does not match the required output shape "
                f"{list(result._aval.shape)}. This behavior is deprecated, and in a future PyTorch "
                "release outputs will not be resized unless they have zero elements. You can explicitly "
                "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
                stacklevel=3,
            )
        if rule.copied or (rule.rows and out._aval.numel):
            result._stride = None
        out.set_(result)
        return out
    write(out, result)
    return out


def _check_dtype(rule: Out, have: Any, want: Any, operands: tuple) -> None:
    if rule.text and rule.refuses(have, want, operands):
        raise rule.error(rule.text.format(result=have.scalar_name, out=want.scalar_name,
                                          result_c=have.c_name, out_c=want.c_name))
    if not (rule.casts or promotion.can_cast(have, want)):
        raise RuntimeError(
            f"result type {have.scalar_name} can't be cast to the desired output type {want.scalar_name}"
        )
