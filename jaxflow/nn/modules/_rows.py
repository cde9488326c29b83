"""Modules that are one function call, declared as one row.

``class ELU(Row, function=F.elu, alpha=1.0, inplace=False)`` makes a module whose constructor takes
the fields, in that order and with those defaults, keeps them as attributes, and whose ``forward``
calls ``F.elu(input, alpha=..., inplace=...)``. Its ``repr`` shows the fields; ``inplace`` only when
it is set.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.module import Module

_POSITIONAL = Parameter.POSITIONAL_OR_KEYWORD


class Row(Module):
    """Base of the modules declared in one line; see this file's first lines.

    Args of the declaration:
        function: called with the input, and the fields by name.
        shows: names of the fields in ``repr``, separated by spaces (default: all).
        fields: the constructor's parameters and their defaults.
    """

    _function: Callable
    _fields: dict[str, Any]
    _shows: tuple[str, ...]

    def __init_subclass__(
        cls, function: Callable | None = None, shows: str | None = None, **fields: Any
    ) -> None:
        super().__init_subclass__()
        if function is None:  # a subclass written by hand
            return
        cls._function = staticmethod(function)
        cls._fields = fields
        cls._shows = tuple(fields) if shows is None else tuple(shows.split())

        def __init__(self: Row, *args: Any, **kwargs: Any) -> None:
            Module.__init__(self)
            self.__dict__.update(_bind(f"{cls.__name__}.__init__()", fields, args, kwargs))

        __init__.__signature__ = Signature(
            [
                Parameter("self", _POSITIONAL),
                *(
                    Parameter(name, _POSITIONAL, default=value, annotation=_annotation(value))
                    for name, value in fields.items()
                ),
            ],
            return_annotation=None,
        )
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = __init__

    def forward(self, input: Tensor) -> Tensor:
        """The function of ``input`` and the fields."""
        values = self.__dict__
        return self._function(input, **{name: values[name] for name in self._fields})

    def extra_repr(self) -> str:
        shown = []
        for name in self._shows:
            value = getattr(self, name)
            if name != "inplace":
                shown.append(f"{name}={value!r}" if isinstance(value, str) else f"{name}={value}")
            elif value:
                shown.append("inplace=True")
        return ", ".join(shown)


def _bind(function: str, fields: dict[str, Any], args: tuple, kwargs: dict) -> dict[str, Any]:
    """The fields' values for these arguments, with Python's own complaints when they do not fit."""
    if len(args) > len(fields):
        most = len(fields) + 1  # self is counted
        takes = f"from 1 to {most} positional arguments" if fields else "1 positional argument"
        raise TypeError(f"{function} takes {takes} but {len(args) + 1} were given")
    values = fields | dict(zip(fields, args))
    for i, name in enumerate(fields):
        if name in kwargs:
            if i < len(args):
                raise TypeError(f"{function} got multiple values for argument '{name}'")
            values[name] = kwargs[name]
    for name in kwargs:
        if name not in fields:
            raise TypeError(f"{function} got an unexpected keyword argument '{name}'")
    return values


def _annotation(default: Any) -> str:
    return "int | None" if default is None else type(default).__name__
