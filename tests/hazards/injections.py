"""Failures put into jaxflow: where a program is prepared, handed over, run, delivered or read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax

import jaxflow as torch
from jaxflow._core import options, value
from jaxflow._exec import handover, program, recovery
from jaxflow._exec.executable import Executable
from jaxflow._exec.numpy.interpret import Schedule
from jaxflow._exec.trace_analysis import parse, without_dead
from jaxflow._plans.plan import Plan

MEMORY = "RESOURCE_EXHAUSTED: Out of memory allocating 17179869184 bytes."


class Stop(BaseException):
    """What an interrupt raises: no error of the program's, so nothing may answer for it."""


class Failure:
    """What is raised, how often, and how often it was.

    Attributes:
        kind: the class of the exception.
        most: how often it may still be raised; -1 for always.
        plans: the operations that cannot run, where only those fail.
    """

    def __init__(self, kind: type[BaseException], most: int = -1,
                 plans: frozenset[Plan] = frozenset()) -> None:
        self.kind, self.most, self.plans = kind, most, plans
        self.raised = 0

    def __call__(self) -> None:
        if self.most == self.raised:
            return
        self.raised += 1
        raise self.kind(MEMORY)

    def at_once(self, real: Callable) -> Callable:
        """The eager executor's way to run one operation, which fails for those that cannot run."""
        def run(plan: Plan, inputs: list) -> list:
            if plan in self.plans:
                self()
            return real(plan, inputs)

        return run

    def of(self, trace: tuple, alive: tuple[int, ...]) -> None:
        """Fail if a run that computes the results ``alive`` meets one of the operations."""
        if any(step.plan in self.plans for step in without_dead(parse(trace), set(alive))):
            self()


@contextlib.contextmanager
def patched(owner: Any, name: str, make: Callable[[Callable], Callable]) -> Iterator[None]:
    """``owner.name`` is what ``make`` makes of it."""
    before = getattr(owner, name)
    setattr(owner, name, make(before))
    try:
        yield
    finally:
        setattr(owner, name, before)


def _first(failure: Failure) -> Callable[[Callable], Callable]:
    """Fail before the call."""
    def make(function: Callable) -> Callable:
        def failing(*args: Any, **kwargs: Any) -> Any:
            failure()
            return function(*args, **kwargs)

        return failing

    return make


def _last(failure: Failure) -> Callable[[Callable], Callable]:
    """Fail after the call."""
    def make(function: Callable) -> Callable:
        def failing(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            failure()
            return result

        return failing

    return make


def layout(failure: Failure):
    """While the operations are laid out, before anything is compiled."""
    return patched(program, "laid_out", _first(failure))


def compilation(failure: Failure):
    """While XLA compiles."""
    return patched(options, "compiled", _first(failure))


def copies(failure: Failure):
    """While arguments are copied, so that the copies can be donated."""
    return patched(handover, "copied", _first(failure))


def start(failure: Failure):
    """The call of the compiled function raises before it starts; the donated arrays are still there."""
    return patched(handover, "hand_over",
                   lambda real: lambda run, *rest: real(_first(failure)(run), *rest))


def after_donation(failure: Failure):
    """The compiled function fails when it has taken the donated arrays."""
    return patched(handover, "hand_over",
                   lambda real: lambda run, *rest: real(_last(failure)(run), *rest))


class Looked:
    """Stands for an executable whose run fails after the call has returned, as on an accelerator."""

    def __init__(self, failure: Failure) -> None:
        self.look = _first(failure)(lambda arrays: None)


def late(failure: Failure):
    """A run turns out to have failed when its results are looked at; needs runs that donate nothing.

    What it returned is no good then.
    """
    def make(real: Callable) -> Callable:
        def attempt(self: program.Program, layout: Any, alive: tuple, *rest: Any) -> None:
            real(self, layout, alive, *rest)
            if failure.kind is RuntimeError and failure.raised != failure.most:
                self.answers[1] = [jax.numpy.ones_like(array) for array in self.answers[1]]
            self.unsettled = Looked(failure), layout, alive

        return attempt

    return patched(program.Program, "_attempt", make)


def delivery(failure: Failure):
    """Before the results are stored."""
    return patched(program, "commit_results", _first(failure))


def end_of_delivery(failure: Failure):
    """When the results have just been stored."""
    return patched(program, "commit_results", _last(failure))


def copy_to_host(failure: Failure):
    """While the numbers are copied to where Python can read them."""
    return patched(value.Value, "host", _last(failure))


@contextlib.contextmanager
def whole(failure: Failure) -> Iterator[None]:
    """No program can be run as a whole, by XLA or interpreted; each of its operations can."""
    with patched(Schedule, "__call__", _first(failure)), patched(Executable, "__call__", _first(failure)):
        yield


@contextlib.contextmanager
def operations(failure: Failure) -> Iterator[None]:
    """No program with one of the failure's operations can be run, nor can these operations alone."""

    def schedule(real: Callable) -> Callable:
        def call(self: Schedule, laid: Any) -> list:
            failure.of(laid.trace, self.alive)
            return real(self, laid)

        return call

    def executable(real: Callable) -> Callable:
        def call(self: Executable, laid: Any, *rest: Any) -> None:
            failure.of(laid.trace, self.alive)
            real(self, laid, *rest)

        return call

    def alone(real: Callable) -> Callable:
        def call(plan: Plan, arguments: list) -> list:
            if plan in failure.plans:
                failure()
            return real(plan, arguments)

        return call

    with (patched(Schedule, "__call__", schedule), patched(Executable, "__call__", executable),
          patched(recovery, "_alone", alone)):
        yield


class Fragile:
    """An operation whose body calls the host, and fails there while a failure is ``armed``."""

    def __init__(self, *shape: int) -> None:
        self.armed: Failure | None = None
        aval = torch.empty(*shape)._aval

        def body(x: Any) -> tuple:
            return (jax.pure_callback(self._call, jax.ShapeDtypeStruct(x.shape, x.dtype), x),)

        self.plan = Plan("fragile", body, [aval], [aval], device=aval.device,
                         grad_name="FragileBackward0")

    def _call(self, x: Any) -> Any:
        if self.armed is not None:
            self.armed()
        return x


FRAGILE = Fragile(5, 4)


@contextlib.contextmanager
def callback(failure: Failure) -> Iterator[None]:
    """The operation that calls the host fails there, while XLA or the interpreter runs it."""
    FRAGILE.armed = failure
    try:
        yield
    finally:
        FRAGILE.armed = None
