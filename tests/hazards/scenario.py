"""A scenario: how its variables are made, and the list of operations on them that may be interrupted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .world import World


class Operation(NamedTuple):
    """One statement of a user's program.

    ``parts`` are the statements it consists of, for one that may be cut between them: each parameter of
    ``zero_grad``, each line of a compiled step.
    """

    text: str
    run: Callable[[World], None]
    parts: tuple[Callable[[World], None], ...] = ()

    def cuts(self) -> int:
        """The number of states in which an interrupt may leave it: before, between its parts, after."""
        return max(len(self.parts), 1) + 1

    def run_to(self, cut: int, world: World) -> None:
        """Perform it up to a cut; as the statement did not end, it gives no variable a new tensor."""
        variables = dict(vars(world))
        for part in (self.parts or (self.run,))[:cut]:
            part(world)
        vars(world).clear()
        vars(world).update(variables)


class Scenario(NamedTuple):
    """``build`` makes the variables from a seed.

    ``compiled`` names the variable that holds a function for ``jaxflow.compile``, and ``warm`` is what is
    called before the operations, so that those find it compiled.
    """

    name: str
    build: Callable[[int], World]
    operations: list[Operation]
    compiled: str | None = None
    warm: Callable[[World], None] | None = None


def operation(text: str, *parts: str) -> Operation:
    """An operation written as a statement on ``w``, as the user would write it."""
    return Operation(text, _statement(text), tuple(_statement(part) for part in parts))


def _statement(text: str) -> Callable[[World], None]:
    import jaxflow as torch

    code = compile(text, f"<{text}>", "exec")

    def run(w: World) -> None:
        exec(code, {"torch": torch, "F": torch.nn.functional, "w": w})

    return run


SCENARIOS: dict[str, Scenario] = {}


def scenario(*operations: str | Operation, compiled: str | None = None, warm: str = "pass",
             into: dict[str, Scenario] = SCENARIOS):
    """Declare a scenario under the name of the function that builds its variables."""

    def declare(build: Callable[[int], World]) -> Callable[[int], World]:
        steps = [operation(o) if isinstance(o, str) else o for o in operations]
        into[build.__name__] = Scenario(build.__name__, build, steps, compiled, _statement(warm))
        return build

    return declare
