"""A program run as ``python script.py``, ``-m module``, ``-c code`` and ``python -`` run it."""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
import types
from typing import Any

from .tracebacks import shorten_those_of_threads, shortened


def run(rest: list[str]) -> int:
    """Run what the arguments name; returns the exit status, or raises what ends a process otherwise.

    Args:
        rest: ``[script, *arguments]``, ``["-m", module, *arguments]``, ``["-c", code, *arguments]`` or
            ``["-", *arguments]``.
    """
    first = rest[0]
    shorten_those_of_threads()
    try:
        if first == "-m":
            return _module(rest[1:])
        if first == "-c":
            return _code(rest[1:])
        if first == "-":
            return _text(sys.stdin.read(), "<stdin>", rest, "")
        if first.startswith("-"):
            return _wrong(f"unknown option {first}; --help shows those that there are")
        return _script(rest)
    except SystemExit:
        raise
    except BaseException as error:
        return _ended_by(error)


def _wrong(what: str) -> int:
    print(f"python -m jaxflow: {what}", file=sys.stderr)
    return 2


def _ended_by(error: BaseException) -> int:
    """Show an error that nobody has caught as Python does, without the frames that ran the program."""
    shortened(error)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, KeyboardInterrupt):
        sys.excepthook = lambda *_: None  # shown already; Python ends by the signal
        raise error
    return 1


def _main_module(file: str | None, spec: Any = None) -> dict[str, Any]:
    """A new ``__main__``, and its namespace."""
    module = types.ModuleType("__main__")
    space = module.__dict__
    space.update(__builtins__=__builtins__, __spec__=spec, __loader__=getattr(spec, "loader", None),
                 __package__=None if spec is None else spec.parent)
    if file is not None:
        space["__file__"] = file
    sys.modules["__main__"] = module
    return space


def _path_begins(with_: str) -> None:
    if not sys.flags.safe_path:  # else Python has put nothing there
        sys.path[0] = with_


def _text(source: str | bytes, name: str, argv: list[str], folder: str, file: str | None = None) -> int:
    code = compile(source, name, "exec", dont_inherit=True)
    sys.argv[:] = argv
    _path_begins(folder)
    exec(code, _main_module(file))
    return 0


def _code(rest: list[str]) -> int:
    if not rest:
        return _wrong("argument expected for -c")
    return _text(rest[0] + "\n", "<string>", ["-c", *rest[1:]], "")


def _script(rest: list[str]) -> int:
    path = os.path.abspath(rest[0])
    if os.path.isdir(path) or not _is_source(path) and os.path.isfile(path):
        sys.argv[:] = rest
        _path_begins(path)
        runpy.run_path(path, run_name="__main__")  # a folder or archive with a __main__.py, or compiled code
        return 0
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        return _wrong(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}")
    return _text(source, path, rest, os.path.dirname(os.path.realpath(path)), path)


def _is_source(path: str) -> bool:
    """Whether a file holds text: no archive and no compiled code."""
    try:
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError:
        return True
    return start not in (b"PK\x03\x04", importlib.util.MAGIC_NUMBER)


def _module(rest: list[str]) -> int:
    if not rest:
        return _wrong("argument expected for -m")
    name = rest[0]
    sys.argv[:] = ["-m", *rest[1:]]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as error:
        return _wrong(f"error while finding module specification for {name!r} "
                      f"({type(error).__name__}: {error})")
    if spec is None or spec.loader is None:
        return _wrong(f"no module named {name}")
    code = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    if code is None:
        return _wrong(f"no code object available for {name}")
    sys.argv[0] = spec.origin or name
    exec(code, _main_module(spec.origin, spec))
    return 0
