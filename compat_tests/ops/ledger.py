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


def deepened(line, deeper, names):
    """A line with what all samples of some dtypes showed.

    Units that fail there only stand under ``deep``; the dtypes of which all samples were seen under ``all``.
    """
    known = failures(line, _all_dtypes(line))
    found = _without(line.get("deep", {}), names)
    for check, reasons in deeper.get("failed", {}).items():
        for dtype, reason in reasons.items():
            if dtype and (check, dtype) not in known:
                found.setdefault(check, {})[dtype] = reason
    return _with_deep(line, found, {*line.get("all", "").split(), *names} & _all_dtypes(line))


def refreshed(line, known):
    """A line of a few samples that takes the place of ``known``, with what all samples showed then."""
    now = failures(line, _all_dtypes(line))
    found = {check: {name: reason for name, reason in reasons.items() if (check, name) not in now}
             for check, reasons in known.get("deep", {}).items()}
    return _with_deep(line, found, set(known.get("all", "").split()))


def _with_deep(line, found, names):
    found = {check: reasons for check, reasons in found.items() if reasons}
    result = {k: v for k, v in line.items() if k not in ("deep", "all")}
    if found:
        result["deep"] = found
    if names:
        result["all"] = " ".join(sorted(names))
    return result


def _without(deep, names):
    return {check: {name: reason for name, reason in reasons.items() if name not in names}
            for check, reasons in deep.items()}


def _all_dtypes(line):
    return {name for names in line.get("ran", {}).values() for name in names.split()}
