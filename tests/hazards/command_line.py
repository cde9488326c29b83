"""What the command lines of the harnesses share: each mode, the report, going on where something hangs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable

from .report import Results


def performed(harness: str, options: argparse.Namespace, modes: Iterable[str], *runs: Callable,
              one: Callable[[], str] | None = None) -> int:
    """Try a point, or what there is to try, and print what came of it; the exit status: 1 if it is wrong.

    ``runs`` are called with each mode and the results; ``one`` says what comes of ``options.point``. After a
    run in which something hangs a fresh process goes on.
    """
    if options.point and one is not None:
        print(one())
        return 0
    results = Results(options.resume)
    for mode in options.mode or modes:
        for run in runs:
            before = len(results.wrong)
            run(mode, results)
            if any(row["kind"] == "hung" for row in results.wrong[before:]):
                os.execv(sys.executable, [sys.executable, "-m", "tests.hazards", *sys.argv[1:]])
    point = " --point" if one is not None else ""
    print(results.text(f"python -m tests.hazards {harness} --seed {options.seed}{point}"))
    return 1 if results.wrong else 0
