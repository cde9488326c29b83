"""Nodes of graphs, of which there are none."""

from ._classes import Node as Node
from ._classes import Target as Target
