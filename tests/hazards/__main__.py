"""``python -m tests.hazards HARNESS``: run a harness from the command line; README.md says what each does."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile

HARNESSES = ("interrupts", "signals", "finalizers", "threads", "failures", "stateful")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hazards", description=__doc__)
    parser.add_argument("harness", choices=HARNESSES)
    parser.add_argument("--seed", type=int, default=0, help="of the numbers, and of the sample")
    parser.add_argument("--count", type=int, help="how many to try of each scenario; all if not given")
    parser.add_argument("--mode", action="append", help="an executor; may be repeated; all if not given")
    parser.add_argument("--scenario", action="append", help="its name; may be repeated; all if not given")
    parser.add_argument("--resume", metavar="FILE", help="results so far; those are not tried again")
    parser.add_argument("--point", metavar="ID", help="try this one alone, as the report names it")
    options = parser.parse_args()
    if options.resume is None:
        # A run that hangs is ended and gone on with by a fresh process, which has to know what is done.
        options.resume = os.path.join(tempfile.mkdtemp(), "results.jsonl")
        sys.argv += ["--resume", options.resume]
    # Before jaxflow is imported: small compiles dominate, and are twice as quick without LLVM's optimiser.
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
    return importlib.import_module(f".{options.harness}", __package__).main(options)


if __name__ == "__main__":
    sys.exit(main())
