"""An exception at each bytecode of entering and leaving every mode: afterwards the modes are what they were.

Command line: ``python -m tests.hazards.modes [--only NAME] [--verbose]``. Each case is run once to count
the opcodes that its frames execute, and then once for each of them, with an exception raised there. Then all
modes have to be what they were before. Opcodes where Python's own protocol leaves a window are exempted, by
`EXEMPT`.
"""

from __future__ import annotations

import argparse
import contextlib
import dis
import functools
import pathlib
import sys
import threading
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

import jaxflow as torch
from jaxflow._api.random import state as random_state
from jaxflow._core import autocast
from jaxflow._core import device as devices
from jaxflow._core import graph as graphs
from jaxflow._core.autocast import CASTING
from jaxflow._core.generator import drawing
from jaxflow._core.levels import LEVELS
from jaxflow._core.modes import Changed
from jaxflow._core.state import making_data, state
from jaxflow._dispatch import vmap_axes
from jaxflow._exec.numpy import tiering
from jaxflow._publish import overrides, pytree
from jaxflow.autograd import anomaly_mode, forward_ad, forward_mode, graph
from jaxflow.autograd.grad_mode import set_multithreading_enabled
from jaxflow.compiler._function import stance
from jaxflow.func import _forward as jvps
from jaxflow.func import _reverse
from jaxflow.utils import checkpoint

from . import mode_cases


class Injected(BaseException):
    """Raised at one bytecode; as with a KeyboardInterrupt, nothing that catches Exception catches it."""


class Exemption(NamedTuple):
    """Opcodes of a kind of frame, from a certain point on or up to it, and why nothing can be done there."""

    frame: str
    where: str
    reason: str


#: Where an exception may leave a mode on. `_exempt` decides by these names.
EXEMPT = {
    "block ended": Exemption(
        "the frame of the with statement",
        "the opcodes that call __exit__ after the block's last one",
        "Python has left the part of the code that the with statement protects, and __exit__ has not begun",
    ),
    "exit begins": Exemption(
        "__exit__", "up to its first store or call",
        "a function cannot protect its own first opcodes",
    ),
    "enter returns": Exemption(
        "__enter__ and constructors that set the mode",
        "the opcodes between the last store or call and the return",
        "the with statement protects nothing before __enter__ has returned; no signal comes at these",
    ),
    "set when made": Exemption(
        "the frame of the with statement, and an __enter__ that sets the mode again",
        "between the constructor's return and the first try of __enter__",
        "PyTorch's contract: set_grad_enabled and its like set the mode when they are called",
    ),
}

_LEADING = ("RESUME", "COPY_FREE_VARS", "MAKE_CELL", "NOP", "LOAD_FAST", "LOAD_ATTR", "LOAD_GLOBAL",
            "UNPACK_SEQUENCE", "STORE_FAST", "LOAD_CONST", "BUILD_SLICE", "BINARY_SUBSCR", "LOAD_METHOD",
            "PRECALL", "KW_NAMES", "LOAD_DEREF", "LOAD_CLOSURE", "SWAP", "PUSH_NULL")
_TRAILING = ("POP_TOP", "LOAD_CONST", "LOAD_FAST", "LOAD_ATTR", "RETURN_VALUE", "NOP")


def modes() -> tuple:
    """Everything that a mode, a context or a function changes for a while."""
    return (*_modes(), *mode_cases.facts().items())


def _modes() -> tuple:
    """Everything of this thread and process that a mode changes."""
    casting = {threading.get_ident()} if autocast.is_any_enabled() else set()
    return (
        state.grad, state.inference, state.constant, state.eager, state.on_host, state.saving,
        state.multithreading, state.mutation, state.no_saving, state.axes, state.captors, state.pinned,
        devices._local.stack,
        drawing.generator, overrides._asked.classes, overrides._asked.modes, pytree._refusing.name,
        checkpoint._overrides.early_stop, checkpoint._overrides.debug, forward_mode.is_enabled(),
        torch.get_default_dtype(), torch.is_anomaly_enabled(), anomaly_mode._check_nan, graphs.on_made,
        stance.name, forward_ad._open.levels, jvps._nested.levels, tuple(LEVELS),
        state.autocast, state.uncast, state.casts is None, CASTING >= casting,
    )


