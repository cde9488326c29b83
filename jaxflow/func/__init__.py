"""Function transforms: ``vmap`` and the derivatives of functions, nested in any order."""

from jaxflow._api.vmap import vmap as vmap

from ._forward import jvp as jvp
from ._forward import linearize as linearize
from ._jacobians import hessian as hessian
from ._jacobians import jacfwd as jacfwd
from ._jacobians import jacrev as jacrev
from ._modules import functional_call as functional_call
from ._modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from ._modules import stack_module_state as stack_module_state
from ._others import debug_unwrap as debug_unwrap
from ._others import functionalize as functionalize
from ._rearrange import rearrange as rearrange
from ._reverse import grad as grad
from ._reverse import grad_and_value as grad_and_value
from ._reverse import vjp as vjp

__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd",
           "jacrev", "jvp", "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state",
           "vjp", "vmap"]
