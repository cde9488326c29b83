"""``python -m benchmarks [workload ...]``: time contenders beside each other; see README.md."""

import argparse
import importlib
import os
import sys

from . import clock, report, suite
from .contenders import CONTENDERS, SHORT
from .workloads import LONG, WORKLOADS

# Measurements with a shape of their own, that write a page of their own.
PAGES = ("micro", "flat", "engine", "transforms")


def contender(text):
    name = SHORT.get(text, text)
    if name not in CONTENDERS:
        known = ", ".join([*SHORT, *map(repr, CONTENDERS)])
        raise argparse.ArgumentTypeError(f"no contender {text!r}; there are {known}")
    return name


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="workload",
                        help=f"default: all of {', '.join([*WORKLOADS, *PAGES])}")  # fmt: skip
    parser.add_argument("--quick", action="store_true",
                        help="five minutes: the shorter rows, short rounds, no pages")  # fmt: skip
    parser.add_argument("--only", action="append", type=contender, metavar="CONTENDER",
                        help=f"take part: {', '.join(SHORT)}; may be repeated")  # fmt: skip
    parser.add_argument("--rounds", type=int, help="how many rounds (default 9, with --quick 2)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--batch", type=int, help="examples in a batch, in place of the workload's own")
    parser.add_argument("--out", help="folder for table, JSON and chart (default: benchmarks/results)")
    parser.add_argument("--lowest", action="store_true",
                        help="ratios of lowest times, not medians: for a busy machine")  # fmt: skip
    parser.add_argument("--cpu-time", action="store_true",
                        help="processor time in place of the wall's clock: for a busy machine")  # fmt: skip
    parser.add_argument("--explain", action="store_true", help="print jaxflow.explain() of each workload")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in WORKLOADS and name not in PAGES]
    if unknown:
        parser.error(f"no workload {unknown[0]!r}; there are {', '.join([*WORKLOADS, *PAGES])}")
    everything = [name for name in WORKLOADS if not (args.quick and name in LONG)]
    chosen = [name for name in args.names or everything if name in WORKLOADS]
    failed = 0
    if args.cpu_time:
        os.environ[clock.VARIABLE] = "cpu"
    if args.lowest:
        report.STATISTIC["used"] = "low"
    if chosen:
        failed = suite.run(chosen, args.only, args.quick, args.rounds, args.out, args.explain,
                           device=args.device, dtype=args.dtype, batch=args.batch)  # fmt: skip
    for name in args.names or (() if args.quick else PAGES):
        if name in PAGES:
            print(importlib.import_module(f"benchmarks.{name}").main(args.quick, args.only))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
