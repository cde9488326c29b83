"""Explicit compilation: ``jaxflow.compile`` and what belongs to it. docs/compile.md is the page for users."""

from ._api import InvalidBackend as InvalidBackend
from ._api import OptimizedModule as OptimizedModule
from ._api import compile as compile
from ._capture import Unsupported as Unsupported
from ._control import allow_in_graph as allow_in_graph
from ._control import assume_constant_result as assume_constant_result
from ._control import cudagraph_mark_step_begin as cudagraph_mark_step_begin
from ._control import disable as disable
from ._control import explain as explain
from ._control import is_compiling as is_compiling
from ._control import is_dynamo_compiling as is_dynamo_compiling
from ._control import list_backends as list_backends
from ._control import reset as reset
from ._control import set_stance as set_stance
from ._exporting import is_exporting as is_exporting
