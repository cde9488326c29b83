"""Modules that were scripted, traced, frozen or loaded.

NOTE [Twins of scripted modules]
    Scripting and tracing copy a module's structure, not its tensors (`_exported/twins.py`): training and
    evaluation mode and attributes are the copy's own from then on, as in PyTorch. A scripted module is of a
    class made for it that derives from its own class and from `RecursiveScriptModule`, so that its methods
    and ``isinstance`` work as before. A traced one is a `TracedModule` around its twin: the twin stays in
    the modes of the trace, while ``train()`` and ``eval()`` change what the wrapper shows.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from jaxflow._exported.program import Program
from jaxflow._exported.twins import twin_of
from jaxflow.nn import Module

from . import _saving
from ._refused import NoGraph, refuse
from ._tracing import as_trace


class ScriptModule(Module):
    """A module that runs as Python, for programs that derive from this class or test for it.

    What `script`, `trace`, `freeze` and `load` return are such modules.
    """

    graph, code, inlined_graph = NoGraph("graph"), NoGraph("code"), NoGraph("inlined_graph")
    code_with_constants = NoGraph("code_with_constants")
    _forms: tuple | list = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._forms:
            forms: list = []
            _saving.note(forms, args, kwargs)
            self.__dict__["_forms"] = forms
        return super().__call__(*args, **kwargs)

    def _programs_to_save(self) -> dict[str, list]:
        """What an archive gets: by method, pairs of modes (None for any) and a program or a reason."""
        form = _saving.only_form(self._forms, original_name(self))
        return {"forward": _saving.in_all_modes(self, form)}

    def define(self, src: str) -> NoReturn:
        """Raises NotImplementedError: there is no compiler of TorchScript's source."""
        refuse("ScriptModule.define")

    def save(self, f: Any, _extra_files: dict | None = None) -> None:
        """Write an archive; see `jaxflow.jit.save`."""
        _saving.save_module(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: dict | None = None) -> bytes:
        """The bytes of an archive."""
        file = io.BytesIO()
        _saving.save_module(self, file, _extra_files)
        return file.getvalue()


def _deep_copy(self: Module, memo: dict) -> Module:
    """A copy with tensors of its own."""
    copied = self.__class__.__new__(self.__class__)
    memo[id(self)] = copied
    copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return copied


def _no_pickle(self: Module, protocol: Any = None) -> NoReturn:
    raise pickle.PickleError(
        "ScriptModules cannot be saved using torch.save or pickled: write an archive with torch.jit.save(), "
        "or save the state_dict()"
    )


class RecursiveScriptModule(ScriptModule):
    """A module that `script` or `load` returned."""

    _original_name = ""

    @property
    def original_name(self) -> str:
        """The name of the class of the module that it was made from."""
        return self._original_name

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        """The name of the original class."""
        return f"original_name={self._original_name}"

    __deepcopy__, __reduce_ex__ = _deep_copy, _no_pickle


class _Scripted:
    """The first base of a scripted module's class: what must not be the original class's."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Nothing: a registry of subclasses in the original class does not get this one."""

    save, save_to_buffer = ScriptModule.save, ScriptModule.save_to_buffer
    _get_name, extra_repr = RecursiveScriptModule._get_name, RecursiveScriptModule.extra_repr
    __deepcopy__, __reduce_ex__ = _deep_copy, _no_pickle


def scripted(module: Module) -> Module:
    """A twin of a module that is a `RecursiveScriptModule`, with all modules in it; of their classes, too."""
    twin = twin_of(module)
    classes: dict[type, type] = {}
    for part in twin.modules():
        kind = type(part)
        if isinstance(part, ScriptModule):
            continue
        if kind not in classes:
            bases = (_Scripted, kind, RecursiveScriptModule)
            classes[kind] = type(kind)("RecursiveScriptModule", bases, {
                "__module__": RecursiveScriptModule.__module__, "__doc__": kind.__doc__,
                "_original_name": kind.__name__})
        part.__class__ = classes[kind]
    return twin


