"""Signatures of public functions as Python shows them, derived from records.

What is called is made for speed and takes ``*args, **kwargs``; this is what it accepts. Stubs are written
from it, and names are compared with PyTorch's by it; a program that runs never needs it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._plans.op import SCALAR, TENSOR, TENSORS, Op, Param

#: What stands for the kinds of an op's parameters in an annotation, where its body gives none.
KINDS = {TENSOR: "Tensor", TENSORS: "Sequence[Tensor]", SCALAR: "Number"}


def signature_of(fn: Callable, method: bool = False, inplace: bool = False) -> Signature:
    """The signature of a published function, or of a method, whose first parameter is ``self``.

    Raises:
        ValueError: for a callable that has none, such as some of Python's own.
    """
    op = getattr(fn, "__op__", None)
    if isinstance(op, Op):
        signature = of_op(op, inplace)
    else:
        signature = inspect.signature(fn)
        twin = getattr(getattr(Tensor, fn.__name__, None), "__op__", None) if inplace else None
        if twin is not None and any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            signature = of_op(twin, True)  # a function that hands everything to the method
    if not method:
        return signature
    first, *rest = signature.parameters.values()
    if first.kind is not Parameter.VAR_POSITIONAL:
        first = first.replace(name="self", annotation="Tensor", default=Parameter.empty)
        rest = [p for p in rest if p.name != "out"]
        return signature.replace(parameters=[first, *rest])
    return signature


def of_op(op: Op, inplace: bool = False) -> Signature:
    """The signature that an op's declaration amounts to: ``out=`` and ``generator=`` among it."""
    has_list = any(p.kind == TENSORS for p in op.params)
    parameters = [_parameter(op, p, has_list) for p in op.params]
    named = {p.name for p in parameters}
    if "out" in op.variants and not inplace and "out" not in named:
        parameters.append(_keyword("out", "tuple[Tensor, ...] | None" if op.returns else "Tensor | None"))
    # Python allows no positional parameter without a default after one that has one.
    positional = [p for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    keywords = [p for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    returns = f"return_types.{op.method_name}" if op.returns else "Tensor"
    return Signature([*positional, *keywords], return_annotation=returns)


def _parameter(op: Op, p: Param, has_list: bool) -> Parameter:
    kind = Parameter.KEYWORD_ONLY if p.keyword_only and not has_list else Parameter.POSITIONAL_OR_KEYWORD
    annotation: Any = KINDS.get(p.kind) or inspect.signature(op.fn).parameters[p.name].annotation
    if p.kind == TENSOR and (p.name in op.numbers or "all" in op.numbers):
        annotation = "Tensor | Number"
    default = p.default
    if p.kind == TENSORS and default == ():
        default = Parameter.empty
    if default is None and isinstance(annotation, str) and not annotation.endswith("None"):
        annotation += " | None"
    return Parameter(p.name, kind, default=default, annotation=annotation)


def _keyword(name: str, annotation: str) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
