"""Threads: 2 and 4 of them train, share a model, read what another writes, draw; one thread alone is right.

The interpreter is told to switch between threads as often as it can, so that they meet in the middle of
operations. An exception in any thread is a failure.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import jaxflow as torch

from . import command_line
from .bench import Verdict
from .report import Results
from .surroundings import Hung, executing, in_thread

MODES = ("deferred", "compiled", "eager", "compile")
NUMBERS = (2, 4)
COUNT = 10
STEPS = 12
ADDITIONS = 100
UPDATES = 150
SWITCH = 1e-5  # seconds
# Seconds that who reads in a loop lets the others run between two rounds: without it most of the time goes to
# the reader, because who computes gives the interpreter up at each operation and has to win it back.
PAUSE = 1e-4


def together(mode: str, jobs: list[Callable[[], Any]]) -> list[Any]:
    """Run the jobs at once, each in a thread of its own; their results, or what the first failure raised."""
    start = threading.Barrier(len(jobs))
    results: list[Any] = [None] * len(jobs)
    failures: list[BaseException] = []

    def run(i: int) -> None:
        try:
            start.wait()
            with executing(mode, beside=True):
                results[i] = jobs[i]()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


def one_after_the_other(mode: str, jobs: list[Callable[[], Any]]) -> list[Any]:
    """The same without other threads: what is right."""
    return [together(mode, [job])[0] for job in jobs]


def differ(results: list, expected: list) -> str:
    """What is wrong with the results; empty if nothing is."""
    for i, (got, right) in enumerate(zip(results, expected, strict=True)):
        if not np.allclose(got, right, rtol=1e-9, atol=1e-9):
            return f"thread {i}: {np.asarray(got).ravel()[:4]} for {np.asarray(right).ravel()[:4]}"
    return ""


def data(seed: int, *shape: int) -> torch.Tensor:
    return torch.tensor(np.random.default_rng(seed).normal(size=shape))


def network(seed: int) -> torch.nn.Module:
    """Two layers in float64, whose numbers depend on the seed alone."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(data(seed + i, *parameter.shape))
    return model


def training(seed: int, compiled: bool) -> Callable[[], list]:
    """A job: train a network of its own; its parameters at the end."""

    def job() -> list:
        model = network(seed)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        x = data(seed, 6, 3)

        def step() -> torch.Tensor:
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = torch.compile(step) if compiled else step
        for i in range(STEPS):
            loss = run()
            if i % 3 == 0:
                loss.item()
        return [n for parameter in model.parameters() for n in parameter.detach().reshape(-1).tolist()]

    return job


def updating(step: Callable[[], Any], done: threading.Event) -> Callable[[], list]:
    """A job: as many steps as there are to be, and then to say that it is done, however it ends."""

    def job() -> list:
        try:
            for _ in range(UPDATES):
                step()
        finally:
            done.set()
        return []

    return job


def separate_models(mode: str, number: int, seed: int) -> str:
    jobs = [training(seed + 100 * i, mode == "compile") for i in range(number)]
    return differ(together(mode, jobs), one_after_the_other(mode, jobs))


def gradients_of_one_model(mode: str, number: int, seed: int) -> str:
    """Each thread adds the gradients of its batches to those of a model they share."""

    def gradients(run: Callable) -> list:
        model = network(seed)

        def job(i: int) -> None:
            for k in range(STEPS):
                (model(data(seed + 7 * i + k, 4, 3)) ** 2).mean().backward()

        run(mode, [lambda i=i: job(i) for i in range(number)])
        return [n for parameter in model.parameters() for n in parameter.grad.reshape(-1).tolist()]

    return differ([gradients(together)], [gradients(one_after_the_other)])


def additions(mode: str, number: int, seed: int) -> str:
    """``c.add_(1)`` from all threads: each has to arrive."""
    c = torch.zeros(3)

    def job() -> None:
        for _ in range(ADDITIONS):
            c.add_(1)

    together(mode, [job] * number)
    return differ([c.tolist(), c._version], [[number * ADDITIONS] * 3, number * ADDITIONS])


def additions_through_views(mode: str, number: int, seed: int) -> str:
    """All threads add through a view that they share, and through views of their own, and read it."""
    c = torch.zeros(3, 2)
    row = c[1]

    def job() -> list:
        seen = []
        for _ in range(ADDITIONS):
            row.add_(1)
            c.view(-1).add_(1)
            seen.append(row.tolist()[0])
        return seen

    for seen in together(mode, [job] * number):
        if any(b - a < 2 for a, b in zip(seen, seen[1:])):  # less than the thread itself has added
            return f"read {seen}"
    total = number * ADDITIONS
    return differ([c.tolist(), c._version], [[[total] * 2, [2 * total] * 2, [total] * 2], 2 * total])


