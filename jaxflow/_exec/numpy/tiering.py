"""When a trace is interpreted and when it is compiled.

NOTE [When a program is compiled]
    Interpreting costs at every run, compiling once. Both costs are estimated from the trace alone
    (``cost_model``), never from a clock, so a script run twice does the same thing at the same step and
    prints the same digits. On accelerators, and with ``JAXFLOW_INTERPRET=0``, every trace is compiled
    before its first run. On the CPU:
    - A trace that costs more to interpret once than to compile is compiled at once.
    - One that comes for the ``LOOPS``-th time, with less than ``NEAR`` other cold programs (none with an
      executable counts) between a time and the next, is taken to be a loop's, and is compiled if
      ``HORIZON`` more runs pay for it; any other once what was spent on interpreting it would have paid.
      Where compiling takes ``LONG``, a loop has to have cost ``PATIENCE`` of that before: a script of twenty
      steps ends before its step is compiled, and one of very many loses no more than that part.
    - One that has a call of a compiled function in it is wanted: it is compiled at its second time, since
      its first may create an optimizer's state, and waited for ``AHEAD`` runs later.
    - What takes long to compile is compiled in the background, while its next runs are interpreted: as
      many as take that long, if each takes what interpreting it costs, and at least ``TURN``. Where those
      are no more than ``SOON``, waiting is soon paid (and from the disk an executable is there at once), so
      it is done after ``AHEAD``. The run after those waits if need be, so the clock decides nothing here.
    So what is computed two or three times comes from one executor, the same to the last bit; where
    that has to hold for longer (a gradient checked for being reproducible), ``pinned`` keeps to it; under
    ``use_deterministic_algorithms(True)`` nothing is interpreted.
    A thread whose programs are all cold and made of cheap operations stops recording: NOTE [Run at once].
    A background compilation that fails is reported once, as a warning, and its trace stays interpreted.

NOTE [Draws that fill]
    What fills a tensor with random numbers is drawn at once, outside the program, since XLA inlines the
    generator into a program once for each draw. Compiled by itself a draw of four dimensions takes half a
    second, and a network has ten or twenty shapes of weights that are each filled once or twice. So such a
    draw is interpreted (14 ns a number) until interpreting it has cost what compiling does.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable

from jaxflow._core import flags
from jaxflow._core.device import CPU
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._exec.background import Job, submit
from jaxflow._exec.executable import Executable
from jaxflow._plans.plan import Plan

from .cost_model import seconds_to_compile, seconds_to_interpret, seconds_to_record

NEAR = 8
LOOPS = 4
HORIZON = 10_000
AHEAD, SOON = 8, 64
LONG = 1.0  # seconds of compiling that are not begun for a loop before it has cost `PATIENCE` of them
PATIENCE = 0.25
TURN = 5e-3  # seconds from one run of a trace to the next, at least: a program rarely does nothing else
CALL = 8e-5  # seconds: of calling a small compiled program, mostly in another thread of XLA's
ALONE = 2e-4  # seconds of interpreting the primitives of a draw, whatever its size
CHEAP = 2e-4  # seconds of interpreting an operation of a program that counts for a streak
AWAY = 1000  # programs recorded before operations are run at once again, where that found a loop
BACKGROUND_FROM = 0.5  # seconds of compiling from which on it is done in the background

one_executor = False  # set by use_deterministic_algorithms
only_warn = False  # likewise

FIRST, LOOPING, PAID = "dear to interpret", "a loop", "came again often enough"
WANTED = "came again, with a call of a compiled function in it"

_cold = 0  # programs that came without an executable
_lock = threading.RLock()


class _Recurrence:
    """How often something came (``seen``), and in a row soon after the time before (``near``).

    ``last`` is the number it had then among all of its kind.
    """

    __slots__ = ("last", "near", "seen")

    def __init__(self) -> None:
        self.seen = self.last = self.near = 0

    def met(self, now: int) -> None:
        self.near = self.near + 1 if self.seen and now - self.last <= NEAR else 1
        self.seen += 1
        self.last = now


class RunCounts(_Recurrence):
    """What is noted of one trace and one set of results, counted among all cold programs.

    Attributes:
        interpret_cost: estimated seconds that interpreting it once takes longer than running it compiled.
        compile_cost: estimated seconds to compile it.
        job, due: the compilation under way in the background, and the run that waits for it.
        failed: whether that failed.
        cheap: whether its operations are, in the mean.
    """

    __slots__ = ("cheap", "due", "failed", "job", "compile_cost", "interpret_cost")

    def __init__(self, trace: tuple) -> None:
        super().__init__()
        seconds = seconds_to_interpret(trace)
        self.interpret_cost = seconds - CALL
        self.cheap = seconds <= CHEAP * sum(step.__class__ is Plan for step in trace)
        self.compile_cost = seconds_to_compile(trace)
        self.job: Job | None = None
        self.due = 0
        self.failed = False


def interprets(device) -> bool:
    """Whether programs of this device may be interpreted."""
    return device is CPU and flags.INTERPRET and not one_executor


def choose(run_counts: RunCounts, compiling: Callable[[str], Callable[[], Executable]],
           wanted: bool = False) -> Executable | None:
    """The executable to run a trace with that has none yet; None to interpret it.

    ``compiling(why)`` gives the function that compiles it, which may be called in another thread. ``wanted``:
    a call of a compiled function is in it.
    """
    global _cold
    with _lock:
        _cold += 1
        s = run_counts
        s.met(_cold)
        if s.failed:
            return None
        if s.job is not None:
            if s.seen < s.due or state.pinned:
                return None
            job = s.job
        else:
            why = WANTED if wanted and s.seen > 1 and not state.pinned else _reason(s)
            if why is None:
                no_loop = s.seen == 1 or s.interpret_cost * HORIZON < s.compile_cost
                state.streak = state.streak + 1 if s.cheap and no_loop else min(0, state.streak)
                return None
            if s.compile_cost >= BACKGROUND_FROM and s.compile_cost > s.interpret_cost:
                s.job = submit(compiling(f"{why}, in the background"))
                runs = 1 + int(s.compile_cost / max(s.interpret_cost, TURN))
                s.due = s.seen + (min(runs, AHEAD) if wanted or runs <= SOON else runs)
                return None
            job = None
    if job is None:
        return compiling(why)()
    try:
        executable = job.result()
        s.job = None
        return executable
    except Exception as error:  # noqa: BLE001 - whatever it is, the interpreter's result stands
        s.failed = True
        warnings.warn(
            f"compiling a program in the background failed ({type(error).__name__}: {error}); it stays "
            "interpreted", RuntimeWarning, stacklevel=2,
        )
        return None


def alone_in_numpy(plan: Plan) -> bool:
    """Whether an operation that runs by itself is cheaper interpreted, this time; it is counted as if it was.

    NOTE [Draws that fill]: until what interpreting it took would have paid for compiling it.
    """
    if one_executor:
        return False
    spent = plan.spent + seconds_to_interpret((plan,)) + ALONE
    if spent > seconds_to_compile((plan,)):
        return False
    plan.spent = spent
    return True


class _Stretch(_Recurrence):
    """What is noted of a sequence of plans that ran at once from one boundary to the next."""

    __slots__ = ("pays",)

    def __init__(self) -> None:
        super().__init__()
        self.pays: bool | None = None


_stretches: dict[int, _Stretch] = {}
_boundaries = 0
_MOST_STRETCHES = 1024


def loop_at_once(plans: list[Plan], ended: bool = True) -> bool:
    """Whether what ran at once is a loop's, and better recorded and compiled; called at every boundary.

    Recording costs as much for each operation as interpreting a small one, so only sizes count. Not
    ``ended``, there were so many operations that they are looked at without a boundary: each round of what
    they repeat may end where a number is read, and then no program is longer than a round.
    """
    global _boundaries
    if not ended:
        plans = plans[: _round(plans)]
    key = hash(tuple(plans))
    with _lock:
        _boundaries += 1
        s = _stretches.pop(key, None) or _Stretch()
        _stretches[key] = s
        if len(_stretches) > _MOST_STRETCHES:
            del _stretches[next(iter(_stretches))]
        s.met(_boundaries)
        if s.near < LOOPS or state.pinned:
            return False
        if s.pays is None:
            interpret_cost = seconds_to_interpret(plans) - seconds_to_record(plans) - CALL
            s.pays = interpret_cost * HORIZON >= seconds_to_compile(plans)
        if s.pays:
            state.tried = s
        return s.pays


def found_cold() -> None:
    """Note that what this thread recorded in place of running it at once came to no compiled program.

    Numbers were read in the middle of it, so that its programs were parts too small to pay.
    """
    if state.tried is not None:
        state.tried.pays, state.tried = False, None


def _round(plans: list[Plan]) -> int:
    """After how many plans they come again, to the last of them; their number if they do not."""
    # The longest beginning that is an end as well, of each beginning: Knuth, Morris and Pratt (1977).
    ends = [0] * len(plans)
    length = 0
    for i in range(1, len(plans)):
        while length and plans[i] is not plans[length]:
            length = ends[length - 1]
        length += plans[i] is plans[length]
        ends[i] = length
    return len(plans) - length


def _reason(s: RunCounts) -> str | None:
    """Why the trace is to be compiled now, if it is."""
    if s.interpret_cost >= s.compile_cost:
        return FIRST
    if state.pinned:
        return None
    spent = s.interpret_cost * (s.seen - 1)
    if s.near >= LOOPS and s.interpret_cost * HORIZON >= s.compile_cost and (
            s.compile_cost < LONG or spent >= PATIENCE * s.compile_cost):
        return LOOPING
    if spent >= s.compile_cost:
        return PAID
    return None


def forget() -> None:
    """Forget what ran at once."""
    with _lock:
        _stretches.clear()


def pinned() -> Changed:
    """Inside, no trace that was interpreted is compiled: the same question gets the same answer."""
    return Changed(state, pinned=True)
