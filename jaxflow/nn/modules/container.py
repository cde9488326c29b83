"""Modules that hold modules: in a chain, in a list, in a dict."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Self

from jaxflow.nn.modules._parameter_containers import ParameterDict as ParameterDict
from jaxflow.nn.modules._parameter_containers import ParameterList as ParameterList
from jaxflow.nn.modules._parameter_containers import as_pairs
from jaxflow.nn.modules.module import Module


class _Numbered(Module):
    """Children under the names ``"0"``, ``"1"``, ..., with what lists can do."""

    def _position(self, index: int) -> int:
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return index % len(self)

    def _renumber(self, modules: Iterable[Module]) -> None:
        modules = list(modules)
        self._modules.clear()
        for i, module in enumerate(modules):
            self._modules[str(i)] = module

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def pop(self, key: int | slice) -> Module:
        """Remove a child and return it."""
        module = self[key]
        del self[key]
        return module


_NO_CONTAINER = ("`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. "
                 "Subclass that instead.")


class Container(Module):
    """A module of the given children, without a ``forward``: from before PyTorch's other containers.

    Args:
        kwargs: modules by name; None stands for a name without a module.

    Raises:
        TypeError: for something that is not a module.

    Example:
        >>> issubclass(nn.Container, nn.Module)  # to make one is a FutureWarning
        True
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        warnings.warn(_NO_CONTAINER, FutureWarning, stacklevel=2)
        super().__init_subclass__(**kwargs)

    def __init__(self, **kwargs: Any) -> None:
        if type(self) is Container:
            warnings.warn(_NO_CONTAINER, FutureWarning, stacklevel=2)
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(_Numbered):
    """Calls its children one after the other, each on what the one before returned.

    It can be indexed, sliced, added and repeated like a list.

    Args:
        args: the modules in order, or one OrderedDict of them by name.

    Raises:
        TypeError: for something that is not a module.

    Example:
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(12, 3), nn.ReLU())
        >>> model(torch.zeros(2, 3, 4)).shape
        torch.Size([2, 3])
        >>> model[1:]
        Sequential(
          (1): Linear(in_features=12, out_features=3, bias=True)
          (2): ReLU()
        )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """The last child's result."""
        for module in self:
            input = module(input)
        return input

    def _name_at(self, index: int) -> str:
        return list(self._modules)[self._position(index)]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                delattr(self, name)
        else:
            delattr(self, self._name_at(index))
        self._renumber(self._modules.values())

    def __add__(self, other: Sequential) -> Sequential:
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        _check_sequential(other)
        return self.extend(list(other))

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*_repeated(self, other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(_repeated(self, other)[len(self):])

    def append(self, module: Module) -> Self:
        """Add a module at the end; return this container."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before position ``index``; return this container.

        Raises:
            AssertionError: when ``module`` is no module.
            IndexError: when the position is out of range.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index if index >= 0 else index + n, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end; return this container."""
        for module in sequential:
            self.append(module)
        return self


def _check_sequential(other: object) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )


def _repeated(modules: Sequential, times: int) -> list[Module]:
    if not isinstance(times, int):
        raise TypeError(
            f"unsupported operand type(s) for *: {type(modules)} and {type(times)}"
        )
    if times <= 0:
        raise ValueError(f"Non-positive multiplication factor {times} for {type(modules)}")
    return list(modules) * times


class ModuleList(_Numbered):
    """Modules in a list: registered as children, called by whoever holds the list.

    Args:
        modules: the modules in order.

    Raises:
        TypeError: when ``modules`` cannot be iterated over, or holds something that is not a module.

    Example:
        >>> layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        >>> x = torch.zeros(3, 4)
        >>> for layer in layers:
        ...     x = layer(x)
        >>> x.shape
        torch.Size([3, 4])
        >>> layers.append(nn.ReLU())
        ModuleList(
          (0-1): 2 x Linear(in_features=4, out_features=4, bias=True)
          (2): ReLU()
        )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[str(self._position(index))]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, str(self._position(index)), module)

    def __delitem__(self, index: int | slice) -> None:
        if not isinstance(index, slice):
            index = self._position(index)
        modules = list(self)
        del modules[index]
        self._renumber(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)

    def append(self, module: Module) -> Self:
        """Add a module at the end; return this list."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Add a module before position ``index``."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; return this list.

        Raises:
            TypeError: when ``modules`` cannot be iterated over.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        """Runs of children that print alike are printed once, with their count."""
        runs: list[list] = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in runs:
            indented = text.replace("\n", "\n  ")
            if first == last:
                lines.append(f"  ({first}): {indented}\n")
            else:
                lines.append(f"  ({first}-{last}): {last - first + 1} x {indented}\n")
        return f"{self._get_name()}(\n{''.join(lines)})"


class ModuleDict(Module):
    """Modules in a dict: registered as children, called by whoever holds the dict.

    Args:
        modules: a mapping, or pairs of name and module. Names are strings without a dot that are not yet
            attributes of the dict.

    Raises:
        TypeError: when ``modules`` is neither a mapping nor pairs, or holds something that is not a module.
        ValueError: when something in it is not of length two.
        KeyError: for a name that cannot be used.

    Example:
        >>> heads = nn.ModuleDict({"classes": nn.Linear(4, 10), "boxes": nn.Linear(4, 2)})
        >>> {name: head(torch.zeros(3, 4)).shape for name, head in heads.items()}
        {'classes': torch.Size([3, 10]), 'boxes': torch.Size([3, 2])}
        >>> "masks" in heads, len(list(heads.parameters()))
        (False, 4)
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove every child."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove a child and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Pairs of name and module."""
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add or replace children by name.

        Raises:
            TypeError: when ``modules`` is neither a mapping nor pairs.
            ValueError: when something in it is not of length two.
        """
        pairs = as_pairs(modules, ModuleDict, "ModuleDict")
        for name, module in pairs:
            self[name] = module
