"""Signals: a real SIGINT at a random time in a training loop, as when a user presses Ctrl-C.

Afterwards the parameters, gradients and the optimizer's state have to be what they are, in an undisturbed
eager run, before or after one of the step's statements; they can be saved and loaded; modes are as they were;
and going on training gives what it gives there. The numbers are float64, so that runs of different executors
stay together over many steps.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import signal
import threading
import time
from typing import Any

import numpy as np

import jaxflow as torch

from . import command_line
from .report import Results
from .surroundings import executing, in_thread, quiet
from .world import Unreadable, World, differences, snapshot

MODES = ("deferred", "compiled", "eager", "compile")
COUNT = 300
WARM, MORE = 6, 3  # undisturbed steps before the signal, and after it
LATEST = 0.04  # seconds of training until the signal, at most
READ = 5  # steps from one reading of the loss to the next


def build() -> World:
    """A network, its optimizer and a batch; the same at every call."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.tensor(rng.normal(size=tuple(parameter.shape)) / 4))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    return World(model=model, opt=opt, x=torch.tensor(rng.normal(size=(32, 16))),
                 y=torch.tensor(rng.normal(size=(32, 4))))


def step(w: World) -> torch.Tensor:
    """One step of training, all its statements."""
    w.opt.zero_grad()
    loss = ((w.model(w.x) - w.y) ** 2).mean()
    loss.backward()
    w.opt.step()
    return loss


class Course:
    """An undisturbed eager run: the states it passes through in each step, and where they lead."""

    def __init__(self) -> None:
        self._states: list[list[dict[str, Any]]] = []
        self._later: dict[tuple[int, int], dict[str, Any]] = {}

    def within(self, k: int) -> list[dict[str, Any]]:
        """The states before, between and after the statements of step ``k``."""
        if k >= len(self._states):
            self._states = in_thread(self._run, k + 32)
        return self._states[k]

    def _run(self, steps: int) -> list[list[dict[str, Any]]]:
        with executing("eager"):
            world = build()
            return [[snapshot(world) for _ in self._statements(world)] for _ in range(steps)]

    @staticmethod
    def _statements(w: World):
        yield
        for parameter in w.model.parameters():
            parameter.grad = None
            yield
        ((w.model(w.x) - w.y) ** 2).mean().backward()
        yield
        w.opt.step()
        yield

    def later(self, k: int, cut: int) -> dict[str, Any]:
        """The state ``MORE`` steps after a cut of step ``k``."""
        if (k, cut) not in self._later:
            self._later[k, cut] = in_thread(self._go_on, k, cut)
        return self._later[k, cut]

    def _go_on(self, k: int, cut: int) -> dict[str, Any]:
        with executing("eager"):
            world = build()
            for _ in range(k):
                step(world)
            statements = self._statements(world)
            for _ in range(cut + 1):
                next(statements)
            statements.close()
            for _ in range(MORE):
                step(world)
            return snapshot(world)


class Alarm:
    """Sends this process SIGINT after a time, and knows whether it has arrived."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.arrived = False

    def _handle(self, *_: Any) -> None:
        self.arrived = True
        raise KeyboardInterrupt

    def __enter__(self) -> Alarm:
        self._before = signal.signal(signal.SIGINT, self._handle)
        self._timer = threading.Thread(target=self._send)
        self._timer.start()
        return self

    def _send(self) -> None:
        time.sleep(self.seconds)
        os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *exc: Any) -> None:
        self._timer.join()
        signal.signal(signal.SIGINT, self._before)


def trial(mode: str, seconds: float, course: Course) -> tuple[str, str]:
    """Train, be interrupted after so many seconds, look, save, go on: what came of it, and a detail."""
    with executing(mode), quiet() as ignored:
        world = build()
        run = (torch.compile(lambda: step(world)) if mode == "compile" else lambda: step(world))
        for _ in range(WARM):
            run().item()
        done, raised = _until_interrupted(run, seconds, ignored)
        if raised != "KeyboardInterrupt":
            return ("swallowed", "the loop went on") if raised is None else ("changed", raised)
        return _judge(world, run, done, course, exact=False)


def _until_interrupted(run, seconds: float, ignored: list[str]) -> tuple[int, str | None]:
    """Train until the signal comes; the number of steps that were completed, and what was raised."""
    done = WARM
    try:
        with Alarm(seconds) as alarm:
            late = 0
            while late < READ:
                loss = run()
                done += 1
                if done % READ == 0:
                    loss.item()
                late += alarm.arrived
                if "KeyboardInterrupt" in ignored:  # Python itself ignores it in a finalizer: send another
                    ignored.clear()
                    alarm.arrived, late = False, 0
                    os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:
        return done, type(error).__name__
    return done, None


def _judge(world: World, run, done: int, course: Course, exact: bool) -> tuple[str, str]:
    state = snapshot(world)
    lost = [f"{name}: {value}" for name, value in state.items() if isinstance(value, Unreadable)]
    if lost:
        return "unreadable", lost[0][:200]
    allowed = course.within(done)
    unlike = [differences(state, other, exact=exact) for other in allowed]
    cuts = [cut for cut, names in enumerate(unlike) if not names]
    if not cuts:
        nearest = min(unlike, key=len)
        kind = "mode" if all(name.startswith("mode:") for name in nearest) else "state"
        shown = ", ".join(nearest[:4])
        return kind, f"step {done}: {len(nearest)} facts differ from the nearest cut: {shown}"
    try:
        file = io.BytesIO()
        torch.save(world.model.state_dict(), file)
        file.seek(0)
        loaded = torch.load(file)
        for name, parameter in world.model.named_parameters():
            if loaded[name].tolist() != parameter.tolist():
                return "saved", f"{name} is another after saving and loading"
        for _ in range(MORE):
            run()
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"[:200]
    end = snapshot(world)
    if not any(not differences(end, course.later(done, cut), exact=exact) for cut in cuts):
        return "later", f"step {done}: other numbers {MORE} steps after the signal"
    return "right", ""


def run(mode: str, seed: int, count: int, results: Results) -> None:
    """``count`` trials; each has its time of the signal from the seed."""
    course = Course()
    for i in range(count):
        name = f"{mode}/{seed}/{i}"
        if name not in results.done:
            seconds = random.Random(name).uniform(0, LATEST)
            try:
                kind, detail = trial(mode, seconds, course)
            except Exception as error:
                kind, detail = "failed", f"{type(error).__name__}: {error}"[:200]
            results.add(id=name, kind=kind, detail=detail, group=mode, where=mode)


def main(options: argparse.Namespace) -> int:
    """The command line; returns the exit status: 1 if anything was wrong."""

    def attempt(mode: str, results: Results) -> None:
        run(mode, options.seed, options.count or COUNT, results)

    return command_line.performed("signals", options, MODES, attempt)
