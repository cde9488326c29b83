"""``python -m compat_tests.names [usage.csv]``: which of PyTorch's names exist here, with which signatures.

With a table of uses (columns ``kind``, ``name``, ``repos``, ``uses``) the functions and methods that at least
``--repos`` repositories use are looked up, and what is found is weighted by uses. Without one, every public
name of the namespaces below is.
"""

from __future__ import annotations

import argparse
import csv
import functools
import importlib
import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch

import jaxflow

from .signatures import differences, our_form

#: Namespaces that are to be complete, relative to the package.
NAMESPACES = ("linalg", "fft", "special", "masked", "signal.windows", "nn.functional", "nn.init", "Tensor",
              "")


#: What torch.nn.functional imports for itself.
_IMPORTED = frozenset("assert_int_or_pair handle_torch_function has_torch_function has_torch_function_unary "
                      "has_torch_function_variadic".split())


class Name(NamedTuple):
    """A public name of PyTorch, relative to ``torch``, and how often it is used."""

    path: str
    uses: int


def look_up(package: Any, path: str) -> Any:
    """What ``package.<path>`` is; None where there is no such thing."""
    try:
        return functools.reduce(getattr, path.split("."), package)
    except AttributeError:
        return None


def found(package: Any, path: str) -> Any:
    """What ``package.<path>`` is, also where its modules are not imported yet; None for no such thing."""
    parts = path.split(".")
    for i in range(1, len(parts)):
        if look_up(package, ".".join(parts[:i])) is None:
            try:
                importlib.import_module(".".join([package.__name__, *parts[:i]]))
            except ImportError:
                return None
    return look_up(package, path)


def used(rows: Iterable[dict[str, str]], repos: int) -> Iterator[Name]:
    """The functions and methods of a table of uses that at least ``repos`` repositories use."""
    for row in rows:
        if int(row["repos"]) < repos or row["kind"] not in ("function", "method"):
            continue
        path = f"Tensor.{row['name']}" if row["kind"] == "method" else row["name"].removeprefix("torch.")
        if look_up(torch, path) is not None:
            yield Name(path, int(row["uses"]))


def public(namespace: str) -> Iterator[Name]:
    """The public functions and methods of ``torch.<namespace>``, each counted once."""
    where = look_up(torch, namespace) if namespace else torch
    for name in sorted(getattr(where, "__all__", None) or dir(where)):
        thing = getattr(where, name, None)
        if name.startswith("_") or name in _IMPORTED or not callable(thing):
            continue
        if isinstance(thing, (type, types.ModuleType)):
            continue
        if (getattr(thing, "__module__", None) or "").startswith(("typing", "collections", "torch._jit")):
            continue
        yield Name(f"{namespace}.{name}" if namespace else name, 1)


class Report(NamedTuple):
    """What a walk over names found."""

    names: list[Name]
    absent: list[Name]
    differing: list[tuple[Name, list[str]]]
    opaque: list[Name]

    @property
    def coverage(self) -> float:
        """The share of the uses whose names exist."""
        total = sum(n.uses for n in self.names)
        return 1 - sum(n.uses for n in self.absent) / total if total else 1.0


def survey(names: Iterable[Name]) -> Report:
    """Look every name up in jaxflow, and compare the signatures of those that exist."""
    report = Report([], [], [], [])
    for name in names:
        report.names.append(name)
        if look_up(jaxflow, name.path) is None:
            report.absent.append(name)
        elif our_form(name.path) is None:
            report.opaque.append(name)
        elif words := differences(name.path):
            report.differing.append((name, words))
    return report


def show(title: str, report: Report, out: Any) -> None:
    """Print a report."""
    found = len(report.names) - len(report.absent)
    print(f"{title}: {found} of {len(report.names)} names exist, {report.coverage:.2%} of the uses", file=out)
    if report.absent:
        print("  absent: " + " ".join(f"{n.path}({n.uses})" for n in report.absent), file=out)
    for name, words in report.differing:
        print(f"  {name.path}({name.uses}): {'; '.join(words)}", file=out)
    if report.opaque:
        print("  told apart in the body, compared by calls: "
              + " ".join(n.path for n in report.opaque), file=out)


def main(argv: list[str]) -> None:
    """Print the survey of a table of uses, or of all namespaces."""
    parser = argparse.ArgumentParser(prog="python -m compat_tests.names", description=__doc__)
    parser.add_argument("usage", nargs="?", help="a table of uses (csv)")
    parser.add_argument("--repos", type=int, default=2, help="the least number of repositories (2)")
    parser.add_argument("--in", dest="namespaces", nargs="*", default=NAMESPACES, help="namespaces to walk")
    arguments = parser.parse_args(argv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's deprecated names warn when they are looked up
        if arguments.usage:
            with open(arguments.usage, newline="", encoding="utf-8") as table:
                names = [*used(csv.DictReader(table), arguments.repos)]
            show(arguments.usage, survey(names), sys.stdout)
            return
        for namespace in arguments.namespaces:
            show(f"torch.{namespace}".rstrip("."), survey(public(namespace)), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