def data_of_one_tensor(mode: str, number: int, seed: int) -> str:
    """All threads give their tensors the data of the same others, and write; each counts its own writes."""
    given = [torch.zeros(3) for _ in range(UPDATES)]
    own = [torch.zeros(3) for _ in range(number)]

    def job(x: torch.Tensor) -> None:
        for y in given:
            x.data = y
            x.add_(1)

    together(mode, [lambda x=x: job(x) for x in own])
    counted = [[x._version for x in own], [y._version for y in given], [y.tolist() for y in given]]
    return differ(counted, [[UPDATES] * number, [0] * UPDATES, [[number] * 3] * UPDATES])


def reading_what_another_steps(mode: str, number: int, seed: int) -> str:
    """Readers get the parameter as it was before or after a step, never half of it, never an older one."""
    p = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=1.0)
    done = threading.Event()

    def step() -> None:
        optimizer.zero_grad()
        (-p).sum().backward()
        optimizer.step()

    write = updating(torch.compile(step) if mode == "compile" else step, done)

    def read() -> list:
        seen = []
        while not done.wait(PAUSE):
            seen.append(p.detach().tolist())
        return seen

    for seen in together(mode, [write, *[read] * (number - 1)]):
        torn = [values for values in seen if len(set(values)) != 1 or values[0] % 1]
        if torn:
            return f"read {torn[0]}"
        if any(a[0] > b[0] for a, b in zip(seen, seen[1:])):
            return "read an older value after a newer one"
    return differ([p.tolist()], [[UPDATES] * 4])


def reading_views_of_what_another_steps(mode: str, number: int, seed: int) -> str:
    """The same through views, one that all share and new ones, and of the gradient."""
    p = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=1.0, momentum=0.5)
    shared = p.detach()[1:]
    done = threading.Event()

    def step() -> None:
        optimizer.zero_grad(set_to_none=False)
        (-p).sum().backward()
        optimizer.step()
        p.detach()[:2].mul_(1.0)

    def read() -> list:
        seen = []
        while not done.wait(PAUSE):
            grad = p.grad
            seen.append([shared.tolist(), p.detach().view(2, 2)[1].tolist(), shared[:1].tolist(),
                         [0.0] if grad is None else grad[1:].tolist()])
        return seen

    for seen in together(mode, [updating(step, done), *[read] * (number - 1)]):
        for at, (*parts, slope) in enumerate(seen):
            if any(len(set(part)) != 1 for part in (*parts, slope)) or slope[0] not in (0.0, -1.0):
                return f"read {seen[at]}"
            latest = [part[0] for part in parts]
            if latest != sorted(latest) or (at and seen[at - 1][2][0] > latest[0]):
                return f"read {seen[at]} after {seen[at - 1]}"
    right = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.SGD([right], lr=1.0, momentum=0.5)
    for _ in range(UPDATES):
        optimizer.zero_grad()
        (-right).sum().backward()
        optimizer.step()
    return differ([p.tolist()], [right.tolist()])


def drawing_from_one_generator(mode: str, number: int, seed: int) -> str:
    """No two threads draw the same numbers: together they draw what one thread draws."""

    def draws(run: Callable) -> list:
        torch.manual_seed(seed)
        job = [lambda: [torch.rand(2).tolist() for _ in range(STEPS)]] * number
        return sorted(draw for drawn in run(mode, job) for draw in drawn)

    return differ([draws(together)], [draws(one_after_the_other)])


def drawing_words_from_one_generator(mode: str, number: int, seed: int) -> str:
    """The same of PyTorch's stream, whose words are used on the host."""

    def draws(run: Callable) -> list:
        generator = torch.Generator(stream="torch").manual_seed(seed)
        job = [lambda: [torch.rand(2, generator=generator).tolist() for _ in range(STEPS)]] * number
        return sorted(draw for drawn in run(mode, job) for draw in drawn)

    return differ([draws(together)], [draws(one_after_the_other)])


def drawing_from_generators_of_their_own(mode: str, number: int, seed: int) -> str:
    def job(i: int) -> list:
        generator = torch.Generator().manual_seed(seed + i)
        return [torch.randn(2, generator=generator).tolist() for _ in range(STEPS)]

    jobs = [lambda i=i: job(i) for i in range(number)]
    return differ(together(mode, jobs), one_after_the_other(mode, jobs))


def one_compiled_function(mode: str, number: int, seed: int) -> str:
    """All threads call one function, each with numbers of its own."""
    f = torch.compile(lambda x, n: x * n + 1.0)

    def job(i: int) -> list:
        return [f(torch.ones(2), float(i + k)).tolist() for k in range(STEPS)]

    jobs = [lambda i=i: job(i) for i in range(number)]
    return differ(together(mode, jobs), [[[i + k + 1.0] * 2 for k in range(STEPS)] for i in range(number)])


