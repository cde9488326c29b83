"""Sweep PyTorch's operator table; see the package's docstring.

    python -m compat_tests.ops                       # every record, every dtype, a few samples of each
    python -m compat_tests.ops abs linalg            # some records, or all of a namespace
    python -m compat_tests.ops --samples all --jobs 4 --part 1/3 --resume    # everything, in parts
    python -m compat_tests.ops --write               # ... and write the ledger and docs/compatibility.md
    python -m compat_tests.ops --samples all --dtypes float32 --write    # what more samples show, besides
    python -m compat_tests.ops --table               # only print docs/compatibility.md from the ledger anew
"""

import argparse
import functools
import json
import sys
import time

from compat_tests import setting
from compat_tests.ops import ledger, table, workers
from compat_tests.ops.records import DTYPES, SAMPLES, chosen
from compat_tests.ops.sweep import line_of

RESULTS = setting.CACHE / "ops"
#: So few records are swept in the command's own process.
FEW = 10


def main():
    """Run the command line; the exit status says whether anything that the ledger calls green failed."""
    args = _arguments()
    if args.table:
        table.write(ledger.read())
        return 0
    wanted = chosen(args.records)
    part, parts = map(int, args.part.split("/"))
    wanted = wanted[part - 1 :: parts]
    folder = RESULTS / ("all" if args.samples is None else str(args.samples))
    folder.mkdir(parents=True, exist_ok=True)
    lines = {}
    for key in wanted:
        stored = _stored(folder, key)
        if args.resume and stored.exists():
            lines[key] = json.loads(stored.read_text("utf-8"))
    left = [key for key in wanted if key not in lines]
    _sweep_all(left, args, folder, lines, len(wanted))
    if args.write:
        _write(lines, args)
    sys.stdout.write(table.totals(lines))
    return _report_news(lines, args.dtypes)


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m compat_tests.ops", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="*", help="keys of records, or namespaces; default: all")
    parser.add_argument("--dtypes", type=lambda s: s.split(","), default=list(DTYPES))
    parser.add_argument("--samples", type=lambda s: None if s == "all" else int(s), default=SAMPLES,
                        help="samples of each record and dtype, or 'all'")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="take every N-th record only")
    parser.add_argument("--resume", action="store_true", help="keep the results that are there already")
    parser.add_argument("--write", action="store_true", help="write the ledger and docs/compatibility.md")
    parser.add_argument("--table", action="store_true", help="print docs/compatibility.md from the ledger")
    args = parser.parse_args()
    if args.write and args.samples is not None and (args.samples, args.dtypes) != (SAMPLES, list(DTYPES)):
        parser.error(f"--write takes all dtypes at {SAMPLES} samples, or all samples")
    return args


def _stored(folder, key):
    return folder / (key.replace("/", "@") + ".json")


def _sweep_all(left, args, folder, lines, total):
    start = time.monotonic()

    def done(key, line, seconds):
        lines[key] = line
        _stored(folder, key).write_text(json.dumps(line), "utf-8")
        sys.stderr.write(f"[{len(lines)}/{total} {time.monotonic() - start:5.0f} s] {key} ({seconds:.1f} s) "
                         f"{table.state(line)}\n")
        for check, reasons in line.get("failed", {}).items():
            for dtype, reason in reasons.items():
                sys.stderr.write(f"    {check} {dtype}: {reason}\n")

    if args.jobs == 1 and len(left) <= FEW:
        for key in left:
            done(key, *line_of(key, args.dtypes, args.samples))
        return
    work = functools.partial(line_of, wanted=args.dtypes, samples=args.samples)
    failed = {"crash": {"": workers.DIED}}
    workers.each(left, work, done, args.jobs,
                 lambda key: done(key, {"record": key, "ran": {}, "failed": failed}, 0))


def _write(lines, args):
    known = ledger.read() if ledger.PATH.exists() else {}
    for key, line in lines.items():
        if args.samples is None:
            known[key] = ledger.deepened(known[key], line, args.dtypes)
        else:
            known[key] = ledger.refreshed(line, known.get(key, {}))
    ledger.write(known)
    table.write(known)


def _report_news(lines, dtypes):
    """Say what fares otherwise than the ledger has it; 1 if something failed that it calls green."""
    known = ledger.read()
    worse = 0
    for key, line in sorted(lines.items()):
        was, now = (ledger.failures(at.get(key, {}), dtypes) for at in (known, lines))
        deep = ledger.failures({"failed": known.get(key, {}).get("deep", {})}, dtypes)
        for unit in sorted(now - was - deep):
            worse = 1
            sys.stdout.write(f"new failure: {key} {' '.join(unit)}\n")
        for unit in sorted(was & ledger.units(line, dtypes) - now):
            sys.stdout.write(f"passes now: {key} {' '.join(unit)}\n")
    return worse


if __name__ == "__main__":
    sys.exit(main())
