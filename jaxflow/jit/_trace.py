"""``trace`` and ``trace_module``: functions and modules with the arguments that they were tried with.

NOTE [What a trace is]
    A traced function stays Python and runs as such, so it follows branches that PyTorch's trace has frozen.
    What
    is frozen is what PyTorch freezes without a warning: training and evaluation mode, and `is_tracing`. The
    example inputs say for which shapes an archive gets a program.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._exported.twins import twin_of
from jaxflow.nn import Module

from ._functions import ScriptFunction
from ._modules import ScriptModule, TopLevelTracedModule

_TRACEABLE = "Only Tensors and (possibly nested) Lists, Dicts, and Tuples of Tensors can be traced"


class TracerWarning(Warning):
    """What is doubtful about a trace: results that differ from call to call, or mutable containers."""


class TracingCheckError(Exception):
    """A trace differs from the function that it was made of; for programs that catch it, `trace` warns."""


def trace(func: Any, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True,
          check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True,
          _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
          example_kwarg_inputs: Any = None, _store_inputs: bool = True) -> Any:
    """A function or module with example inputs, which `save` can write as a program.

    It stays Python: it runs for other shapes, and follows branches that depend on numbers. A traced module
    has the same parameters and buffers, and stays in the mode, training or evaluation, that it was traced in.

    Args:
        func: a function or a module, or the ``forward`` of a module.
        example_inputs: a tensor or a tuple of arguments: tensors, and lists, dicts and tuples of them.
        optimize: accepted without effect.
        check_trace: call it again, and warn if the results differ.
        check_inputs: further arguments to check with, a list of tuples.
        check_tolerance: how much results may differ, relatively and absolutely.
        strict: refuse results in dicts, and warn of lists, which a program could change.
        _force_outplace: accepted without effect.
        _module_class: accepted without effect.
        _compilation_unit: accepted without effect.
        example_kwarg_inputs: a dict of named arguments, in the place of ``example_inputs``.
        _store_inputs: accepted without effect.

    Returns:
        A ScriptFunction for a function, a ScriptModule for a module.

    Raises:
        RuntimeError: for arguments or results that are no tensors, nor made of them.
        AttributeError: for another method of a module than ``forward``.

    Example:
        >>> model = nn.Linear(3, 2)
        >>> traced = torch.jit.trace(model, torch.zeros(1, 3))
        >>> traced.weight is model.weight, traced(torch.ones(5, 3)).shape
        (True, torch.Size([5, 2]))
    """
    if isinstance(func, ScriptModule):
        warnings.warn("The input to trace is already a ScriptModule, tracing it is a no-op. Returning the "
                      "object as is.", stacklevel=2)
        return func
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module) and not isinstance(func, Module):
        if func.__name__ != "forward":
            raise AttributeError("trace doesn't support compiling individual module's functions.\n"
                                 "Please use trace_module")
        func = owner
    options = {"check_trace": check_trace, "check_tolerance": check_tolerance, "strict": strict}
    named = example_inputs is None
    if isinstance(func, Module):
        given = example_kwarg_inputs if named else example_inputs
        if named:
            _check_named(given)
        checks = None if check_inputs is None else [{"forward": x} for x in check_inputs]
        return trace_module(func, {"forward": given}, check_inputs=checks,
                            example_inputs_is_kwarg=named, **options)
    if not callable(func):
        raise RuntimeError(f"torch.jit.trace() takes a function or a module, not {type(func).__name__}")
    args, kwargs = _arguments(example_kwarg_inputs if named else example_inputs, named)
    traced = ScriptFunction(func, (args, kwargs))
    further = [_arguments(x, named) for x in check_inputs or ()]
    _try(func, traced, args, kwargs, further, check_trace, check_tolerance, strict)
    return traced


def trace_module(mod: Any, inputs: Any, optimize: Any = None, check_trace: bool = True,
                 check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True,
                 _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
                 example_inputs_is_kwarg: bool = False, _store_inputs: bool = True) -> Any:
    """A module with example inputs of several methods; see `trace`.

    Args:
        mod: a module.
        inputs: a dict of the methods' example arguments, by their names.
        optimize: accepted without effect.
        check_trace: see `trace`.
        check_inputs: a list of such dicts to check with.
        check_tolerance: see `trace`.
        strict: see `trace`.
        _force_outplace: accepted without effect.
        _module_class: accepted without effect.
        _compilation_unit: accepted without effect.
        example_inputs_is_kwarg: whether the arguments are dicts of named ones.
        _store_inputs: accepted without effect.

    Returns:
        A ScriptModule.

    Raises:
        AttributeError: for what is no module, no dict, or has no such method.
        RuntimeError: see `trace`.

    Example:
        >>> class Scaled(nn.Module):
        ...     def forward(self, x):
        ...         return 2 * x
        ...     def inverse(self, x):
        ...         return x / 2
        >>> inputs = {"forward": torch.ones(2), "inverse": torch.ones(2)}
        >>> torch.jit.trace_module(Scaled(), inputs).inverse(torch.ones(1))
        tensor([0.5000])
    """
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    for part in mod.modules():
        if part._backward_hooks or part._backward_pre_hooks:
            raise ValueError(f"Modules that have backward hooks assigned can't be compiled: {part}")
    methods = {name: mod if name == "forward" else getattr(mod, name) for name in inputs}
    traced = TopLevelTracedModule(twin_of(mod))
    for name, method in methods.items():
        args, kwargs = _arguments(inputs[name], example_inputs_is_kwarg)
        traced._examples[name] = args, kwargs
        further = [_arguments(x[name], example_inputs_is_kwarg) for x in check_inputs or () if name in x]
        run = traced if name == "forward" else getattr(traced, name)
        _try(method, run, args, kwargs, further, check_trace, check_tolerance, strict)
    return traced


def _check_named(given: Any) -> None:
    if not isinstance(given, dict):
        raise RuntimeError("example_kwarg_inputs should be a dict")


def _arguments(given: Any, named: bool) -> tuple[tuple, dict]:
    """Example inputs as arguments and named arguments."""
    if named:
        _check_named(given)
        args, kwargs = (), dict(given)
    else:
        args, kwargs = (given if isinstance(given, tuple) else (given,)), {}
        if isinstance(given, list):
            args = tuple(given)
    if not all(map(_traceable, (*args, *kwargs.values()))):
        kinds = ", ".join(_kind(x) for x in (*args, *kwargs.values()))
        raise RuntimeError(f"Type 'Tuple[{kinds}]' cannot be traced. {_TRACEABLE}")
    return args, kwargs


def _kind(x: Any) -> str:
    return "Tensor" if isinstance(x, Tensor) else type(x).__name__


def _traceable(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return all(map(_traceable, x))
    return all(map(_traceable, x.values())) if isinstance(x, Mapping) else isinstance(x, Tensor)


def _try(original: Callable, traced: Callable, args: tuple, kwargs: dict, further: list, check: bool,
         tolerance: float, strict: bool) -> None:
    """Call what was traced, look at what it returns, and compare it with the original."""
    _look_at(traced(*_copies(args), **_copies(kwargs)), strict)
    if not check:
        return
    for given, named in [(args, kwargs), *further]:
        found = traced(*_copies(given), **_copies(named))
        expected = original(*_copies(given), **_copies(named))
        _compare(_tensors(found), _tensors(expected), tolerance)


def _compare(found: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    from jaxflow.testing import assert_close

    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        try:
            assert_close(a.detach(), b.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)
        except AssertionError as error:
            warnings.warn(
                f"Output nr {i + 1}. of the traced function does not match the corresponding output of the "
                f"Python function. Did you forget call .eval() on your model? Detailed error:\n{error}",
                TracerWarning, stacklevel=5)


def _copies(x: Any) -> Any:
    """Arguments with tensors of their own: the function may write to them."""
    if isinstance(x, Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad)
    if isinstance(x, dict):
        copied = copy.copy(x)
        copied.update((key, _copies(item)) for key, item in x.items())
        return copied
    if isinstance(x, (list, tuple)):
        items = [_copies(item) for item in x]
        return x._make(items) if hasattr(x, "_make") else type(x)(items)
    return x


def _tensors(x: Any) -> list[Tensor]:
    if isinstance(x, (list, tuple, Mapping)):
        return [t for item in (x.values() if isinstance(x, Mapping) else x) for t in _tensors(item)]
    return [x]


def _look_at(result: Any, strict: bool) -> None:
    """Refuse results that no trace has, and those that a strict one has not."""
    if result is None:
        raise RuntimeError("The traced function didn't return any values! Side-effects are not captured in "
                           "traces, so it would be a no-op.")
    if isinstance(result, Mapping):
        if strict:
            raise RuntimeError(
                "Encountering a dict at the output of the tracer might cause the trace to be incorrect: "
                "whoever gets it can change it. Return a tuple or a NamedTuple, or pass strict=False if its "
                "keys are always the same")
    elif isinstance(result, list) and strict:
        warnings.warn("Encountering a list at the output of the tracer might cause the trace to be "
                      "incorrect: whoever gets it can change it. Return a tuple, or pass strict=False if it "
                      "always has this length",
                      TracerWarning, stacklevel=5)
    if isinstance(result, (list, tuple, Mapping)):
        for item in result.values() if isinstance(result, Mapping) else result:
            _look_at(item, strict)
    elif not isinstance(result, Tensor):
        raise RuntimeError("Only tensors, lists, tuples of tensors, or dictionary of tensors can be output "
                           "from traced functions")
