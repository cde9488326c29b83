"""`PassManager`: runs passes one after the other."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from jaxflow.fx.graph_module import GraphModule

from .pass_base import PassResult

__all__ = ["PassManager"]


class PassManager:
    """Runs passes, in order, until none changes the module or they were run ``steps`` times.

    Args:
        passes: functions from a module to a `PassResult`.
        constraints: functions of two passes, which say whether the first may come before the second.
        steps: how often they are run.
        run_checks_after_each_pass: whether `check` is called after each.
        suppress_check_failures: whether errors about the order of passes are left out.

    Raises:
        RuntimeError: for an order of passes that a constraint forbids.

    Example:
        >>> from jaxflow.fx.passes.infra.pass_manager import PassManager
        >>> from jaxflow.fx.passes.infra.pass_base import PassResult
        >>> drop = lambda gm: PassResult(gm, gm.graph.eliminate_dead_code())
        >>> PassManager([drop])(torch.fx.symbolic_trace(lambda x: (x + 1, x)[1])).modified
        True
    """

    def __init__(self, passes: list[Callable] | None = None, constraints: list[Callable] | None = None,
                 steps: int | None = None, run_checks_after_each_pass: bool = False,
                 suppress_check_failures: bool = False) -> None:
        self.passes, self.constraints = passes or [], constraints or []
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def add_pass(self, _pass: Callable) -> None:
        """Run one more."""
        self.passes.append(_pass)

    def add_constraint(self, constraint: Callable) -> None:
        """Look at the order by one more function."""
        self.constraints.append(constraint)
        self.validate_constraints()

    def validate_constraints(self) -> None:
        """Raise RuntimeError for an order that a constraint forbids."""
        if self.suppress_check_failures:
            return
        for constraint in self.constraints:
            for i, first in enumerate(self.passes):
                for second in self.passes[i + 1:]:
                    if not constraint(first, second):
                        raise RuntimeError(f"pass schedule constraint violated. Expected {first} before "
                                           f"{second} but found {second} before {first}")

    def add_checks(self, check: Callable) -> None:
        """Look at the module by a function of it.

        Raises:
            TypeError: unless the function has one parameter.
        """
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign]

    def check(self, module: GraphModule) -> None:
        """Raise for a module that is not as it should be; nothing by default."""

    def __call__(self, module: GraphModule) -> PassResult:
        self.validate_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified = False
            for fn in self.passes:
                result = fn(module)
                if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
                    raise TypeError(f"The result of the pass {fn} should be type PassResult, got "
                                    f"{type(result)}")
                module, modified = result.graph_module, modified or result.modified
                if isinstance(module, GraphModule):
                    module.recompile()
                if self.run_checks_after_each_pass:
                    self.check(module)
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)