class TracedModule(ScriptModule):
    """A module inside one that was traced."""

    def __init__(self, twin: Module, made: dict[int, TracedModule] | None = None) -> None:
        super().__init__()
        made = {} if made is None else made
        made[id(twin)] = self
        # One table for both: what is done to the wrapper's tensors is done to those that the trace reads.
        self.__dict__.update(
            {name: twin.__dict__[name] for name in ("_parameters", "_buffers", "_non_persistent_buffers_set",
                                                    "training")},
            _twin=twin, _examples={},
            _modules={name: None if child is None else made.get(id(child)) or TracedModule(child, made)
                      for name, child in twin._modules.items()},
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returned when it was traced, for these arguments."""
        return as_trace(self._twin, *args, **kwargs)

    @property
    def original_name(self) -> str:
        """The name of the class of the module that was traced."""
        return getattr(self._twin, "original_name", None) or type(self._twin).__name__

    def __getattr__(self, name: str) -> Any:
        twin = self.__dict__.get("_twin")
        for table in (self.__dict__.get(table, {}) for table in ("_parameters", "_buffers", "_modules")):
            if name in table:
                return table[name]
        if twin is None or not hasattr(twin, name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        found = getattr(twin, name)
        return _Method(found) if name in self._examples else found

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Module):
            raise RuntimeError(f"cannot set the module {name!r} of a traced module: it would not be run. "
                               "Trace again")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: int | str) -> Module:
        return self._modules[key] if isinstance(key, str) else list(self._modules.values())[key]

    def _programs_to_save(self) -> dict[str, list]:
        found = {}
        for name, (args, kwargs) in self._examples.items():
            def run(module: Module, *args: Any, _name: str = name, **kwargs: Any) -> Any:
                method = module if _name == "forward" else getattr(module, _name)
                return as_trace(method, *args, **kwargs)

            found[name] = [(None, _saving.made(self._twin, run, (args, kwargs), name))]
        return found

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        """The name of the original class."""
        return f"original_name={self.original_name}"

    __deepcopy__, __reduce_ex__ = _deep_copy, _no_pickle


class TopLevelTracedModule(TracedModule):
    """A module that `trace` or `trace_module` returned."""


class _Method:
    """A method that was traced."""

    def __init__(self, method: Callable) -> None:
        self.method = method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return as_trace(self.method, *args, **kwargs)


class FrozenModule(RecursiveScriptModule):
    """A module that `freeze` returned: its parameters are constants, and it has no other attributes."""

    def __init__(self, module: ScriptModule, kept: list[str]) -> None:
        super().__init__()
        inner = copy.deepcopy(module)
        for p in inner.parameters():
            p.requires_grad_(False)
        self.__dict__.update(_inner=inner, _kept=tuple(kept), _original_name=original_name(module),
                             training=False)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returned when it was frozen."""
        return self._inner(*args, **kwargs)

    def _programs_to_save(self) -> dict[str, list]:
        inner = self._inner
        examples = getattr(inner, "_examples", {}).get("forward")
        if examples is None:
            examples = _saving.arguments(_saving.only_form(self._forms or inner._forms, self._original_name))
        return {"forward": [(None, _saving.made(None, self.forward, examples, "forward"))]}

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_kept", ()):
            return getattr(self._inner, name)
        raise AttributeError(f"'RecursiveScriptModule' object has no attribute '{name}'")


class LoadedModule(RecursiveScriptModule):
    """A module that was read from an archive, or one inside it: it runs programs, and has no Python code."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.__dict__.update(_original_name=name, _programs={})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returned that was saved."""
        return self._run("forward", args, kwargs)

    def _run(self, method: str, args: tuple, kwargs: dict) -> Any:
        if method not in self._programs:
            raise NotImplementedError(
                f"{self._original_name}.{method}() has no program: an archive has those of the module that "
                "was saved, not those of the modules in it"
            )
        program = self._program(method)
        tensors = {**dict(self.named_parameters(remove_duplicate=False)),
                   **dict(self.named_buffers(remove_duplicate=False))}
        return program([tensors[name] for name in program.state], args, kwargs)

    def _programs_to_save(self) -> dict[str, list]:
        return self._programs

    def _program(self, method: str) -> Program:
        modes = [m.training for _, m in self.named_modules(remove_duplicate=False)]
        for at, found in self._programs[method]:
            if at is None or at == modes:
                if isinstance(found, str):
                    raise RuntimeError(
                        f"{self._original_name}.{method}() was not saved in this mode: {found}")
                return found
        raise RuntimeError(
            f"{self._original_name}.{method}() was saved in training and in evaluation mode of all its "
            "modules, and some are in another mode than the rest now: call train() or eval()"
        )

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_programs", ()):
            return lambda *args, **kwargs: self._run(name, args, kwargs)
        return super().__getattr__(name)


def original_name(module: Module) -> str:
    """The name of the class that a module was written as."""
    return getattr(module, "original_name", None) or type(module).__name__
