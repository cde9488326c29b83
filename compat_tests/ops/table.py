"""``docs/compatibility.md``: the ledger, to be read."""

import collections
import pathlib
import re

from . import absent
from .records import DTYPES, differentiable, dtypes, keys, record, resolve

PATH = pathlib.Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"
REASONS = pathlib.Path(__file__).with_name("reasons.txt")

_HEAD = """\
# Compatibility with PyTorch, operator by operator

Printed by `python -m compat_tests.ops --write` from what the sweep over PyTorch's own operator table
(`op_db` of torch 2.13) saw; do not edit. *Green*: every check of every dtype that PyTorch supports on the CPU
passed. *Partial*: what is listed differs. *Missing*: there is no such function. Compared are values, dtypes
and shapes, gradients and second gradients (in double precision), strided inputs, the eager executor,
`compile` (float32), methods, operators, further names, in-place forms, `out=`, what shares memory, errors.
Three samples of each record and dtype are taken, spread over all that the table has{deep},
and edge cases of them. Random operators draw the same numbers in both libraries after the same seed, so
their values are compared like those of others.

Numbers may differ by torch's own tolerance. Where those of float32, bfloat16, float16 or complex64 differ by
more, PyTorch computes the same in double precision, and right is what is off from that by no more than the
tolerance or twice PyTorch's own error, so that a verdict does not hang on how one processor rounds (NOTE
[Judged by float64] in `compat_tests/judge.py`).
"""


def state(line):
    """``green``, ``partial`` or ``missing``."""
    if line.get("missing"):
        return "missing"
    return "partial" if line.get("failed") or line.get("deep") else "green"


def write(lines):
    """Write the page."""
    PATH.write_text(render(lines), "utf-8")


def render(lines):
    """The page for a ledger."""
    parts = [_HEAD.format(deep=_seen_whole(lines)), "\n## Totals\n\n", totals(lines), _on_host(lines)]
    spaces = collections.defaultdict(list)
    for key in sorted(lines):
        spaces[_namespace(key)].append(key)
    reasons = _reasons()
    for space, members in sorted(spaces.items()):
        parts.append(_section(space, members, lines, reasons))
    parts.append(absent.section())
    return "".join(parts)


def _seen_whole(lines):
    """Of which dtypes all samples of all records were taken, in words."""
    seen = [name for name in DTYPES
            if all(name in line.get("all", "").split() for key, line in lines.items()
                   if name in dtypes(key) and not line.get("missing"))]
    return f" (of {' and '.join(seen)}: all samples)" if seen else ""


def _on_host(lines):
    """The records whose function says, in its docstring, that it runs on the host."""
    found = [key for key, line in sorted(lines.items()) if not line.get("missing")
             and re.search(r"runs (it )?on the host", resolve(key).__doc__ or "", re.IGNORECASE)]
    return ("\nXLA has no algorithm on some platform for what follows: it runs on the host there, in "
            "compiled programs too.\n" + ", ".join(f"`{key}`" for key in found) + ".\n")


def _namespace(key):
    return record(key).name.rpartition(".")[0] or "torch"


def _section(space, members, lines, reasons):
    by_state = collections.defaultdict(list)
    for key in members:
        by_state[state(lines[key])].append(key)
    text = f"\n## {space}\n\n" + ", ".join(
        f"{len(by_state[s])} {s}" for s in ("green", "partial", "missing") if by_state[s]) + ".\n"
    if by_state["green"]:
        text += "\nGreen: " + ", ".join(f"`{k}`" for k in by_state["green"]) + ".\n"
    rest = by_state["partial"] + by_state["missing"]
    if rest:
        text += "\n| record | state | what differs, or why |\n| --- | --- | --- |\n"
        for key in rest:
            text += f"| `{key}` | {state(lines[key])} | {_why(key, lines[key], reasons)} |\n"
    return text


