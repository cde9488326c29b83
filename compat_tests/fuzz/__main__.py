"""Random programs over all operators, on torch and on jaxflow.

    python -m compat_tests.fuzz --seed 0 --count 1000                  # interpreted, a thousand of them
    python -m compat_tests.fuzz --mode mixed --count 10000 --ledger    # as `make fuzz`, noted and resumed
    python -m compat_tests.fuzz --program 17 --mode compiled           # show and run one
    python -m compat_tests.fuzz --kinds values,grad,dtype,shape        # only what is wrong without a word
"""

import argparse
import collections
import sys
import time
import warnings

from compat_tests import setting  # noqa: F401  before jaxflow is imported

from . import ledger
from .compare import KINDS, LOUD
from .program import text
from .runner import MODES, found_by, mode_of

#: So many programs are done before the ledger is written again.
CHUNK = 50


def main():
    """Returns the exit code: 1 if the libraries disagreed on any program."""
    options = _options()
    warnings.simplefilter("ignore")
    if options.program is not None:
        return _show(options.program, options)
    first, now = options.seed, ledger.commit()
    skipped = ledger.done(now, options.mode, first) if options.ledger else 0
    causes = collections.defaultdict(list)
    started = time.perf_counter()
    done = noted = wrong = silent = 0
    before = 0, 0
    for seed in range(first + skipped, first + options.count):
        found = found_by(seed, options.mode, shrink=not options.quick, kinds=options.kinds)
        done += 1
        if found:
            wrong += 1
            silent += found.wrong.kind not in LOUD
            causes[found.cause].append(seed)
            if len(causes[found.cause]) <= options.show:
                sys.stdout.write(f"\n{found}\n")
                sys.stdout.flush()
        if done - noted == CHUNK or seed == first + options.count - 1:
            sys.stderr.write(f"{done} programs, {wrong} wrong, {silent} of them without a word, "
                             f"{time.perf_counter() - started:.0f} s\n")
            if options.ledger:
                ledger.noted(now, options.mode, first, done - noted, wrong - before[0], silent - before[1])
            noted, before = done, (wrong, silent)
    for cause, seeds in sorted(causes.items(), key=_harm):
        sys.stdout.write(f"{len(seeds):5} {cause}: {' '.join(map(str, seeds[:8]))}\n")
    last = first + options.count - 1
    sys.stdout.write(f"seeds {first + skipped} to {last}, {options.mode}: {done} programs, {wrong} wrong, "
                     f"{silent} of them without a word\n")
    return 1 if wrong else 0


def _harm(item):
    """The most harmful kind first, then what was found most often."""
    cause, seeds = item
    return KINDS.index(cause.split()[0]), -len(seeds)


def _options():
    parser = argparse.ArgumentParser(prog="python -m compat_tests.fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--count", type=int, default=300, help="how many programs, one seed after the other")
    parser.add_argument("--mode", choices=(*MODES, "mixed"), default="interpreter")
    parser.add_argument("--program", type=int, metavar="SEED", help="show the program of a seed, and run it")
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=KINDS, help=", ".join(KINDS))
    parser.add_argument("--show", type=int, default=1, help="findings of each cause to show in full")
    parser.add_argument("--quick", action="store_true", help="shrink nothing")
    parser.add_argument("--ledger", action="store_true",
                        help=f"note the run in {ledger.PATH.name}, and go on with it")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"no such kinds: {', '.join(sorted(unknown))}")
    return options


def _show(seed, options):
    _, draw = MODES[mode_of(seed, options.mode)]
    program, rounds = draw(seed)
    sys.stdout.write(f"sizes {rounds}\n{text(program, sizes=rounds[0])}\n\n")
    found = found_by(seed, options.mode, shrink=not options.quick, kinds=options.kinds)
    sys.stdout.write(f"{found or 'alike'}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
