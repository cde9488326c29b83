"""Functions made of others that were given tensors of PyTorch: their errors say what to do.

See NOTE [Two kinds of tensors]. As long as PyTorch is not imported, nothing here runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FunctionType

from jaxflow._core import torchs
from jaxflow._core.tensor import Tensor

from .composite import COMPOSITES
from .overrides import explain_errors_of

_PACKAGE = __package__.partition(".")[0]

_SPECIAL = ("__getitem__", "__setitem__", "__contains__")


def _explaining(name: str) -> Callable:
    def explain(error: Exception, args: tuple, kwargs: dict) -> None:
        if "torch.from_dlpack" not in str(error) and torchs.has_torchs((*args, *kwargs.values())):
            raise torchs.refusal(name) from error

    return explain


def _functions() -> Iterator[tuple[FunctionType, str]]:
    """The functions that are no operations themselves, and their names."""
    for composite in COMPOSITES.values():
        if isinstance(composite.fn, FunctionType):
            yield composite.fn, composite.name
    for name, x in vars(sys.modules[f"{_PACKAGE}.nn.functional"]).items():
        if isinstance(x, FunctionType) and not hasattr(x, "__op__"):
            yield x, name
    for name, x in vars(sys.modules[f"{_PACKAGE}.nn"]).items():
        forward = vars(x).get("forward") if isinstance(x, type) else None
        if isinstance(forward, FunctionType):
            yield forward, f"{name}.forward"
    for name, x in vars(Tensor).items():
        if isinstance(x, property):
            if isinstance(x.fset, FunctionType):
                yield x.fset, name
        elif isinstance(x, FunctionType) and not hasattr(x, "__op__") and (
                name in _SPECIAL or not name.startswith("_")):
            yield x, name


def _explain() -> None:
    """Let the errors of these functions be looked at."""
    for fn, name in list(_functions()):
        if name not in torchs.TAKE_ANYTHING:
            explain_errors_of(fn, _explaining(name))


torchs.on_met.append(_explain)
