"""``python -m benchmarks [name ...] [--quick]``: run the benchmarks, all of them by default."""

import argparse
import importlib

NAMES = ("gpt_step", "micro", "memory", "memory_models", "cold_start", "engine", "transforms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="which (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it works")
    parser.add_argument("--only", action="append", help="a contender to take part; may be repeated")
    args = parser.parse_args()
    for name in args.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        module.main(quick=args.quick, only=args.only)


if __name__ == "__main__":
    main()
