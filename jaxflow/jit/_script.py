"""``script``, ``freeze`` and ``optimize_for_inference``."""

from __future__ import annotations

from typing import Any

from jaxflow.nn import Module

from ._functions import ScriptFunction
from ._modules import FrozenModule, ScriptModule, scripted


def script(obj: Any, optimize: None = None, _frames_up: int = 0, _rcb: Any = None,
           example_inputs: Any = None) -> Any:
    """``obj`` as what PyTorch's scripting gives, running as Python.

    Nothing is translated to TorchScript: what was Python stays Python, in all branches. Use
    `jaxflow.compile` for speed. A module's structure is copied, with the same parameters and buffers:
    training and evaluation mode are the copy's own.

    Args:
        obj: a function, a module or a class; a list or dict.
        optimize: accepted without effect.
        _frames_up: accepted without effect.
        _rcb: accepted without effect.
        example_inputs: for a function or module, a list of tuples of arguments; it is called with each, so
            that it can be saved.

    Returns:
        A ScriptFunction for a function; for a module a ScriptModule, which is of the module's class as well;
        all else as it is. What was scripted already is returned.

    Raises:
        TypeError: for what is none of these.

    Example:
        >>> @torch.jit.script
        ... def double(x):
        ...     return x * 2
        >>> double(torch.tensor([1, 2]))
        tensor([2, 4])
        >>> model = nn.Linear(3, 1)
        >>> torch.jit.script(model).weight is model.weight
        True
    """
    if isinstance(obj, (ScriptModule, ScriptFunction, type, list, dict)):
        return obj
    if isinstance(obj, Module):
        made = scripted(obj)
    elif callable(obj):
        made = ScriptFunction(obj)
    else:
        raise TypeError(f"torch.jit.script() takes a function, a module or a class, not {type(obj).__name__}")
    for args in (example_inputs.values() if isinstance(example_inputs, dict) else example_inputs or ()):
        for one in (args if isinstance(example_inputs, dict) else [args]):
            made(*one)
    return made


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """A copy of a scripted or traced module whose parameters are constants.

    Args:
        mod: a ScriptModule in evaluation mode.
        preserved_attrs: names of attributes and methods that the copy has, beside ``forward``.
        optimize_numerics: accepted without effect: XLA folds constants by itself.

    Returns:
        A ScriptModule without parameters and buffers.

    Raises:
        RuntimeError: for what is no ScriptModule, or is in training mode.

    Example:
        >>> model = torch.jit.freeze(torch.jit.script(nn.Linear(3, 1).eval()))
        >>> list(model.state_dict()), model(torch.ones(2, 3)).requires_grad
        ([], False)
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or "
                           "torch.jit.trace to script your 'nn.Module'.")
    if mod.training and not isinstance(mod, FrozenModule):
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call "
                           ".eval() on your module before freezing.")
    return mod if isinstance(mod, FrozenModule) else FrozenModule(mod, list(preserved_attrs or ()))


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """A frozen copy of a scripted or traced module, in evaluation mode; XLA does the rest. See `freeze`.

    Raises:
        RuntimeError: for what is no ScriptModule.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("optimize_for_inference expects a ScriptModule as input. Please use "
                           "torch.jit.script or torch.jit.trace to script your 'nn.Module'.")
    return freeze(mod.eval(), other_methods)
