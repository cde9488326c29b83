"""Weights as a length times a direction: Salimans and Kingma, "Weight Normalization", 2016."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow import _functions as functions
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn.parameter import Parameter


class WeightNorm:
    """Before each forward, computes a weight of its length ``name_g`` and its direction ``name_v``."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight of the module's present length and direction."""
        return functions._weight_norm(
            getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim
        )

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Put length and direction in the place of a parameter. RuntimeError where that was done before."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        length = functions.norm_except_dim(weight, 2, hook.dim)
        module.register_parameter(name + "_g", Parameter(length.data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Put the weight as it is now back in the place of length and direction."""
        with no_grad():
            weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replace a parameter by two, ``name_g`` for its length and ``name_v`` for its direction.

    Args:
        module: whose parameter it is; returned.
        name: the parameter's.
        dim: the dimension whose slices have a length each; None for one length of all.

    Raises:
        RuntimeError: if it is done already.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning, stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make one parameter again of what `weight_norm` made two. ValueError where it did not."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
