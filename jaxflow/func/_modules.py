"""Modules as functions: calls with given parameters, ensembles, and batch norm without memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import Module
from jaxflow.nn.modules.batchnorm import _BatchNorm
from jaxflow.nn.utils.stateless import call_with


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with these tensors in the place of its parameters and buffers.

    Args:
        module: stays as it is; what the call assigns to a given buffer is found in the dict afterwards.
        parameter_and_buffer_dicts: tensors by their name in the module, in one dict or several.
        args: a tuple of arguments, or one argument.
        kwargs: keyword arguments.
        tie_weights: a tensor that the module has under several names is replaced under all of them.
        strict: require a tensor for every name of the module, and no others.

    Raises:
        ValueError: for a name in several dicts, and for tied names with different tensors.
        RuntimeError: for missing or other names, when ``strict``.
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        if not isinstance(given, Sequence):
            raise ValueError(
                "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                f"{type(given)}"
            )
        if not all(isinstance(d, dict) for d in given):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for d in given for name in d]
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        given = {name: t for d in given for name, t in d.items()}
    return call_with(module, given, args, kwargs, tie_weights, strict)


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Parameters and buffers of several modules of one class, stacked along a new first dimension.

    The stacked parameters are leaves.

    Raises:
        RuntimeError: for no models, and for models that differ in class, mode or ``requires_grad``.
    """
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(m.named_parameters()) for m in models]),
        _stacked([dict(m.named_buffers()) for m in models]),
    )


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        flags = {t.requires_grad for t in tensors}
        if len(flags) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        found[name] = functions.stack(tensors)
        if True in flags:
            found[name] = found[name].detach().requires_grad_()
    return found


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let every batch norm in ``root`` use the statistics of its batch alone, and keep none."""
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
