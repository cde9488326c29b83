"""Archives of scripted and traced modules: which programs are made for them, and what is written.

NOTE [Sizes of an archive]
    An archive holds StableHLO, which is made for shapes. For a traced module they are those of its example
    inputs, for a scripted one those of its first call. The first dimension of all tensors in which that is as
    large as the first tensor's may have any size, where one program for all sizes is found
    (NOTE [Found from examples]); all other sizes are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jaxflow._functions as functions
from jaxflow._exported import archive
from jaxflow._exported.capture import Captured, Refused
from jaxflow._exported.making import program_of
from jaxflow._exported.modules import tree_to_data
from jaxflow._exported.program import Program, Size
from jaxflow._exported.structure import flatten, rebuilt
from jaxflow._exported.twins import twin_of
from jaxflow.nn import Module

#: What is noted of arguments that no program takes.
NONE = [None]


def note(forms: list, args: tuple, kwargs: dict) -> None:
    """Note the form of arguments: their structure, and shapes, dtypes and devices of the tensors."""
    try:
        forms[:] = [form_of(args, kwargs)]
    except TypeError:  # such arguments are refused when an archive is to be written
        forms[:] = NONE


def form_of(args: tuple, kwargs: dict) -> tuple:
    """The form of arguments. TypeError for what no program takes."""
    tensors, structure = flatten((args, kwargs), "the arguments")
    return structure, [(tuple(t.shape), t.dtype, t.device) for t in tensors]


def arguments(form: tuple) -> tuple[tuple, dict]:
    """Arguments of a form: numbers between -1 and 1, and integers that are 0, which most functions take."""
    structure, leaves = form
    return rebuilt(structure, (_example(*leaf) for leaf in leaves))


def _example(shape: tuple[int, ...], dtype: Any, device: Any) -> Any:
    if not dtype.is_floating_point:
        return functions.zeros(shape, dtype=dtype, device=device)
    return functions.linspace(-1.0, 1.0, math.prod(shape), device=device).reshape(shape).to(dtype)


def made(module: Module | None, run: Callable, examples: tuple[tuple, dict], name: str) -> Program:
    """The program of a method, for any size of the first dimension where there is one for all sizes."""
    args, kwargs = examples
    symbols = _first_dimensions(form_of(args, kwargs)[1])
    if symbols:
        try:
            return program_of(Captured(module, run, args, kwargs, name), symbols)
        except Refused:
            raise
        except Exception as error:
            # Whatever a module raises for sizes that it was not written for, it then has fixed sizes.
            program = program_of(Captured(module, run, args, kwargs, name), {})
            program.about["fixed"] = f"{type(error).__name__}: {error}".splitlines()[0]
            return program
    return program_of(Captured(module, run, args, kwargs, name), {})


def _first_dimensions(leaves: list[tuple]) -> dict[tuple[int, int], Size]:
    batch = next((shape[0] for shape, _, _ in leaves if shape), None)
    return {(i, 0): Size("batch") for i, (shape, _, _) in enumerate(leaves) if shape and shape[0] == batch}


def modes_of(module: Module) -> list[bool]:
    """Which of a module and the modules in it are in training mode."""
    return [m.training for _, m in module.named_modules(remove_duplicate=False)]


def _call(module: Module, *args: Any, **kwargs: Any) -> Any:
    return module(*args, **kwargs)


def in_all_modes(module: Module, form: tuple) -> list[tuple[list[bool], Program | str]]:
    """Programs of ``forward`` in the modes as they are, in evaluation and in training, or why there is none.

    Raises:
        Refused: when there is none in any of them.
    """
    found: list[tuple[list[bool], Program | str]] = []
    first: Refused | None = None
    examples = arguments(form)
    for change in (None, False, True):
        twin = twin_of(module)
        if change is not None:
            twin.train(change)
        modes = modes_of(twin)
        if any(modes == at for at, _ in found):
            continue
        try:
            found.append((modes, made(twin, _call, examples, "forward")))
        except Refused as error:
            first = first or error
            found.append((modes, str(error)))
    if first is not None and all(isinstance(x, str) for _, x in found):
        raise first
    return found


def save_module(module: Any, f: Any, extra_files: dict | None) -> None:
    """Write the archive of a module that has ``_programs_to_save()``."""
    _write(tree_to_data(module), module._programs_to_save(), f, extra_files)


def save_function(function: Any, f: Any, extra_files: dict | None) -> None:
    """Write the archive of a function: that of a module without parameters."""
    examples = function._examples
    if examples is None:
        examples = arguments(only_form(function._forms, function.name))
    program = made(None, function, examples, "forward")
    row = {"path": "", "name": function.name, "training": True, "parameters": {}, "buffers": {},
           "not_persistent": [], "children": [], "attributes": {}}
    _write([row], {"forward": [(None, program)]}, f, extra_files)


def only_form(forms: Any, name: str) -> tuple:
    """The noted form. RuntimeError where nothing was called yet."""
    if not forms:
        raise RuntimeError(
            f"{name} was scripted and not called yet, so there are no shapes to make its program for: call "
            "it once with example inputs before it is saved, or use torch.jit.trace"
        )
    if forms[0] is None:
        raise RuntimeError(
            f"{name} was called with arguments that a program does not take: tensors, plain values, and "
            "tuples, lists and dicts of them"
        )
    return forms[0]


def _write(tree: list[dict], programs: dict[str, list], f: Any, extra_files: dict | None) -> None:
    codes = archive.Codes()
    methods = {
        method: [[modes, found if isinstance(found, str) else codes.written(*found.to_data())]
                 for modes, found in entries]
        for method, entries in programs.items()
    }
    archive.write(f, {"kind": "module", "tree": tree, "methods": methods}, codes.codes, extra_files)


def read_programs(methods: dict[str, list], codes: list[bytes]) -> dict[str, list]:
    """The programs of an archive: by method, for the modes of all modules, or for any (None)."""
    pieces = archive.Codes(codes)
    return {
        method: [(modes, found if isinstance(found, str) else pieces.read(found, Program.from_data))
                 for modes, found in entries]
        for method, entries in methods.items()
    }
