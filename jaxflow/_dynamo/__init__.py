"""Names that programs take from ``torch._dynamo``: those of `jaxflow.compiler`."""

from jaxflow.compiler import allow_in_graph as allow_in_graph
from jaxflow.compiler import disable as disable
from jaxflow.compiler import explain as explain
from jaxflow.compiler import is_compiling as is_compiling
from jaxflow.compiler import list_backends as list_backends
from jaxflow.compiler import reset as reset

from . import utils as utils  # isort: skip
