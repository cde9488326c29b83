"""How the autograd engine scales: long chains, many leaves, a wide graph."""

import contextlib
import functools
import importlib
import time

from . import report
from .worker import Worker

SIZES = (1_000, 10_000, 100_000)


class Engine:
    """Graphs of tiny tensors, so that all the time is the machinery's."""

    def __init__(self, library):
        self.torch = importlib.import_module(library)

    def chain(self, size):
        """Each op takes the result of the one before."""
        x = self.torch.ones(2, requires_grad=True)
        began = time.perf_counter()
        y = x
        for _ in range(size):
            y = y * 1.0
        return self._finish(began, y.sum(), [x])

    def leaves(self, size):
        """The sum of so many leaves, each multiplied first."""
        xs = [self.torch.ones(2, requires_grad=True) for _ in range(size)]
        began = time.perf_counter()
        y = self.torch.zeros(2)
        for x in xs:
            y = y + x * 2.0
        return self._finish(began, y.sum(), xs)

    def wide(self, size):
        """Layers of 100 ops, each of which takes its own and its neighbour's result."""
        x = self.torch.ones(2, requires_grad=True)
        began = time.perf_counter()
        row = [x] * 100
        for _ in range(size // 100):
            row = [0.5 * (a + b) for a, b in zip(row, row[1:] + row[:1])]
        return self._finish(began, sum(row).sum(), [x])

    def _finish(self, began, loss, leaves):
        loss.item()
        forward = time.perf_counter()
        loss.backward()
        for leaf in leaves[:: max(1, len(leaves) // 10)]:
            leaf.grad.tolist()
        end = time.perf_counter()
        return {"forward": forward - began, "backward": end - forward}


CONTENDERS = {
    "PyTorch eager": functools.partial(Engine, "torch"),
    "jaxflow deferred": functools.partial(Engine, "jaxflow"),
    "jaxflow eager": functools.partial(Engine, "jaxflow"),
}
ENVIRONMENT = {
    "jaxflow deferred": {"JAXFLOW_EXECUTION": "deferred"},
    "jaxflow eager": {"JAXFLOW_EXECUTION": "eager"},
}


def main(quick=False, only=None):
    names = [name for name in CONTENDERS if only is None or name in only]
    sizes = SIZES[:2] if quick else SIZES
    cases = [("chain", size) for size in sizes] + [("leaves", 10_000), ("wide", sizes[-1])]
    results = []
    with contextlib.ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(__name__, name, ENVIRONMENT.get(name))) for name in names
        ]
        for shape, size in cases:
            for worker in workers:
                # The first run compiles; the second is what a loop would see.
                first, second = worker.call(shape, size=size), worker.call(shape, size=size)
                results.append([shape, size, worker.name, first, second])
    rows = [
        [f"{shape} {size:,}", name, *per_op(first, size), *per_op(second, size)]
        for shape, size, name, first, second in results
    ]
    headings = ["graph", "contender", "first: forward", "backward", "second: forward", "backward"]
    text = "Microseconds an op (a leaf, for `leaves`), reading the result included.\n\n"
    return report.write("engine", "Engine", {"runs": results}, text + report.table(headings, rows))


def per_op(seconds, size):
    return [f"{seconds[part] / size * 1e6:.1f}" for part in ("forward", "backward")]
