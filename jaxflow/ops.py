"""``torch.ops``: operations by the names of PyTorch's operator library, and operators that were registered.

``ops.aten.add`` is the public operation ``add``, and each of its overloads (``ops.aten.add.Tensor``) is too:
which one is meant follows from the arguments. Prefixes of the library's flat names stand for namespaces
(``linalg_``, ``fft_``, ``special_``, ``_sparse_``). Every other namespace holds what `library` registered
there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ._core.tensor import Tensor as _Tensor
from ._operators import libraries as _libraries
from ._operators import registry as _registry
from ._publish.composite import COMPOSITES as _COMPOSITES

_PREFIXES = {"linalg_": "linalg", "fft_": "fft", "special_": "special", "_sparse_": "sparse"}


class OpOverload:
    """One overload of an operation, distinguished by its name alone."""

    def __init__(self, packet: OpOverloadPacket, name: str) -> None:
        self.overloadpacket, self._overload, self.namespace = packet, name, packet.namespace
        self.__name__ = f"{packet.__name__}.{name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def name(self) -> str:
        """The qualified name, ``aten::add.Tensor``; without the overload's where that is the default."""
        ending = "" if self._overload == "default" else f".{self._overload}"
        return f"{self.namespace}::{self.overloadpacket.__name__}{ending}"

    def __repr__(self) -> str:
        where = f"{self.namespace}.{self.overloadpacket.__name__}"
        return f"<OpOverload(op='{where}', overload='{self._overload}')>"

    @property
    def _schema(self) -> Any:
        """What it takes, of an operator that was registered; of those of PyTorch's library there is none."""
        operator = _registry.find(self.name())
        if operator is None:
            raise AttributeError(f"jaxflow keeps no schema of {self.name()}")
        return operator.schema


class OpOverloadPacket:
    """An operation of the library; its overloads are attributes."""

    def __init__(self, name: str, fn: Callable, namespace: str = "aten") -> None:
        self.__name__, self._fn, self.namespace = name, fn, namespace
        self.__doc__ = fn.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # The library's word for what the public functions call input.
        if "self" in kwargs and self.namespace == "aten":
            args = (kwargs.pop("self"), *args)
        return self._fn(*args, **kwargs)

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.namespace != "aten" and name != "default":
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        overload = OpOverload(self, name)
        setattr(self, name, overload)
        return overload

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def overloads(self) -> list[str]:
        """The names of its overloads; of an operation of PyTorch's library those that were used."""
        used = [n for n, x in vars(self).items() if isinstance(x, OpOverload)]
        return used if self.namespace == "aten" else ["default"]


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
    for prefix, module in _PREFIXES.items():
        if name.startswith(prefix):
            places.append((getattr(package, module), name.removeprefix(prefix)))
    found = (getattr(place, known, None) for place, known in places)
    return next((fn for fn in found if callable(fn) and not isinstance(fn, type)), None)


class _OpNamespace:
    """The operators that were registered in a namespace."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        operator = None if name.startswith("__") else _registry.find(f"{self._name}::{name}")
        if operator is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return OpOverloadPacket(name, operator, self._name)

    def __dir__(self) -> list[str]:
        return _registry.names(self._name)

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self._name}'>"


#: The paths of the libraries that were loaded.
loaded_libraries = _libraries.loaded


def load_library(path: str) -> None:
    """Register the operators of a compiled library, of those few that jaxflow has operators of its own for.

    Under ``python -m jaxflow`` these are torchvision's. Nothing that is compiled against PyTorch is loaded.

    Args:
        path: the library's path.

    Returns:
        None.

    Raises:
        OSError: for every other library, as PyTorch does for one that cannot be loaded.

    Example:
        >>> try:
        ...     torch.ops.load_library("mine.so")
        ... except OSError:
        ...     print("not loaded")
        not loaded
    """
    _libraries.load(path)


aten = _Aten()


def __getattr__(name: str) -> _OpNamespace:
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
    globals()[name] = _OpNamespace(name)
    return globals()[name]
