"""``IterDataPipe`` and ``MapDataPipe``, and how pipes become methods of each other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..dataset import Dataset, IterableDataset

_T_co = TypeVar("_T_co", covariant=True)
_ITER: dict[str, Callable] = {}
_MAP: dict[str, Callable] = {}


class _Pipe:
    """What both kinds have: functions that are registered are methods of every pipe."""

    functions: dict[str, Callable]

    def __getattr__(self, name: str) -> Any:
        if name in type(self).functions:
            return functools.partial(type(self).functions[name], self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}")

    @classmethod
    def register_function(cls, function_name: str, function: Callable) -> None:
        """Make a function of a pipe a method of all."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name: str, cls_to_register: type,
                                      enable_df_api_tracing: bool = False) -> None:
        """Make a method of all pipes that makes one of a class; Exception where there is one of that name."""
        if function_name in cls.functions:
            raise Exception(  # noqa: TRY002  (PyTorch's type)
                f"Unable to add DataPipe function name {function_name} as it is already taken")
        if enable_df_api_tracing:
            raise NotImplementedError("functional_datapipe: enable_df_api_tracing is not supported: there "
                                      "are no pipes of data frames.")
        cls.functions[function_name] = cls_to_register

    def __repr__(self) -> str:
        return type(self).__qualname__

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).functions]


class IterDataPipe(_Pipe, IterableDataset[_T_co]):
    """A dataset that is iterated; subclasses give ``__iter__``. Several iterations may be under way.

    Example:
        >>> from jaxflow.utils.data.datapipes.iter import IterableWrapper
        >>> list(IterableWrapper(range(5)).filter(lambda x: x != 2).map(lambda x: x + 1).batch(2))
        [[1, 2], [4, 5]]
    """

    functions = _ITER

    def reset(self) -> None:
        """Called by programs before they iterate anew; nothing is kept here."""


class MapDataPipe(_Pipe, Dataset[_T_co]):
    """A dataset of samples by index; subclasses give ``__getitem__``, mostly ``__len__`` as well.

    Example:
        >>> from jaxflow.utils.data.datapipes.map import SequenceWrapper
        >>> SequenceWrapper([1, 2, 3]).map(lambda x: x * 2)[1]
        4
    """

    functions = _MAP


class functional_datapipe:
    """Decorates a class of pipes: every pipe of its kind gets a method that makes one of it.

    Args:
        name: the method's name.
        enable_df_api_tracing: refused: there are no pipes of data frames.

    Raises:
        Exception: when it decorates, for a name that is taken.
        TypeError: when it decorates, for what is no class of pipes.

    Example:
        >>> from jaxflow.utils.data import IterDataPipe, functional_datapipe
        >>> from jaxflow.utils.data.datapipes.iter import IterableWrapper
        >>> @functional_datapipe("squared_for_the_example")
        ... class Squared(IterDataPipe):
        ...     def __init__(self, source):
        ...         self.source = source
        ...     def __iter__(self):
        ...         return (x * x for x in self.source)
        >>> list(IterableWrapper([1, 2, 3]).squared_for_the_example())
        [1, 4, 9]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: type) -> type:
        kind = next((k for k in (IterDataPipe, MapDataPipe) if isinstance(cls, type) and issubclass(cls, k)),
                    None)
        if kind is None:
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe and MapDataPipe")
        kind.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        return cls
