"""Questions about sizes that may be symbols: here they are numbers, and the answers are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["GuardOnDataDependentSymNode", "free_symbols", "free_unbacked_symbols", "guard_bool",
           "guard_float",
           "guard_int", "guard_or_false", "guard_or_true", "has_free_symbols", "has_free_unbacked_symbols",
           "hint_int", "is_concrete_bool", "is_concrete_float", "is_concrete_int", "is_symbolic",
           "statically_known_true", "sym_eq"]


class GuardOnDataDependentSymNode(RuntimeError):
    """What PyTorch raises where an ``if`` hangs on values of tensors; jaxflow raises it nowhere."""


def _known(kind: type, document: str) -> Callable[..., Any]:
    def answer(a: Any, *args: Any) -> Any:
        return kind(a)

    answer.__doc__ = document
    return answer


def _constant(value: Callable[[], Any], document: str) -> Callable[..., Any]:
    def answer(a: Any) -> Any:
        return value()

    answer.__doc__ = document
    return answer


_YES = "``a`` itself as a bool: it is known."
guard_or_false = _known(bool, _YES)
guard_or_true = _known(bool, _YES)
guard_bool = _known(bool, _YES)
statically_known_true = _known(bool, _YES)
guard_int = _known(int, "``a`` itself as an int: it is known.")
hint_int = _known(int, "``a`` itself as an int: it is known.")
guard_float = _known(float, "``a`` itself as a float: it is known.")

free_symbols = _constant(set, "An empty set: no size is a symbol.")
free_unbacked_symbols = _constant(set, "An empty set: no size is a symbol.")
has_free_symbols = _constant(bool, "False: no size is a symbol.")
has_free_unbacked_symbols = _constant(bool, "False: no size is a symbol.")
is_symbolic = _constant(bool, "False: no size is a symbol.")
is_concrete_int = _constant(lambda: True, "True: every size is a number.")
is_concrete_float = _constant(lambda: True, "True: every size is a number.")
is_concrete_bool = _constant(lambda: True, "True: every size is a number.")

for _name in __all__[1:-1]:
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name


def sym_eq(x: Any, y: Any) -> bool:
    """Whether two numbers, or two sequences of them, are equal."""
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        return len(x) == len(y) and all(a == b for a, b in zip(x, y, strict=True))
    return x == y


class ShapeEnv:
    """Symbols for sizes in PyTorch; making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("torch.fx.experimental.symbolic_shapes.ShapeEnv is not supported: sizes "
                                  "are numbers")
