"""``torch.ops.aten``: operations by the names of PyTorch's operator library.

``ops.aten.add`` is the public operation ``add``, and each of its overloads (``ops.aten.add.Tensor``) is too:
which one is meant follows from the arguments. Prefixes of the library's flat names stand for namespaces
(``linalg_``, ``fft_``, ``special_``).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ._core.tensor import Tensor as _Tensor
from ._publish.composite import COMPOSITES as _COMPOSITES

_PREFIXES = ("linalg_", "fft_", "special_")


class OpOverload:
    """One overload of an operation, distinguished by its name alone."""

    def __init__(self, packet: OpOverloadPacket, name: str) -> None:
        self.overloadpacket, self._overload = packet, name
        self.__name__ = f"{packet.__name__}.{name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def name(self) -> str:
        """The qualified name, ``aten::add.Tensor``; without the overload's where that is the default."""
        ending = "" if self._overload == "default" else f".{self._overload}"
        return f"aten::{self.overloadpacket.__name__}{ending}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self.overloadpacket.__name__}', overload='{self._overload}')>"


class OpOverloadPacket:
    """An operation of the library; its overloads are attributes."""

    def __init__(self, name: str, fn: Callable) -> None:
        self.__name__, self._fn = name, fn
        self.__doc__ = fn.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "self" in kwargs:  # the library's word for what the public functions call input
            args = (kwargs.pop("self"), *args)
        return self._fn(*args, **kwargs)

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__"):
            raise AttributeError(name)
        overload = OpOverload(self, name)
        setattr(self, name, overload)
        return overload

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"

    __str__ = functools.partialmethod(lambda self: f"aten.{self.__name__}")


class _Aten:
    """The operations of the library, looked up at their first use."""

    def __getattr__(self, name: str) -> OpOverloadPacket:
        fn = None if name.startswith("__") else _find(name)
        if fn is None:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        packet = OpOverloadPacket(name, fn)
        setattr(self, name, packet)
        return packet

    def __repr__(self) -> str:
        return "<module 'torch.ops.aten'>"


def _find(name: str) -> Callable | None:
    """What is public under a name of the library, in the order of likelihood; None for nothing."""
    package = sys.modules[__package__]
    own = _COMPOSITES.get(("ops.aten", name))
    if own is not None:
        return own.fn
    places: list = [(package, name), (_Tensor, name), (package.nn.functional, name)]
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            places.append((getattr(package, prefix[:-1]), name.removeprefix(prefix)))
    found = (getattr(place, known, None) for place, known in places)
    return next((fn for fn in found if callable(fn) and not isinstance(fn, type)), None)


aten = _Aten()
