"""Operators by qualified name: what ``torch.ops`` finds and ``torch.library`` registers."""

from __future__ import annotations

from collections.abc import Callable

from .operator import DEVICES, KEYS, Operator
from .schema import Schema

_operators: dict[str, Operator] = {}
#: What was registered for operators that are not defined yet: fake functions and derivatives by name.
_early: dict[str, list[Callable[[Operator], None]]] = {}


def find(qualname: str) -> Operator | None:
    """The operator, or None."""
    return _operators.get(qualname.removesuffix(".default"))


def names(namespace: str) -> list[str]:
    """The operators of a namespace."""
    return [q.partition("::")[2] for q in _operators if q.startswith(f"{namespace}::")]


def define(namespace: str, schema: Schema, strict: bool = False, replace: bool = False) -> Operator:
    """Add an operator. RuntimeError where there is one of the name."""
    if schema.overload:
        raise NotImplementedError(
            f"torch.library: the overload {schema.overload!r} of {namespace}::{schema.name} is not "
            "supported; give it a name of its own")
    operator = Operator(schema, namespace, strict)
    if operator.qualname in _operators and not replace:
        raise RuntimeError(f"Tried to register an operator ({operator.qualname}) with the same name and "
                           "overload name multiple times.")
    _operators[operator.qualname] = operator
    for registered in _early.pop(operator.qualname, ()):
        registered(operator)
    return operator


def remove(qualname: str) -> None:
    """Take an operator out again."""
    _operators.pop(qualname, None)


def when_defined(qualname: str, register: Callable[[Operator], None]) -> None:
    """Call ``register`` with the operator, now or when it is defined."""
    operator = find(qualname)
    if operator is None:
        _early.setdefault(qualname, []).append(register)
    else:
        register(operator)


def add_kernel(qualname: str, key: str, fn: Callable) -> None:
    """Register what computes an operator, for a key of PyTorch's dispatcher or a type of devices."""
    key = DEVICES.get(key, key)
    if key not in KEYS and key not in DEVICES.values():
        raise NotImplementedError(
            f"torch.library: kernels for the dispatch key {key!r} are not supported; register the derivative "
            "by torch.library.register_autograd, and what computes for 'CPU', 'CUDA' or "
            "'CompositeExplicitAutograd'")

    def register(operator: Operator) -> None:
        operator.kernels[key] = fn

    when_defined(qualname, register)
