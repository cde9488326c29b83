"""Summaries of measurements, and where they are written."""

import json
import os
import pathlib
import platform
import statistics

RESULTS = pathlib.Path(__file__).parent / "results"


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
        "load_at_end": round(os.getloadavg()[0], 2),
    }


def write(name, title, result, text):
    """Keep `result` as JSON and `text` (Markdown) under ``results/``, and print the text."""
    RESULTS.mkdir(exist_ok=True)
    shape = machine()
    note = f"{shape['cores']} cores, {shape['architecture']}, Python {shape['python']}"
    page = f"# {title}\n\n{note}.\n\n{text}\n"
    (RESULTS / f"{name}.md").write_text(page)
    content = {"machine": shape, **result}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    print(page)
