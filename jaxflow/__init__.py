"""jaxflow: PyTorch's interface on JAX's engine. ``import jaxflow as torch``."""

import importlib as _importlib
import os as _os

from ._core import startup as _startup

with _startup.made_to_stay():
    import jax as _jax

    from ._core import versions as _versions

    _versions.check()
    # Where `jaxflow.oneflow` and `jaxflow.paddle` are.
    __path__.append(_os.path.join(__path__[0], "dialects"))

    from ._core import disk_cache as _disk_cache
    from ._core import flags as _flags
    from ._core import heap as _heap
    from ._core import wide as _wide

    # Before XLA allocates anything: NOTE [Freed pages stay], [An arena for each thread].
    if _flags.KEEP_PAGES and _heap.keep_pages() and not _flags.ASYNC:
        _jax.config.update("jax_cpu_enable_async_dispatch", False)
    _wide.set_up()
    _disk_cache.set_up()
    for _name in ("nn", "optim", "utils", "compiler", "func", "fft"):  # these import nearly all there is
        _importlib.import_module(f"{__name__}.{_name}")

import math as _math

from . import _functions
from . import autograd as autograd
from ._core.device import device as device
from ._core.dtype import ALL as _ALL_DTYPES
from ._core.dtype import dtype as dtype
from ._core.dtype import get_default_dtype as get_default_dtype
from ._core.dtype import qint8 as qint8
from ._core.dtype import qint32 as qint32
from ._core.dtype import quint8 as quint8
from ._core.generator import Generator as Generator
from ._core.generator import default_generator as default_generator
from ._core.layout import channels_last as channels_last
from ._core.layout import channels_last_3d as channels_last_3d
from ._core.layout import contiguous_format as contiguous_format
from ._core.layout import jagged as jagged
from ._core.layout import layout as layout
from ._core.layout import memory_format as memory_format
from ._core.layout import per_channel_affine as per_channel_affine
from ._core.layout import per_channel_affine_float_qparams as per_channel_affine_float_qparams
from ._core.layout import per_channel_symmetric as per_channel_symmetric
from ._core.layout import per_tensor_affine as per_tensor_affine
from ._core.layout import per_tensor_symmetric as per_tensor_symmetric
from ._core.layout import preserve_format as preserve_format
from ._core.layout import qscheme as qscheme
from ._core.layout import sparse_bsc as sparse_bsc
from ._core.layout import sparse_bsr as sparse_bsr
from ._core.layout import sparse_coo as sparse_coo
from ._core.layout import sparse_csc as sparse_csc
from ._core.layout import sparse_csr as sparse_csr
from ._core.layout import strided as strided
from ._core.memory_errors import OutOfMemoryError as OutOfMemoryError
from ._core.printing import set_printoptions as set_printoptions
from ._core.size import Size as Size
from ._core.state import execution as execution
from ._core.tensor import Tensor as Tensor
from ._core.typeinfo import finfo as finfo
from ._core.typeinfo import iinfo as iinfo
from ._exec import forking as _forking  # noqa: F401  (what a forked process may do)
from ._exec.explain import explain as explain
from ._exec.run import flush as flush
from ._publish import pytree as _pytree  # noqa: F401  (tensors in jax's transformations)
from ._publish.overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass

globals().update(_ALL_DTYPES)
globals().update({_name: getattr(_functions, _name) for _name in _functions.NAMES})

from .autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .autograd.grad_mode import enable_grad as enable_grad
from .autograd.grad_mode import inference_mode as inference_mode
from .autograd.grad_mode import is_grad_enabled as is_grad_enabled
from .autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .autograd.grad_mode import no_grad as no_grad
from .autograd.grad_mode import set_grad_enabled as set_grad_enabled

e, pi, inf, nan, newaxis = _math.e, _math.pi, _math.inf, _math.nan, None

from . import _C as _C
from . import __config__ as __config__
from . import _dynamo as _dynamo
from . import _inductor as _inductor
from . import _subclasses as _subclasses
from . import _utils as _utils
from . import accelerator as accelerator
from . import backends as backends
from . import compiler as compiler
from . import cpu as cpu
from . import cuda as cuda
from . import distributed as distributed
from . import fft as fft
from . import func as func
from . import functional as functional
from . import futures as futures
from . import hub as hub
from . import library as library
from . import linalg as linalg
from . import masked as masked
from . import mps as mps
from . import multiprocessing as multiprocessing
from . import nn as nn
from . import onnx as onnx
from . import ops as ops
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from . import random as random
from . import return_types as return_types
from . import serialization as serialization
from . import signal as signal
from . import sparse as sparse
from . import special as special
from . import storage as storage
from . import testing as testing
from . import torch_version as torch_version
from . import types as types
from . import utils as utils
from . import version as version
from . import xpu as xpu
from ._interop import load_jax_params as load_jax_params
from ._interop import to_jax as to_jax
from ._interop import wrap_jax as wrap_jax
from ._publish import mixing as _mixing  # noqa: F401  (functions as they are by now, and PyTorch's tensors)
from ._utils import get_device_module as get_device_module
from .compiler import compile as compile
from .func import vmap as vmap
from .serialization import PyTorchFileReader as PyTorchFileReader
from .serialization import load as load
from .serialization import save as save
from .storage import TypedStorage as TypedStorage
from .storage import UntypedStorage as UntypedStorage
from .version import __version__ as __version__

#: What is loaded when it is first used.
_LATE = frozenset(("_custom_ops", "_higher_order_ops", "_prims_common", "_tensor_str", "amp", "ao",
                    "distributions", "export", "fx", "jit", "nested", "quantization",
                    "quasirandom"))
#: Classes and functions of such modules.
_LATE_NAMES = {"Event": "_streams", "GradScaler": "amp", "ScriptFunction": "jit", "ScriptModule": "jit",
               "Stream": "_streams", "autocast": "amp", "cond": "_higher_order_ops",
               "while_loop": "_higher_order_ops"}


def __getattr__(name: str) -> object:
    """The modules that are loaded when they are first used, and names of theirs."""
    if name in _LATE:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LATE_NAMES:
        return getattr(_importlib.import_module(f"jaxflow.{_LATE_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
