"""Autograd: the engine over the recorded graph, grad modes, hooks, custom functions, gradient checks."""

from . import forward_ad as forward_ad
from . import graph as graph
from . import profiler as profiler
from .api import backward as backward
from .api import grad as grad
from .function import Function as Function
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .variable import Variable as Variable

__all__ = ["Function", "Variable", "backward", "enable_grad", "grad", "gradcheck", "gradgradcheck",
           "inference_mode", "no_grad", "set_grad_enabled"]
