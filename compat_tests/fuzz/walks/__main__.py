"""Walking: see the package."""

import argparse
import collections
import sys
import time

from compat_tests import setting  # noqa: F401  before jaxflow is imported

from .. import machine
from ..compare import KINDS, LOUD
from . import __doc__ as about
from .programs import WALKS
from .worker import steps


def main():
    """Returns the exit code: 1 if the libraries disagreed anywhere."""
    options = _options()
    counts = collections.Counter()
    started = time.perf_counter()
    for step in steps(vars(options)):
        counts["programs"] += 1
        counts["crashes"] += step.crashed
        if step.kind is not None:
            counts["wrong"] += 1
            counts["silent"] += step.kind not in LOUD
        if step.line:
            sys.stdout.write(step.line + "\n")
            sys.stdout.flush()
    part, parts = options.part
    sys.stdout.write(f"{options.walk}, part {part} of {parts}: {counts['programs']} programs, "
                     f"{counts['wrong']} wrong, {counts['silent']} of them without a word, "
                     f"{counts['crashes']} ended the process, {time.perf_counter() - started:.0f} s\n")
    return 1 if counts["wrong"] else 0


def _part(word):
    part, parts = map(int, word.split("/"))
    return part, parts


def _options():
    parser = argparse.ArgumentParser(prog="python -m compat_tests.fuzz.walks", description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("walk", choices=WALKS)
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/N", help="one of N parts")
    parser.add_argument("--names", nargs="*", help="these operators, with all their variants")
    parser.add_argument("--dtypes", nargs="*", default=["float32"], help="dtypes of the samples")
    parser.add_argument("--mode", choices=machine.MODES, default="interpreter")
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=KINDS, help=", ".join(KINDS))
    parser.add_argument("--seed", type=int, default=0, help="of the programs around operators")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
