"""Graphs of Python code, of which there are none."""

from ._classes import Graph as Graph
