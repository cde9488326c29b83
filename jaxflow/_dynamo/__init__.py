"""Names that programs take from ``torch._dynamo``: those of `jaxflow.compiler`."""

from jaxflow.compiler import OptimizedModule as OptimizedModule
from jaxflow.compiler import allow_in_graph as allow_in_graph
from jaxflow.compiler import assume_constant_result as assume_constant_result
from jaxflow.compiler import disable as disable
from jaxflow.compiler import explain as explain
from jaxflow.compiler import is_compiling as is_compiling
from jaxflow.compiler import list_backends as list_backends
from jaxflow.compiler import reset as reset

from . import config as config
from . import eval_frame as eval_frame
from . import utils as utils
from .marks import mark_static as mark_static
from .marks import mark_static_address as mark_static_address
