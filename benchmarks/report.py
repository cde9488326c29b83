"""Summaries of measurements, and where they are written."""

import importlib.metadata
import json
import math
import os
import pathlib
import platform
import statistics

from . import clock, targets
from .contenders import CONTENDERS, PYTORCH, REFERENCES
from .workloads import WORKLOADS

ROOT = pathlib.Path(__file__).resolve().parent
RESULTS = ROOT / "results"


# What stands for a contender in ratios: the median, or on a machine that does other things the lowest.
STATISTIC = {"used": "median"}


def summary(samples):
    """Median, lowest and highest of a list of numbers."""
    return {"median": statistics.median(samples), "low": min(samples), "high": max(samples)}


def spread(result, scale=1.0, digits=1):
    """``31.0 (29.8 to 33.1)``."""
    median, low, high = (result[key] * scale for key in ("median", "low", "high"))
    return f"{median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def table(headings, rows):
    """A Markdown table; every cell is printed with `str`."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def machine():
    """What of the machine a reader needs to know to compare."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("torch", "jax", "jaxlib", "numpy", "jaxflow")},
        "load_at_end": round(os.getloadavg()[0], 2),
    }


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def write(name, title, result, text, folder=None):
    """Keep `result` as JSON and `text` (Markdown) in a folder (``results/``); the page."""
    folder = pathlib.Path(folder or RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    shape = machine()
    versions = ", ".join(f"{name} {number}" for name, number in shape["versions"].items() if number)
    note = f"{shape['cores']} cores, {shape['architecture']}, Python {shape['python']}, {versions}"
    page = f"# {title}\n\n{note}.\n\n{text}\n"
    (folder / f"{name}.md").write_text(page)
    content = {"machine": shape, **result}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    return page


def suite(results, rounds, out, failures, setting):
    """The table of all workloads, the chart, and what failed."""
    from . import chart
    clock_used = "Processor time" if os.environ.get(clock.VARIABLE) == "cpu" else "Times"
    note = (
        f"{clock_used}: median of {rounds} rounds (lowest to highest), the contenders taking turns, each in a"
        f" process of its own; then the {STATISTIC['used']} over that of the others. Numbers agree;"
        f" where a contender did not take part the reason stands in its row. {setting.get('device')},"
        f" {setting.get('dtype')}{', --quick' if setting.get('quick') else ''}"
        f"{', batch {}'.format(setting['batch']) if setting.get('batch') else ''}."
    )
    headings = ["workload", "contender", "time", *(f"/ {name}" for name in REFERENCES), "target"]
    rows = []
    for name, contenders in results.items():
        title = f"{WORKLOADS[name].title} (`{name}`)"
        for contender in contenders:
            rows.append([title, contender, *cells(name, contender, contenders)])
            title = ""
    text = f"{note}\n\n" + table(headings, rows)
    kept = memory(results)
    if kept:
        text += (
            "\n\n## Memory of a training step\n\nPeak live bytes without the data: PyTorch's allocator"
            " reports them, XLA plans them when it compiles. Resident is the whole process, libraries and"
            " data included.\n\n"
        )
        text += table(["workload", "contender", "peak MB", f"/ {PYTORCH}", "between steps", "resident"], kept)
    reached = judged(results)
    if reached:
        count = sum(row[-1] == "reached" for row in reached)
        text += f"\n\n## Targets: {count} of {len(reached)} reached\n\n" + table(
            ["workload", "contender", "against", "at most", "measured", ""], reached
        )
    folder = pathlib.Path(out) if out else RESULTS
    text += "\n\n" + chart.draw(results, folder / "suite.png")
    if failures:
        text += "\n\n## Failed\n\n" + "\n".join(f"- {failure}" for failure in failures)
    content = {"rounds": rounds, "setting": setting, "workloads": results, "failures": failures}
    return write("suite", "Benchmarks", content, text, folder)


def cells(workload, contender, contenders):
    found = contenders[contender]
    if "median" not in found:
        return [f"left out: {found['left_out']}", *[""] * len(REFERENCES), ""]
    ratios = [ratio(contenders, contender, other) for other in REFERENCES]
    held = []
    for other, most in targets.of(workload, contender):
        measured = ratio(contenders, contender, other)
        if measured is not None:
            held.append(f"{most:.2f} of {other}: {verdict(measured, most)}")
    shown = ["" if r is None else f"{r:.2f}" for r in ratios]
    return [time_of(found, WORKLOADS[workload].unit), *shown, "; ".join(held)]


def time_of(found, unit):
    """Three digits of the median, and as many of the extremes."""
    scale = {"s": 1, "ms": 1e3, "us": 1e6}[unit]
    digits = max(0, 2 - math.floor(math.log10(max(found["median"] * scale, 1e-9))))
    return f"{spread(found, scale, min(digits, 4))} {unit}"


def ratio(contenders, one, other):
    found, reference = contenders.get(one, {}), contenders.get(other, {})
    if "median" not in found or "median" not in reference:
        return None
    return found[STATISTIC["used"]] / reference[STATISTIC["used"]]


def verdict(measured, most):
    return "reached" if measured <= most else "not reached"


def judged(results):
    """A row for every target that was measured."""
    rows = []
    for workload, contender, other, most in targets.ALL:
        measured = ratio(results.get(workload, {}), contender, other)
        if measured is not None:
            shown = f"{most:.2f}", f"{measured:.2f}", verdict(measured, most)
            rows.append([workload, contender, other, *shown])
    for workload, contender, _, over in peaks(results):
        if over is not None and CONTENDERS[contender].library == "jaxflow":
            shown = f"{targets.MEMORY:.2f}", f"{over:.2f}", verdict(over, targets.MEMORY)
            rows.append([f"{workload}, peak live bytes", contender, PYTORCH, *shown])
    return rows


def peaks(results):
    """Workload, contender, bytes found, and the peak over PyTorch's (None where one of them is not known)."""
    for workload, contenders in results.items():
        reference = contenders.get(PYTORCH, {}).get("memory", {}).get("peak")
        for contender, found in contenders.items():
            if "memory" in found:
                own = found["memory"]["peak"]
                yield workload, contender, found["memory"], own / reference if own and reference else None


def memory(results):
    """A row for every contender whose memory was measured."""
    rows = []
    for workload, contender, found, over in peaks(results):
        sizes = [f"{found[key] / 1e6:.1f}" if found[key] else "" for key in ("peak", "state", "resident")]
        rows.append([workload, contender, sizes[0], "" if over is None else f"{over:.2f}", *sizes[1:]])
    return rows
