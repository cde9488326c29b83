"""``python -m compat_tests.programs [name ...] [--write]``: run programs on PyTorch and on jaxflow.

Without names: all that wait for nothing. Exit status 1 where one of them is not the same.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import torch

from . import page
from .program import HERE, programs
from .run import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m compat_tests.programs", description=__doc__)
    parser.add_argument("names", nargs="*", help="programs, or beginnings of their names")
    parser.add_argument("--write", action="store_true", help="keep results, and print docs/programs.md")
    parser.add_argument("--cache", type=pathlib.Path, default=HERE.parent.parent / ".cache" / "programs",
                        help="where sources and packages are kept")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    rows = programs()
    chosen = [r for r in rows if r.name.startswith(tuple(options.names))] if options.names else [
        r for r in rows if not r.waits]
    found, failed = page.results(), 0
    for row in chosen:
        try:
            result = run(row, options.cache)
        except OSError as error:
            print(f"{row.name}: cannot be had: {error}", file=sys.stderr, flush=True)
            failed += 1
            continue
        failed += bool(result.wrong)
        found[row.name] = {k: round(v, 2) if isinstance(v, float) else v for k, v in result._asdict().items()}
        print(f"{row.name}: {result.wrong or 'runs'}; {found[row.name]}", flush=True)
        if options.write:
            page.write(rows, found, torch.__version__.partition("+")[0])
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
