"""Tables from names of public functions to what they do with tensors that have parts, and what fills them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jaxflow._core.tensor import Tensor

#: What PyTorch's operators are called where Python's name is another one.
OPERATORS = dict(__rtruediv__="reciprocal", __rpow__="pow.Scalar", __and__="bitwise_and",
                 __or__="bitwise_or", __xor__="bitwise_xor", __invert__="bitwise_not", __mod__="remainder")


def entered(table: dict[str, Callable], names: tuple[str, ...]) -> Callable[[Callable], Callable]:
    """A decorator that enters a function into a table under these names. ValueError where one is taken."""
    def declare(fn: Callable) -> Callable:
        for name in names:
            if name in table:
                raise ValueError(f"{name!r} is declared twice")
            table[name] = fn
        return fn
    return declare


def tensors_in(args: tuple, kwargs: dict) -> Iterator[Tensor]:
    """The tensors among arguments, those in lists too."""
    for x in (*args, *kwargs.values()):
        for t in x if x.__class__ in (list, tuple) else (x,):
            if isinstance(t, Tensor):
                yield t
