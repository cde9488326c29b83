"""Nodes that raise in backward or leave gradients out: what an op's ``underived`` says."""

from __future__ import annotations

import functools
from collections.abc import Callable

from jaxflow._core.graph import Node, node_class

from .op import Undefined, Underived


@functools.cache
def _refusing(name: str, error: type[Exception] | None, text: str, operand: int | None,
              formula: bool) -> type[Node]:
    """The class of nodes called ``name`` whose backward raises: always, or where it needs that operand's.

    Without an ``error`` it gives no gradients. In PyTorch a ``formula`` is what raises, which has taken out
    what was saved before.
    """

    class Refusing(node_class(name)):
        __slots__ = ()

        _is_python = True
        _refused = operand
        _formula = formula

        def _run(self, cotangents: list, keep: bool) -> list:
            if error is None:
                return [None] * len(self._edges)
            raise error(text.replace("{sizes}", str(list(self._plan.out_avals[0].shape))))

    Refusing.__name__ = Refusing.__qualname__ = name
    return Refusing


@functools.cache
def maker(kind: type[Node], underived: Underived, inplace: bool) -> Callable[..., Node]:
    """What makes the nodes of a plan: of ``kind``, or of one that refuses."""
    if underived.__class__ is Undefined:
        return _leaving_out(kind, underived)
    if underived.formula is not None:
        return _by_formula(kind, underived, inplace)
    text, operand = underived.text.replace("{_}", "_" * inplace), underived.operand
    formula = "is not implemented" not in text
    refusing = _refusing(kind.__name__, underived.error, text, operand, formula)
    otherwise = kind if underived.otherwise is None else maker(kind, underived.otherwise, inplace)

    if underived.of:
        def decide(plan, inputs, edges, needs, guards) -> Node:
            chosen = refusing if underived.of_dtypes(plan.kinds) else otherwise
            if plan.node is decide:  # all calls of a plan have operands of the same dtypes
                plan.node = chosen
            return chosen(plan, inputs, edges, needs, guards)

        return decide

    def make(plan, inputs, edges, needs, guards) -> Node:
        refuses = (operand is None or needs[operand]) and underived.which(inputs, inplace)
        return (refusing if refuses else otherwise)(plan, inputs, edges, needs, guards)

    return make


def _leaving_out(kind: type[Node], undefined: Undefined) -> Callable[..., Node]:
    """What makes nodes that give some operands no gradient, or nothing for the gradients of some results."""
    if undefined.results is not None:
        shown = {
            "__slots__": (), "__module__": "builtins", "_without_effect": staticmethod(undefined.results)}
        return type(kind.__name__, (kind,), shown)

    def make(plan, inputs, edges, needs, guards) -> Node:
        none = undefined.operands(plan.kinds)
        if none:
            needs = tuple([need and i not in none for i, need in enumerate(needs)])
        return kind(plan, inputs, edges, needs, guards)

    return make


def _by_formula(kind: type[Node], underived: Underived, inplace: bool) -> Callable[..., Node]:
    otherwise = kind if underived.otherwise is None else maker(kind, underived.otherwise, inplace)
    operand = underived.operand

    def decide(plan, inputs, edges, needs, guards) -> Node:
        text = underived.formula([getattr(k, "dtype", None) for k in plan.kinds], plan.out_avals[0])
        chosen = _asked(_refusing(kind.__name__, underived.error, text, operand, True), operand,
                        otherwise) if text else otherwise
        if plan.node is decide:  # all calls of a plan have the same dtypes, and results of the same sizes
            plan.node = chosen
        return chosen(plan, inputs, edges, needs, guards)

    return decide


def _asked(refusing: type[Node], operand: int, otherwise: Callable[..., Node]) -> Callable[..., Node]:
    """What makes a node that refuses where the gradient of that operand is needed."""

    def make(plan, inputs, edges, needs, guards) -> Node:
        return (refusing if needs[operand] else otherwise)(plan, inputs, edges, needs, guards)

    return make


def not_of_complex(name: str) -> Callable[..., Node]:
    """In place of what makes the nodes of a plan with a complex result: the call itself is refused."""

    def make(plan, inputs, edges, needs, guards) -> Node:
        raise RuntimeError(
            f"{name} does not support automatic differentiation for outputs with complex dtype.")

    return make
