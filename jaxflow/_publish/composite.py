"""Composites: public functions in plain Python over other public operations.

They never touch arrays; everything they do is done by the ops they call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from jaxflow._core.arguments import checked
from jaxflow._dispatch.autocast_lists import WHOLE
from jaxflow._dispatch.autocasting import cast_call
from jaxflow._dispatch.dispatch import apply

#: Where PyTorch's functions are written in Python, which takes numbers as they come.
_IN_PYTHON = frozenset(("nn.functional", "masked", "signal.windows"))


class Composite:
    """Where a composite function is published."""

    __slots__ = ("aliases", "fn", "method_name", "name", "namespace", "operators",
                 "variants")

    def __init__(self, fn, name, namespace, variants, aliases, operators, method_name) -> None:
        self.fn, self.name, self.namespace = fn, name, namespace
        self.variants = frozenset(variants.split())
        self.aliases, self.operators = tuple(aliases), tuple(operators.split())
        self.method_name = method_name


COMPOSITES: dict[tuple[str, str], Composite] = {}


def composite(
    variants: str = "function method",
    *,
    name: str | None = None,
    namespace: str = "",
    aliases: Sequence[str] = (),
    operators: str = "",
    method_name: str | None = None,
    checks: bool = True,
) -> Callable[[Callable], Callable]:
    """Publish a Python function as ``function``, ``method``, or both; a second declaration raises.

    What its annotations say of tensors, integers, bools and numbers is looked at in each call (see
    `arguments`), but where it has no ``checks``: PyTorch says in other words what it takes. Where PyTorch's
    function is written in Python only tensors that have to be there are looked at, as its first operation
    does in PyTorch.
    """

    def declare(fn: Callable) -> Callable:
        public = name or fn.__name__
        if variants == "method":
            fn.__qualname__ = f"Tensor.{public}"  # Python names it so when arguments do not fit
        key = (namespace, public)
        if key in COMPOSITES:
            raise ValueError(f"composite {public!r} is declared twice in {namespace!r}")
        if checks:
            said = method_name or public
            prefix = namespace.replace(".", "_") + "_" if namespace else ""
            said = said if namespace in _IN_PYTHON else prefix + said.removeprefix(prefix)
            name_there = f"{namespace}.{public}" if namespace else public
            fn = checked(fn, said, method=variants == "method", in_python=namespace in _IN_PYTHON,
                         casting=partial(cast_call, name_there, apply) if name_there in WHOLE else None)
        COMPOSITES[key] = Composite(
            fn, public, namespace, variants, aliases, operators, method_name or public
        )
        return fn

    return declare
