"""Hooks on what the graph saves."""

from jaxflow.autograd import graph as _graph

from .._dialect import fill as _fill

__getattr__ = _fill("autograd.graph", globals(), _graph)
