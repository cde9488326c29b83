"""Checks of values: made at the call where they are there, else inside the Program that is to compute them.

See NOTE [Faults found late].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from operator import attrgetter, is_
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxflow._core.indexing import refuse_outside
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.user_line import user_line
from jaxflow._core.value import Value
from jaxflow._dispatch.dispatch import known, plan_for
from jaxflow._exec.deferred_checks import Check
from jaxflow._exec.numpy import tiering
from jaxflow._exec.program import ForeignLeaf, TracerLeaf
from jaxflow._plans.factors import check_factors
from jaxflow._plans.op import OPS, Op
from jaxflow._plans.plan import Plan
from jaxflow._shapes.plan_cache import kept
from jaxflow._transforms.batching import Batched, plain
from jaxflow._views.values import value_of
from jaxflow._writes.inplace import apply_inplace, check_inplace, check_recorded
from jaxflow._writes.parts import settle


def not_deterministic(name: str) -> None:
    """Where deterministic operations are required, say as PyTorch does that this one is not deterministic.

    Here it is deterministic on a CPU, but users who require that want to know it before the program runs
    elsewhere. RuntimeError, or a warning if only that was requested.
    """
    if not tiering.one_executor:
        return
    asked = "True, warn_only=True" if tiering.only_warn else "True"
    start = (f"{name} does not have a deterministic implementation, but you set "
             f"'torch.use_deterministic_algorithms({asked})'. You can ")
    url = "file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding " \
          "deterministic support for this operation."
    if tiering.only_warn:
        warnings.warn(start + url, stacklevel=3)
        return
    raise RuntimeError(
        f"{start}turn off determinism just for this operation, or you can use the 'warn_only=True' option, "
        f"if that's acceptable for your application. You can also {url}"
    )


class Watch:
    """The checks of operands' values that one call needs; `over` records those that cannot be made yet.

    ``in_place`` says that the call writes into its first operand. A guard sets ``early`` where PyTorch looks
    at values before it says what else is wrong.
    """

    __slots__ = ("early", "in_place", "checks")

    known = staticmethod(known)

    def __init__(self, in_place: bool = False) -> None:
        self.early, self.in_place = False, in_place
        self.checks: list[tuple] = []

    @staticmethod
    def not_deterministic(name: str) -> None:
        """`not_deterministic`, for guards."""
        not_deterministic(name)

    def within(self, tensors: Sequence[Tensor], bounds: Sequence[tuple],
               error: Callable[[Any, int], Exception], spared: int | None = None,
               part: str | None = None) -> None:
        """Every element of each tensor must lie in its bounds (both included) or be ``spared``.

        Within `NONZERO` is all but zero. ``part`` is the triangle that counts, "tril" or "triu".
        ``error(value, k)`` is what to raise for a wrong value of the ``k``-th tensor; where several are
        wrong, for the first position in the shape they broadcast to. Raises it if the values are there.
        """
        values = [value_of(t) for t in tensors]
        if len(values) > 1 and any([v.__class__ is Batched for v in values]):
            # What all examples hold has further dimensions, which need not be the same for each tensor.
            for k, (t, of_one) in enumerate(zip(tensors, bounds, strict=True)):
                self.within((t,), (of_one,), lambda value, _, k=k: error(value, k), spared, part)
            return
        values = [plain(v) for v in values]
        if not all([v.aval.numel for v in values]):
            return  # what they broadcast to has no elements
        on_host = all([v.producer is None and v.aval.device.type == "cpu" for v in values])
        if not (on_host or state.eager):
            if part is not None:
                values = [plain(value_of(getattr(t.detach(), part)())) for t in tensors]
            self.checks.append((values, tuple(bounds), error, spared))
        else:
            arrays = [v.settled() for v in values]
            if not any([isinstance(a, jax.core.Tracer) for a in arrays]):
                read = np.asarray if part is None else getattr(np, part)
                refuse_outside([read(a) for a in arrays], bounds, error, spared)

    def beside(self, result: Tensor) -> Asked | None:
        """The checks that could not be made yet, for a ``result`` to be written: for `apply_inplace`."""
        made = [plain(result._storage.value)]
        asked = [found for check in self.checks if (found := _check(made, *check)) is not None]
        return Asked(asked) if asked else None

    def over(self, result: Any) -> Any:
        """Record the checks that could not be made yet, for ``result``: a tensor or a tuple of them."""
        if self.checks:
            made = result if isinstance(result, tuple) else (result,)
            for check in self.checks:
                _record([plain(t._storage.value) for t in made], *check)
        return result


def guarded(run: Callable, op: Op, dynamic: tuple, static: tuple) -> Any:
    """``run(op, dynamic, static)`` under the op's guard, if it has one and factors that fit."""
    asks = op.guard is not None and (op.guarded is None or op.guarded(*static))
    if not asks and not op.factors:
        return run(op, dynamic, static)
    if run is apply_inplace:
        check_recorded(dynamic)
        settle(dynamic)
    watch = Watch(run is apply_inplace)
    try:
        if op.factors:
            check_factors(op, dynamic, watch.known)
        if asks:
            op.guard(watch, dynamic, static)
    except Exception:
        # PyTorch mostly looks at values last: what else is wrong with the call is said first.
        if not watch.early or not isinstance(dynamic[0], Tensor):
            check_call(run is apply_inplace, op, dynamic, static)
        raise
    return run_under(watch, run, op, dynamic, static)


