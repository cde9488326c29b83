"""`docs/programs.md`, made of the rows of `programs.toml` and of what came of them."""

from __future__ import annotations

import json
from typing import Any

from .program import COMPARED, HERE, Program

RESULTS = HERE / "results.json"
PAGE = HERE.parent.parent / "docs" / "programs.md"
_HEAD = """\
# Programs, as they are

Printed by `python -m compat_tests.programs --write` (`make programs`) from
`compat_tests/programs/programs.toml` and what came of its rows; do not edit. Each program is run by
`python program` on PyTorch {torch} and by `python -m jaxflow program` on jaxflow, with the same arguments,
unchanged. Time is the processor's, of one process, start and compilation included: jaxflow's, with the cache
of compiled programs that it found, divided by PyTorch's. `OMP_NUM_THREADS` is 1, as waiting threads count.

| program | state | compared | time, of PyTorch's |
| --- | --- | --- | --- |
"""


def results() -> dict[str, Any]:
    """What came of each program the last time, by its name."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def write(rows: list[Program], found: dict[str, Any], torch: str) -> None:
    """Keep results, of programs that there still are, and print the page from them."""
    kept = {row.name: found[row.name] for row in rows if row.name in found and not row.waits}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(_HEAD.format(torch=torch) + "".join(line(row, kept.get(row.name)) for row in rows),
                    encoding="utf-8")


def line(row: Program, result: dict[str, Any] | None) -> str:
    """The row of the page for a program and what came of it."""
    title = f"`{row.name}`: `{row.command}`"
    if row.source:
        title += f", {row.source}"
    state, time = "not run yet", ""
    if row.waits:
        state = f"waits for {row.waits}"
    elif result is not None:
        state = result["wrong"].replace("|", "\\|") or "runs"
        if result["pytorch"]:
            time = f"{result['jaxflow'] / result['pytorch']:.2f} ({result['pytorch']:.1f} s)"
        else:
            time = f"({result['jaxflow']:.1f} s)"
    return f"| {title} | {state} | {row.alone or COMPARED[row.compare]} | {time} |\n"
