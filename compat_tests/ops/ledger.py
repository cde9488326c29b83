"""What the sweep saw, a line a record; see NOTE [Ledger]."""

import json
import pathlib

PATH = pathlib.Path(__file__).with_name("ledger.jsonl")


def entry(key, found):
    """A record's line of the ledger."""
    if found.missing:
        return {"record": key, "missing": True}
    ran, failed = {}, {}
    for (check, dtype) in found.ran:
        if dtype:
            ran.setdefault(check, []).append(dtype)
    for (check, dtype), reason in sorted(found.failed.items()):
        failed.setdefault(check, {})[dtype] = reason
    line = {"record": key, "ran": {check: " ".join(names) for check, names in sorted(ran.items())}}
    if failed:
        line["failed"] = failed
    if found.errors:
        line["errors"] = [found.refused, found.errors]
    return line


def read(path=PATH):
    """The ledger: record to line."""
    return {line["record"]: line for line in map(json.loads, path.read_text("utf-8").splitlines())}


def write(lines, path=PATH):
    """Write a ledger, in the order of the records' names."""
    text = "".join(json.dumps(lines[key]) + "\n" for key in sorted(lines))
    path.write_text(text, "utf-8")


def failures(line, dtypes):
    """The units that a line says fail, of some dtypes and of those that have none."""
    return {(check, dtype) for check, reasons in line.get("failed", {}).items() for dtype in reasons
            if dtype in dtypes or not dtype}


def units(line, dtypes):
    """The units that a line says ran, of some dtypes."""
    return {(check, name) for check, names in line.get("ran", {}).items() for name in names.split()
            if name in dtypes}


def deepened(line, deeper):
    """A line with what more samples showed: units that fail there only stand under ``deep``."""
    known = failures(line, _all_dtypes(line))
    deep = {}
    for check, reasons in deeper.get("failed", {}).items():
        for dtype, reason in reasons.items():
            if (check, dtype) not in known:
                deep.setdefault(check, {})[dtype] = reason
    result = {k: v for k, v in line.items() if k != "deep"}
    return {**result, "deep": deep} if deep else result


def _all_dtypes(line):
    return {name for names in line.get("ran", {}).values() for name in names.split()}