# ----------------------------------------------------------------------------------------------- cases

_HERE = (__file__, mode_cases.__file__)
_DEFAULTS = _modes()


def _identity(t: Any) -> Any:
    return t


def _quietly(make: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make()
    return made


CONTEXTS: dict[str, Callable[[], Any]] = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "set_grad_enabled": functools.partial(torch.set_grad_enabled, False),
    "inference_mode": torch.inference_mode,
    "set_multithreading_enabled": functools.partial(set_multithreading_enabled, False),
    "execution": lambda: torch.execution("eager"),
    "making_data": making_data,
    "device": lambda: torch.device("meta"),
    "pinned": tiering.pinned,
    "vmap level": lambda: vmap_axes.opened(3, "error"),
    "transform": _reverse._recording,
    "drawing_from": lambda: random_state.drawing_from(torch.Generator()),
    "refusing_history": lambda: pytree.refusing_history("f"),
    "checkpoint_early_stop": lambda: torch.utils.checkpoint.set_checkpoint_early_stop(False),
    "saved_tensors_hooks": lambda: graph.saved_tensors_hooks(_identity, _identity),
    "disable_saved_tensors_hooks": lambda: graph.disable_saved_tensors_hooks("not here"),
    "allow_mutation_on_saved_tensors": graph.allow_mutation_on_saved_tensors,
    "DisableTorchFunctionSubclass": overrides.DisableTorchFunctionSubclass,
    "DisableTorchFunction": overrides.DisableTorchFunction,
    "TorchFunctionMode": mode_cases.Asked,
    "changed": lambda: Changed(state, grad=False, pinned=True),
    "detect_anomaly": _quietly(torch.autograd.detect_anomaly),
    "set_detect_anomaly": functools.partial(torch.autograd.set_detect_anomaly, True),
    "dual_level": forward_ad.dual_level,
    "_set_fwd_grad_enabled": functools.partial(forward_ad._set_fwd_grad_enabled, False),
    "jvp level": jvps._Opened,
    "set_stance": functools.partial(torch.compiler.set_stance, "force_eager"),
    "autocast": lambda: torch.autocast("cpu"),
    "autocast, off": lambda: torch.autocast("cpu", enabled=False),
    "autocast settings": lambda: autocast.within(autocast.DEFAULT.with_enabled("cpu", True)),
    "autocast switched off": lambda: autocast.switched_off(frozenset(("cpu",))),
}

DECORATORS: dict[str, Callable[[], Any]] = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "set_grad_enabled": lambda: torch.set_grad_enabled(False),
    "inference_mode": torch.inference_mode,
    "execution": lambda: torch.execution("eager"),
    "disable_saved_tensors_hooks": lambda: graph.disable_saved_tensors_hooks("not here"),
    "changed": lambda: Changed(state, grad=False, pinned=True),
    "dual_level": forward_ad.dual_level,
    "set_stance": functools.partial(torch.compiler.set_stance, "force_eager"),
    "autocast": lambda: torch.autocast("cpu"),
}

GENERATORS = {name: DECORATORS[name] for name in ("no_grad", "set_grad_enabled", "inference_mode")}


def body() -> None:
    """What runs in the mode."""


def in_context(make: Callable[[], Any], body: Callable[[], Any] = body) -> Callable[[], None]:
    """A program that enters the mode, and runs ``body`` inside."""
    def program() -> None:
        with make():
            body()
    return program


def in_decorator(make: Callable[[], Any]) -> Callable[[], None]:
    """A program that calls a decorated function."""
    decorated = make()(body)

    def program() -> None:
        decorated()
    return program