def totals_of_one_compiled_function(mode: str, number: int, seed: int) -> str:
    """All threads call one function that adds to a tensor and reads a number of it."""
    total = torch.zeros(3)

    def step(x: torch.Tensor) -> float:
        total.add_(x)
        return total.sum().item()

    run = torch.compile(step)

    def job() -> list:
        return [run(torch.ones(3)) for _ in range(STEPS)]

    for seen in together(mode, [job] * number):
        if any(value % 3 for value in seen) or any(a >= b for a, b in zip(seen, seen[1:])):
            return f"read {seen}"
    return differ([total.tolist(), total._version], [[float(number * STEPS)] * 3, number * STEPS])


def captures_beside_others(mode: str, number: int, seed: int) -> str:
    """One thread captures again and again; others read, write, compute and draw without ``compile``."""
    return _captures_beside_others(mode, number, seed, lambda total: None)


def captures_that_read_beside_others(mode: str, number: int, seed: int) -> str:
    """The same where what is captured reads numbers of what it has written."""
    return _captures_beside_others(mode, number, seed, lambda total: total.sum().item() + total.max().item())


def _captures_beside_others(mode: str, number: int, seed: int, read: Callable) -> str:
    total, c, weight = torch.zeros(4), torch.zeros(3), data(seed, 4)
    expected = (weight * 2.0).sum().item()
    done = threading.Event()
    torch.manual_seed(seed)

    def capturing() -> list:
        drawn: list = []
        try:
            for _ in range(STEPS):
                @torch.compile
                def step(x: torch.Tensor) -> torch.Tensor:
                    y = torch.rand(2)
                    total.add_(x)
                    read(total)
                    return y + weight.sum() * 0.0

                drawn += [step(torch.ones(4)).tolist() for _ in range(3)]
        finally:
            done.set()
        return drawn

    def beside() -> list:
        drawn: list = []
        latest, rounds = 0.0, 0
        while not done.wait(PAUSE):
            seen = total.tolist()
            if len(set(seen)) != 1 or seen[0] % 1 or seen[0] < latest:
                raise AssertionError(f"read {seen} after {latest}")
            latest = seen[0]
            c.add_(1)
            if (weight * 2.0).sum().item() != expected:
                raise AssertionError("computed another number")
            drawn.append(torch.rand(2).tolist())
            rounds += 1
        return [rounds, drawn]

    mine, *others = together(mode, [capturing, *[beside] * (number - 1)])
    found = sorted([*mine, *(draw for _, drawn in others for draw in drawn)])
    torch.manual_seed(seed)
    stream = sorted(torch.rand(2).tolist() for _ in found)
    rounds = sum(count for count, _ in others)
    return differ([total.tolist(), c.tolist(), found], [[3.0 * STEPS] * 4, [rounds] * 3, stream])


TRIALS = (separate_models, gradients_of_one_model, additions, additions_through_views, data_of_one_tensor,
          reading_what_another_steps, reading_views_of_what_another_steps,
          drawing_from_one_generator, drawing_words_from_one_generator, drawing_from_generators_of_their_own)
COMPILED_TRIALS = (separate_models, reading_what_another_steps, one_compiled_function,
                   totals_of_one_compiled_function, captures_beside_others,
                   captures_that_read_beside_others)


def judge(trial: Callable, mode: str, number: int, seed: int) -> Verdict:
    """Perform one trial, threads switching quickly."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        wrong = in_thread(trial, mode, number, seed)
    except Hung as error:
        return Verdict("hung", str(error))
    except Exception as error:
        return Verdict("error", f"{type(error).__name__}: {error}"[:200])
    finally:
        sys.setswitchinterval(interval)
    return Verdict("wrong", wrong) if wrong else Verdict("right")


def run(mode: str, seed: int, count: int, results: Results, names: list[str] | None = None) -> None:
    """Each trial ``count`` times with each number of threads, those that are not tried yet."""
    for trial in COMPILED_TRIALS if mode == "compile" else TRIALS:
        if names and trial.__name__ not in names:
            continue
        for number in NUMBERS:
            for i in range(count):
                name = f"{mode}/{trial.__name__}/{number}/{seed + i}"
                if name in results.done:
                    continue
                verdict = judge(trial, mode, number, seed + i)
                results.add(id=name, kind=verdict.kind, detail=verdict.detail, where=trial.__name__,
                            group=f"{mode} {trial.__name__} {number}")
                if verdict.kind == "hung":
                    return


def one(name: str) -> str:
    """Try once more what the report names."""
    mode, trial, number, seed = name.split("/")
    return f"{name}: {judge(globals()[trial], mode, int(number), int(seed))}"


def main(options: argparse.Namespace) -> int:
    """The command line; returns the exit status: 1 if anything was wrong."""

    def attempt(mode: str, results: Results) -> None:
        run(mode, options.seed, options.count or COUNT, results, options.scenario)

    return command_line.performed("threads", options, MODES, attempt, one=lambda: one(options.point))
