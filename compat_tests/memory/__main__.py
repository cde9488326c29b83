"""Programs of shared memory on torch and on jaxflow.

    python -m compat_tests.memory --seed 0 --count 300      # each in one mode, in turn
    python -m compat_tests.memory --program 17              # show one, and what differs in every mode
"""

import argparse
import collections
import sys

from compat_tests import setting  # noqa: F401  before jaxflow is imported
from compat_tests.fuzz.minimise import minimise

from .generate import generate
from .run import MODES, first_difference


def main() -> int:
    """Returns 1 if any program differs."""
    parser = argparse.ArgumentParser(prog="python -m compat_tests.memory", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--count", type=int, default=300, help="how many programs")
    parser.add_argument("--program", type=int, metavar="SEED", help="show the program of a seed, and run it")
    parser.add_argument("--wider", action="store_true", help="with other memory, lists of tensors, and out=")
    options = parser.parse_args()
    if options.program is not None:
        lines = generate(options.program, options.wider)
        sys.stdout.write("\n".join(lines) + "\n\n")
        wrong = [mode for mode in MODES if first_difference(lines, mode)]
        for mode in wrong:
            shorter = minimise(lines, lambda part, mode=mode: _is_wrong(part, mode))
            sys.stdout.write("\n".join(["", mode, *shorter, first_difference(shorter, mode) or ""]) + "\n")
        return int(bool(wrong))
    causes = collections.defaultdict(list)
    for seed in range(options.seed, options.seed + options.count):
        difference = first_difference(generate(seed, options.wider), MODES[seed % len(MODES)])
        if difference:
            causes[difference].append(seed)
    for difference, seeds in causes.items():
        sys.stdout.write(f"{' '.join(map(str, seeds))}: {difference}\n")
    wrong = sum(map(len, causes.values()))
    sys.stdout.write(f"{options.count} programs, {wrong} differ\n")
    return int(bool(wrong))


def _is_wrong(lines: list[str], mode: str) -> bool:
    found = first_difference(lines, mode)
    return found is not None and "NameError" not in found  # a name that went with a line


if __name__ == "__main__":
    sys.exit(main())
