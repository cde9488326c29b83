"""From the lines of a table to functions.

A line is ``signature = expression``: Paddle's name and arguments, and what jaxflow calls for it, written with
those arguments; an indented line goes on with the one before.
``sum(x, axis=None, keepdim=False) = sum(x, axis, keepdim)`` makes a function of that signature
(and Paddle's ``name=None`` at the end), which takes Paddle's dtypes and places and gives Paddle's tensors.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from ._places import DIALECT


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of a table: where the name is, what it calls with which names, and what was made of it."""

    namespace: str
    name: str
    signature: str
    expression: str
    names: dict[str, Any]
    function: Callable


ROWS: list[Row] = []


def rows(namespace: str, text: str, names: dict[str, Any], wrapped: bool = True) -> dict[str, Callable]:
    """Functions of the lines of ``text``, which may use ``names``; noted in ``ROWS``."""
    made: dict[str, Callable] = {}
    for line in text.strip().replace("\n    ", " ").splitlines():
        signature, arrow, expression = line.partition(" = ")
        signature, expression = signature.strip(), expression.strip()
        name = signature.partition("(")[0]
        if not arrow or name in made:
            raise ValueError(f"{line!r}: a line is `signature = expression`, each name once")
        arguments = ast.parse(f"def {signature}: pass").body[0].args
        if arguments.kwarg is None and all(a.arg != "name" for a in arguments.args):
            signature = signature[:-1] + (", name=None)" if signature[-2] != "(" else "name=None)")
        space = {"__name__": __name__, "__builtins__": __builtins__, **names}
        exec(compile(f"def {signature}:\n    return {expression}", f"<paddle.{name}>", "exec"), space)
        fn = space[name]
        fn.__module__ = "jaxflow.paddle" + (f".{namespace}" if namespace not in ("", "Tensor") else "")
        fn.__qualname__ = f"Tensor.{name}" if namespace == "Tensor" else name
        fn.__doc__ = f"``{expression}``, in jaxflow's names."
        made[name] = DIALECT.function(fn) if wrapped else fn
        ROWS.append(Row(namespace, name, signature, expression, names, made[name]))
    return made
