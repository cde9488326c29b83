"""Which files of jaxflow one operation, one backward node, one write and one step pass, in the steady state.

``python -m tools.trips`` prints the table of docs/architecture.md: calls inside jaxflow, functions, files,
how many of these are data (``_core``), and calls that lead up, from a layer to one above it. ``--files``
names them.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable

import jaxflow as torch

# The layers of tests/test_structure.py, as far as calls between them say something.
_LAYERS = ("_core", "_interpreter", "_plans", "_ops", "_transforms", "_shapes", "_exec", "_views",
           "_dispatch", "_memory", "_writes", "_publish", "_api", "autograd")
_HOME = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


class Trip:
    """The calls that run while it is open, as files of jaxflow."""

    def __init__(self) -> None:
        self.calls = 0
        self.functions: set[tuple[str, str]] = set()
        self.order: list[str] = []
        self.arrows: list[tuple[str, str]] = []
        self._stack: list[str] = []

    def _note(self, frame, event: str, _arg) -> None:
        name = frame.f_code.co_filename
        if not name.startswith(_HOME):
            return
        file = name[len(_HOME):]
        if event == "call":
            self.calls += 1
            self.functions.add((file, frame.f_code.co_qualname))
            if self._stack and self._stack[-1] != file:
                self.arrows.append((self._stack[-1], file))
            if file not in self.order:
                self.order.append(file)
            self._stack.append(file)
        elif event == "return" and self._stack:
            self._stack.pop()

    def run(self, fn: Callable[[], object]) -> None:
        """Call ``fn`` and note what it passes."""
        sys.setprofile(self._note)
        try:
            fn()
        finally:
            sys.setprofile(None)

    @property
    def data(self) -> int:
        """How many of the files are data."""
        return sum(file.startswith("_core/") for file in self.order)

    @property
    def up(self) -> list[tuple[str, str]]:
        """Calls from a layer to one above it."""
        return sorted({(a, b) for a, b in self.arrows if _height(b) > _height(a)})


def _height(file: str) -> int:
    layer = file.partition(os.sep)[0]
    return _LAYERS.index(layer) if layer in _LAYERS else len(_LAYERS)


def trips() -> dict[str, Trip]:
    """Each trip by its name, after enough rounds for everything to be known."""
    torch.manual_seed(0)
    x, w = torch.ones(4, 4), torch.ones(4, 4, requires_grad=True)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found: dict[str, Trip] = {}

    def noted(name: str, fn: Callable[[], object]) -> None:
        found[name] = Trip()
        found[name].run(fn)

    for _ in range(20):
        noted("an operation: `x * w`", lambda: x * w)
        product = (x * w).sum()
        noted("a backward node: `grad(x * w)`", functools.partial(torch.autograd.grad, product, w))
        y = (x * w).clone()
        noted("a view write: `y[1:3].add_(1)`", lambda: y[1:3].add_(1))  # noqa: B023 - called at once
        noted("a layer: `Linear(x)`", lambda: model[0](x))
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        noted("a step with its close: `optimizer.step()`", optimizer.step)
        loss.item()
    return found


def main() -> int:
    """Print the table."""
    print("| trip | calls | functions | files | data | up |\n| --- | --- | --- | --- | --- | --- |")
    for name, trip in trips().items():
        figures = (trip.calls, len(trip.functions), len(trip.order), trip.data, len(trip.up))
        print(f"| {name} | {' | '.join(map(str, figures))} |")
    if "--files" in sys.argv:
        for name, trip in trips().items():
            print(f"\n{name}:", " -> ".join(trip.order))
            for a, b in trip.up:
                print(f"    up: {a} -> {b}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
