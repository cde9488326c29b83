"""``jaxflow.compile``: PyTorch's interface of explicit compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow.nn.modules.module import Module

from ._function import RECOMPILE_LIMIT, CompiledFunction

# Names of PyTorch's own back ends, which programs pass along; there is one here, XLA.
BACKENDS = ("cudagraphs", "eager", "aot_eager", "inductor", "openxla", "tvm")
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


class InvalidBackend(RuntimeError):
    """No back end has that name."""


class OptimizedModule(Module):
    """A module whose calls are compiled. Everything but the call is that of ``_orig_mod``."""

    def __init__(self, module: Module, call: CompiledFunction) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiled"] = call

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module, compiled."""
        return self.__dict__["_compiled"](*args, **kwargs)

    def __reduce__(self) -> tuple:
        # A copy is compiled for itself: what was found out is about the tensors of this module.
        call = self.__dict__["_compiled"]
        return _optimized, (self._orig_mod, call.fullgraph, call.limit, call.name, call.dynamic)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self.__dict__["_modules"][name]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod" or "_orig_mod" not in self.__dict__.get("_modules", ()):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    @property
    def training(self) -> bool:
        """The mode of the module."""
        return self._orig_mod.training

    @training.setter
    def training(self, mode: bool) -> None:
        if "_orig_mod" in self.__dict__.get("_modules", ()):
            self._orig_mod.training = mode

    def train(self, mode: bool = True) -> OptimizedModule:
        """Set the module's mode; returns this object."""
        self._orig_mod.train(mode)
        return self


def _optimized(module: Module, fullgraph: bool, limit: int, name: str,
               dynamic: bool | None) -> OptimizedModule:
    call = CompiledFunction(module.__call__, fullgraph=fullgraph, limit=limit, name=name, dynamic=dynamic)
    return OptimizedModule(module, call)


def compile(model: Callable | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: str | Callable | None = None, mode: str | None = None, options: dict | None = None,
            name: str | None = None, disable: bool = False, recompile_limit: int | None = None,
            isolate_recompiles: bool = False, shapes_spec: Any = None) -> Callable:
    """Compile a function or module: a call like an earlier one runs one program, and no Python.

    The function may do all that a training step does. Its first calls run it and find out what it reads and
    writes; later ones check that nothing it depends on has changed, run the program on the present values
    and write what it changed. Where Python cannot be left out (``explain`` says why) it runs, and the
    operations are compiled as they are without this. See docs/compile.md.

    Args:
        model: a function or a module; None to decorate with arguments.
        fullgraph: refuse what Python would have to run for at each call.
        dynamic: whether a number among the arguments may be another at each call: from the first call on
            (True), once it has been another (None), or never (False). Programs are for exact shapes.
        backend: accepted names change nothing, XLA compiles.
        mode: accepted names change nothing.
        options: accepted without effect.
        name: what ``explain`` calls it.
        disable: return ``model`` as it is.
        recompile_limit: how many specialisations it may have (8).
        isolate_recompiles: accepted without effect.
        shapes_spec: accepted without effect.

    Returns:
        What is called like ``model`` and gives the same results. For a module it is a module with the same
        parameters and buffers. Without ``model`` a decorator is returned.

    Raises:
        RuntimeError: both ``mode`` and ``options``, an unknown mode or back end, or a callable one.
        AssertionError: when ``model`` cannot be called.

    Example:
        >>> @torch.compile
        ... def total(x, y):
        ...     return (x * y).sum()
        >>> total(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        tensor(11.)
        >>> layer = torch.compile(nn.Linear(3, 2))
        >>> layer(torch.ones(5, 3)).shape
        torch.Size([5, 2])
    """
    if model is None:

        def decorate(model: Callable) -> Callable:
            if model is None:
                raise RuntimeError("Model can't be None")
            return compile(
                model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options,
                name=name, disable=disable, recompile_limit=recompile_limit,
                isolate_recompiles=isolate_recompiles, shapes_spec=shapes_spec,
            )

        return decorate
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    _check_backend(backend)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable:
        return model
    limit = RECOMPILE_LIMIT if recompile_limit is None else recompile_limit
    if isinstance(model, Module):
        return _optimized(model, fullgraph, limit, name or type(model).__name__, dynamic)
    if isinstance(model, CompiledFunction):
        model = model.fn
    return CompiledFunction(model, fullgraph=fullgraph, limit=limit, name=name, dynamic=dynamic)


def _check_backend(backend: Any) -> None:
    if backend is None or backend in BACKENDS:
        return
    if isinstance(backend, str):
        raise InvalidBackend(
            f"Invalid backend: '{backend}', see `torch._dynamo.list_backends()` for available backends."
        )
    raise RuntimeError(
        "a callable as backend= is not supported: it would be handed a torch.fx graph of bytecode, which "
        "jaxflow does not take apart. Leave it out; XLA compiles. torch.fx.symbolic_trace gives a module's "
        "graph."
    )


def _compile_calls(self: Module, *args: Any, **kwargs: Any) -> None:
    """Compile the calls of this module by ``jaxflow.compile``, which takes the arguments."""
    kwargs.setdefault("name", type(self).__name__)
    self.__dict__["_compiled_call_impl"] = compile(self._call_impl, *args, **kwargs)


_compile_calls.__module__, _compile_calls.__name__ = Module.__module__, "compile"
_compile_calls.__qualname__ = "Module.compile"
Module.compile = _compile_calls
