"""A method of a module as a pure function of flat arrays: its state, then the tensors of its arguments.

NOTE [What a program changes]
    A method may write to buffers (running statistics), to parameters, and to its arguments. The function
    returns the new arrays of all tensors that the method changed, after the results, and says which they
    are; whoever runs it writes them to the tensors. The method runs on a twin of the module, so attributes
    that it sets do not reach the module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxflow._api.creation.construct import from_array
from jaxflow._api.random.state import drawing_from
from jaxflow._core.generator import Generator
from jaxflow._core.tensor import Tensor, make
from jaxflow._publish.pytree import array_of, refusing_history
from jaxflow._views.values import value_of
from jaxflow.autograd.grad_mode import enable_grad, inference_mode
from jaxflow.nn import Module

from .structure import flatten, rebuilt
from .twins import twin_of

#: What jax raises where a number is read that is not known while it traces.
_NUMBERS_READ = (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError,
                 jax.errors.TracerIntegerConversionError, jax.errors.NonConcreteBooleanIndexError)


class Refused(RuntimeError):
    """What a program cannot be made of, and why."""


def state_of(module: Module | None) -> dict[str, Tensor]:
    """The parameters and buffers of a module by their dotted names, each tensor once."""
    if module is None:
        return {}
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


class Captured:
    """The function of a method, for arguments of one structure.

    Args:
        module: the module; None for a function that has none.
        run: calls the method: ``run(module, *args, **kwargs)``.
        args, kwargs: example arguments.
        name: what errors call it.
    """

    def __init__(self, module: Module | None, run: Callable, args: tuple, kwargs: dict, name: str) -> None:
        self.module, self.run, self.name = module, run, name
        self.state = state_of(module)
        self.examples, self.inputs = flatten((args, kwargs), "the arguments")
        self.outputs: Any = None
        self.written: list[int] = []
        self.results = 0

    def __call__(self, *arrays: Any) -> tuple:
        """Results, then the new arrays of what is ``written``. Sets ``outputs``, ``written``, ``results``."""
        held = dict(zip(self.state, arrays, strict=False))
        inside = [_like(t, held[name]) for name, t in self.state.items()]
        given = [from_array(x, shared=True) for x in arrays[len(inside):]]
        others = {id(t): new for t, new in zip(self.state.values(), inside, strict=True)}
        module = None if self.module is None else twin_of(self.module, others)
        args, kwargs = rebuilt(self.inputs, iter(given))
        before = [t._storage.value for t in (*inside, *given)]

        def called() -> tuple:
            with refusing_history(self.name):
                result = self.run(*(() if module is None else (module,)), *args, **kwargs)
                results, self.outputs = flatten(result, "the result")
                if any(t.requires_grad for t in results):
                    raise Refused(
                        f"{self.name} reads a tensor that requires grad and is neither a parameter of its "
                        "module nor an argument, so its gradient would be lost: make it one, or detach it"
                    )
                now = [*self._now(module, inside), *given]
                self.written = [i for i, t in enumerate(now) if t._storage.value is not before[i]]
                self.results = len(results)
                changed = [self._same_form(i, array_of(now[i]), arrays[i]) for i in self.written]
                return (*map(array_of, results), *changed)

        try:
            return drawing_from(_NoDraws(stream="counter")).run(_recorded, called)
        except _NUMBERS_READ as error:
            raise Refused(
                f"{self.name} reads numbers of its tensors in Python (a condition, item(), a mask as index), "
                "and what follows depends on them, so there is no one program of it: "
                f"{str(error).splitlines()[0]}"
            ) from error

    def _now(self, module: Module | None, inside: list[Tensor]) -> list[Tensor]:
        """The tensors that the twin has by the names of the state; others may have been assigned."""
        if module is None:
            return inside
        found = {**dict(module.named_parameters(remove_duplicate=False)),
                 **dict(module.named_buffers(remove_duplicate=False))}
        missing = [name for name in self.state if name not in found]
        if missing:
            raise Refused(f"{self.name} takes {missing[0]!r} away from its module, which its program cannot "
                          "do")
        return [found[name] for name in self.state]

    def _same_form(self, i: int, new: Any, old: Any) -> Any:
        if new.shape == old.shape and new.dtype == old.dtype:
            return new
        what = [*self.state][i] if i < len(self.state) else f"argument {i - len(self.state)}"
        raise Refused(f"{self.name} makes {what!r} of shape {list(old.shape)} one of shape {list(new.shape)} "
                      f"and type {new.dtype}, and its program can only write numbers into it")


def _recorded(function: Callable) -> Any:
    """What ``function`` returns with gradients on: where they are off, results are constants to jax."""
    with inference_mode(False), enable_grad():
        return function()


def _like(tensor: Tensor, array: Any) -> Tensor:
    """A tensor of the same class on an array; no detached view: jax differentiates through it."""
    inside = make(value_of(from_array(array, shared=True)), type(tensor))
    inside.__dict__.update(tensor.__dict__)
    return inside


class _NoDraws(Generator):
    """Draws nothing: a program has no stream of random numbers."""

    def draw(self, count: int = 1) -> tuple[int, int]:
        """Refuse."""
        raise Refused(
            "the forward draws random numbers (dropout?), which an exported program cannot do: call "
            ".eval() before, or pass the numbers in as an argument"
        )
