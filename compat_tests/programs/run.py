"""A program run on PyTorch and on jaxflow, and what is different."""

from __future__ import annotations

import math
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
from typing import NamedTuple

from .obtain import obtain, packages
from .program import HERE, Program

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|\bnan\b|\binf\b)")

_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")


class Ended(NamedTuple):
    """How a process ended: its exit status, what it printed, its processor time in seconds."""

    status: int
    out: str
    err: str
    seconds: float


class Result(NamedTuple):
    """What came of a program: '' or what is wrong, and processor seconds (of PyTorch: None if not run)."""

    wrong: str
    jaxflow: float
    pytorch: float | None


def run(program: Program, cache: pathlib.Path) -> Result:
    """Run a program in both and compare.

    Raises:
        OSError: where the program, or a package that it imports, cannot be had.
    """
    sides = {}
    for side in ("jaxflow",) if program.alone else ("pytorch", "jaxflow"):
        folder = obtain(program, cache)
        path = [*packages(program, cache), str(HERE.parent.parent)]
        for command in program.prepare:
            done = _process(_filled(command), folder, path)
            if done.status:
                raise OSError(f"{program.name}: {command}: {done.err.strip()[-500:]}")
        arguments = shlex.split(_filled(program.command))
        launcher = ["-m", "jaxflow"] if side == "jaxflow" else []
        sides[side] = _process([sys.executable, *launcher, *arguments], folder, path)
    ours, theirs = sides["jaxflow"], sides.get("pytorch")
    return Result(_wrong(program, ours, theirs), ours.seconds, None if theirs is None else theirs.seconds)


def _filled(command: str) -> str:
    return command.format(python=shlex.quote(sys.executable), scripts=shlex.quote(str(HERE / "scripts")))


def _process(command: str | list[str], folder: pathlib.Path, path: list[str]) -> Ended:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1",
           "MPLBACKEND": "agg"}
    done = subprocess.run(command, cwd=folder, env=env, shell=isinstance(command, str), capture_output=True,
                          text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ended(done.returncode, done.stdout, done.stderr, seconds)


def _wrong(program: Program, ours: Ended, theirs: Ended | None) -> str:
    for side, ended in (("in PyTorch ", theirs), ("", ours)):
        if ended is not None and ended.status:
            last = (ended.err.strip().splitlines() or [""])[-1]
            return f"{side}exit status {ended.status}, not 0: {last}"
    if theirs is None or program.compare == "status":
        return ""
    tolerance = program.tolerance if program.compare == "numbers" else None
    mine, others = (re.sub(program.ignore, " ", out) if program.ignore else out
                    for out in (ours.out, theirs.out))
    return different(mine, others, tolerance)


def different(ours: str, theirs: str, tolerance: float | None) -> str:
    """'' where two texts say the same; else the first line that does not. None: numbers do not count.

    Addresses of objects never count.
    """
    mine, others = (_ADDRESS.sub("0x", text).splitlines() for text in (ours, theirs))
    for at in range(max(len(mine), len(others))):
        a, b = (lines[at] if at < len(lines) else "(no line)" for lines in (mine, others))
        if _words(a) != _words(b) or tolerance and not _near(_numbers(a), _numbers(b), tolerance):
            return f"line {at + 1}: {a!r}, in PyTorch {b!r}"
    return ""


def _words(line: str) -> list[str]:
    return _NUMBER.sub(" # ", line).split()


def _numbers(line: str) -> list[float]:
    return [float(x) for x in _NUMBER.findall(line)]


def _near(ours: list[float], theirs: list[float], tolerance: float) -> bool:
    return all(a == b or math.isnan(a) and math.isnan(b)
               or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance / 10)
               for a, b in zip(ours, theirs, strict=True))
