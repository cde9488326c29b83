"""OneFlow's interface on jaxflow: ``import jaxflow.oneflow as oneflow``.

The names are OneFlow's, what stands behind them is jaxflow: one table of names (``_names.py``), one of
differing behaviours (``_differences.py``). A name that OneFlow has and jaxflow has not says so when used.
"""

import jaxflow as _jaxflow
from jaxflow._dialect import DType as dtype  # noqa: F401

from . import _dialect
from . import autograd as autograd
from . import linalg as linalg
from . import nn as nn
from . import optim as optim
from . import special as special
from . import utils as utils
from ._dialect import Size as Size
from ._dialect import Tensor as Tensor
from .autograd import enable_grad as enable_grad
from .autograd import inference_mode as inference_mode
from .autograd import is_grad_enabled as is_grad_enabled
from .autograd import no_grad as no_grad
from .autograd import set_grad_enabled as set_grad_enabled

backends, cuda, version, __version__ = (
    _jaxflow.backends, _jaxflow.cuda, _jaxflow.version, _jaxflow.__version__
)
__getattr__ = _dialect.fill("", globals(), _jaxflow)
