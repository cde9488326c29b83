"""Two checkouts of jaxflow side by side: what recording, publishing and closing cost the calling thread.

``python -m benchmarks.against OTHER [--rounds 25] [--only NAME ...]`` starts a process in this checkout and
one in the checkout ``OTHER``, with the same Python, and asks them in turns. For each case it prints the
processor time of the calling thread here and the ratio here / there: median and interquartile range of the
rounds. XLA's own threads are not counted, so a busy machine moves the figures less than wall time.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
now = time.thread_time


def _repeated(body: Callable, found: list) -> Callable[[], float]:
    """What times ``body()``, which leaves a tensor in ``found`` that is waited for afterwards."""

    def run() -> float:
        started = now()
        body()
        taken = now() - started
        found[0].tolist()
        return taken

    return run


def _operation(torch, requires_grad: bool) -> Callable[[], float]:
    x, w, found = torch.randn(8, 8), torch.randn(8, 8, requires_grad=requires_grad), []

    def body() -> None:
        for _ in range(200):
            y = x * w
        found[:] = [y.detach()]

    return _repeated(body, found)


def _in_place(torch) -> Callable[[], float]:
    x, w = torch.randn(8, 8), torch.randn(8, 8)

    def body() -> None:
        for _ in range(200):
            x.add_(w)

    return _repeated(body, [x])


def _program(torch, requires_grad: bool) -> Callable[[], float]:
    """1,000 operations and their closing; with gradients 200 and their backward."""
    x, w, found = torch.randn(8, 8), torch.randn(8, 8, requires_grad=requires_grad), []

    def body() -> None:
        y = x
        for _ in range(100 if requires_grad else 500):
            y = y * w + 0.5
        if requires_grad:
            w.grad = None
            y.sum().backward()
        torch.flush()
        found[:] = [w.grad if requires_grad else y]

    return _repeated(body, found)


def _step(torch, optimizer: str, compiled: bool = False) -> Callable[[], float]:
    """Five steps of a perceptron of 64, 32 and 10 units, batches of 64."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    options = {"lr": 0.01, "momentum": 0.9} if optimizer == "SGD" else {}
    update = getattr(torch.optim, optimizer)(model.parameters(), **options)
    x, y, found = torch.randn(64, 64), torch.randint(0, 10, (64,)), []

    def step():
        loss = torch.nn.functional.cross_entropy(model(x), y)
        update.zero_grad()
        loss.backward()
        update.step()
        return loss

    call = torch.compile(step) if compiled else step

    def body() -> None:
        for _ in range(5):
            loss = call()
        found[:] = [loss.detach()]

    return _repeated(body, found)


CASES: dict[str, Callable] = {
    "operation": lambda torch: _operation(torch, False),
    "operation-grad": lambda torch: _operation(torch, True),
    "in-place": _in_place,
    "program": lambda torch: _program(torch, False),
    "program-grad": lambda torch: _program(torch, True),
    "step-sgd": lambda torch: _step(torch, "SGD"),
    "step-adamw": lambda torch: _step(torch, "AdamW"),
    "step-compiled": lambda torch: _step(torch, "SGD", compiled=True),
}


def answer() -> None:
    """The asked process: for each case named on standard input, the seconds of its best of three runs."""
    sys.path.insert(0, str(pathlib.Path.cwd()))
    import jaxflow as torch

    made: dict[str, Callable[[], float]] = {}
    print("ready", flush=True)
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            made[name] = CASES[name](torch)
            for _ in range(12):
                made[name]()
        print(min(made[name]() for _ in range(3)), flush=True)


class _Asked:
    """A process in a checkout."""

    def __init__(self, checkout: pathlib.Path) -> None:
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAXFLOW_INTERPRET": "0"}
        self.process = subprocess.Popen(
            [sys.executable, str(pathlib.Path(__file__).resolve()), "--answer"],
            cwd=checkout, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        if self._line() != "ready":
            raise RuntimeError(f"no jaxflow could be started in {checkout}")

    def _line(self) -> str:
        return self.process.stdout.readline().strip()

    def __call__(self, name: str) -> float:
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return float(self._line())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("other", nargs="?", type=pathlib.Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        answer()
        return
    here, there = _Asked(ROOT), _Asked(given.other)
    for name in given.only:
        for asked in (here, there):
            asked(name)
        times, ratios = [], []
        for _ in range(given.rounds):
            before, other, after = here(name), there(name), here(name)
            times.append(min(before, after))
            ratios.append(min(before, after) / other)
        low, median, high = statistics.quantiles(ratios, n=4)
        print(f"{name:16} {statistics.median(times) * 1e6:8.0f} us   {median:.3f}  ({low:.3f} to {high:.3f})",
              flush=True)


if __name__ == "__main__":
    main()
