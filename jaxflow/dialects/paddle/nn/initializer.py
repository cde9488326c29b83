"""Initializers: objects that fill a parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jaxflow
from jaxflow.nn import init


def _initializer(name: str, fill: Callable, **fields: Any) -> type:
    """A class whose instances call ``fill(parameter, *fields)``."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(fields, args)) | kwargs
        unknown = given.keys() - fields.keys() - {"name"}
        if unknown or len(args) > len(fields):
            raise TypeError(f"{name}() got unexpected arguments: {sorted(unknown) or args[len(fields):]}")
        self._fields = fields | {k: v for k, v in given.items() if k != "name"}

    def __call__(self: Any, parameter: Any, block: Any = None) -> Any:
        with jaxflow.no_grad():
            return fill(parameter, *self._fields.values())

    return type(name, (), {"__init__": __init__, "__call__": __call__, "__doc__": fill.__doc__})


def _assign(parameter: Any, value: Any) -> Any:
    """Takes the values given."""
    return parameter.copy_(value if isinstance(value, jaxflow.Tensor) else jaxflow.tensor(value))


def _fans(draw: Callable) -> Callable:
    def fill(parameter: Any, fan_in: Any, fan_out: Any, gain: float) -> Any:
        """Glorot's rule: as wide as keeps the variance."""
        if fan_in is not None or fan_out is not None:
            raise ValueError("fan_in and fan_out are taken from the parameter: leave them out")
        return draw(parameter, gain=gain)

    return fill


def _kaiming(draw: Callable) -> Callable:
    def fill(parameter: Any, fan_in: Any, negative_slope: float, nonlinearity: str) -> Any:
        """He's rule: as wide as keeps the variance through a rectifier."""
        if fan_in is not None:
            raise ValueError("fan_in is taken from the parameter: leave it out")
        return draw(parameter, a=negative_slope, nonlinearity=nonlinearity)

    return fill


Constant = _initializer("Constant", init.constant_, value=0.0)
Normal = _initializer("Normal", init.normal_, mean=0.0, std=1.0)
TruncatedNormal = _initializer(
    "TruncatedNormal", init.trunc_normal_,
    mean=0.0, std=1.0, a=-2.0, b=2.0,
)
Uniform = _initializer("Uniform", init.uniform_, low=-1.0, high=1.0)
Assign = _initializer("Assign", _assign, value=None)
XavierUniform = _initializer(
    "XavierUniform", _fans(init.xavier_uniform_), fan_in=None, fan_out=None, gain=1.0
)
XavierNormal = _initializer("XavierNormal", _fans(init.xavier_normal_), fan_in=None, fan_out=None, gain=1.0)
KaimingUniform = _initializer(
    "KaimingUniform", _kaiming(init.kaiming_uniform_), fan_in=None, negative_slope=0.0, nonlinearity="relu"
)
KaimingNormal = _initializer(
    "KaimingNormal", _kaiming(init.kaiming_normal_), fan_in=None, negative_slope=0.0, nonlinearity="relu"
)
Orthogonal = _initializer("Orthogonal", init.orthogonal_, gain=1.0)