def _why(key, line, reasons):
    words = [reasons[key]] if key in reasons else []
    if not dtypes(key):
        words.append("no dtype on the CPU")
    for kind in ("failed", "deep"):
        for check, found in line.get(kind, {}).items():
            names = " ".join(found)
            reason = _cell(next(iter(found.values())))
            words.append(f"{check}{' (' + names + ')' if names.strip() else ''}: {reason}")
    return "; ".join(words)


def _cell(text):
    return re.sub(r"[|`<>]", " ", text)[:110]


def _reasons():
    """Reasons written by hand for what is not green: record to reason."""
    pairs = (line.split(": ", 1) for line in REASONS.read_text("utf-8").splitlines()
             if line and not line.startswith("#"))
    return dict(pairs)


# ------------------------------------------------------------------------------------------ totals


def totals(lines):
    """The figures of a ledger (or of a part of it) as a table."""
    rows = [
        ("records", *_count(lines, lambda key, line: state(line) == "green")),
        ("float32 value and gradient", *_count(lines, _float32)),
        ("(record, dtype) pairs: value and gradient", *_pairs(lines)),
        ("second gradients", *_count(lines, _second,
                                     lambda key: record(key).supports_gradgrad and _doubles(key))),
        ("in-place forms", *_count(lines, _passed("inplace"), lambda key: bool(_forms(key)))),
        ("`out=` forms", *_count(lines, _passed("out"), lambda key: record(key).supports_out
                                 and bool(dtypes(key)))),
        ("error cases", sum(line.get("errors", [0, 0])[0] for line in lines.values()),
         _error_cases(lines)),
    ]
    text = "| what | green | of | |\n| --- | ---: | ---: | ---: |\n"
    for name, good, of in rows:
        text += f"| {name} | {good} | {of} | {100 * good / of if of else 100:.1f} % |\n"
    return text


def _count(lines, good, counts=lambda key: bool(dtypes(key))):
    counted = [key for key in lines if counts(key)]
    return sum(good(key, lines[key]) for key in counted), len(counted)


def _fine(line, check, dtype):
    return dtype in line.get("ran", {}).get(check, "").split() and not any(
        dtype in line.get(kind, {}).get(check, {}) for kind in ("failed", "deep"))


def _pair(key, line, dtype):
    return _fine(line, "value", dtype) and (
        not _gradient_counts(key, dtype, line) or _fine(line, "gradient", dtype))


def _gradient_counts(key, dtype, line):
    return differentiable(key, dtype) and dtype in line.get("ran", {}).get("gradient", "").split()


def _float32(key, line):
    names = dtypes(key)
    return _pair(key, line, "float32") if "float32" in names else all(_pair(key, line, n) for n in names)


def _pairs(lines):
    pairs = [(key, name) for key in lines for name in dtypes(key)]
    return sum(_pair(key, lines[key], name) for key, name in pairs), len(pairs)


def _doubles(key):
    return any(name in dtypes(key) for name in ("float64", "complex128"))


def _forms(key):
    rec = record(key)
    return dtypes(key) and (rec.inplace_variant or rec.inplace_operator_variant)


def _passed(check):
    def passed(key, line):
        ran = line.get("ran", {}).get(check, "").split()
        return bool(ran) and all(_fine(line, check, name) for name in ran)

    return passed


def _second(key, line):
    """Whether second gradients passed; vacuously where the gradient is a constant, also in PyTorch."""
    if "second" in line.get("ran", {}):
        return _passed("second")(key, line)
    return all(_pair(key, line, name) for name in ("float64", "complex128") if name in dtypes(key))


def _error_cases(lines):
    known = sum(line.get("errors", [0, 0])[1] for line in lines.values())
    missing = [key for key in lines if lines[key].get("missing")]
    return known + sum(len(list(record(key).error_inputs("cpu"))) for key in missing
                       if record(key).error_inputs_func is not None)


def complete(lines):
    """Whether a ledger has a line for every record, and no other."""
    return sorted(lines) == keys()
