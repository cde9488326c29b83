"""One failed run: the scenario with the failure, what has to be there then, and what has to follow."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import jaxflow as torch
from jaxflow._core.state import state as thread
from jaxflow._exec import program_cache
from jaxflow._exec import run as running
from jaxflow._exec.numpy import tiering

from . import injections
from .bench import Verdict, compare
from .computable import Course
from .injections import Failure, Stop
from .scenario import Operation, Scenario, operation
from .scenarios_training import BACKWARD, FORWARD, ITEM, STEP, ZERO_GRAD
from .surroundings import Hung, executing, in_thread, quiet
from .world import World, differences, snapshot

HALVED = [ZERO_GRAD, *(operation(text) for text in (FORWARD, BACKWARD, STEP, ITEM))] * 2
GIVEN = "was given to a run that failed"


class Trial(NamedTuple):
    """One run of a scenario: where the failure is armed, and what fails."""

    mode: str
    scenario: Scenario
    seed: int
    armed: int
    place: Callable
    failure: Failure
    donates: bool

    def __str__(self) -> str:
        plans = ", ".join(plan.name for plan in self.failure.plans)
        return (f"{self.place.__name__} {self.failure.kind.__name__} x{self.failure.most} {plans} from "
                f"{self.scenario.operations[self.armed].text!r}{'' if self.donates else ', nothing donated'}")

    def build(self) -> World:
        """The scenario's variables."""
        torch.manual_seed(self.seed)
        thread.streak = -tiering.AWAY  # operations are recorded
        return self.scenario.build(self.seed)


class Outcome(NamedTuple):
    """A disturbed world, the index of the statement that raised (their number if none did), and the error."""

    world: World
    at: int
    error: BaseException | None


def disturbed(t: Trial) -> Outcome:
    """Run the scenario with the failure, until a statement raises or the end."""
    operations = t.scenario.operations
    with executing(t.mode):
        world = t.build()
        for o in operations[: t.armed]:
            o.run(world)
        torch.flush()
        if t.place is injections.compilation:
            program_cache.forget()
        kept = injections.patched(injections.program.Program, "_donatable",
                                  lambda real: real if t.donates else lambda *_: ())
        now: Any = nullcontext()
        if t.mode == "eager":
            now = injections.patched(running, "_run_now", t.failure.at_once)
        with kept, now, t.place(t.failure):
            return attempted(world, operations, t.armed)


def attempted(world: World, operations: list[Operation], start: int = 0) -> Outcome:
    """Perform statements from ``start`` on until one raises, which then gives no variable a new tensor."""
    for at, o in enumerate(operations[start:], start):
        variables = dict(vars(world))
        try:
            o.run(world)
        except (Exception, Stop) as error:
            vars(world).clear()
            vars(world).update(variables)
            return Outcome(world, at, error)
    try:
        torch.flush()
    except (Exception, Stop) as error:
        return Outcome(world, len(operations), error)
    return Outcome(world, len(operations), None)


def course_of(t: Trial, outcome: Outcome, cut: int = -1) -> Course:
    """What has to be there; in eager mode after a part of the statement that raised."""
    operations = t.scenario.operations
    world = t.build()
    failing = t.failure.plans if t.mode != "eager" else frozenset()
    course = Course(world, failing)
    with course.watching():
        for at, o in enumerate(operations[: outcome.at + 1]):
            course.armed = at >= t.armed
            if at < outcome.at:
                course.run(o)
            elif cut < 0:
                course.run_without_naming(o)
            else:
                o.run_to(cut, world)
        course.restore()
    return course


def judge(t: Trial) -> Verdict:
    """Try it, and say what came of it."""
    with quiet():
        try:
            return in_thread(_judged, t)
        except Hung as error:
            return Verdict("hung", str(error))
        except Exception as error:
            return Verdict("failed", f"{type(error).__name__}: {error}"[:200])


def _judged(t: Trial) -> Verdict:
    outcome = disturbed(t)
    if not t.failure.raised:
        return Verdict("unreached")
    if t.place is injections.after_donation:
        return in_thread(_donated, t, outcome)
    named = _named(t, outcome.error)
    if named is not None:
        return named
    cuts = [-1]
    if t.mode == "eager" and outcome.at < len(t.scenario.operations):
        cuts = list(range(t.scenario.operations[outcome.at].cuts()))
    allowed = []
    with executing("eager"):
        courses = [course_of(t, outcome, cut) for cut in cuts]
        allowed = [snapshot(course.world) for course in courses]
    if courses[0].undone and outcome.error is None:
        return Verdict("silent", f"{courses[0].undone} things depend on what failed, and nothing was raised")
    with executing(t.mode):
        for name in courses[0].lost:
            wrong = _refuses(t, name, vars(outcome.world).pop(name, None))
            if wrong is not None:
                return wrong
        verdict, matching = compare(snapshot(outcome.world), allowed, False, "state")
    if not matching:
        return verdict
    course = courses[next(i for i, state in enumerate(allowed) if state is matching[0])]
    return _gone_on(t, outcome, course)


