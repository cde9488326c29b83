"""``python -m jaxflow --check``: the names of torch in a program that jaxflow lacks or treats differently.

Files are read, not run. Names are followed from the imports of torch through attributes; of what is called on
a value whose class only a run would show, the names of PyTorch's tensor methods are looked at.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import os
import sys
import tokenize
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from .advice import DIFFERENT, INSTEAD, METHODS
from .names import is_pytorchs

_OF_IMPORTS = frozenset("ImportError ModuleNotFoundError AttributeError Exception BaseException".split())


class Finding(NamedTuple):
    """A name of torch in a file, what is the matter with it, and what to do."""

    path: str
    line: int
    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}: {self.what}"


def main(paths: Sequence[str]) -> int:
    """Print what is found in files and folders; 0 for nothing, 1 for something, 2 for bad arguments."""
    missing = [path for path in paths if not os.path.exists(path)]
    if missing or not paths:
        what = f"no such file or folder: {missing[0]}" if missing else "--check needs files or folders"
        print(f"python -m jaxflow: {what}", file=sys.stderr)
        return 2
    files = sorted({file for path in paths for file in _files(path)})
    found = [finding for file in files for finding in check_file(file)]
    for finding in found:
        print(finding, file=sys.stdout)
    said = f"{len(found)} to look at" if found else "nothing that jaxflow lacks or treats differently"
    print(f"{len(files)} files: {said}", file=sys.stderr)
    return int(bool(found))


def _files(path: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = [f for f in folders if not f.startswith(".") and not _is_environment(folder, f)]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))


def _is_environment(folder: str, name: str) -> bool:
    return name == "__pycache__" or os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def check_file(path: str) -> list[Finding]:
    """What is found in one file, by line; a file that is no Python is one finding."""
    try:
        with tokenize.open(path) as file:
            return check_source(file.read(), path)
    except (SyntaxError, UnicodeDecodeError) as error:
        return [Finding(path, getattr(error, "lineno", None) or 1, "-", f"cannot be read: {error}")]


def check_source(source: str, path: str = "<source>") -> list[Finding]:
    """What is found in the text of a program, by line.

    Raises:
        SyntaxError: for what is no Python.
    """
    tree = ast.parse(source, path)
    guarded = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) and _catches_imports(node)
               for statement in node.body for inner in ast.walk(statement)}
    uses = list(_imports(tree))
    bound = {local: name for _, local, name in uses if local}
    uses += _attributes(tree, bound)
    found = {Finding(path, node.lineno, name, what) for node, _, name in uses
             if id(node) not in guarded and (what := about(name)) is not None}
    return sorted(found, key=lambda f: (f.line, f.name))


def _catches_imports(node: ast.Try) -> bool:
    """Whether a program that misses a name there has another way."""
    for handler in node.handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(kind is None or isinstance(kind, ast.Name) and kind.id in _OF_IMPORTS for kind in kinds):
            return True
    return False


def _imports(tree: ast.AST) -> Iterator[tuple[Any, str, str]]:
    """The imports of torch: (node, the local name that is bound, the name of torch)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_torch(alias.name):
                    yield node, alias.asname or "", alias.name
                    if alias.asname is None:  # ``import torch.nn`` binds torch
                        yield node, "torch", "torch"
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_torch(node.module or ""):
            for alias in node.names:
                if alias.name == "*":
                    yield node, "", node.module
                else:
                    yield node, alias.asname or alias.name, f"{node.module}.{alias.name}"


def _is_torch(name: str) -> bool:
    return name.partition(".")[0] == "torch"


def _attributes(tree: ast.AST, bound: dict[str, str]) -> Iterator[tuple[Any, str, str]]:
    """Names of torch that are reached by attributes, and methods that only tensors have."""
    inner: set[int] = set()
    for node in ast.walk(tree):  # a chain of attributes comes before its parts
        if not isinstance(node, ast.Attribute) or id(node) in inner:
            continue
        names, value = [node.attr], node.value
        while isinstance(value, ast.Attribute):
            inner.add(id(value))
            names.insert(0, value.attr)
            value = value.value
        if isinstance(value, ast.Name) and value.id in bound:
            yield node, "", ".".join([bound[value.id], *names])
        else:
            yield from ((node, "", f"Tensor.{name}") for name in names if name in METHODS)


def about(name: str) -> str | None:
    """What is the matter with a dotted name that begins with ``torch``, or ``Tensor.`` for a method.

    None where jaxflow has it as PyTorch has it.
    """
    if name.startswith("Tensor."):
        return f"jaxflow's tensors have no such method; {_advice(name)}"
    place, x = "torch", sys.modules["jaxflow"]
    for part in name.split(".")[1:]:
        inside = _attribute(place, x, part)
        if inside is None:
            return f"jaxflow has no {place}.{part}; {_advice(name, place, part, x)}"
        place, x = f"{place}.{part}", inside[0]
        if place in DIFFERENT:
            return DIFFERENT[place]
    if refuses(x):
        return f"raises NotImplementedError when it is called; {_advice(name)}"
    return None


def refuses(x: Any) -> bool:
    """Whether a function or class raises NotImplementedError at every call, as its annotation says."""
    called = (x.__new__, x.__init__) if isinstance(x, type) else (x,)
    return any(getattr(f, "__annotations__", {}).get("return") == "NoReturn" for f in called)


def _attribute(place: str, x: Any, part: str) -> tuple[Any] | None:
    """``x.part``, which may be a module that is not imported yet."""
    if place == "torch" and not is_pytorchs(part):
        return None
    found = getattr(x, part, None)
    if found is not None or hasattr(x, part):
        return (found,)
    if not isinstance(x, ModuleType):
        return None
    own = "jaxflow" + place.removeprefix("torch") + "." + part
    try:
        return (importlib.import_module(own),)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{own}.".startswith(f"{error.name}."):
            raise
        return None


def _advice(name: str, place: str = "", part: str = "", x: Any = None) -> str:
    """What to do about a name: what is written for the longest beginning of it, or the names like it."""
    names = name.split(".")
    for length in range(len(names), 0, -1):
        found = INSTEAD.get(".".join(names[:length]))
        if found is not None:
            return found
    public = [n for n in dir(x) if not n.startswith("_")]
    close = difflib.get_close_matches(part, public, 1) if part[:1].isalpha() else []
    return f"is {place}.{close[0]} what you need?" if close else "docs/compatibility.md says what there is"
