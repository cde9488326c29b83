"""PyTorch's operators as its own schemas declare them: every public form of a call.

A row is a path (``special.xlogy``, ``Tensor.add_``) with the forms of its call: names, types and defaults of
the parameters. Nothing is listed by hand but what is left out, in ``left_out.txt``, each with its reason.
"""

import collections
import dataclasses
import fnmatch
import functools
import pathlib
import types

import torch

import jaxflow

_NAMESPACES = (("special_", "special"), ("linalg_", "linalg"), ("fft_", "fft"))
#: Types of parameters that cannot be drawn: of other layouts, of TorchScript, of the autograd engine.
_FOREIGN = ("Dict", "t", "Storage", "Stream", "CellParams", "tVal", "Optional[List[Optional[Tensor]]]",
            "Dimname")


@dataclasses.dataclass(frozen=True)
class Argument:
    """A parameter: ``default`` is a value, or `REQUIRED`."""

    name: str
    type: str
    default: object
    by_name: bool
    written: bool


REQUIRED = object()


@dataclasses.dataclass(frozen=True)
class Form:
    """One form of a call; ``outs`` are the parameters of ``out=``."""

    arguments: tuple
    outs: tuple

    @property
    def writes(self):
        """Whether it writes into its first operand."""
        return bool(self.arguments) and self.arguments[0].written


def left_out():
    """Patterns of names that no program calls, each with its reason."""
    found = {}
    for line in (pathlib.Path(__file__).parent / "left_out.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            patterns, _, reason = line.partition(": ")
            found.update((p, reason) for p in patterns.split())
    return found


@functools.cache
def table():
    """Path to forms, of everything that can be drawn."""
    found = collections.defaultdict(list)
    patterns = list(left_out())
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        if name == schema.name or name.startswith("_") or any(fnmatch.fnmatch(name, p) for p in patterns):
            continue
        form = _form(schema)
        if form is None:
            continue
        for path in _paths(name):
            if path.startswith("Tensor.") and form.outs:
                continue
            found[path].append(form)
    return dict(sorted(found.items()))


def _form(schema):
    arguments = []
    for a in schema.arguments:
        kind = str(a.real_type)
        if any(word in kind.replace("[", " ").replace("]", " ").split() or word == kind for word in _FOREIGN):
            return None
        written = a.alias_info is not None and a.alias_info.is_write
        default = a.default_value if a.has_default_value() else REQUIRED
        arguments.append(Argument(a.name, kind, default, a.kwarg_only, written))
    outs = tuple(a for a in arguments if a.written and a.by_name)
    others = tuple(a for a in arguments if a not in outs)
    if not any("Tensor" in a.type for a in others) or any(a.name == "generator" for a in others):
        return None
    return Form(others, outs)


def _paths(name):
    places = [(name, torch, ""), (name, torch.Tensor, "Tensor."),
              (name, torch.nn.functional, "nn.functional.")]
    for prefix, module in _NAMESPACES:
        if name.startswith(prefix):
            places.append((name.removeprefix(prefix), getattr(torch, module), module + "."))
    for short, theirs, prefix in places:
        found = getattr(theirs, short, None)
        # What is written in Python has a signature of its own: samples call it.
        if callable(found) and not isinstance(found, (types.FunctionType, type)):
            yield prefix + short


#: Names that jaxflow has only to say that it cannot: XLA has no complex numbers of half precision.
REFUSED = ("chalf",)


@functools.cache
def present(path):
    """Whether jaxflow has a name; the table has all, so that a new one changes no other program."""
    if path.rpartition(".")[2] in REFUSED:
        return False
    try:
        functools.reduce(getattr, path.split("."), jaxflow)
    except AttributeError:
        return False
    return True
