"""What is left where some operations cannot be run: an eager run that knows what depends on them.

The eager executor performs everything and notes which Values depend on the results of those operations.
Whatever shows such a Value at the end is then given the last Value of its own that does not, from the notes
taken between the statements. Nothing of the code that is on trial has a part in this.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import jaxflow as torch
from jaxflow._core.value import Storage, Value
from jaxflow._exec import run as running
from jaxflow._plans.plan import Plan

from .injections import patched
from .world import World

# Operations that take what a tensor shows for its shape alone.
OVERWRITING = frozenset(("_assign", "_copy", "_fill", "_zero"))


class Held(NamedTuple):
    """What holds a tensor, and the tensor: a variable, a parameter, a ``.grad``, a state of an optimizer."""

    owner: Any
    name: Any
    tensor: torch.Tensor


def held(world: World) -> list[Held]:
    """All that a world holds, gradients behind what they belong to."""
    found: list[Held] = []

    def add(owner: Any, name: Any, tensor: Any) -> None:
        if isinstance(tensor, (list, tuple)):
            for item in tensor:
                add(owner, name, item)
        elif isinstance(tensor, torch.Tensor):
            found.append(Held(owner, name, tensor))
            if tensor._grad is not None:
                add(tensor, "_grad", tensor._grad)

    for name, x in vars(world).items():
        if isinstance(x, torch.nn.Module):
            for inner, tensor in [*x.named_parameters(), *x.named_buffers()]:
                add(None, f"{name}.{inner}", tensor)
        elif isinstance(x, torch.optim.Optimizer):
            for parameter, states in x.state.items():
                for key, tensor in states.items():
                    add(x.state[parameter], key, tensor)
        else:
            add(world, name, x)
    return found


class Note(NamedTuple):
    """A storage between two statements."""

    value: Value
    version: list
    histories: list[tuple]


class Course:
    """An eager run of a world, statement by statement.

    Attributes:
        plans: the operations of each statement, in order.
        lost: the names of variables that have no Value that could be computed.
        undone: how many tensors went back.
        trained: whether the parameters are those after the last statement, none of them went back.
    """

    def __init__(self, world: World, failing: frozenset[Plan] = frozenset()) -> None:
        self.world, self.failing = world, failing
        self.armed = False
        self.plans: list[list[Plan]] = []
        self.lost: list[str] = []
        self.undone = 0
        self.trained = True
        self._values: dict[int, Value] = {}  # that depend on a failing operation; kept, or ids would recur
        self._notes: list[dict[Storage, Note]] = []
        self._grads: list[list[tuple]] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, notice which operations are performed, and what depends on those that fail."""

        def make(real):
            def run(plan: Plan, inputs: list) -> list[Value]:
                values = real(plan, inputs)
                if self.plans:
                    self.plans[-1].append(plan)
                read = inputs[1:] if plan.name in OVERWRITING else inputs
                if self.armed and plan in self.failing or any(id(x) in self._values for x in read):
                    self._values.update((id(v), v) for v in values)
                return values

            return run

        with patched(running, "_run_now", make):
            yield

    def run(self, operation: Any) -> None:
        """Perform one statement."""
        self._note()
        self.plans.append([])
        operation.run(self.world)

    def run_without_naming(self, operation: Any) -> None:
        """Perform a statement that raised at its end: it gave no variable a new tensor."""
        variables = dict(vars(self.world))
        self.run(operation)
        vars(self.world).clear()
        vars(self.world).update(variables)

    def _note(self) -> None:
        notes: dict[Storage, Note] = {}
        for _, _, t in held(self.world):
            s = t._storage
            if s not in notes:
                notes[s] = Note(s.value, s.version[:], [])
            if t._view is None:
                notes[s].histories.append((t, t._grad_fn, t._output_nr, t._requires_grad))
        self._notes.append(notes)
        owners = [t for _, _, t in held(self.world)]
        self._grads.append([(t, t._grad) for t in owners])

    def spoiled(self, t: torch.Tensor) -> bool:
        """Whether what a tensor shows depends on an operation that fails."""
        return id(t._storage.value) in self._values

    def restore(self) -> None:
        """Let everything show its last Value that can be computed; forget variables that never had one."""
        everything = [h for h in held(self.world) if self.spoiled(h.tensor)]
        self.undone = len(everything)
        self.trained = not any(isinstance(h.tensor, torch.nn.Parameter) for h in everything)
        for storage in {h.tensor._storage: None for h in everything}:
            note = next((notes[storage] for notes in reversed(self._notes)
                         if storage in notes and id(notes[storage].value) not in self._values), None)
            if note is None:
                continue
            storage.value, storage.epoch = note.value, storage.epoch + 1
            storage.version[:] = note.version
            for t, node, number, requires_grad in note.histories:
                t._grad_fn, t._output_nr, t._requires_grad = node, number, requires_grad
        for owner, name, tensor in everything:
            if not self.spoiled(tensor):
                continue
            if name == "_grad":
                before = [grad for grads in self._grads for t, grad in grads if t is owner]
                owner._grad = next((g for g in reversed(before) if g is None or not self.spoiled(g)), None)
            elif owner is self.world and name not in self.lost:
                self.lost.append(name)
                delattr(owner, name)
            elif owner is not self.world:
                del owner[name]
