"""`PassBase`: a change of a graph module, with what is looked at before and after it."""

from __future__ import annotations

import abc
from typing import NamedTuple

from jaxflow.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module, and whether it was changed."""

    graph_module: GraphModule
    modified: bool


class PassBase(abc.ABC):
    """Base class of passes; subclasses define `call`, and `requires` and `ensures` if they look at the
    module.

    Example:
        >>> from jaxflow.fx.passes.infra.pass_base import PassBase, PassResult
        >>> class Rename(PassBase):
        ...     def call(self, graph_module):
        ...         graph_module.graph.nodes
        ...         return PassResult(graph_module, False)
        >>> Rename()(torch.fx.symbolic_trace(lambda x: x)).modified
        False
    """

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Change the module, and say whether it was changed."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027 - it may stay as it is
        """Raise for a module that the pass cannot be run on."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027 - it may stay as it is
        """Raise for a result that is not as it should be."""