def check_call(in_place: bool, op: Op, args: tuple, static: tuple) -> None:
    """Refuse a call as `apply` or `apply_inplace` do before they compute anything."""
    if in_place:
        check_inplace(op, args, static)
    else:
        plan_for(op, args, static)


def run_under(watch: Watch, run: Callable, op: Op, dynamic: tuple, static: tuple) -> Any:
    """``run(op, dynamic, static)``; the checks of ``watch`` are recorded with it, or with its write."""
    try:
        if run is apply_inplace:
            return run(op, dynamic, static, asking=watch.beside if watch.checks else None)
        return watch.over(run(op, dynamic, static))
    except BaseException:
        watch.checks.clear()  # who keeps the error keeps this frame, and what was read for nothing
        raise


class Asked(NamedTuple):
    """Checks that a write is to record: in what Program, and what."""

    checks: list[tuple]

    def rows(self) -> list[tuple]:
        """They are noted."""
        return [(program.checks.append, check) for program, check in self.checks]

    def undisturbed(self) -> Iterator[bool]:
        """Whether the Programs will still answer them."""
        return map(is_, map(_closed_of, [program for program, _ in self.checks]), repeat(False))


_closed_of = attrgetter("closed")


def _record(made: list[Value], *check: Any) -> None:
    found = _check(made, *check)
    if found is not None:
        program, check = found
        program.checks.append(check)


def _check(made: list[Value], values: list[Value], bounds: tuple, error: Callable,
              spared: int | None) -> tuple | None:
    """The Program that can answer, and the check; None where it was answered."""
    if any(isinstance(v.array, jax.core.Tracer) for v in (*made, *values)):
        return None
    op = OPS["_first_outside"]
    static = (bounds, spared)
    key = (static, None, *(v.aval for v in values))
    plan = kept(op, key)
    producer = made[0].producer
    check = None if producer is None else _asked(producer[0].program, plan, values, made, error)
    if check is not None:
        return producer[0].program, check
    # Another thread has run the program meanwhile: the values are there.
    refuse_outside([np.asarray(v.settled()) for v in values], bounds, error, spared)
    return None


def _asked(program, plan: Plan, values: list[Value], made: list[Value], error: Callable) -> Check | None:
    try:
        flags = program.record(plan, values)
    except (ForeignLeaf, TracerLeaf):
        return None
    if flags is None:
        return None
    asked, affected = ([program.reference(v) for v in group] for group in (values, made))
    return Check(flags[0], asked, affected, error, user_line())