def _named(t: Trial, error: BaseException | None) -> Verdict | None:
    """Whether the error is the one that was raised, and names the operation and its shapes."""
    if error is None:
        return None
    if not isinstance(error, (t.failure.kind, RuntimeError)):
        return Verdict("changed", f"{type(error).__name__}: {error}"[:200])
    if t.failure.plans and t.mode != "eager":
        text = "\n".join((str(error), *getattr(error, "__notes__", ())))
        shown = [f"{p.name}({', '.join(k.__name__ if isinstance(k, type) else repr(k) for k in p.kinds)})"
                 for p in t.failure.plans]
        if not any(name in text for name in shown):
            return Verdict("unnamed", f"{shown} not in {text}"[:300])
    return None


def _refuses(t: Trial, name: str, tensor: Any) -> Verdict | None:
    """Whether a variable that cannot be computed says so, and why."""
    if tensor is None:
        return None
    try:
        for part in [tensor] if isinstance(tensor, torch.Tensor) else tensor:
            part.detach().tolist()
    except RuntimeError as error:
        if not any(p.name in str(error) for p in t.failure.plans):
            return Verdict("unnamed", f"{name}: {error}"[:200])
    except MemoryError:
        return None
    else:
        return Verdict("silent", f"{name} depends on what failed, and can be read")
    return None


def _failed_again(t: Trial, world: World, before: World) -> tuple[Verdict, bool]:
    """What a second step gives, in which the same operations fail, and whether it changed the parameters."""
    failure = Failure(t.failure.kind, plans=t.failure.plans)
    with executing(t.mode), t.place(failure):
        outcome = attempted(world, HALVED[:4])
    course = Course(before, t.failure.plans)
    course.armed = True
    with executing("eager"), course.watching():
        for o in HALVED[: outcome.at]:
            course.run(o)
        if outcome.at < 4:
            course.run_without_naming(HALVED[outcome.at])
        course.restore()
        expected = snapshot(before)
    with executing(t.mode):
        for name in course.lost:
            vars(world).pop(name, None)
        return compare(snapshot(world), [expected], False, "again")[0], course.trained


def _gone_on(t: Trial, outcome: Outcome, course: Course) -> Verdict:
    """Perform the rest from both states; or train, after another failure with half of the batch."""
    rest = t.scenario.operations[outcome.at + 1 :]
    trains, once_more = hasattr(course.world, "opt"), False
    if trains and t.mode != "eager" and t.failure.plans:
        verdict, once_more = _failed_again(t, outcome.world, course.world)
        if verdict.kind != "right":
            return verdict
    ends = []
    for mode, world in ((t.mode, outcome.world), ("eager", course.world)):
        with executing(mode):
            raised = []
            if trains:
                world.x, world.y = world.x[:2], world.y[:2]
            for o in HALVED if trains else rest:
                try:
                    o.run(world)
                    raised.append(False)
                except Exception:
                    raised.append(True)
            ends.append({**snapshot(world), "raised": str(raised)})
    verdict = compare(ends[0], ends[1:], False, "later")[0]
    if verdict.kind == "right" and trains:
        expected = in_thread(_undisturbed, t, outcome, course, once_more)
        found = {name: value for name, value in ends[0].items() if name.startswith(("model.", "opt."))}
        unlike = differences(found, {name: expected.get(name) for name in found}, exact=False)
        if unlike:
            return Verdict("training", f"{len(unlike)} facts are not those of eager training: {unlike[0]}")
    return verdict


def _undisturbed(t: Trial, outcome: Outcome, course: Course, once_more: bool) -> dict[str, Any]:
    """The end of eager training in which the batch is halved after the last step that could be computed."""
    steps = [at for at, o in enumerate(t.scenario.operations[: outcome.at + 1]) if o.text == STEP]
    if steps and steps[-1] == outcome.at and (t.mode == "eager" or not course.trained):
        steps.pop()
    with executing("eager"):
        world = t.build()
        for o in t.scenario.operations[: steps[-1] + 1] if steps else ():
            o.run(world)
        for o in HALVED[:4] if once_more else ():
            o.run(world)
        world.x, world.y = world.x[:2], world.y[:2]
        for o in HALVED:
            o.run(world)
        return snapshot(world)


def _donated(t: Trial, outcome: Outcome) -> Verdict:
    """After a failure inside XLA: each thing is as it was at some statement, or says what became of it."""
    states = []
    with executing("eager"):
        world = t.build()
        states.append(snapshot(world))
        for o in t.scenario.operations[: outcome.at + 1]:
            o.run(world)
            states.append(snapshot(world))
    with executing(t.mode):
        found = snapshot(outcome.world)
    for name, value in found.items():
        if isinstance(value, str) and GIVEN in value:
            continue
        if all(differences({name: value}, {name: s[name]} if name in s else {}, exact=False) for s in states):
            return Verdict("state", f"{name} = {value!s:.100}")
    return Verdict("right")
