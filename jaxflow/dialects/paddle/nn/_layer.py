"""Paddle's ``Layer``, and how it makes parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jaxflow
from jaxflow.nn import Module, init
from jaxflow.nn.parameter import Parameter as PlainParameter

from .._composed import ints
from .._places import DIALECT, dtype_of
from .._tensor import Tensor


def create_parameter(
    shape: Any, attr: Any = None, dtype: Any = None, is_bias: bool = False, default_initializer: Any = None
) -> Any:
    """A new parameter: zeros for a bias, else drawn by Xavier's rule, or as an initializer says.

    ``attr`` may be an initializer, or a ParamAttr with one; False means no parameter, and None is returned.
    """
    if attr is False:
        return None
    parameter = DIALECT.wrap(PlainParameter(jaxflow.zeros(ints(shape), dtype=dtype_of(dtype))))
    initializer = getattr(attr, "initializer", attr) or default_initializer
    with jaxflow.no_grad():
        if callable(initializer):
            initializer(parameter)
        elif not is_bias and parameter.ndim > 1:
            init.xavier_uniform_(parameter)
        elif not is_bias:
            init.uniform_(parameter, -1, 1)
    if attr is not None and not getattr(attr, "trainable", True):
        parameter.requires_grad_(False)
    return parameter


class ParamAttr:
    """How a layer makes a parameter: by which initializer, and whether it is trained."""

    def __init__(
        self, name: str | None = None, initializer: Any = None, learning_rate: float = 1.0,
        regularizer: Any = None, trainable: bool = True, do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        if learning_rate != 1.0 or regularizer is not None:
            raise ValueError(
                "ParamAttr: a learning_rate or regularizer of one parameter is not supported: give the "
                "optimizer parameter groups"
            )
        self.name, self.initializer, self.trainable = name, initializer, trainable


def parameters(self: Any, include_sublayers: bool = True) -> list:
    """Every parameter, as a list."""
    return list(Module.parameters(self, include_sublayers))


def sublayers(self: Any, include_self: bool = False) -> list:
    """The layers inside this one, at every depth."""
    return list(self.modules())[0 if include_self else 1 :]


def named_sublayers(self: Any, prefix: str = "", include_self: bool = False) -> Iterable:
    """The layers inside this one with their names."""
    found = self.named_modules(prefix=prefix)
    return found if include_self else (pair for pair in found if pair[1] is not self)


def add_sublayer(self: Any, name: str, sublayer: Any) -> Any:
    """Register a layer under a name; returns it."""
    self.add_module(name, sublayer)
    return sublayer


def add_parameter(self: Any, name: str, parameter: Any) -> Any:
    """Register a parameter under a name; returns it."""
    self.register_parameter(name, parameter)
    return parameter


def make_parameter(
    self: Any, shape: Any, attr: Any = None, dtype: Any = None, is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A new parameter, to be assigned to an attribute; see ``paddle.create_parameter``."""
    return create_parameter(shape, attr, dtype, is_bias, default_initializer)


def set_state_dict(self: Any, state_dict: dict, use_structured_name: bool = True) -> tuple[list, list]:
    """Take the values of a state_dict; returns the missing and the unexpected names."""
    found = self.load_state_dict(state_dict, strict=False)
    return found.missing_keys, found.unexpected_keys


def clear_gradients(self: Any, set_to_zero: bool = True) -> None:
    """Fill every gradient with zeros, or forget it."""
    for parameter in self.parameters():
        Tensor.clear_gradient(parameter, set_to_zero)


def full_name(self: Any) -> str:
    """The name of the class, in lower case."""
    return type(self).__name__.lower()


Layer = DIALECT.module_base(
    "Layer", parameters=parameters, sublayers=sublayers, named_sublayers=named_sublayers,
    add_sublayer=add_sublayer, add_parameter=add_parameter, create_parameter=make_parameter,
    set_state_dict=set_state_dict, set_dict=set_state_dict, clear_gradients=clear_gradients,
    full_name=full_name, register_forward_post_hook=Module.register_forward_hook,
)
