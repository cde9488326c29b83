"""Autograd: the engine over the recorded graph, grad modes, hooks, custom functions, gradient checks."""

from . import forward_ad as forward_ad
from . import functional as functional
from . import graph as graph
from . import node_call as _node_call  # noqa: F401  (makes nodes callable)
from . import profiler as profiler
from . import saved_attributes as _saved_attributes  # noqa: F401  (reads what nodes show of what they save)
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .api import backward as backward
from .api import grad as grad
from .function import Function as Function
from .function import NestedIOFunction as NestedIOFunction
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import is_multithreading_enabled as is_multithreading_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .grad_mode import set_multithreading_enabled as set_multithreading_enabled
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .profiler_util import DeviceType as DeviceType
from .profiler_util import ProfilerActivity as ProfilerActivity
from .variable import Variable as Variable

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "gradcheck",
           "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
           "set_multithreading_enabled"]
