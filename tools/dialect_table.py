"""Writes docs/dialects.md: what each dialect offers, what jaxflow calls for it, and what behaves differently.

Run ``python -m tools.dialect_table`` from the repository; a test fails while the page is out of date.
"""

from __future__ import annotations

import itertools
import pathlib
import types
from collections.abc import Iterable, Iterator

from jaxflow import oneflow, paddle
from jaxflow.oneflow._differences import ARGUMENTS
from jaxflow.oneflow._differences import DIFFERENCES as ONEFLOW_DIFFERENCES
from jaxflow.oneflow._names import NAMES as ONEFLOW_NAMES
from jaxflow.paddle import _differences, _rows, _table
from jaxflow.paddle._tensor import Tensor as PaddleTensor

# What modules hold for themselves.
_NOT_NAMES = frozenset("Any Callable FUNCTIONS Context annotations".split())
PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "dialects.md"

HEAD = """# Dialects

<!-- written by tools/dialect_table.py from the tables in jaxflow/dialects -->

`import jaxflow.oneflow as oneflow` and `import jaxflow.paddle as paddle` give OneFlow's and Paddle's names
for the same operations and the same engine. A dialect's tensor is a jaxflow tensor: they mix, share storage
and history, and run in every executor. Names that a framework documents and jaxflow has no operation for
raise an AttributeError that says so.

What OneFlow does is taken from the documentation and signatures of its master branch of August 2025, what
Paddle does from the documentation of Paddle 2.6. Neither is needed to run anything.
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(cell, row)) + " |"
    yield ""


def names(title: str, found: Iterable[str]) -> Iterator[str]:
    found = sorted(found)
    if found:
        yield f"{title}: " + ", ".join(f"`{name}`" for name in found) + "."
        yield ""


def oneflow_module(namespace: str) -> object:
    where: object = oneflow
    for part in namespace.split(".") if namespace else ():
        where = getattr(where, part)
    return where


def oneflow_name(namespace: str) -> str:
    return f"oneflow.{namespace}" if namespace else "oneflow"


def oneflow_lines() -> Iterator[str]:
    yield "## OneFlow\n"
    yield "Every name offered is jaxflow's (PyTorch's) name for the same thing, but for these:\n"
    yield from table(("name", "PyTorch", "OneFlow, and so here"), (
        (f"`{oneflow_name(row.namespace)}.{row.name}`", row.pytorch, row.oneflow)
        for row in ONEFLOW_DIFFERENCES
    ))
    yield (
        "Functions take their first tensor as `x` too, and these arguments by OneFlow's name as well as by "
        "PyTorch's:\n"
    )
    yield from table(("function", "OneFlow's name: PyTorch's"), (
        (f"`oneflow.{name}`", ", ".join(f"{theirs}: {ours}" for theirs, ours in renamed.items()))
        for name, renamed in ARGUMENTS.items()
    ))
    for namespace in ONEFLOW_NAMES:
        where = oneflow_module(namespace)
        known = set(ONEFLOW_NAMES[namespace])
        there = {name for name in known if hasattr(where, name)}
        yield f"### `{oneflow_name(namespace)}`\n"
        yield from names("Offered", there)
        yield from names("In OneFlow but not here", known - there)


def paddle_lines() -> Iterator[str]:
    yield "## Paddle\n"
    yield from table(("what", "PyTorch", "Paddle, and so here"), _differences.DIFFERENCES)
    yield "Where this dialect falls short of Paddle:\n"
    yield from (f"- {text}" for text in _differences.SHORTCOMINGS)
    yield ""
    yield (
        "In the tables of functions the expression says what jaxflow runs and where each argument goes: `J` "
        "is jaxflow, `F` jaxflow.nn.functional, `C` and `N` a few lines of Python over them.\n"
    )
    for namespace, rows in itertools.groupby(_rows.ROWS, key=lambda row: row.namespace):
        yield f"### `{'paddle.' + namespace if namespace else 'paddle'}`\n"
        yield from table(("Paddle", "jaxflow"), ((f"`{r.signature}`", f"`{r.expression}`") for r in rows))
    yield "### Methods and attributes of `paddle.Tensor`\n"
    own = {n for n in vars(PaddleTensor) if not n.startswith("_") and n not in _table.METHODS}
    inherited = {n for n in own if n in vars(PaddleTensor.__mro__[1])}
    yield from names("Of the functions above", _table.METHODS)
    yield from names("Its own", own - inherited)
    yield from names("In Paddle but not here", _table.METHODS_MISSING)
    yield "### Further names\n"
    public = {n: v for n, v in vars(paddle).items() if not n.startswith("_") and n not in _table.FUNCTIONS}
    yield from names("`paddle`", (n for n, v in public.items() if not isinstance(v, types.ModuleType)))
    for name, module in sorted(public.items()):
        if isinstance(module, types.ModuleType):
            inside = {n: v for n, v in vars(module).items() if not n.startswith("_")}
            yield from names(f"`paddle.{name}`", (
                n for n, v in inside.items()
                if not isinstance(v, types.ModuleType) and n not in _NOT_NAMES
                and n not in getattr(module, "FUNCTIONS", ())
            ))
            yield from names(f"In Paddle's `{name}` but not here", getattr(module, "_MISSING", ()))
    yield from names("In Paddle but not here", _table.MISSING)


def page() -> str:
    return "\n".join([HEAD, *oneflow_lines(), *paddle_lines()]).rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
