"""Names that two or more of the surveyed repositories use and that are not here, by subject."""

import pathlib

PATH = pathlib.Path(__file__).with_name("absent.txt")


_HEAD = """
## Names that are not here

Functions, methods and classes that two or more repositories of a survey use and that jaxflow does not have.
Using one is an AttributeError or an ImportError. A name that libraries import may be there; then
calling it is a NotImplementedError.

| subject | names |
| --- | --- |
"""


def subjects():
    """Subject to the names of ``absent.txt`` under it."""
    found = {}
    for line in PATH.read_text("utf-8").splitlines():
        if line.startswith("# "):
            names = found.setdefault(line.removeprefix("# "), [])
        elif line:
            names.append(line)
    return found


def section():
    """The part of ``docs/compatibility.md`` about them."""
    text = _HEAD
    for subject, names in subjects().items():
        text += f"| {subject} | {', '.join(f'`{name}`' for name in names)} |\n"
    return text