def in_generator(make: Callable[[], Any]) -> Callable[[], None]:
    """A program that runs a decorated generator to its end."""
    @make()
    def steps() -> Any:
        yield 1
        yield 2

    def program() -> None:
        for _ in steps():
            body()
    return program


CASES = {
    **{f"with {name}": in_context(make) for name, make in CONTEXTS.items()},
    **{f"@{name}": in_decorator(make) for name, make in DECORATORS.items()},
    **{f"@{name} generator": in_generator(make) for name, make in GENERATORS.items()},
    **{f"with {name}": in_context(case.run, case.body) for name, case in mode_cases.CONTEXTS.items()},
    **{name: case.run for name, case in mode_cases.CALLS.items()},
}
#: Of the cases that compute as well, the files of which the frames are followed.
FILES = {
    **{f"with {name}": (*case.files, "hazards/modes.py", "_core/modes.py")
       for name, case in mode_cases.CONTEXTS.items() if case.files},
    **{name: (*case.files, "_core/modes.py") for name, case in mode_cases.CALLS.items()},
}

# ------------------------------------------------------------------------------------------- injection

_PACKAGE = str(pathlib.Path(torch.__file__).parent)


class At(NamedTuple):
    """One execution of an opcode."""

    code: CodeType
    offset: int
    opname: str


class Tracer:
    """Follows the opcodes of jaxflow's frames and of this file's; raises Injected at number ``at``.

    With ``files`` only those of frames in files of such names.
    """

    def __init__(self, files: tuple[str, ...] = (), at: int | None = None) -> None:
        self.files, self.at = files, at
        self.seen: list[At] = []
        self.raised: Injected | None = None  # kept, so that nothing is put back when its frames are let go

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        name = frame.f_code.co_filename
        if name != contextlib.__file__ and not (
            name.endswith(self.files) if self.files else name.startswith(_PACKAGE) or name in _HERE
        ):
            return None
        if frame.f_code is Tracer.run.__code__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.opcode

    def opcode(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Note the opcode that comes next, or raise there."""
        if event == "opcode":
            code, offset = frame.f_code, frame.f_lasti
            self.seen.append(At(code, offset, dis.opname[code.co_code[offset]]))
            if len(self.seen) - 1 == self.at:
                raise Injected
        return self.opcode

    def run(self, program: Callable[[], None]) -> bool:
        """Whether Injected came out of the program."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            program()
        except Injected as raised:
            self.raised = raised
            return True
        finally:
            sys.settrace(before)
        return False


def _steps(code: CodeType, start: int, stop: int) -> list[str]:
    return [i.opname for i in dis.get_instructions(code) if start <= i.offset < stop]


def _exempt(at: At) -> str | None:
    """The name of the exemption that an opcode falls under."""
    code = at.code
    if code.co_filename in _HERE and code.co_name == "program":
        enters = [i.offset for i in dis.get_instructions(code) if i.opname == "BEFORE_WITH"]
        if enters and at.offset <= enters[0]:
            return "set when made"
        if enters and at.opname in ("LOAD_CONST", "PRECALL", "CALL"):
            return "block ended"
        return None
    if code.co_qualname in _ENTERS_AGAIN and all(
        n in ("RESUME", "NOP") for n in _steps(code, 0, at.offset)
    ):
        return "set when made"
    if code.co_name == "__exit__" and all(n in _LEADING for n in _steps(code, 0, at.offset)) and (
        at.opname in (*_LEADING, "STORE_ATTR", "CALL")
    ):
        return "exit begins"
    if code.co_name in ("__enter__", "__init__") and at.opname in _TRAILING:
        rest = _steps(code, at.offset, at.offset + 10)
        if "RETURN_VALUE" in rest and all(n in _TRAILING for n in rest[:rest.index("RETURN_VALUE")]):
            return "enter returns"
    return None


class Failure(NamedTuple):
    """A case whose modes were others afterwards."""

    case: str
    where: str
    after: list


def check(name: str) -> tuple[int, dict[str, int], list[Failure]]:
    """Of one case: how many opcodes were tried, how many exempted ones left a mode on, and what failed."""
    program, files = CASES[name], FILES.get(name, ())
    program()  # what is imported and cached on first use
    _reset(name)
    normal = modes()
    counting = Tracer(files)
    assert not counting.run(program)
    assert modes() == normal, f"{name} changes modes undisturbed"
    used: dict[str, int] = {}
    failures = []
    for k in range(len(counting.seen)):
        tracer = Tracer(files, k)
        if not tracer.run(program):
            if k < len(tracer.seen):  # else this run took another way
                failures.append(Failure(name, f"the exception at opcode {k} was swallowed", []))
        after = modes()
        if after != normal and k < len(tracer.seen):
            at = tracer.seen[k]
            why = None if name in mode_cases.CALLS else _exempt(at)
            if why is None or (why == "set when made" and name not in _SET_WHEN_MADE):
                line = f"{at.code.co_qualname}+{at.offset} {at.opname}"
                failures.append(Failure(name, line, [(a, b) for a, b in zip(after, normal) if a != b]))
            else:
                used[why] = used.get(why, 0) + 1
            _reset(name)
        _release()
    _reset()
    return len(counting.seen), used, failures


def _release() -> None:
    """Let go of the locks that an exception at the end of their ``with`` block left held.

    No signal is answered there, between the block and the release. Other threads would wait for ever.
    """
    for lock in _LOCKS:
        while lock._is_owned():
            lock.release()


def _locks() -> list:
    """The package's locks that a thread may take twice: of modules, and of objects in them."""
    kind = type(threading.RLock())
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] == "jaxflow"]
    found = [x for m in modules for x in vars(m).values()]
    found += [x for holder in found if type(holder).__module__.startswith("jaxflow")
              for x in getattr(holder, "__dict__", {}).values()]
    return list({id(x): x for x in found if isinstance(x, kind)}.values())


