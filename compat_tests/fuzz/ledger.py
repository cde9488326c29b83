"""The ledger of runs: which programs of which commit were run, and how many of them went wrong."""

import csv
import dataclasses
import pathlib
import subprocess

PATH = pathlib.Path(__file__).parent / "ledger.csv"


@dataclasses.dataclass
class Row:
    """One run: ``count`` programs from the seed ``first`` on, at a commit, in a mode.

    Of the ``wrong`` ones those that are ``silent`` gave another result without a word. In the others one
    library raised what the other did not, or in other words. None in ``silent``: nobody counted them.
    """

    commit: str
    mode: str
    first: int
    count: int
    wrong: int
    silent: int | None = None


NAMES = [field.name for field in dataclasses.fields(Row)]


def commit():
    """The commit that is run, with a plus where files differ from it."""
    here = pathlib.Path(__file__).parent

    def git(*words):
        run = subprocess.run(["git", "-C", str(here), *words], capture_output=True, text=True, check=True)
        return run.stdout

    changed = [line for line in git("status", "--porcelain", "--untracked-files=no").splitlines()
               if not line.endswith(PATH.name)]
    return git("rev-parse", "--short=12", "HEAD").strip() + ("+" if changed else "")


def read(path=PATH):
    """The rows there are."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Row(r["commit"], r["mode"], *(int(r[n]) for n in ("first", "count", "wrong")),
                    int(r["silent"]) if r["silent"] else None) for r in csv.DictReader(file)]


def write(rows, path=PATH):
    """Write all rows anew."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, NAMES, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(dataclasses.asdict, rows))


def noted(now, mode, first, count, wrong, silent, path=PATH):
    """Note that ``count`` more programs of a run were done; where the run has a row, it grows."""
    rows = read(path)
    for row in rows:
        if (row.commit, row.mode, row.first) == (now, mode, first):
            row.count += count
            row.wrong += wrong
            row.silent = None if row.silent is None else row.silent + silent
            break
    else:
        rows.append(Row(now, mode, first, count, wrong, silent))
    write(rows, path)


def done(now, mode, first, path=PATH):
    """How many programs of a run are done."""
    return sum(row.count for row in read(path) if (row.commit, row.mode, row.first) == (now, mode, first))
