"""Results of a harness, one JSON line each, so that a run can be broken off and gone on with."""

from __future__ import annotations

import json
import pathlib
from collections import Counter, defaultdict
from typing import Any

RIGHT, UNREACHED = "right", "unreached"


class Results:
    """What was tried and what came of it; appended to ``path``, where that is given, as it comes."""

    def __init__(self, path: str | None = None) -> None:
        self.path = pathlib.Path(path) if path else None
        self.rows: list[dict[str, Any]] = []
        if self.path is not None and self.path.exists():
            self.rows = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        self.done = {row["id"] for row in self.rows}

    def add(self, **row: Any) -> None:
        """Keep a row: ``id`` (what to ask for to see it again), ``kind``, ``where``, ``detail``."""
        row["detail"] = " ".join(row["detail"].split())
        self.rows.append(row)
        self.done.add(row["id"])
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    @property
    def wrong(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["kind"] not in (RIGHT, UNREACHED)]

    def counts(self) -> Counter:
        return Counter(row["kind"] for row in self.rows)

    def text(self, again: str, most: int = 40) -> str:
        """The counts, and each place where something went wrong with the command that shows it again."""
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.counts().most_common())
        lines = [f"{len(self.rows)} tried, {len(self.wrong)} wrong: {kinds or 'nothing'}"]
        groups: dict[str, Counter] = defaultdict(Counter)
        for row in self.rows:
            groups[row["group"]][row["kind"]] += 1
        for name, counter in groups.items():
            lines.append(f"  {name}: {dict(counter)}")
        places: dict[tuple[str, str], list] = defaultdict(list)
        for row in self.wrong:
            places[row["kind"], row["where"]].append(row)
        ranked = sorted(places.items(), key=lambda item: -len(item[1]))
        for (kind, where), rows in ranked[:most]:
            lines.append(f"{len(rows):5} {kind} at {where}: {rows[0]['detail'][:160]}")
            lines.append(f"      {again} '{rows[0]['id']}'")
        if len(ranked) > most:
            lines.append(f"  and {len(ranked) - most} places more")
        return "\n".join(lines)
