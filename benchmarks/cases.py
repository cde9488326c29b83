"""What `benchmarks.against` measures in a checkout; run as a file in its folder, it prints the times."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable

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


def _step(torch, optimizer: str, compiled: str = "", reads: bool = False) -> Callable[[], float]:
    """Five steps of a perceptron of 64, 32 and 10 units, batches of 64; ``reads``: losses are added up.

    ``compiled``: "step" or "model".
    """
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    options = {"lr": 0.01, "momentum": 0.9} if optimizer == "SGD" else {}
    update = getattr(torch.optim, optimizer)(model.parameters(), **options)
    if compiled == "model":
        model = torch.compile(model)
    x, y, found = torch.randn(64, 64), torch.randint(0, 10, (64,)), []

    def step():
        loss = torch.nn.functional.cross_entropy(model(x), y)
        update.zero_grad()
        loss.backward()
        update.step()
        if reads:
            total[0] += loss.item()
        return loss

    total = [0.0]
    call = torch.compile(step) if compiled == "step" else step

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
    "step-compiled": lambda torch: _step(torch, "SGD", compiled="step"),
    "step-compiled-reads": lambda torch: _step(torch, "SGD", compiled="step", reads=True),
    "step-compiled-model": lambda torch: _step(torch, "SGD", compiled="model"),
}


def answer() -> None:
    """The measured process: for each case named on standard input, the seconds of its best of three runs."""
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


if __name__ == "__main__":
    answer()
