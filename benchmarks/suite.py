"""Contenders take turns in every round of a workload, once their numbers agree."""

import contextlib
import math
import pathlib
import sys
import tempfile
import time

from . import report
from .contenders import BY_HAND, CONTENDERS, DEFERRED
from .worker import Failed, Worker
from .workloads import WORKLOADS


def say(text):
    print(text, file=sys.stderr, flush=True)


class Runner:
    """Measures workloads; `failures` collects what went wrong, as text.

    Each contender has a process of its own for every workload. `quick` keeps one for all workloads that
    do not need empty caches, takes shorter rounds, and leaves out who would take long.
    """

    def __init__(self, names, rounds, quick=False, explain=False, **setting):
        self.names, self.rounds, self.quick = names, rounds, quick
        self.setting = {"device": "cpu", "dtype": "float32", **setting}
        self.explain = explain
        self.failures = []
        self.kept = contextlib.ExitStack()
        self.running = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kept.close()

    def worker(self, workload, name, stack):
        """A process for a contender in a workload, ended with `stack` or kept."""
        environment = CONTENDERS[name].environment()
        if workload.cold:
            environment |= caches(stack.enter_context(tempfile.TemporaryDirectory()))
        if workload.cold or not self.quick:
            return stack.enter_context(Worker("benchmarks.session", name, environment))
        if name not in self.running:
            self.running[name] = self.kept.enter_context(Worker("benchmarks.session", name, environment))
        return self.running[name]

    def taking_part(self, workload, results):
        """Names of who takes part; notes in `results` who does not for the sake of time."""
        names = []
        for name in self.names:
            if self.quick and not workload.quick_for(name):
                results[name] = {"left_out": "it would take long, and this is --quick"}
            else:
                names.append(name)
        return names

    def measure(self, workload):
        """What each contender did in one workload: seconds, or why it was left out."""
        if workload.start:
            return self.starts(workload)
        with contextlib.ExitStack() as stack:
            workers, results = {}, {}
            shapes = None
            for name in self.taking_part(workload, results):
                began = time.perf_counter()
                worker = self.worker(workload, name, stack)
                if CONTENDERS[name].library == "jax" and shapes is None:
                    shapes = shapes_of(workload, workers)
                given = shapes if CONTENDERS[name].library == "jax" else None
                try:
                    worker.call("open", workload=workload.name, shapes=given, **self.setting)
                    numbers = worker.call("do", method="numbers")
                except (Failed, RuntimeError) as error:
                    results[name] = self.excuse(workload, name, error)
                    self.lost(name, error)
                    continue
                workers[name] = worker
                results[name] = {"numbers": numbers, "ready": time.perf_counter() - began}
            self.compare(workload, workers, results)
            self.rounds_of(workload, workers, results)
            if workload.memory:
                for name, worker in workers.items():
                    results[name]["memory"] = worker.call("do", method="memory")
            if self.explain:
                for name, worker in workers.items():
                    text = worker.call("explain")
                    if text:
                        say(f"--- {workload.name}, {name}\n{text}")
            for worker in workers.values():
                worker.call("close")
        return results

    def lost(self, name, error):
        """Forget a process that is kept if it has ended."""
        if not isinstance(error, Failed):
            self.running.pop(name, None)

    def starts(self, workload):
        """Seconds from the start of a process to its first finished step, caches empty or filled before."""
        results = {}
        names = self.taking_part(workload, results)
        samples = {name: [] for name in names}
        shapes = shapes_of(workload, {}) if BY_HAND in names else None
        with contextlib.ExitStack() as stack:
            folders = {name: stack.enter_context(tempfile.TemporaryDirectory()) for name in names}
            rounds = 1 if self.quick else min(self.rounds, workload.rounds)
            for turn in range(rounds + (workload.start == "warm")):
                for name in [name for name in names if name not in results]:
                    folder = pathlib.Path(folders[name], "0" if workload.start == "warm" else str(turn))
                    try:
                        seconds = self.start(workload, name, folder, shapes)
                    except (Failed, RuntimeError) as error:
                        results[name] = self.excuse(workload, name, error)
                        continue
                    if turn or workload.start == "cold":
                        samples[name].append(seconds)
        for name, seconds in samples.items():
            if name not in results:
                results[name] = {**report.summary(seconds), "samples": seconds}
        return results

    def start(self, workload, name, folder, shapes):
        environment = {**CONTENDERS[name].environment(), **caches(folder)}
        with Worker("benchmarks.session", name, environment) as worker:
            given = shapes if CONTENDERS[name].library == "jax" else None
            worker.call("open", workload=workload.name, shapes=given, **self.setting)
            worker.call("do", method="first")
            return time.perf_counter() - worker.began

    def excuse(self, workload, name, error):
        if getattr(error, "kind", "") == "NotImplementedError":
            say(f"{workload.name}: {name} left out: {error.text}")
            return {"left_out": error.text}
        self.failures.append(f"{workload.name}: {name} failed: {error}")
        say(self.failures[-1])
        return {"left_out": f"failed: {error}"}

    def compare(self, workload, workers, results):
        """Leave out whose numbers differ from the first contender's."""
        tolerance = max(workload.tolerance, 0.01 if self.setting["device"] != "cpu" else 0.0)  # TF32
        if self.setting["dtype"] != "float32":
            tolerance = 0.05
        reference = None
        for name in list(workers):
            numbers = results[name]["numbers"]
            if reference is None:
                reference = numbers
            apart = difference(reference, numbers)
            results[name]["apart"] = apart
            if not apart <= tolerance:
                text = f"its numbers differ by {apart:.1e}"
                self.failures.append(f"{workload.name}: {name}: {text}: {numbers} against {reference}")
                say(self.failures[-1])
                results[name] = {"left_out": text}
                del workers[name]

    def rounds_of(self, workload, workers, results):
        steps = max(1, workload.steps // 2) if self.quick else workload.steps
        warm_up = workload.quick_warm_up() if self.quick else workload.warm_up
        samples = {name: [] for name in workers}
        for turn in range(min(self.rounds, workload.rounds) + 1):
            for name, worker in list(workers.items()):
                try:
                    taken = steps if turn else min(steps, 3) if workload.cold else warm_up
                    seconds = worker.call("do", method="measure", steps=taken)
                except (Failed, RuntimeError) as error:
                    results[name] = self.excuse(workload, name, error)
                    self.lost(name, error)
                    del workers[name]
                    continue
                if turn:  # the first one is to warm up
                    samples[name].append(seconds)
        for name in workers:
            results[name].update(report.summary(samples[name]), samples=samples[name])


def caches(folder):
    """Environment in which every library keeps what it compiles below `folder`."""
    variables = ("JAXFLOW_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR")
    return {variable: str(pathlib.Path(folder) / variable.lower()) for variable in variables}


def shapes_of(workload, workers):
    """Shapes of the network's parameters by name, from a contender that has the network as a module."""
    for name, worker in workers.items():
        if CONTENDERS[name].library != "jax":
            return worker.call("do", method="shapes")
    with Worker("benchmarks.session", DEFERRED, CONTENDERS[DEFERRED].environment()) as worker:
        worker.call("open", workload=workload.name)
        return worker.call("do", method="shapes")


def difference(reference, numbers):
    """The largest relative difference of two lists of numbers; nan counts as infinite."""
    if len(reference) != len(numbers):
        return math.inf
    apart = max((abs(a - b) / max(abs(a), 1e-12) for a, b in zip(reference, numbers)), default=0.0)
    return math.inf if math.isnan(apart) else apart


def run(workloads=None, only=None, quick=False, rounds=None, out=None, explain=False, **setting):
    """Measure, write the reports, and say how many things failed."""
    names = [name for name in CONTENDERS if not only or name in only]
    chosen = [WORKLOADS[name] for name in workloads or WORKLOADS]
    rounds = rounds or (2 if quick else 9)
    results = {}
    with Runner(names, rounds, quick, explain=explain, **setting) as runner:
        for workload in chosen:
            began = time.perf_counter()
            results[workload.name] = runner.measure(workload)
            say(f"{workload.name}: {time.perf_counter() - began:.0f} s")
            # After each, so that nothing is lost if a later one does not end.
            page = report.suite(results, rounds, out, runner.failures, {"quick": quick, **setting})
    print(page)
    return len(runner.failures)


