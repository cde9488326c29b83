"""``export``: a module's forward as a program, for example arguments and sizes that may change."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._dynamo.exc import UserError, UserErrorType
from jaxflow._exported.capture import Captured, Refused
from jaxflow._exported.making import program_of
from jaxflow._exported.modules import tree_to_data
from jaxflow._exported.program import Program, Size
from jaxflow.compiler._exporting import as_export
from jaxflow.jit import ScriptModule
from jaxflow.nn import Module

from .dynamic_shapes import Dim, ShapesCollection, per_tensor, wrong
from .exported_program import ExportedProgram
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

#: A program for all sizes is traced at 2 to the power of their number.
_MOST_NAMES = 4


def export(mod: Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None, *,
           dynamic_shapes: Any = None, strict: bool = False,
           preserve_module_call_signature: tuple[str, ...] = (),
           prefer_deferred_runtime_asserts_over_guards: bool = False) -> ExportedProgram:
    """A module's forward as a program of StableHLO, for arguments like these.

    The module stays as it is. The program is that of the mode, training or evaluation, that the module is
    in; it has the module's parameters and buffers, writes to buffers as the module does, and can be
    differentiated once. What the module decides by values of arguments that are no tensors, or by sizes, is
    decided as for these arguments.

    Args:
        mod: a module.
        args: example arguments, a tuple.
        kwargs: example arguments by name.
        dynamic_shapes: which sizes may change. By the names of arguments, or in their order: for a tensor a
            dict from dimensions to a `Dim` or ``Dim.AUTO``, or a tuple with one for each dimension; for a
            container one of these for each item. All others are fixed.
        strict: accepted without effect.
        preserve_module_call_signature: no names: calls of modules inside are not kept apart.
        prefer_deferred_runtime_asserts_over_guards: accepted without effect.

    Returns:
        The program; ``.module()`` runs it.

    Raises:
        ValueError: for what is no module.
        torch._dynamo.exc.UserError: for ``dynamic_shapes`` that do not fit the arguments; for a size that
            cannot change; for a forward that decides something by numbers of its tensors.
        RuntimeError: for a forward that draws random numbers.

    Example:
        >>> model = nn.Linear(3, 2)
        >>> program = torch.export.export(model, (torch.ones(4, 3),))
        >>> program.graph_signature.parameters, program.graph_signature.user_inputs
        (('weight', 'bias'), ('input',))
        >>> torch.equal(program.module()(torch.ones(4, 3)), model(torch.ones(4, 3)))
        True
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if isinstance(mod, ScriptModule):
        raise ValueError("Exporting a ScriptModule is not supported. Export the module it was made from.")
    if not isinstance(args, tuple):
        raise wrong(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if preserve_module_call_signature:
        raise NotImplementedError("export(preserve_module_call_signature=...) is not supported: the program "
                                  "does not keep calls of the modules inside apart")
    kwargs = dict(kwargs or {})
    arguments = _by_name(mod, args, kwargs)
    if isinstance(dynamic_shapes, ShapesCollection):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
    said = per_tensor(arguments, dynamic_shapes)
    captured = Captured(mod, as_export, args, kwargs, "forward")
    program, ranges = _program(captured, said)
    signature = _signature(mod, program, arguments)
    return ExportedProgram(program, tree_to_data(mod), signature, ranges, (args, kwargs))


def _by_name(mod: Module, args: tuple, kwargs: dict) -> dict[str, Any]:
    """Arguments by name, in the order of the call; those of ``*args`` have numbers."""
    signature = inspect.signature(mod.forward)
    signature.bind(*args, **kwargs)
    found: dict[str, Any] = {}
    for name, x in signature.bind_partial(*args).arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            found.update((f"{name}_{i}", item) for i, item in enumerate(x))
        else:
            found[name] = x
    return {**found, **kwargs}


def _program(captured: Captured, said: list[dict[int, Any]]) -> tuple[Program, dict[str, list]]:
    """The program for the sizes that may change, and bounds of what their names stand for."""
    named = {(i, d): what for i, of in enumerate(said) for d, what in of.items() if isinstance(what, Dim)}
    hinted = {(i, d): what for i, of in enumerate(said) for d, what in of.items() if (i, d) not in named}
    must = {place for place, what in hinted.items() if what.type.name == "DYNAMIC"}
    symbols = {place: what.size for place, what in named.items()}
    failed: Exception | None = None
    for guess in _guesses(captured, sorted(hinted), must):
        tried = {**symbols, **guess}
        if len({size.name for size in tried.values()}) > _MOST_NAMES:
            continue
        try:
            ranges = _ranges(tried, named, hinted)
            program = program_of(captured, tried, ranges)
        except Refused as error:
            if error.__cause__ is None:
                raise
            raise UserError(UserErrorType.DYNAMIC_CONTROL_FLOW, "Could not guard on data-dependent "
                                                                f"expression: {error}"
                            ) from error
        except Exception as error:
            # Whatever a module raises for sizes that it was not written for: those cannot change.
            if not tried:
                raise
            failed = failed or error
            continue
        if program.least > 1:
            ranges = {name: [max(least, program.least), most] for name, (least, most) in ranges.items()}
        return program, ranges
    if failed is None:
        raise NotImplementedError(f"export() makes programs for at most {_MOST_NAMES} sizes that may change")
    names = sorted({size.name for size in symbols.values()})
    names += [f"tensor {i}, dimension {d}" for i, d in sorted(must)]
    raise UserError(
        UserErrorType.CONSTRAINT_VIOLATION,
        f"Constraints violated ({', '.join(names)})! You marked a size as dynamic, and the module does not "
        f"run for other ones, or not as the same program: {failed}. Use Dim.STATIC or Dim.AUTO in its place."
    ) from failed


def _guesses(captured: Captured, places: list, must: set) -> list[dict]:
    """What sizes without a name might be, the most general guess first."""
    of_size = {p: Size(f"s{captured.examples[p[0]].shape[p[1]]}") for p in places}
    guesses = [{p: Size(f"s{i}_{p[0]}_{p[1]}") for i, p in enumerate(places)}, of_size]
    guesses += [{p: size for p, size in of_size.items() if size == one or p in must}
                for one in dict.fromkeys(of_size.values())]
    guesses.append({p: of_size[p] for p in must})
    return [guess for i, guess in enumerate(guesses) if guess not in guesses[:i]]


def _ranges(symbols: dict, named: dict, hinted: dict) -> dict[str, list]:
    ranges: dict[str, list] = {}
    for place, size in symbols.items():
        if place in named:
            root = named[place].root
            ranges[size.name] = [root.min, root.max]
        else:
            least, most = ranges.get(size.name, [0, None])
            hint = hinted[place]
            bounds = [x for x in (most, hint.max) if x is not None]
            ranges[size.name] = [max(least, hint.min or 0), min(bounds) if bounds else None]
    return ranges


def _signature(mod: Module, program: Program, arguments: dict[str, Any]) -> ExportGraphSignature:
    parameters = dict(mod.named_parameters())
    persistent = mod.state_dict(keep_vars=True)
    inputs = []
    for name in program.state:
        plain = name.replace(".", "_")
        if name in parameters:
            inputs.append(InputSpec(InputKind.PARAMETER, TensorArgument(f"p_{plain}"), name))
        else:
            inputs.append(InputSpec(InputKind.BUFFER, TensorArgument(f"b_{plain}"), name, name in persistent))
    users = [InputSpec(InputKind.USER_INPUT, arg, None)
             for name, x in arguments.items() for arg in _leaves(name, x)]
    outputs = [OutputSpec(OutputKind.USER_OUTPUT, arg, None) for arg in _outputs(program.outputs)]
    tensors = [s.arg.name for s in users if isinstance(s.arg, TensorArgument)]
    for place in program.written:
        if place < len(inputs):
            spec = inputs[place]
            kind = OutputKind[f"{spec.kind.name}_MUTATION"]
            outputs.append(OutputSpec(kind, TensorArgument(f"new_{spec.arg.name}"), spec.target))
        else:
            name = tensors[place - len(inputs)]
            outputs.append(OutputSpec(OutputKind.USER_INPUT_MUTATION, TensorArgument(f"new_{name}"), name))
    return ExportGraphSignature([*inputs, *users], outputs)


def _leaves(name: str, x: Any) -> list:
    if isinstance(x, Tensor):
        return [TensorArgument(name)]
    items = enumerate(x) if isinstance(x, (list, tuple)) else x.items() if isinstance(x, dict) else None
    if items is None:
        return [ConstantArgument(name, x)]
    return [arg for key, item in items for arg in _leaves(f"{name}_{key}", item)]


def _outputs(structure: Any) -> list:
    found: list = []

    def walk(part: Any) -> None:
        if part == "tensor":
            count = sum(isinstance(arg, TensorArgument) for arg in found)
            found.append(TensorArgument(f"output_{count}" if count else "output"))
        elif part[0] == "is":
            found.append(ConstantArgument("", part[1]))
        else:
            for item in part[1]:
                walk(item)

    walk(structure)
    return found
