"""Two checkouts of jaxflow side by side, measured in turns.

``python -m benchmarks.against OTHER [--rounds 25] [--only NAME ...]`` starts a process in this checkout and
one in the checkout ``OTHER``, with the same Python. For each case of recording, publishing and closing it
prints the processor time of the calling thread here and the ratio here / there: median and interquartile
range of the rounds. XLA's own threads are not counted, so a busy machine moves the figures less than wall
time.

``python -m benchmarks.against OTHER --suite [NAME ...]`` does the same with workloads of the suite, deferred
and compiled, in wall time.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

from . import cases
from .contenders import COMPILE, CONTENDERS, DEFERRED, Contender
from .suite import caches
from .worker import Failed, Worker
from .workloads import LONG, WORKLOADS, Workload

ROOT = pathlib.Path(__file__).resolve().parent.parent


class _Asked:
    """A process in a checkout."""

    def __init__(self, checkout: pathlib.Path) -> None:
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAXFLOW_INTERPRET": "0"}
        self.process = subprocess.Popen(
            [sys.executable, cases.__file__],
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


def _compare(name: str, here: Callable[[], float], there: Callable[[], float], rounds: int) -> None:
    """Print one row: each round measures here, there, there and here, and takes the lower of each two."""
    times, ratios = [], []
    for _ in range(rounds):
        first, other, again, last = here(), there(), there(), here()
        times.append(min(first, last))
        ratios.append(min(first, last) / min(other, again))
    low, median, high = statistics.quantiles(ratios, n=4)
    print(f"{name:32} {statistics.median(times) * 1e6:10.0f} us   {median:.3f}  ({low:.3f} to {high:.3f})",
          flush=True)


def _compare_workload(workload: Workload, contender: Contender, other: pathlib.Path, rounds: int) -> None:
    """Print the row of one workload of the suite."""
    steps = max(1, workload.steps // 2)
    warm_up = min(steps, 3) if workload.cold else workload.warm_up
    with contextlib.ExitStack() as stack:
        asked = []
        for checkout in (ROOT, other):
            environment = contender.environment()
            if workload.cold:
                environment |= caches(stack.enter_context(tempfile.TemporaryDirectory()))
            worker = stack.enter_context(Worker("benchmarks.session", contender.name, environment, checkout))
            try:
                worker.call("open", workload=workload.name)
            except Failed as error:
                print(f"{workload.name}, {contender.name}: left out: {error.text}", flush=True)
                return
            worker.call("do", method="numbers")
            worker.call("do", method="measure", steps=warm_up)
            asked.append(functools.partial(worker.call, "do", method="measure", steps=steps))
        _compare(f"{workload.name}, {contender.name}", *asked, rounds)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("other", type=pathlib.Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", nargs="*", choices=cases.CASES, default=list(cases.CASES))
    parser.add_argument("--suite", nargs="*", choices=WORKLOADS, help="the shorter ones if none is named")
    given = parser.parse_args()
    if given.suite is not None:
        shorter = [name for name in WORKLOADS if not WORKLOADS[name].start and name not in LONG]
        for name in given.suite or shorter:
            for contender in (CONTENDERS[DEFERRED], CONTENDERS[COMPILE]):
                if not contender.compiled or WORKLOADS[name].quick_for(contender.name):
                    _compare_workload(WORKLOADS[name], contender, given.other, given.rounds)
        return
    here, there = _Asked(ROOT), _Asked(given.other)
    for name in given.only:
        for asked in (here, there):
            asked(name)
        _compare(name, functools.partial(here, name), functools.partial(there, name), given.rounds)


if __name__ == "__main__":
    main()
