"""Storages of layouts other than strided, and who handles tensors that have one.

NOTE [Layouts other than strided]
    A sparse tensor is a Tensor whose storage is a `PartsStorage`: it holds ordinary tensors (indices, values)
    in place of a Value. What reads a Value of it is refused, so that no operation takes it for a dense
    tensor. From the moment that the first one is made, public functions look for such tensors among their
    arguments, as they look for classes that override (NOTE [Overrides are installed late]), and hand the call
    to the table of ``jaxflow._sparse``, which computes with ordinary operations on the parts. Code below it
    that meets such tensors (the engine, a look-up with a sparse gradient) finds the functions for it in
    `HANDLERS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from operator import setitem
from typing import Any

from .tensor import Tensor
from .value import Storage, Value

#: What is done with tensors of other layouts, by name; ``jaxflow._sparse`` fills it when it is loaded, and so
#: do ``jaxflow._masked``, ``jaxflow._nested`` and ``jaxflow._quantized``, each put over the one before:
#: NOTE [Tensors with a mask], NOTE [Nested tensors], NOTE [Quantized tensors].
HANDLERS: dict[str, Callable] = {}

_PACKAGE = __package__.partition(".")[0]


class NotStrided(NotImplementedError):
    """An operation was given a tensor of another layout, and there is none of it for that layout."""


class PartsStorage(Storage):
    """What a tensor of another layout shows: ``parts``, a tuple that is replaced as a whole."""

    __slots__ = ("parts",)

    def __init__(self, parts: Any) -> None:
        self.parts = parts
        self.epoch = 0
        self.version = [0]

    @property
    def value(self) -> Value:
        """Refused: a tensor of another layout has no array of its elements."""
        if hasattr(self.parts, "ints"):
            raise NotStrided(f"Could not run this operation with arguments from the {QUANTIZED!r} backend: "
                             "call dequantize() first")
        if hasattr(self.parts, "mask"):
            raise NotStrided("Could not run this operation on a MaskedTensor: call to_tensor(value) first")
        if hasattr(self.parts, "instead"):
            raise NotStrided(f"Could not run this operation on a nested tensor: {self.parts.instead}")
        raise NotStrided(
            f"Could not run this operation with arguments from the {backend_of(self.parts)!r} backend: it "
            f"takes strided tensors, and got one of layout {self.parts.layout}. Call to_dense() first")


#: PyTorch's name of what runs operations on quantized tensors.
QUANTIZED = "QuantizedCPU"


def backend_of(parts: Any) -> str:
    """PyTorch's name of what runs operations on tensors of a layout."""
    return "SparseCPU" if parts.layout.name == "sparse_coo" else "SparseCsrCPU"


def has_parts(x: Any) -> bool:
    """Whether ``x`` is a tensor of a layout other than strided."""
    return isinstance(x, Tensor) and x._storage.__class__ is PartsStorage


def among(arguments: Iterable[Any]) -> bool:
    """Whether one of the arguments is such a tensor."""
    for x in arguments:
        if isinstance(x, Tensor) and x._storage.__class__ is PartsStorage:
            return True
    return False


def handler(name: str) -> Callable:
    """A function of ``jaxflow._sparse`` and those put over it, which are loaded when first needed."""
    for package in ("_sparse", "_masked", "_nested", "_quantized"):
        if name not in HANDLERS:
            importlib.import_module(f"{_PACKAGE}.{package}")
    return HANDLERS[name]


def parts_rows(storage: PartsStorage, parts: Any) -> list[tuple]:
    """The stores that replace the parts of a storage: NOTE [One C call]."""
    return [(setattr, storage, "parts", parts), (setattr, storage, "epoch", storage.epoch + 1),
            (setitem, storage.version, 0, storage.version[0] + 1)]
