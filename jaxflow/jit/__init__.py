"""TorchScript's names as PyTorch has them with ``PYTORCH_JIT=0``: programs stay Python.

What makes a program quick here is `jaxflow.compile`, and operations recorded lazily without it. So
``script`` and ``trace`` hand back what they were given, the decorators mark nothing, and saved TorchScript
archives, which hold programs of TorchScript's own language, can be neither written nor read.
"""

from collections.abc import Callable
from typing import Any, NoReturn
from typing import Final as Final

from jaxflow.nn import Module

from . import annotations as annotations


class TracerWarning(Warning):
    """What PyTorch's tracer warns of; nothing is traced here, so it is only there to be filtered."""


class ScriptModule(Module):
    """A module like any other, for programs that derive from this class or test for it."""


def script(obj: Any, optimize: None = None, _frames_up: int = 0, _rcb: Any = None,
           example_inputs: Any = None) -> Any:
    """``obj`` itself.

    Nothing is translated to TorchScript: the function or module stays Python. Use `jaxflow.compile` for
    speed.

    Args:
        obj: a function, a class or a module.
        optimize: accepted without effect.
        _frames_up: accepted without effect.
        _rcb: accepted without effect.
        example_inputs: accepted without effect.

    Returns:
        ``obj``, the same object.

    Example:
        >>> @torch.jit.script
        ... def double(x):
        ...     return x * 2
        >>> double(torch.tensor([1, 2]))
        tensor([2, 4])
    """
    return obj


def trace(func: Any, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True,
          check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True,
          _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
          example_kwarg_inputs: Any = None, _store_inputs: bool = True) -> Any:
    """``func`` itself, which is not called.

    Programs stay Python here; `jaxflow.compile` makes them quick.

    Args:
        func: a function or a module.
        example_inputs: accepted and not looked at, as are all arguments that follow.
        optimize: not looked at.
        check_trace: not looked at.
        check_inputs: not looked at.
        check_tolerance: not looked at.
        strict: not looked at.
        _force_outplace: not looked at.
        _module_class: not looked at.
        _compilation_unit: not looked at.
        example_kwarg_inputs: not looked at.
        _store_inputs: not looked at.

    Returns:
        ``func``, the same object.

    Example:
        >>> model = nn.Linear(3, 2)
        >>> torch.jit.trace(model, torch.zeros(1, 3)) is model
        True
    """
    return func


def trace_module(mod: Any, inputs: Any, optimize: Any = None, check_trace: bool = True,
                 check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True,
                 _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
                 example_inputs_is_kwarg: bool = False, _store_inputs: bool = True) -> Any:
    """``mod`` itself, which is not called."""
    return mod


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """``mod`` itself."""
    return mod


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """``mod`` itself."""
    return mod


def is_scripting() -> bool:
    """False: nothing is ever scripted."""
    return False


def is_tracing() -> bool:
    """False: nothing is ever traced into TorchScript.

    Returns:
        False, always; also inside a function that `jaxflow.compile` runs.

    Example:
        >>> def double(x):
        ...     return x if torch.jit.is_tracing() else 2 * x
        >>> torch.jit.trace(double, torch.ones(2))(torch.ones(2))
        tensor([2., 2.])
    """
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value``."""
    return the_value


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator, with or without arguments, that leaves its function as it is."""
    return drop if callable(drop) else unused


def unused(fn: Callable) -> Callable:
    """``fn`` itself."""
    return fn


export = script_method = script_if_tracing = _script_if_tracing = unused


def _overload_method(func: Callable) -> Callable:
    """``func`` itself."""
    return func


_overload = _overload_method


def interface(obj: type) -> type:
    """``obj`` itself."""
    return obj


def _refused(name: str) -> Callable[..., NoReturn]:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"torch.jit.{name}() is not supported: archives of TorchScript hold programs in a language that "
            "jaxflow does not run. Save and load the state_dict() of a module written in Python."
        )

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Raises NotImplementedError: there are no TorchScript archives.

    Save and load the ``state_dict()`` of a module instead, by `jaxflow.save` and `jaxflow.load`.

    Args:
        args: not looked at.
        kwargs: not looked at.

    Returns:
        Nothing: it always raises.

    Raises:
        NotImplementedError: always.

    Example:
        >>> try:
        ...     torch.jit.{name}("model.pt")
        ... except NotImplementedError:
        ...     print("no archives")
        no archives
    """
    return call


save, load = _refused("save"), _refused("load")
