"""Helpers around tensors: loading data, and handles of hooks."""

from . import _python_dispatch as _python_dispatch
from . import _pytree as _pytree
from . import checkpoint as checkpoint
from . import data as data
from . import dlpack as dlpack
from . import hooks as hooks
from ._swap import swap_tensors as swap_tensors
