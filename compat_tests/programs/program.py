"""A row of `programs.toml`: how a program is had, what is run, and what of it is compared."""

from __future__ import annotations

import pathlib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
COMPARED = {
    "numbers": "what is printed, numbers to a tolerance",
    "form": "what is printed, without the numbers, which are others at each run",
    "status": "the exit status",
}


class Program(NamedTuple):
    """One program.

    Attributes:
        name: unique, by which it is chosen.
        command: the arguments of Python: ``main.py --epochs 1``. ``{scripts}`` is our folder of scripts.
        compare: a key of `COMPARED`.
        source: where it comes from: ``https://github.com/owner/name@commit``, ``pypi:name==version``, or
            nothing for a script of ours.
        files: the only files of the repository that are had, for one that is too large to be had whole.
        folder: where in it the command is run.
        prepare: commands that are run there once before, by the shell; ``{python}`` is Python.
        packages: what of the package index it imports, installed without what those name as needed; a name of
            the table ``sets`` stands for all that the set lists.
        tolerance: of numbers, relative.
        ignore: a regular expression; what it finds in a line is not compared, such as times.
        waits: the one thing that jaxflow lacks for it; such a row is not run unless it is named.
        alone: why it is run by jaxflow alone, where PyTorch cannot run it here.
    """

    name: str
    command: str
    compare: str = "numbers"
    source: str = ""
    files: tuple[str, ...] = ()
    folder: str = "."
    prepare: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    tolerance: float = 1e-3
    ignore: str = ""
    waits: str = ""
    alone: str = ""


def programs() -> list[Program]:
    """All rows.

    Raises:
        ValueError: for a row that is no program, or a name that is there twice.
    """
    with open(HERE / "programs.toml", "rb") as file:
        table = tomllib.load(file)
    found = []
    for row in table["program"]:
        try:
            each = Program(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()})
        except TypeError as error:
            raise ValueError(f"programs.toml: {row.get('name')}: {error}") from None
        each = each._replace(packages=listed(each.packages, table["sets"]))
        if each.compare not in COMPARED or any(each.name == other.name for other in found):
            raise ValueError(f"programs.toml: {each.name}: another program of this name, or compare is not "
                             f"one of {', '.join(COMPARED)}")
        found.append(each)
    return found


def listed(packages: Iterable[str], sets: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Packages, those of a set in place of its name, each once; a set may name sets."""
    found: dict[str, None] = {}
    for package in packages:
        found.update(dict.fromkeys(listed(sets[package], sets) if package in sets else (package,)))
    return tuple(found)
