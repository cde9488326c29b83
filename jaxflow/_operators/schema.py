"""Schemas of operators: ``name(Tensor x, *, float eps=1e-05) -> Tensor``."""

from __future__ import annotations

import ast
import collections.abc
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from jaxflow._core.device import device
from jaxflow._core.dtype import dtype
from jaxflow._core.tensor import Tensor

EMPTY = inspect.Parameter.empty
_CONSTANTS = {"None": None, "True": True, "False": False}
_PLAIN = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", complex: "complex",
          dtype: "ScalarType", device: "Device"}
_IN_LISTS = {Tensor, int, float, bool}


class Argument(NamedTuple):
    """One argument of a schema."""

    name: str
    type: str
    default: Any
    keyword_only: bool
    written: bool


class Schema(NamedTuple):
    """A schema that was read."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: str
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def is_mutable(self) -> bool:
        """Whether the operator writes into an argument."""
        return any(a.written for a in self.arguments)

    def bound(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """All arguments of a call, in order and by keyword, with defaults filled in."""
        values, left = list(args), dict(kwargs)
        positional = [a for a in self.arguments if not a.keyword_only]
        if len(values) > len(positional):
            raise RuntimeError(f"{self.name}() expected at most {len(positional)} argument(s) but received "
                               f"{len(values)} argument(s). Declaration: {self.text}")
        for a in positional[len(values):]:
            values.append(self._taken(a, left))
        keywords = {a.name: self._taken(a, left) for a in self.arguments if a.keyword_only}
        if left:
            known = {a.name for a in self.arguments}
            wrong = next(iter(left))
            what = "Unknown keyword argument" if wrong not in known else "Got twice the argument"
            raise RuntimeError(f"{what} '{wrong}' for operator '{self.name}'. Schema: {self.text}")
        return tuple(values), keywords

    def _taken(self, argument: Argument, left: dict[str, Any]) -> Any:
        value = left.pop(argument.name, argument.default)
        if value is EMPTY:
            raise RuntimeError(f"{self.name}() is missing value for argument '{argument.name}'. "
                               f"Declaration: {self.text}")
        return value


def parse(text: str) -> Schema:
    """The schema that is written in ``text``. RuntimeError for what is none."""
    match = re.fullmatch(r"\s*([\w:]+)(?:\.(\w+))?\s*\((.*)\)\s*->\s*(.+?)\s*", text, re.S)
    if match is None:
        raise RuntimeError(f"not a schema: {text!r}; one is written like 'name(Tensor x, int n=1) -> Tensor'")
    name, overload, inside, returns = match.groups()
    arguments, keyword_only = [], False
    for part in _parts(inside):
        if part == "*":
            keyword_only = True
            continue
        found = re.fullmatch(r"(\w+(?:\([^)]*\))?[^\s=]*)\s+(\w+)\s*(?:=\s*(.+))?", part, re.S)
        if found is None:
            raise RuntimeError(f"not an argument of a schema: {part!r} in {text!r}")
        kind, argument, default = found.groups()
        arguments.append(Argument(argument, kind, EMPTY if default is None else _value(default), keyword_only,
                                  "!" in kind))
    return Schema(name, overload or "", tuple(arguments), returns, text.strip())


def _parts(inside: str) -> Iterable[str]:
    """What commas separate outside of brackets."""
    depth, start = 0, 0
    for at, c in enumerate(inside):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            yield inside[start:at].strip()
            start = at + 1
    if inside[start:].strip():
        yield inside[start:].strip()


def _value(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text  # a word, such as Mean


def type_name(annotation: Any) -> str | None:
    """How a schema calls an annotation's type; None for one that operators cannot take."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [a for a in args if a is not type(None)]
        if set(rest) == {int, float, bool}:
            inner: str | None = "Scalar"
        else:
            inner = type_name(rest[0]) if len(rest) == 1 else None
        return f"{inner}?" if inner and len(rest) < len(args) else inner
    if origin in (list, collections.abc.Sequence) and len(args) == 1:
        inner = type_name(args[0])
        element = args[0] if args[0] in _IN_LISTS else None
        return f"{inner}[]" if inner and (element or inner == "Tensor?") else None
    return None


def infer(fn: Callable, mutates_args: str | Iterable[str], op_name: str | None = None) -> str:
    """The schema of a function by its annotations; ValueError where they are missing or not of its types."""
    hints = typing.get_type_hints(fn)
    unsaid = mutates_args == "unknown"
    written = set() if unsaid else set(mutates_args)
    texts, keyword_only = [], False
    taken = inspect.signature(fn).parameters
    for name, parameter in taken.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ValueError(f"infer_schema(func): variable arguments are not supported, but got {parameter}")
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            texts.append("*")
        if name not in hints:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation.")
        kind = type_name(hints[name])
        if kind is None:
            raise ValueError(f"infer_schema(func): Parameter {name} has unsupported type {hints[name]}.")
        if (unsaid and kind.startswith("Tensor")) or name in written:
            if not kind.startswith("Tensor"):
                raise ValueError(f"infer_schema(func): Parameter {name} is in mutable_args but only Tensors "
                                 "or collections of Tensors can be mutated")
            kind = kind.replace("Tensor", f"Tensor(a{len(texts)}!)", 1)
        default = "" if parameter.default is EMPTY else f"={_shown(parameter.default)}"
        texts.append(f"{kind} {name}{default}")
    unknown = written - set(taken)
    if unknown:
        raise ValueError(f"infer_schema(func): {unknown} in mutates_args were not found in the function's "
                         "parameters")
    return f"{op_name or ''}({', '.join(texts)}) -> {_returned(hints)}"


def _shown(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else str(default).removeprefix("torch.")


def _returned(hints: dict[str, Any]) -> str:
    if "return" not in hints:
        raise ValueError("infer_schema(func): No return type annotation was provided. Please add one.")
    annotation = hints["return"]
    if annotation in (None, type(None)):
        return "()"
    parts = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else (annotation,)
    names = [type_name(p) for p in parts]
    if None in names:
        raise ValueError(f"infer_schema(func): Return has unsupported type {annotation}.")
    return names[0] if typing.get_origin(annotation) is not tuple else f"({', '.join(names)})"
