"""What there is only where a graph of TorchScript is: names that say so."""

from __future__ import annotations

from typing import Any, NoReturn


class Error(Exception):
    """What TorchScript's interpreter raises; scripted functions raise what their Python code raises."""


def refuse(name: str) -> NoReturn:
    """Raise NotImplementedError for a name of ``torch.jit``."""
    raise NotImplementedError(
        f"torch.jit: {name} is not supported: functions and modules run as Python, and there is no graph or "
        "code of TorchScript. jax.make_jaxpr(function)(*inputs) shows the operations of a function of "
        "tensors, and jaxflow.explain() what was compiled."
    )


class NoGraph:
    """An attribute that raises NotImplementedError, unless an object has its own by that name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owned: Any, owner: type | None = None) -> Any:
        return self if owned is None else refuse(self.name)


class CompilationUnit:
    """Source code of TorchScript in PyTorch; making one raises NotImplementedError."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> NoReturn:
        refuse("CompilationUnit")


def export_opnames(m: Any) -> NoReturn:
    """Raises NotImplementedError."""
    refuse("export_opnames")


def last_executed_optimized_graph() -> NoReturn:
    """Raises NotImplementedError."""
    refuse("last_executed_optimized_graph")
