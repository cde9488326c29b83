"""TorchScript's names: functions and modules stay Python, and archives hold StableHLO.

What makes a program quick here is `jaxflow.compile`, and operations recorded lazily without it. So `script`
and `trace` give wrappers that run the Python code they were given; `save` writes the program of a traced or
scripted module as StableHLO, and `load` runs that without the Python code.
"""

from jaxflow.futures import Future as Future

from . import _recursive as _recursive
from . import _state as _state
from . import annotations as annotations
from ._archives import load as load
from ._archives import save as save
from ._async import fork as fork
from ._async import wait as wait
from ._flat import _flatten as _flatten
from ._flat import _unflatten as _unflatten
from ._functions import ScriptFunction as ScriptFunction
from ._fusion import enable_onednn_fusion as enable_onednn_fusion
from ._fusion import onednn_fusion_enabled as onednn_fusion_enabled
from ._fusion import set_fusion_strategy as set_fusion_strategy
from ._fusion import strict_fusion as strict_fusion
from ._isinstance import isinstance as isinstance
from ._marks import Attribute as Attribute
from ._marks import Final as Final
from ._marks import _overload as _overload
from ._marks import _overload_method as _overload_method
from ._marks import _script_if_tracing as _script_if_tracing
from ._marks import annotate as annotate
from ._marks import export as export
from ._marks import ignore as ignore
from ._marks import interface as interface
from ._marks import is_scripting as is_scripting
from ._marks import script_if_tracing as script_if_tracing
from ._marks import script_method as script_method
from ._marks import unused as unused
from ._modules import RecursiveScriptModule as RecursiveScriptModule
from ._modules import ScriptModule as ScriptModule
from ._modules import TopLevelTracedModule as TopLevelTracedModule
from ._modules import TracedModule as TracedModule
from ._refused import CompilationUnit as CompilationUnit
from ._refused import Error as Error
from ._refused import export_opnames as export_opnames
from ._refused import last_executed_optimized_graph as last_executed_optimized_graph
from ._script import freeze as freeze
from ._script import optimize_for_inference as optimize_for_inference
from ._script import script as script
from ._trace import TracerWarning as TracerWarning
from ._trace import TracingCheckError as TracingCheckError
from ._trace import trace as trace
from ._trace import trace_module as trace_module
from ._tracing import is_tracing as is_tracing

_fork, _wait, _set_fusion_strategy = fork, wait, set_fusion_strategy
