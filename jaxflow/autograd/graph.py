"""The public names of the graph: nodes and edges."""

from jaxflow._dispatch.graph import AccumulateGrad as AccumulateGrad
from jaxflow._dispatch.graph import Node as Node
