"""Random stateful programs: a class whose step changes all kinds of state, compiled beside plain.

A program is some statements of `stateful_rows` and `stateful_wider`, called a few times with something
happening in between. What each call returns or raises, and everything that the program holds afterwards, has
to be what the same program gives without ``compile``. Where something is wrong, statements are left out for
as long as it stays wrong.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import enum
import random
import textwrap
import warnings
from typing import Any, NamedTuple

import numpy as np

import jaxflow as torch

from . import command_line, stateful_rows, stateful_wider
from .bench import Verdict
from .report import Results
from .surroundings import Hung, executing, in_thread

MODES = ("deferred", "compiled")
STATEMENTS = (*stateful_rows.STATEMENTS, *stateful_wider.STATEMENTS)
BETWEEN = (*stateful_rows.BETWEEN, *stateful_wider.BETWEEN)
SETUP = stateful_rows.SETUP.replace("class Program:", stateful_wider.SETUP + "\nclass Program:", 1)
COUNT = {"deferred": 1000, "compiled": 100}
CALLS = 7
RTOL, ATOL = 1e-6, 1e-8  # float64 throughout


class Source(NamedTuple):
    """A random program: rows of its step, and for each call rows of what happens before it."""

    body: tuple[str, ...]
    between: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """As a user would write it."""
        shown = ["def step(self, x, n):", *map(_indented, self.body)]
        shown += [f"call {i}: {'; '.join(rows)}" for i, rows in enumerate(self.between) if rows]
        return "\n".join(shown)

    def smaller(self) -> list[Source]:
        """The programs that lack one call or one row."""
        found = [self._replace(between=self.between[:-1])] if len(self.between) > 1 else []
        found += [self._replace(body=(*self.body[:i], *self.body[i + 1:]))
                  for i in range(1, len(self.body))]
        for k, rows in enumerate(self.between):
            fewer = [(*rows[:i], *rows[i + 1:]) for i in range(len(rows))]
            found += [self._replace(between=(*self.between[:k], less, *self.between[k + 1:]))
                      for less in fewer]
        return found


def drawn(seed: int) -> Source:
    """The program of a seed."""
    draw = random.Random(seed)
    begin = draw.choice(stateful_rows.BEGINNINGS)
    body = begin, *(draw.choice(STATEMENTS) for _ in range(draw.randint(2, 7)))
    # Most calls are like the one before: only then is anything served by what was compiled.
    between = tuple(tuple(draw.choice(BETWEEN) for _ in range(draw.choice((0, 0, 0, 1, 2))))
                    for _ in range(CALLS))
    return Source(body, between)


def _indented(row: str, by: str = "    ") -> str:
    return textwrap.indent(row, by)


class Trace(NamedTuple):
    """What a run showed: facts of each call, errors, why Python runs at each call of the compiled step."""

    calls: list[dict[str, Any]]
    errors: list[str]
    refused: list[str]


def performed(source: Source, compiled: bool) -> Trace:
    """Run the program."""
    space: dict[str, Any] = {"__name__": "program"}  # or it would count as generated code
    setup = SETUP.replace("import torch_under_test as torch\n", "")
    space["torch"] = torch
    body = "\n".join(_indented(row, " " * 8) for row in source.body)
    exec(compile(setup.replace("{body}", body), "<program>", "exec"), space)
    p = space["p"] = space["Program"]()
    space.update(q=[], last=None, renewed=False, walked=False)
    space.update(x=torch.full((2, 3), 0.25, dtype=torch.float64), n=1.0)
    step = torch.compile(p.step) if compiled else p.step
    calls, errors = [], []
    for rows in source.between:
        facts: dict[str, Any] = {}
        for row in rows:
            try:
                exec(row, space)
            except RuntimeError as error:
                facts["between"] = str(error)[:60]
        result = None
        if space["renewed"]:
            space["x"] = space["x"].detach().clone().requires_grad_()
        try:
            result = step(space["x"], space["n"])
            describe("result", result, facts)
        except Exception as error:
            facts["raised"] = type(error).__name__
            errors.append(f"call {len(calls)} raised {type(error).__name__}: {error}"[:200])
        if space["walked"] and isinstance(result, torch.Tensor) and result.requires_grad:
            walk(result, facts)
        for name, x in vars(p).items():
            describe(name, x, facts)
        for name in ("x", "q", "RATE", "CALLS", "MEMORY"):
            describe(name, space[name], facts)
        facts["rng"] = np.asarray(torch.get_rng_state().tolist())
        facts["grad mode"] = torch.is_grad_enabled()
        names = {"result": result, "x": space["x"], "q": space["q"], "MEMORY": space["MEMORY"], **vars(p)}
        facts["same objects"] = aliases(names)
        space["last"] = result if isinstance(result, torch.Tensor) and result.requires_grad else None
        result = names = None
        calls.append(facts)
    return Trace(calls, errors, step.explain()["python"] if compiled else [])


def walk(result: torch.Tensor, facts: dict[str, Any]) -> None:
    """Write down how a backward from a result goes; what it does shows in the leaves."""
    try:
        result.sum().backward()
    except RuntimeError as error:
        facts["walked"] = str(error)[:60]


def aliases(names: dict[str, Any]) -> list[list[str]]:
    """Which places hold the same tensor or container, as deep as these go."""
    found: dict[int, list[str]] = {}
    todo = list(names.items())
    while todo:
        name, x = todo.pop()
        if isinstance(x, (torch.Tensor, list, dict)) or dataclasses.is_dataclass(x):
            places = found.setdefault(id(x), [])
            places.append(name)
            if len(places) > 1:
                continue  # what is in it is the same
        if isinstance(x, (list, tuple)):
            todo += [(f"{name}[{i}]", y) for i, y in enumerate(x)]
        elif isinstance(x, dict) or dataclasses.is_dataclass(x):
            todo += [(f"{name}.{k}", y) for k, y in (x if isinstance(x, dict) else vars(x)).items()]
    return sorted(sorted(places) for places in found.values() if len(places) > 1)


def describe(name: str, x: Any, facts: dict[str, Any]) -> None:
    """Write down what can be seen of a value."""
    if isinstance(x, torch.Tensor):
        facts[name] = np.asarray(x.detach().tolist())
        facts[f"{name}: like"] = (x.dtype, (*x.shape,), x.stride(), x.requires_grad, x.is_leaf, x._version,
                                  type(x.grad_fn).__name__, sorted(vars(x).items()))
        if x.is_leaf and x.grad is not None:
            describe(f"{name}.grad", x.grad, facts)
    elif isinstance(x, torch.nn.Module):
        facts[f"{name}: like"] = x.training, repr(x)
        for key, t in x.state_dict(keep_vars=True).items():
            describe(f"{name}.{key}", t, facts)
    elif isinstance(x, torch.optim.Optimizer):
        for i, group in enumerate(x.param_groups):
            for p in group["params"]:
                describe(f"{name}.state", x.state.get(p, {}), facts)
            facts[f"{name}.{i}"] = {k: repr(v) for k, v in group.items() if k != "params"}
    elif isinstance(x, dict):
        facts[f"{name}: keys"] = list(x)
        for i, value in enumerate(x.values()):
            describe(f"{name}[{i}]", value, facts)
    elif isinstance(x, (list, tuple, collections.deque)):
        facts[f"{name}: length"] = len(x)
        for i, value in enumerate(x):
            describe(f"{name}[{i}]", value, facts)
    elif isinstance(x, np.ndarray):
        facts[name] = x.copy()
    elif isinstance(x, (bool, int, float, str, type(None))):
        facts[name] = x
    elif isinstance(x, (set, enum.Enum, torch.Generator)) or callable(x):
        facts[name] = str(sorted(x, key=repr) if isinstance(x, set) else x)[:20]
    else:
        held = {k: getattr(x, k) for k in type(x).__slots__} if hasattr(type(x), "__slots__") else vars(x)
        describe(name, held, facts)


def differences(found: list[dict], expected: list[dict]) -> str:
    """The first fact that is another; empty if there is none."""
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        for name in {**b, **a}:
            if name not in a or name not in b or not _same(a[name], b[name]):
                return f"call {i}: {name} is {_shown(a, name)}, not {_shown(b, name)}"
    return ""


def _shown(facts: dict, name: str) -> str:
    return " ".join(str(facts.get(name, "missing")).split())[:120]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and np.allclose(a, b, rtol=RTOL, atol=ATOL, equal_nan=True)
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=RTOL, atol=ATOL, equal_nan=True))
    return type(a) is type(b) and a == b


def tried(source: Source, mode: str) -> tuple[str, list[str]]:
    """What is wrong with a program, and why Python runs at each of its calls."""
    with executing(mode), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compiler.reset()
        expected = performed(source, False)
        try:
            found = performed(source, True)
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:200], []
        wrong = differences(found.calls, expected.calls)
        return wrong and "; ".join((wrong, *found.errors)), found.refused


def smallest(source: Source, mode: str) -> Source:
    """The program without all that it needs not to be wrong."""
    while True:
        for less in source.smaller():
            if in_thread(tried, less, mode)[0]:
                source = less
                break
        else:
            return source


def judge(seed: int, mode: str) -> tuple[Verdict, bool]:
    """Try the program of a seed; the verdict, and whether Python runs at each call."""
    source = drawn(seed)
    try:
        wrong, refused = in_thread(tried, source, mode)
        if not wrong:
            return Verdict("right"), bool(refused)
        source = smallest(source, mode)
        wrong, refused = in_thread(tried, source, mode)
    except Hung as error:
        return Verdict("hung", str(error)), False
    return Verdict("wrong", f"{wrong} | " + source.text().replace("\n", " | ")), bool(refused)


def run(mode: str, seed: int, count: int, results: Results) -> None:
    """The programs of ``count`` seeds, those that are not tried yet."""
    for i in range(seed, seed + count):
        name = f"{mode}/{i}"
        if name in results.done:
            continue
        verdict, refused = judge(i, mode)
        where = verdict.detail.split(" | ", 2)[-1] if verdict.kind == "wrong" else "a program"
        results.add(id=name, kind=verdict.kind, detail=verdict.detail, where=where[:200], refused=refused,
                    group=f"{mode}{', as Python' if refused else ''}")
        if verdict.kind == "hung":
            return


def one(name: str) -> str:
    """Try once more what the report names."""
    mode, seed = name.split("/")
    verdict, refused = judge(int(seed), mode)
    return "\n".join((f"{name}: {verdict.kind}{', as Python' if refused else ''}",
                      *verdict.detail.split(" | "), "", drawn(int(seed)).text()))


def main(options: argparse.Namespace) -> int:
    """The command line; returns the exit status: 1 if anything was wrong."""

    def attempt(mode: str, results: Results) -> None:
        run(mode, options.seed, options.count or COUNT[mode], results)

    return command_line.performed("stateful", options, MODES, attempt, one=lambda: one(options.point))
