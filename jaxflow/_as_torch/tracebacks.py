"""Tracebacks that end where the user's program called jaxflow."""

from __future__ import annotations

import os
import threading
import types

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: Of jax, about frames of its own that it has taken out of a traceback.
_REMARK = "JAX has removed its internal frames"
_RUNNING = (os.path.dirname(os.path.abspath(__file__)) + os.sep,)


def shortened(error: BaseException) -> None:
    """Leave of the frames of jaxflow in an error's traceback two at most, at its end.

    They are the function that the program called, and where the error was raised. Errors that it came from
    are shortened too.
    """
    seen: set[int] = set()
    work: list[BaseException | None] = [error]
    while work:
        each = work.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _shortened(each.__traceback__)
        if _REMARK in "".join(notes := getattr(each, "__notes__", [])):
            each.__notes__ = [note for note in notes if _REMARK not in note]
        work += [each.__cause__, each.__context__]


def shorten_those_of_threads() -> None:
    """Let `threading.excepthook` show shortened tracebacks."""
    shows = threading.excepthook

    def hook(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            shortened(arguments.exc_value)
            arguments = threading.ExceptHookArgs((
                arguments.exc_type, arguments.exc_value, arguments.exc_value.__traceback__, arguments.thread))
        shows(arguments)

    threading.excepthook = hook


def _shortened(tb: types.TracebackType | None) -> types.TracebackType | None:
    frames = []
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    last = max((i for i, f in enumerate(frames) if not _is_ours(f)), default=-1)
    while last >= 0 and _below_ours(frames, last):
        last -= 1
    kept = [f for f in frames[: last + 1] if not _is_ours(f)]
    end = frames[last + 1 :]
    end = [f for f in end if not f.tb_frame.f_code.co_filename.startswith(_RUNNING)]
    kept += end if len(end) < 3 else [end[0], end[-1]]
    found: types.TracebackType | None = None
    for f in reversed(kept):
        found = types.TracebackType(found, f.tb_frame, f.tb_lasti, f.tb_lineno)
    return found


def _is_ours(tb: types.TracebackType) -> bool:
    return tb.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _below_ours(frames: list[types.TracebackType], at: int) -> bool:
    """Whether a frame is of what jaxflow calls: jax, NumPy, Python's own library; not of the program."""
    name = frames[at].tb_frame.f_globals.get("__name__", "").partition(".")[0]
    return name in ("jax", "jaxlib", "numpy", "ml_dtypes") and any(map(_is_ours, frames[:at]))
