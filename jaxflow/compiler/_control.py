"""The rest of ``torch.compiler``: switching compilation off, asking for it, explaining it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._exec import explain as figures

from ._api import BACKENDS
from ._capture import Programs
from ._function import CompiledFunction, functions, stance

STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile")


def is_compiling() -> bool:
    """Whether the caller runs inside a captured call of a compiled function."""
    return state.programs.__class__ is Programs


def is_dynamo_compiling() -> bool:
    """The same as :func:`is_compiling`."""
    return is_compiling()


def reset() -> None:
    """Forget what all compiled functions have compiled."""
    for function in list(functions):
        function.reset()


def list_backends(exclude_tags: tuple = ("debug", "experimental")) -> list[str]:
    """Names that ``backend=`` accepts; all mean XLA."""
    debugging = ("eager", "aot_eager")
    return [name for name in BACKENDS if not ("debug" in (exclude_tags or ()) and name in debugging)]


def disable(fn: Callable | None = None, recursive: bool = True, *, reason: str | None = None) -> Callable:
    """Never compile ``fn``, or (``recursive=False``) not ``fn`` itself but what it calls; also a decorator.

    A compiled function that calls it runs as Python at each call, since what it does is not known.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if isinstance(fn, CompiledFunction):
        fn = fn.fn

    @functools.wraps(fn)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        programs = state.programs
        if programs.__class__ is Programs:
            name = getattr(fn, "__qualname__", type(fn).__name__)
            programs.capture.excluded(f"it calls {name}(), which compiler.disable excludes"
                                      + (f": {reason}" if reason else ""))
        return Changed(stance, disabled=stance.disabled or recursive).run(fn, *args, **kwargs)

    return disabled


class set_stance:
    """What compiled functions of this thread do, from now on, in a ``with`` block or a decorated function.

    ``default``; ``force_eager`` runs them as they are; ``eager_on_recompile`` uses what is compiled and
    compiles nothing new; ``fail_on_recompile`` raises RuntimeError instead.

    Raises:
        RuntimeError: for another name, or a ``force_backend``: there is only XLA.
    """

    def __init__(self, stance_name: str = "default", *, skip_guard_eval_unsafe: bool = False,
                 force_backend: Any = None) -> None:
        if stance_name not in STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance_name}', expected one of {STANCES}")
        if force_backend is not None or skip_guard_eval_unsafe:
            raise RuntimeError("set_stance: force_backend and skip_guard_eval_unsafe are not supported")
        self.name = stance_name
        self._outer = stance.name
        self._before: list[str] = []
        stance.name = stance_name

    def __enter__(self) -> set_stance:
        try:
            self._before.append(self._outer)
            stance.name = self.name
            return self
        except BaseException:
            stance.name = self._outer
            raise

    def __exit__(self, *exc: object) -> None:
        stance.name = self._before[-1]  # first: NOTE [Modes and interrupts]
        self._before.pop()

    def __call__(self, fn: Callable) -> Callable:
        stance.name = self._outer

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            before = stance.name
            try:
                with set_stance(self.name):
                    return fn(*args, **kwargs)
            except BaseException:
                stance.name = before
                raise

        return wrapped


def cudagraph_mark_step_begin() -> None:
    """Nothing: XLA has no graphs of CUDA that need this call."""


def allow_in_graph(fn: Any) -> Any:
    """``fn`` as it is: what it does is recorded like anything else."""
    return fn


def assume_constant_result(fn: Callable) -> Callable:
    """``fn`` as it is: a call whose guards hold does not run it."""
    return fn


class Report(list):
    """What :func:`explain` returns: one dict a compiled function; prints as text."""

    def __str__(self) -> str:
        lines: list[str] = []
        for f in self:
            lines.append(
                f"{f['name']}: {f['calls']} calls, {f['hits']} of them compiled, by {f['specialisations']} "
                f"specialisation(s); {f['skipped']} inside other transformations"
            )
            lines += [f"  a call missed: {'; '.join(reasons)}" for reasons in f["misses"]]
            lines += [f"  Python runs: {reason}" for reason in f["python"]]
            lines += [f"  while warming up: {reason}" for reason in f["warm_up"]]
        return "\n".join(lines) or "no compiled functions"

    __repr__ = __str__


def explain() -> Report:
    """What became of every living compiled function.

    A list of dicts that prints as text: ``name``, ``calls``, ``hits`` (calls that ran no Python),
    ``specialisations``, ``misses`` (for each new specialisation what was no longer as in the last one),
    ``python`` (why Python runs at each call), ``warm_up`` (why the first calls could not be used yet) and
    ``skipped``.
    """
    return Report(function.explain() for function in sorted(functions, key=lambda f: f.number))


figures.of_functions = explain