_LOCKS = _locks()


_ENTERS_AGAIN = ("set_grad_enabled.__enter__", "set_stance.__enter__", "_set_fwd_grad_enabled.__enter__")
_SET_WHEN_MADE = ("with set_grad_enabled", "with set_multithreading_enabled", "with set_detect_anomaly",
                  "with _set_fwd_grad_enabled", "with set_stance")


def _reset(name: str = "") -> None:
    """The modes that a test process starts with; others where the case ``name`` would change nothing."""
    (state.grad, state.inference, state.constant, state.eager, state.on_host, state.saving,
     state.multithreading, state.mutation, state.no_saving, state.axes, state.captors, state.pinned,
     devices._local.stack,
     drawing.generator, overrides._asked.classes, overrides._asked.modes, pytree._refusing.name,
     checkpoint._overrides.early_stop, checkpoint._overrides.debug) = _DEFAULTS[:19]
    forward_mode.set_enabled(_DEFAULTS[19])
    torch.set_default_dtype(_DEFAULTS[20])
    anomaly_mode._switch(*_DEFAULTS[21:23])
    stance.name, forward_ad._open.levels, jvps._nested.levels = _DEFAULTS[24:27]
    LEVELS.clear()
    state.uncast, state.casts = False, None
    autocast.put(autocast.DEFAULT.with_enabled("cpu", "autocast" in name and "off" in name))
    mode_cases.reset(name)
    if any(part in name for part in ("enable_grad", "transform")) and "set_" not in name:
        state.grad, state.constant = False, True


def main() -> int:
    """Try all cases, and say what was found."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--only", help="cases whose name contains this")
    options.add_argument("--verbose", action="store_true", help="say what was exempted, too")
    chosen = options.parse_args()
    total, failed = 0, 0
    for name in CASES:
        if chosen.only and chosen.only not in name:
            continue
        tried, used, failures = check(name)
        total += tried
        failed += len(failures)
        print(f"{name}: {tried} opcodes, {len(failures)} failures", f"exempted {used}" * chosen.verbose)
        for f in failures:
            print(f"    {f.where}: {f.after}")
    print(f"{total} opcodes in all, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
