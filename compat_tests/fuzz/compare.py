"""Comparing two logs: the first difference is the finding, what follows may only be its echo."""

import dataclasses

import numpy as np
import torch

from compat_tests import judge

from .interpret import Facts

# Faults of PyTorch itself: with some empty complex views, and for the real 0-d tensor that was written into a
# complex one by index (whose gradient it gets right where ``copy_`` is called by name). Nothing is specified.
FAULTS = ("INTERNAL ASSERT FAILED", "Expected isFloatingType(grad.scalar_type())")


# PyTorch finds this out after it has written.
SPOILED = "Inplace update to inference tensor"


@dataclasses.dataclass(frozen=True)
class Difference:
    """Where the logs part: the statement, the kind of fact, and both sides."""

    code: str
    kind: str
    where: str
    torch: object
    jaxflow: object

    def __str__(self):
        return (
            f"after  {self.code}\n{self.kind} of {self.where} differs\n"
            f"    torch    {self.torch}\n    jaxflow  {self.jaxflow}"
        )


def first_difference(expected, actual, exact=None):
    """The first `Difference` between torch's log and jaxflow's, or None.

    ``exact`` gives torch's log in double precision; see NOTE [Judged by float64].
    """
    for i, (e, a) in enumerate(zip(expected, actual, strict=False)):
        if e.code != a.code:
            return Difference(e.code, "path", "the program", e.code, a.code)
        if e.error and any(fault in e.error[1] for fault in FAULTS):
            return None
        if e.error != a.error:
            return Difference(e.code, "error", "the statement", e.error, a.error)
        if e.error and SPOILED in e.error[1]:
            return None
        if e.facts.keys() != a.facts.keys():
            return Difference(e.code, "pool", "names", sorted(e.facts), sorted(a.facts))
        errors = [f for f in (e.error, *e.facts.values()) if isinstance(f, tuple)]
        if any(fault in text for _, text in errors for fault in FAULTS):
            return None
        for name in e.facts:
            inner = exact and (lambda i=i, name=name: exact()[i].facts[name])
            found = _facts(e.code, name, e.facts[name], a.facts[name], inner)
            if found:
                return found
    if len(expected) != len(actual):
        return Difference("the end", "path", "the log", len(expected), len(actual))
    return None


def _facts(code, name, expected, actual, exact):
    if not (isinstance(expected, Facts) and isinstance(actual, Facts)):
        same = expected == actual
        return None if same else Difference(code, "access", name, expected, actual)
    for field in dataclasses.fields(Facts):
        e, a = getattr(expected, field.name), getattr(actual, field.name)
        if isinstance(e, np.ndarray) and isinstance(a, np.ndarray):
            if not _close(e, a, exact and (lambda field=field: getattr(exact(), field.name))):
                return Difference(code, field.name, name, e.tolist(), a.tolist())
        elif e is not a and e != a:
            return Difference(code, field.name, name, e, a)
    return None


def _close(expected, actual, exact):
    try:
        judge.assert_close(torch.from_numpy(actual), torch.from_numpy(expected),
                           exact and (lambda: torch.from_numpy(exact())))
    except AssertionError:
        return False
    return True
