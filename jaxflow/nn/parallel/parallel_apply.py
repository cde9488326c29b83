"""Modules called beside each other: here one after the other, each of which computes on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.module import Module


def get_a_var(obj: Any) -> Tensor | None:
    """A tensor that is found first in containers; None where there is none."""
    if isinstance(obj, Tensor):
        return obj
    items = obj.items() if isinstance(obj, dict) else obj if isinstance(obj, (list, tuple)) else ()
    return next((found for found in map(get_a_var, items) if found is not None), None)


def parallel_apply(modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Sequence[dict] | None = None,
                   devices: Sequence[Any] | None = None) -> list:
    """What each module returns for its arguments.

    Args:
        modules: the modules.
        inputs: positional arguments of each, a tuple or list, or one argument.
        kwargs_tup: keyword arguments of each.
        devices: one for each, of no consequence: tensors are computed where they are.

    Returns:
        The results in order.

    Raises:
        AssertionError: for another number of inputs, keyword arguments or devices than of modules.

    Example:
        >>> nn.parallel.parallel_apply([nn.ReLU(), nn.Identity()], [torch.tensor([-1.0])] * 2)
        [tensor([0.]), tensor([-1.])]
    """
    for name, given in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if given is not None and len(given) != len(modules):
            raise AssertionError(
                f"The number of modules {len(modules)} is not equal to the number of {name} {len(given)}")
    named = kwargs_tup or [{}] * len(modules)
    return [module(*(args if isinstance(args, (list, tuple)) else (args,)), **kwargs)
            for module, args, kwargs in zip(modules, inputs, named, strict=True)]
