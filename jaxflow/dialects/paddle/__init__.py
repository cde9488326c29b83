"""Paddle's interface on jaxflow: ``import jaxflow.paddle as paddle``.

The names, argument names and printed text are Paddle's; what stands behind is jaxflow. ``_table.py`` has a
line for each function, ``_tensor.py`` what Paddle's tensor does in its own way. A name that Paddle has and
jaxflow has not says so when used.
"""

import jaxflow as _jaxflow
from jaxflow import enable_grad as enable_grad
from jaxflow import is_grad_enabled as is_grad_enabled
from jaxflow import no_grad as no_grad
from jaxflow import set_grad_enabled as set_grad_enabled
from jaxflow._dialect import DType as _DType
from jaxflow._dialect import missing as _missing

from . import _table
from ._autograd import grad as grad
from ._places import DIALECT as _DIALECT
from ._places import CPUPlace as CPUPlace
from ._places import CUDAPlace as CUDAPlace
from ._places import Place as Place
from ._places import dtype_of as _dtype_of
from ._printing import set_printoptions as set_printoptions
from ._tensor import Tensor as Tensor

from . import autograd as autograd  # isort: skip
from . import device as device  # isort: skip
from . import io as io  # isort: skip
from . import linalg as linalg  # isort: skip
from . import nn as nn  # isort: skip
from . import optimizer as optimizer  # isort: skip
from . import regularizer as regularizer  # isort: skip
from .device import get_device as get_device  # isort: skip
from .device import is_compiled_with_cuda as is_compiled_with_cuda  # isort: skip
from .device import set_device as set_device  # isort: skip
from .nn._layer import ParamAttr as ParamAttr  # isort: skip
from .nn._layer import create_parameter as _create_parameter  # isort: skip

globals().update(_table.FUNCTIONS)
globals().update({name: _DIALECT.dtypes[plain] for name, plain in _jaxflow._ALL_DTYPES.items()
                  if name == plain.name})
dtype = _DType
e, pi, inf, nan, newaxis = _jaxflow.e, _jaxflow.pi, _jaxflow.inf, _jaxflow.nan, None


def seed(seed: int) -> None:
    """Set the seed of every random operation."""
    _jaxflow.manual_seed(seed)


def get_default_dtype() -> str:
    """The name of the dtype that floats get."""
    return _jaxflow.get_default_dtype().name


def set_default_dtype(d: object) -> None:
    """Set the dtype that floats get, by name or as a dtype."""
    _jaxflow.set_default_dtype(_dtype_of(d))


def create_parameter(
    shape: object, dtype: object = None, name: str | None = None, attr: object = None, is_bias: bool = False,
    default_initializer: object = None,
) -> object:
    """A new parameter: zeros for a bias, else drawn by Xavier's rule, or as an initializer says."""
    return _create_parameter(shape, attr, dtype, is_bias, default_initializer)


def save(obj: object, path: object, protocol: int = 4, **configs: object) -> None:
    """Write tensors in containers to a file, in PyTorch's format."""
    _jaxflow.save(obj, path)


def load(path: object, **configs: object) -> object:
    """Read what :func:`save` wrote."""
    return _DIALECT.wrap(_jaxflow.load(path))


def in_dynamic_mode() -> bool:
    """True: programs are written as they run."""
    return True


def disable_static(place: object = None) -> None:
    """Nothing to do: programs are written as they run."""


def __getattr__(name: str) -> object:
    raise _missing("Paddle", "paddle", _table.MISSING, name)
