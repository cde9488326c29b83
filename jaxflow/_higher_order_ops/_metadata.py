"""What the functions of a loop return, held against what they were given."""

from __future__ import annotations

from typing import NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow._dynamo.exc import UncapturedHigherOrderOpError


def refuse(why: str) -> NoReturn:
    """Raise what PyTorch raises where the function of a control flow operator is not one that it takes."""
    raise UncapturedHigherOrderOpError(why)


def same_metadata(name: str, before: list, after: list) -> None:
    """Refuse other shapes, dtypes and devices than were carried in, or another number of results."""
    a, b = list(map(_metadata, before)), list(map(_metadata, after))
    if a != b:
        refuse(f"Expected {name} and what it was given to have same metadata but found: {b} and {a}")


def _metadata(x: object) -> object:
    return (tuple(x.shape), x.dtype, x.device) if isinstance(x, Tensor) else type(x)
