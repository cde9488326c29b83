"""Automatic differentiation with OneFlow's signatures."""

from jaxflow import enable_grad as enable_grad
from jaxflow import inference_mode as inference_mode
from jaxflow import is_grad_enabled as is_grad_enabled
from jaxflow import no_grad as no_grad
from jaxflow import set_grad_enabled as _set_grad_enabled

from .._dialect import Function as Function
from .._dialect import backward as backward
from .._dialect import grad as grad
from . import functional as functional
from . import graph as graph
from .functional import hessian as hessian
from .functional import hvp as hvp
from .functional import jacobian as jacobian
from .functional import jvp as jvp
from .functional import vhp as vhp
from .functional import vjp as vjp


class set_grad_enabled(_set_grad_enabled):
    """Set grad mode: at once, and until the ``with`` block ends where it is used as one."""

    def __init__(self, is_train: bool = True) -> None:
        super().__init__(is_train)
