"""Run random programs by the thousand: ``python -m compat_tests.fuzz --help``."""

import argparse
import collections
import sys
import time

import jax

import jaxflow

from .runner import check


def main():
    """Returns the exit code: 1 if the libraries disagreed on any program."""
    parser = argparse.ArgumentParser(prog="python -m compat_tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--executor", choices=("deferred", "eager"), default="deferred")
    parser.add_argument("--stop-after", type=int, default=10, help="findings to show in full")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options = parser.parse_args()
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    started = time.perf_counter()
    kinds = collections.Counter()
    shown = done = 0
    for seed in range(options.seed, options.seed + options.programs):
        finding = check(seed, jaxflow, options.executor, shrink=shown < options.stop_after)
        done += 1
        if finding:
            kinds[finding.difference.kind] += 1
            if shown < options.stop_after:
                shown += 1
                print(f"\n{finding}", flush=True)
        spent = time.perf_counter() - started
        progress = f"{done}/{options.programs} programs, {kinds.total()} disagree, {spent:.0f} s"
        if sys.stderr.isatty():
            print(f"\r{progress}", end="", file=sys.stderr, flush=True)
        elif done % 100 == 0:
            print(progress, file=sys.stderr, flush=True)
        if spent > options.seconds:
            break
    print(
        f"seeds {options.seed} to {options.seed + done - 1}, {options.executor}: "
        f"{done} programs, {kinds.total()} disagree {dict(kinds) or ''}"
    )
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
