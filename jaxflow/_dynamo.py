"""Names that programs take from ``torch._dynamo``: those of `jaxflow.compiler`."""

from .compiler import allow_in_graph as allow_in_graph
from .compiler import disable as disable
from .compiler import explain as explain
from .compiler import is_compiling as is_compiling
from .compiler import list_backends as list_backends
from .compiler import reset as reset
