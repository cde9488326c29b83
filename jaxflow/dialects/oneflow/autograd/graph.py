"""Hooks on what the graph saves."""

from collections.abc import Callable as _Callable

from jaxflow.autograd import graph as _graph

from .._dialect import DIALECT as _DIALECT
from .._dialect import fill as _fill


class saved_tensors_hooks(_graph.saved_tensors_hooks):
    """Inside the ``with``, what is saved for backward passes both hooks, in and out."""

    def __init__(self, pack_hook: _Callable, unpack_hook: _Callable) -> None:
        super().__init__(_DIALECT.hook(pack_hook), _DIALECT.hook(unpack_hook))


__getattr__ = _fill("autograd.graph", globals(), _graph)
