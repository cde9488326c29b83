# Written by tools/stubs.py from the records of ops and composites: python -m tools.stubs.
import enum as _enum
from builtins import bool as _bool, bytes as _bytes, complex as _complex, float as _float, int as _int, list as _list, object as _object, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable as _Callable, Iterable as _Iterable, Iterator as _Iterator
from collections.abc import Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, overload as _overload

import numpy as _np

from jaxflow._core.device import device as _device
from jaxflow._core.dtype import dtype as _dtype
from jaxflow._core.size import Size as _Size
from jaxflow._core.tensor import Tensor as Tensor
from jaxflow._core.generator import Generator as _Generator

_Number = _bool | _int | _float | _complex
from jaxflow._core.tensor import _aminmax_result as _aminmax_result, _cummax_result as _cummax_result, _cummin_result as _cummin_result, _frexp_result as _frexp_result, _geqrf_result as _geqrf_result, _kthvalue_result as _kthvalue_result, _linalg_eig_result as _linalg_eig_result, _linalg_eigh_result as _linalg_eigh_result, _linalg_qr_result as _linalg_qr_result, _linalg_svd_result as _linalg_svd_result, _max_result as _max_result, _median_result as _median_result, _min_result as _min_result, _mode_result as _mode_result, _nanmedian_result as _nanmedian_result, _sort_result as _sort_result, _topk_result as _topk_result

BFloat16Storage: _Any
BFloat16Tensor: _Any
BoolStorage: _Any
BoolTensor: _Any
ByteStorage: _Any
ByteTensor: _Any
CharStorage: _Any
CharTensor: _Any
ComplexDoubleStorage: _Any
ComplexFloatStorage: _Any
from jaxflow._publish.overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
DoubleStorage: _Any
DoubleTensor: _Any
FloatStorage: _Any
FloatTensor: _Any
from jaxflow._core.generator import Generator as Generator
HalfStorage: _Any
HalfTensor: _Any
IntStorage: _Any
IntTensor: _Any
LongStorage: _Any
LongTensor: _Any
class OutOfMemoryError(RuntimeError): ...
from jaxflow.serialization._reader import PyTorchFileReader as PyTorchFileReader
ShortStorage: _Any
ShortTensor: _Any
from jaxflow._core.size import Size as Size
from jaxflow.storage import TypedStorage as TypedStorage
from jaxflow.storage import UntypedStorage as UntypedStorage
from . import accelerator as accelerator
from . import autograd as autograd
from . import backends as backends
from jaxflow.compiler._api import compile as compile
from . import compiler as compiler
from . import cpu as cpu
from . import cuda as cuda
from jaxflow._core.device import device as device
from . import distributed as distributed
from jaxflow._core.dtype import dtype as dtype
from jaxflow.autograd.grad_mode import enable_grad as enable_grad
from jaxflow._core.state import execution as execution
from jaxflow._exec.explain import explain as explain
from . import fft as fft
from jaxflow._core.typeinfo import finfo as finfo
from jaxflow._exec.run import flush as flush
from . import func as func
from . import functional as functional
from . import futures as futures
from jaxflow._core.dtype import get_default_dtype as get_default_dtype
from jaxflow._utils import get_device_module as get_device_module
from . import hub as hub
from jaxflow._core.typeinfo import iinfo as iinfo
from jaxflow.autograd.grad_mode import inference_mode as inference_mode
from jaxflow.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from jaxflow.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from jaxflow.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from jaxflow.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from jaxflow._core.layout import layout as layout
from . import library as library
from . import linalg as linalg
from jaxflow.serialization._load import load as load
from jaxflow._interop.modules import load_jax_params as load_jax_params
from . import masked as masked
from jaxflow._core.layout import memory_format as memory_format
from . import mps as mps
from . import multiprocessing as multiprocessing
from . import nn as nn
from jaxflow.autograd.grad_mode import no_grad as no_grad
from . import onnx as onnx
from . import ops as ops
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from jaxflow._core.layout import qscheme as qscheme
from . import random as random
from . import return_types as return_types
from jaxflow.serialization._save import save as save
from . import serialization as serialization
from jaxflow.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from jaxflow._core.printing import set_printoptions as set_printoptions
from . import signal as signal
from . import sparse as sparse
from . import special as special
from . import storage as storage
from . import testing as testing
from jaxflow._interop.modules import to_jax as to_jax
from . import torch_version as torch_version
from . import types as types
from . import utils as utils
from . import version as version
from jaxflow._api.vmap import vmap as vmap
from jaxflow._interop.wrap import wrap_jax as wrap_jax
from . import xpu as xpu
from . import amp as amp
from . import ao as ao
from . import distributions as distributions
from . import export as export
from . import fx as fx
from . import jit as jit
from . import nested as nested
from . import quantization as quantization
from . import quasirandom as quasirandom
from ._streams import Event as Event
from .amp import GradScaler as GradScaler
from .jit import ScriptFunction as ScriptFunction
from .jit import ScriptModule as ScriptModule
from ._streams import Stream as Stream
from .amp import autocast as autocast
from ._higher_order_ops import cond as cond
from ._higher_order_ops import while_loop as while_loop

bfloat16: _dtype
bool: _dtype
cdouble: _dtype
cfloat: _dtype
channels_last: _Any
channels_last_3d: _Any
complex128: _dtype
complex64: _dtype
contiguous_format: _Any
default_generator: _Generator
double: _dtype
e: _float
float: _dtype
float16: _dtype
float32: _dtype
float64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype
half: _dtype
inf: _float
int: _dtype
int16: _dtype
int32: _dtype
int64: _dtype
int8: _dtype
jagged: _Any
long: _dtype
nan: _float
newaxis: _Any
per_channel_affine: _Any
per_channel_affine_float_qparams: _Any
per_channel_symmetric: _Any
per_tensor_affine: _Any
per_tensor_symmetric: _Any
pi: _float
preserve_format: _Any
qint32: _dtype
qint8: _dtype
quint8: _dtype
short: _dtype
sparse_bsc: _Any
sparse_bsr: _Any
sparse_coo: _Any
sparse_csc: _Any
sparse_csr: _Any
strided: _Any
uint16: _dtype
uint32: _dtype
uint64: _dtype
uint8: _dtype

def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of each element; real for complex input."""
def abs_(input: Tensor) -> Tensor:
    """Overwrite each element with its absolute value. RuntimeError for complex tensors."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of each element; real for complex input."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine each element is."""
def acos_(input: Tensor) -> Tensor:
    """``input.acos_(...)``."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic cosine."""
def acosh_(input: Tensor) -> Tensor:
    """``input.acosh_(...)``."""
def adaptive_avg_pool1d(input: Tensor, output_size: _Any) -> Tensor:
    """Means over ``output_size`` windows of ``(N, C, L)`` or ``(C, L)``, as equal as they can"""
def adaptive_max_pool1d(input: Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """`adaptive_max_pool1d` with ``return_indices``."""
def add(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``input + alpha * other``, broadcast; bools add as a logical or."""
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha *`` the sum over the batch of ``batch1 @ batch2``."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``input + value * tensor1 / tensor2``; ``tensor1`` and ``tensor2`` must not both be integer."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``input + value * tensor1 * tensor2``."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2``; with ``beta`` 0 the input's values do not matter."""
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * mat @ vec``."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
    """``input.addmv_(...)``."""
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha *`` the outer product of two vectors."""
def adjoint(input: Tensor) -> Tensor:
    """The conjugates of the last two dimensions exchanged; a view."""
def affine_grid_generator(theta: Tensor, size: _int | _Sequence[_int], align_corners: _bool) -> Tensor:
    """The places where affine maps send the elements of an output; see `nn.functional.affine_grid`."""
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of all elements."""
def all(input: Tensor, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether every element is nonzero; bool, but uint8 for uint8."""
def allclose(input: Tensor, other: Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = False) -> _bool:
    """Whether `isclose` holds for all elements."""
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.alpha_dropout` with every argument given."""
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.alpha_dropout` with every argument given."""
def amax(input: Tensor, dim: _int | _Sequence[_int] = ..., keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest elements over ``dim``; tied elements share the gradient."""
def amin(input: Tensor, dim: _int | _Sequence[_int] = ..., keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest elements over ``dim``; tied elements share the gradient."""
def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: _tuple[Tensor, ...] | None = None) -> _aminmax_result:
    """The smallest and the largest elements, over all or along one dimension."""
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of each complex element in radians; 0 or pi for real ones."""
def any(input: Tensor, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether some element is nonzero; bool, but uint8 for uint8."""
def arange(start: _Any = None, end: _Any = None, step: _Any = 1, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """The numbers from ``start`` (0) up to ``end``, ``step`` apart; int64 unless one is a float."""
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine each element is."""
def arccos_(input: Tensor) -> Tensor:
    """``input.arccos_(...)``."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic cosine."""
def arccosh_(input: Tensor) -> Tensor:
    """``input.arccosh_(...)``."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine each element is."""
def arcsin_(input: Tensor) -> Tensor:
    """``input.arcsin_(...)``."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic sine."""
def arcsinh_(input: Tensor) -> Tensor:
    """``input.arcsinh_(...)``."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent each element is."""
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point with ordinate ``input`` and abscissa ``other``, in radians."""
def arctan_(input: Tensor) -> Tensor:
    """``input.arctan_(...)``."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic tangent."""
def arctanh_(input: Tensor) -> Tensor:
    """``input.arctanh_(...)``."""
def are_deterministic_algorithms_enabled() -> _bool:
    """What ``use_deterministic_algorithms`` was given last, at first False."""
def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where the largest element first is, in all or along ``dim``; int64."""
def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where the smallest element first is, in all or along ``dim``; int64."""
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool = False, axis: _int | None = None) -> Tensor:
    """The indices that sort ``input`` along ``dim``; ties keep their order."""
def argwhere(input: Tensor) -> Tensor:
    """The indices of all nonzero elements, one row each."""
def as_strided(input: Tensor, size: _Sequence[_int], stride: _Sequence[_int], storage_offset: _int | None = None) -> Tensor:
    """Any strided layout on the storage of ``input``; a view."""
def as_strided_(input: Tensor, size: _Sequence[_int], stride: _Sequence[_int], storage_offset: _int | None = None) -> Tensor:
    """In-place ``as_strided``: changes how this tensor shows its storage."""
def as_strided_copy(input: Tensor, size: _Sequence[_int], stride: _Sequence[_int], storage_offset: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `as_strided` shows."""
def as_strided_scatter(input: Tensor, src: Tensor, size: _Sequence[_int], stride: _Sequence[_int], storage_offset: _int | None = None) -> Tensor:
    """A copy of ``input`` with what `as_strided` shows of it replaced by ``src``."""
def as_tensor(data: _Any, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None) -> Tensor:
    """``data`` as a tensor; itself when it already is one of that dtype and device."""
def asarray(obj: _Any, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, copy: _bool | None = None, requires_grad: _bool | None = None) -> Tensor:
    """``obj`` as a tensor: itself if it is one, else a tensor of an array, a buffer, or nested sequences."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine each element is."""
def asin_(input: Tensor) -> Tensor:
    """``input.asin_(...)``."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic sine."""
def asinh_(input: Tensor) -> Tensor:
    """``input.asinh_(...)``."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent each element is."""
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point with ordinate ``input`` and abscissa ``other``, in radians."""
def atan_(input: Tensor) -> Tensor:
    """``input.atan_(...)``."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic tangent."""
def atanh_(input: Tensor) -> Tensor:
    """``input.atanh_(...)``."""
def atleast_1d(*tensors: _Any) -> _Any:
    """The tensor with one dimension at least; views. Of several tensors, or of a list, a tuple."""
def atleast_2d(*tensors: _Any) -> _Any:
    """The tensor with two dimensions at least; a vector is a row; views. Of several tensors, or of a list, a tuple."""
def atleast_3d(*tensors: _Any) -> _Any:
    """The tensor with three dimensions at least; a matrix is a layer of one; views. Of several tensors, or of a list, a tuple."""
def autocast_decrement_nesting() -> _int:
    """Count one autocast region of this thread as closed; how many are open now."""
def autocast_increment_nesting() -> _int:
    """Count one more autocast region of this thread as open; how many there are now."""
def avg_pool1d(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """Mean of each window of ``(N, C, L)`` or ``(C, L)``; arguments as in `avg_pool2d`."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * batch1 @ batch2`` for each matrix of the batch."""
def bartlett_window(window_length: _int, periodic: _bool = True, *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A triangle of ``window_length`` points; ``periodic``: the first of the next period is left out, as spectra want it."""
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor:
    """``nn.functional.batch_norm``, also of a single value a channel."""
def bernoulli(input: Tensor, p: _float | None = None, *, generator: _Generator | None = None, out: Tensor | None = None) -> Tensor:
    """1 with the probability that each element (or ``p``) says, else 0, in the dtype of ``input``."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``nn.functional.bilinear``."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: _int = 1) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits``."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often each non-negative integer occurs, or the sum of its weights; reads the data."""
def binomial(count: Tensor, prob: Tensor, generator: _Generator | None = None) -> Tensor:
    """How many of ``count`` trials of chance ``prob`` succeed; the two broadcast. Not differentiable."""
def bitwise_and(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The bits set in both elements. On bools, the logical operation."""
def bitwise_left_shift(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Integers shifted left by ``other`` bits; 0 where no bit is left."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every bit turned over; on bools, the logical not."""
def bitwise_or(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The bits set in either element. On bools, the logical operation."""
def bitwise_right_shift(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Integers shifted right by ``other`` bits, keeping the sign; 0 where no bit is left."""
def bitwise_xor(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The bits set in exactly one element. On bools, the logical operation."""
def blackman_window(window_length: _int, periodic: _bool = True, *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Blackman's sum of three cosines of ``window_length`` points; ``periodic``: the first of the next period is left out, as spectra want it."""
def block_diag(*tensors: _Any) -> Tensor:
    """A matrix with the given matrices (vectors as rows) along its diagonal, and 0 elsewhere."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of two stacks of matrices, ``(b, n, k) @ (b, k, m) -> (b, n, m)``."""
def broadcast_shapes(*shapes: _Any) -> _Size:
    """The common shape of shapes that broadcast together."""
def broadcast_tensors(*tensors: _Any) -> _tuple[Tensor, ...]:
    """All tensors expanded to their common shape; views."""
def broadcast_to(input: Tensor, size: _Any) -> Tensor:
    """``input`` expanded to ``size``; a view."""
def bucketize(input: _Any, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False, out: Tensor | None = None) -> Tensor:
    """The bucket of each value between sorted ``boundaries``; of a number there is no form with ``out``."""
def can_cast(from_: _Any, to: _Any) -> _bool:
    """Say whether ``from_`` converts to ``to`` without leaving its category downwards."""
def cartesian_prod(*tensors: _Any) -> Tensor:
    """All combinations of one element from each vector, a row each."""
def cat(tensors: _Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along ``dim``; all other extents must agree."""
def cdist(x1: Tensor, x2: Tensor, p: _float = ..., compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The distance of each vector of ``x1`` to each of ``x2``."""
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest integer not below each element."""
def ceil_(input: Tensor) -> Tensor:
    """``input.ceil_(...)``."""
def celu(input: Tensor, alpha: _Number = ...) -> Tensor:
    """Each element where positive, ``alpha * (exp(input / alpha) - 1)`` elsewhere."""
def celu_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`celu` written into ``input``."""
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Product of two or more matrices, in the order of fewest multiplications."""
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The channels of ``(N, C, ...)`` taken in turn from each of ``groups`` groups."""
def cholesky(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The same as `linalg.cholesky`."""
def cholesky_inverse(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the matrix whose Cholesky factor ``input`` is."""
def cholesky_solve(input: Tensor, input2: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = input``, where ``input2`` is a Cholesky factor of ``A``; batches broadcast."""
def chunk(input: Tensor, chunks: _int, dim: _int = 0, *, axis: _int | None = None) -> _tuple[Tensor, ...]:
    """At most ``chunks`` pieces of equal size (the last may be smaller) along ``dim``; views."""
def clamp(input: Tensor, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element limited to ``[min, max]``, each a number, a tensor or None."""
def clamp_(input: Tensor, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
    """``input.clamp_(...)``."""
def clamp_max(input: Tensor, max: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Each element, but at most ``max``."""
def clamp_max_(input: Tensor, max: Tensor | _Number) -> Tensor:
    """``input.clamp_max_(...)``."""
def clamp_min(input: Tensor, min: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Each element, but at least ``min``."""
def clamp_min_(input: Tensor, min: Tensor | _Number) -> Tensor:
    """``input.clamp_min_(...)``."""
def clear_autocast_cache() -> None:
    """Let go of the casts of weights that this thread kept."""
def clip(input: Tensor, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element limited to ``[min, max]``, each a number, a tensor or None."""
def clip_(input: Tensor, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
    """``input.clip_(...)``."""
def clone(input: Tensor, *, memory_format: _Any = ...) -> Tensor:
    """A copy of the elements, with autograd history; later writes to either do not show in the other."""
def column_stack(tensors: _Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors joined as columns: along dimension 1; vectors are columns."""
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, a row each, in order of position."""
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex number of two real parts of one dtype, float32 or float64."""
def concat(tensors: _Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along ``dim``; all other extents must agree."""
def concatenate(tensors: _Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along ``dim``; all other extents must agree."""
def conj(input: Tensor) -> Tensor:
    """The complex conjugate of each element, a view; a real tensor itself."""
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate of each element, computed at once; a real tensor itself."""
def conj_physical_(input: Tensor) -> Tensor:
    """``input.conj_physical_(...)``."""
def constant_pad_nd(input: Tensor, pad: _int | _Sequence[_int], value: _Number = 0) -> Tensor:
    """Positions holding ``value`` added before and after; negative pads cut positions off."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> Tensor:
    """Convolve ``(N, C, L)`` or ``(C, L)`` with ``(O, C / groups, k)``."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> Tensor:
    """Convolve ``(N, C, H, W)`` with ``(O, C / groups, kh, kw)``; arguments as in `conv1d`."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> Tensor:
    """Convolve ``(N, C, D, H, W)`` with ``(O, C / groups, kd, kh, kw)``; as `conv1d`."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """`conv1d` of ``(T, N, C)`` signals with a kernel ``(width, C, out)`` and ``pad`` zeros at both ends."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> Tensor:
    """The transpose of `conv1d` as a linear map, with weights ``(C, O / groups, k)``."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> Tensor:
    """The transpose of `conv2d`; arguments as in `conv_transpose1d`."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> Tensor:
    """The transpose of `conv3d`; arguments as in `conv_transpose1d`."""
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: _Any, padding: _Any, dilation: _Any, transposed: _bool, output_padding: _Any, groups: _int) -> Tensor:
    """The convolution of as many dimensions as ``weight`` has, or with ``transposed`` its transpose."""
def copysign(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of ``input`` with the sign of ``other``."""
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of the rows of ``input``, limited to ``[-1, 1]``."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of each element, in radians."""
def cos_(input: Tensor) -> Tensor:
    """``input.cos_(...)``."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine of each element."""
def cosh_(input: Tensor) -> Tensor:
    """``input.cosh_(...)``."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = ..., reduction: _int = 1) -> Tensor:
    """``nn.functional.cosine_embedding_loss``."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = ..., *, axis: _int | None = None) -> Tensor:
    """Cosine of the angle between two vectors along a dimension, broadcast."""
def count_nonzero(input: Tensor, dim: _int | _Sequence[_int] | None = None) -> Tensor:
    """How many elements over ``dim`` are nonzero; int64."""
def cov(input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of the rows of ``input``, weighted by frequencies and importances."""
def cross(input: Tensor, other: Tensor, dim: _int | None = None, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of three along ``dim`` (the first dimension of size 3)."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | _Sequence[_int], target_lengths: Tensor | _Sequence[_int], blank: _int = 0, reduction: _int = 0, zero_infinity: _bool = False) -> Tensor:
    """`nn.functional.ctc_loss` with the reduction by number: 0 none (as PyTorch's own default comes out), 1"""
def cummax(input: Tensor, dim: _int, *, out: _tuple[Tensor, ...] | None = None) -> _cummax_result:
    """The largest element up to each one along ``dim``, and where it last is."""
def cummin(input: Tensor, dim: _int, *, out: _tuple[Tensor, ...] | None = None) -> _cummin_result:
    """The smallest element up to each one along ``dim``, and where it last is."""
def cumprod(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The products of the elements up to each one along ``dim``; integers multiply in int64."""
def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The sums of the elements up to each one along ``dim``; integers add up in int64."""
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _Any = 1, dim: _int = -1, axis: _int | None = None) -> Tensor:
    """The integrals up to each sample along ``dim`` by the trapezoidal rule."""
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees as radians; refuses complex numbers."""
def deg2rad_(input: Tensor) -> Tensor:
    """``input.deg2rad_(...)``."""
def dequantize(input: Tensor | _Sequence[Tensor]) -> _Any:
    """The numbers that a quantized tensor stands for, in float32; any other tensor as float32."""
def det(input: Tensor) -> Tensor:
    """Determinants of square matrices; see `linalg.det`."""
def detach(input: Tensor) -> Tensor:
    """The tensor without its autograd history: shares storage and version, never requires grad."""
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of all elements. It requires grad where ``input`` does, but has no derivative, as in PyTorch."""
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """A vector as the diagonal of a new matrix; of a matrix, its diagonal, copied."""
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """The last dimension as the diagonal of new matrices, 0 elsewhere."""
def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """All elements as the diagonal of one matrix."""
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """The diagonal of two dimensions as a new last one; a view."""
def diagonal_copy(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `diagonal` shows."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """``input`` with the diagonal of two dimensions replaced by ``src``."""
def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """The differences of neighbours along ``dim``, taken ``n`` times; exclusive or for bools."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithmic derivative of the gamma function."""
def dist(input: Tensor, other: Tensor, p: _Number = 2) -> Tensor:
    """The norm of order ``p`` of ``input - other``, broadcast."""
def div(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: _Any = None, out: Tensor | None = None) -> Tensor:
    """The quotient, broadcast; ``rounding_mode`` may be ``"trunc"`` or ``"floor"``."""
def divide(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: _Any = None, out: Tensor | None = None) -> Tensor:
    """The quotient, broadcast; ``rounding_mode`` may be ``"trunc"`` or ``"floor"``."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of the products of two vectors of equal length; nothing is conjugated."""
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.dropout` with every argument given."""
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.dropout` with every argument given."""
def dsmm(mat1: Tensor, mat2: Tensor, reduce: _str | None = None) -> Tensor:
    """The product of two matrices, sparse or dense."""
def dsplit(input: Tensor, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
    """Pieces of layers (dimension 2): as many equal ones as a number says, or those between the indices of a list; views."""
def dstack(tensors: _Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors joined along dimension 2."""
def eig(self, eigenvectors: _bool = False, *, e: _Any = None, v: _Any = None) -> _tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.eig`."""
def einsum(*args: _Any) -> Tensor:
    """Sum of products of the operands, written in index notation."""
def embedding(weight: Tensor, indices: Tensor, padding_idx: _int = -1, scale_grad_by_freq: _bool = False, sparse: _bool = False) -> Tensor:
    """``nn.functional.embedding`` with the table first; -1 for no padding."""
@_overload
def empty(*size: _int, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor of the given size whose elements are unspecified (zeros here)."""
@_overload
def empty(size: _Sequence[_int], *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor of the given size whose elements are unspecified (zeros here)."""
def empty_like(input: Tensor, *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False, memory_format: _Any = ...) -> Tensor:
    """An unspecified tensor (here zeros) like ``input``."""
def empty_permuted(size: _Any, physical_layout: _Any, *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """An unspecified tensor (zeros here) whose dimensions lie in memory in the order ``physical_layout``."""
def empty_strided(size: _Any, stride: _Any, *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """An unspecified tensor (zeros here) of the given size and strides."""
def eq(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where two elements are equal. The result is bool, broadcast."""
def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape and elements."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function."""
def erf_(input: Tensor) -> Tensor:
    """``input.erf_(...)``."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One minus the error function."""
def erfc_(input: Tensor) -> Tensor:
    """``input.erfc_(...)``."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The exponential of each element."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Two to the power of each element."""
def exp2_(input: Tensor) -> Tensor:
    """``input.exp2_(...)``."""
def exp_(input: Tensor) -> Tensor:
    """``input.exp_(...)``."""
def expand_copy(input: Tensor, size: _int | _Sequence[_int], *, implicit: _bool = False, out: Tensor | None = None) -> Tensor:
    """`Tensor.expand` with memory for each repetition."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(input) - 1``, accurate near zero."""
def expm1_(input: Tensor) -> Tensor:
    """``input.expm1_(...)``."""
def eye(n: _int, m: _Any = ..., *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A matrix of ``n`` rows and ``m`` (``n``) columns with ones on its diagonal."""
def fake_quantize_per_channel_affine(input: Tensor, scale: Tensor, zero_point: Tensor, axis: _int, quant_min: _int, quant_max: _int) -> Tensor:
    """The numbers that ``input`` would be held as by integers, with a scale for each channel."""
def fake_quantize_per_tensor_affine(input: Tensor, scale: _float | Tensor, zero_point: _int | Tensor, quant_min: _int, quant_max: _int) -> Tensor:
    """The numbers that ``input`` would be held as by integers, one scale for all."""
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.feature_alpha_dropout` with every argument given."""
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.feature_alpha_dropout` with every argument given."""
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.feature_dropout` with every argument given."""
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`nn.functional.feature_dropout` with every argument given."""
def fill(input: Tensor, value: _Any) -> Tensor:
    """A copy of ``input`` with every element replaced by a number (or 0-d tensor)."""
def fill_(input: Tensor, value: _Any) -> Tensor:
    """Write one number (or 0-d tensor) into every element."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The integer part of each element, rounding towards zero."""
def fix_(input: Tensor) -> Tensor:
    """``input.fix_(...)``."""
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` joined into one; a view where strides allow it."""
def flip(input: Tensor, dims: _int | _Sequence[_int]) -> Tensor:
    """The elements in reverse order along ``dims``."""
def fliplr(input: Tensor) -> Tensor:
    """The columns in reverse order."""
def flipud(input: Tensor) -> Tensor:
    """The rows in reverse order."""
def float_power(input: _Any, exponent: _Any, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent`` in double precision. RuntimeError for an ``out`` of another dtype."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest integer not above each element."""
def floor_(input: Tensor) -> Tensor:
    """``input.floor_(...)``."""
def floor_divide(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The quotient rounded down, broadcast."""
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two elements, the number where one is nan; ``input`` wins a tie."""
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two elements, the number where one is nan; ``input`` wins a tie."""
def fmod(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """What division rounded towards zero leaves: the result has the sign of ``input``."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The fractional part of each element, with its sign."""
def frac_(input: Tensor) -> Tensor:
    """``input.frac_(...)``."""
def frexp(input: Tensor, *, out: _tuple[Tensor, ...] | None = None) -> _frexp_result:
    """Mantissa in ``[0.5, 1)`` and int32 exponent of each floating element."""
def frobenius_norm(input: Tensor, dim: _Any, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The root of the sum of squares over one or two dimensions, or over all for none."""
def from_dlpack(ext_tensor: _Any, *, device: _device | _str | _int | None = None, copy: _bool | None = None) -> Tensor:
    """A tensor of what any object with ``__dlpack__``, or a DLPack capsule, holds."""
def from_file(filename: _Any, shared: _bool | None = None, size: _int | None = 0, *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A tensor of ``size`` elements that is one memory with the beginning of a file."""
def from_jax(array: _Any) -> Tensor:
    """A tensor on a jax array or tracer, without a copy."""
def from_numpy(ndarray: _np.ndarray, /) -> Tensor:
    """A tensor that is one memory with a NumPy array: what is written to either shows in the other."""
def frombuffer(buffer: _Any, *, dtype: _dtype | None = None, count: _int = -1, offset: _int = 0, requires_grad: _bool = False) -> Tensor:
    """A 1-D tensor that is one memory with a buffer, whose bytes are read as elements of ``dtype``."""
def full(size: _Any, fill_value: _Any, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor of the given size filled with a number, whose kind decides the dtype."""
def full_like(input: Tensor, fill_value: _Any, *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False, memory_format: _Any = ...) -> Tensor:
    """A number repeated over the size, dtype, device and layout of ``input``."""
def fused_moving_avg_obs_fake_quant(input: Tensor, observer_on: Tensor, fake_quant_on: Tensor, running_min: Tensor, running_max: Tensor, scale: Tensor, zero_point: Tensor, averaging_const: _float, quant_min: _int, quant_max: _int, ch_axis: _int, per_row_fake_quant: _bool = False, symmetric_quant: _bool = False) -> Tensor:
    """Fake quantization by a range that follows the input from call to call."""
def gather(input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Tensor | None = None) -> Tensor:
    """``input[i][index[i][j]][k]`` for ``dim`` 1, and likewise for others; shaped like ``index``."""
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The greatest common divisor of integers; negative for the least number of the dtype alone."""
def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """``input.gcd_(...)``."""
def ge(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is not smaller. The result is bool, broadcast."""
def geqrf(input: Tensor, *, out: _tuple[Tensor, ...] | None = None) -> _geqrf_result:
    """The QR decomposition as LAPACK stores it: R above the diagonal, the reflections' vectors below."""
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`outer`, by its old name."""
def get_autocast_cpu_dtype() -> _Any:
    """Deprecated in favour of ``get_autocast_dtype('cpu')``."""
def get_autocast_dtype(device_type: _str) -> _Any:
    """The dtype that autocasting of a type of device casts to: at first bfloat16 on the CPU, float16 on CUDA."""
def get_autocast_gpu_dtype() -> _Any:
    """Deprecated in favour of ``get_autocast_dtype('cuda')``."""
def get_autocast_ipu_dtype() -> _Any:
    """Deprecated in favour of ``get_autocast_dtype('ipu')``."""
def get_autocast_xla_dtype() -> _Any:
    """Deprecated in favour of ``get_autocast_dtype('xla')``."""
def get_default_device() -> _device:
    """Return the device of a tensor made without naming one."""
def get_deterministic_debug_mode() -> _int:
    """What `set_deterministic_debug_mode` would have to be given to get the present mode."""
def get_device(input: Tensor) -> _int:
    """The index of the tensor's device, -1 for the CPU."""
def get_float32_matmul_precision() -> _str:
    """What `set_float32_matmul_precision` was given last, at first ``"highest"``."""
def get_num_interop_threads() -> _int:
    """What ``set_num_interop_threads`` was given last, at first the number of cores of this process."""
def get_num_threads() -> _int:
    """What ``set_num_threads`` was given last, at first the number of cores of this process."""
def get_rng_state() -> Tensor:
    """The state of the CPU's default generator as a byte tensor."""
def gradient(input: Tensor, *, spacing: _Any = 1, dim: _Any = None, edge_order: _int = 1) -> _tuple[Tensor, ...]:
    """Derivatives along each dimension, of the shape of ``input``: central differences, one-sided at edges."""
def greater(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is larger. The result is bool, broadcast."""
def greater_equal(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is not smaller. The result is bool, broadcast."""
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """`nn.functional.grid_sample` with modes by number; see `grid_sampler_2d` for them."""
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """`nn.functional.grid_sample` of images, modes by number."""
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """`nn.functional.grid_sample` of volumes, modes by number; see `grid_sampler_2d`, without bicubic."""
def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = ..., cudnn_enabled: _bool = True) -> Tensor:
    """``nn.functional.group_norm``, also of groups of a single value."""
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """The next state ``(N, size)`` of a gated recurrent unit."""
def gt(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is larger. The result is bool, broadcast."""
def hamming_window(window_length: _int, periodic: _bool = True, alpha: _float = ..., beta: _float = ..., *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """``alpha - beta cos`` over one turn; ``periodic`` as in `hann_window`."""
def hann_window(window_length: _int, periodic: _bool = True, *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A raised cosine of ``window_length`` points; ``periodic``: the first of the next period is left out, as spectra want it."""
def hardshrink(input: Tensor, lambd: _Number = ..., *, out: Tensor | None = None) -> Tensor:
    """Each element, 0 where it lies within ``lambd`` of zero."""
def hash_tensor(input: Tensor, dim: _int | _Sequence[_int] = ..., *, keepdim: _bool = False, mode: _int = 0, out: Tensor | None = None) -> Tensor:
    """The exclusive or of all elements, or of those along ``dim``, as 64 bits; uint64."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 where ``input`` is negative, 1 where positive, ``values`` where it is 0."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = ..., reduction: _int = 1) -> Tensor:
    """``nn.functional.hinge_embedding_loss``."""
def histc(input: Tensor, bins: _int = 100, min: _Number = 0, max: _Number = 0, *, out: Tensor | None = None) -> Tensor:
    """How many elements fall into each of ``bins`` equal bins between ``min`` and ``max``."""
def histogram(input: Tensor, bins: _Any = 100, *, range: _Any = None, weight: Tensor | None = None, density: _bool = False, out: _Any = None) -> _Any:
    """How many elements fall into each bin, and the bins' edges; both in the dtype of ``input``."""
def histogramdd(input: Tensor, bins: _Any, range: _Any = None, weight: Tensor | None = None, density: _bool = False) -> _Any:
    """How many points fall into each box of a grid, and the edges along each dimension."""
def hsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`hspmm`, dense."""
def hsplit(input: Tensor, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
    """Pieces of columns (dimension 1, or 0 of a vector): as many equal ones as a number says, or those between the indices of a list; views."""
def hspmm(mat1: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a sparse and a dense matrix, with one sparse dimension: its rows that are not empty."""
def hstack(tensors: _Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors joined column by column: along dimension 1, or 0 for vectors."""
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sqrt(input ** 2 + other ** 2)`` without overflow on the way."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
def i0_(input: Tensor) -> Tensor:
    """``input.i0_(...)``."""
def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The integral of ``t ** (input - 1) exp(-t)`` from 0 to ``other``, over that to infinity."""
def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One minus `igamma`, without its cancellation."""
def imag(input: Tensor) -> Tensor:
    """The imaginary parts of a complex tensor; a view. Raises RuntimeError for a real tensor."""
def index_add(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` names them."""
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input`` with the slices of ``source`` written where ``index`` names them."""
def index_fill(input: Tensor, dim: _int, index: Tensor, value: _Number) -> Tensor:
    """``input`` with one number written to the slices that ``index`` names."""
def index_put(input: Tensor, indices: _Any, values: Tensor, accumulate: _bool = False) -> Tensor:
    """A copy of ``input`` with ``values`` written (or added) where the index tensors point."""
def index_put_(input: Tensor, indices: _Any, values: Tensor, accumulate: _bool = False) -> Tensor:
    """Write (or with ``accumulate`` add) ``values`` where the index tensors point."""
def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: _Any, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """``input`` with slices of ``source`` combined into it: prod, mean, amax or amin."""
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices of ``input`` along ``dim`` that a vector of indices names, in its order."""
def initial_seed() -> _int:
    """The seed the default generator started from."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over the last dimensions of both; a plain product where one is 0-d."""
def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor:
    """``nn.functional.instance_norm``."""
def int_repr(input: Tensor) -> _Any:
    """A copy of the integers of a quantized tensor. NotImplementedError for a tensor that is not quantized."""
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The same as `linalg.inv`."""
def is_autocast_cache_enabled() -> _bool:
    """Whether casts of weights are kept within an autocast region of this thread, as they are by default."""
def is_autocast_cpu_enabled() -> _Any:
    """Deprecated in favour of ``is_autocast_enabled('cpu')``."""
def is_autocast_enabled(device_type: _str = 'cuda') -> _bool:
    """Whether operations on a type of device are cast in this thread: inside `autocast`."""
def is_autocast_ipu_enabled() -> _Any:
    """Deprecated in favour of ``is_autocast_enabled('ipu')``."""
def is_autocast_xla_enabled() -> _Any:
    """Deprecated in favour of ``is_autocast_enabled('xla')``."""
def is_complex(input: _Any) -> _bool:
    """Whether the dtype is complex."""
def is_conj(input: Tensor) -> _bool:
    """Whether the tensor shows its memory conjugated: see ``conj``."""
def is_deterministic_algorithms_warn_only_enabled() -> _bool:
    """The ``warn_only`` of the last call of ``use_deterministic_algorithms``, at first False."""
def is_distributed(input: Tensor) -> _bool:
    """Always False: see ``torch.is_distributed``."""
def is_floating_point(input: _Any) -> _bool:
    """Whether the dtype is real floating point."""
def is_inference(input: Tensor) -> _bool:
    """Whether the tensor was made in inference mode, and so may take no part in autograd."""
def is_neg(input: Tensor) -> _bool:
    """Whether the tensor shows its memory negated, as the imaginary part of a conjugate does."""
def is_nonzero(input: Tensor) -> _bool:
    """Whether the one element is not zero. Raises RuntimeError for another number of elements."""
def is_same_size(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape."""
def is_signed(input: _Any) -> _bool:
    """Whether the dtype can hold negative numbers."""
def is_storage(obj: _Any, /) -> _bool:
    """Whether an object is a storage."""
def is_tensor(obj: _Any) -> _bool:
    """Whether ``obj`` is a Tensor."""
def is_warn_always_enabled() -> _bool:
    """Say whether warnings given once a process are given each time."""
def isclose(input: Tensor, other: Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = False) -> Tensor:
    """Where ``|input - other| <= atol + rtol * |other|``; bool."""
def isfinite(input: Tensor) -> Tensor:
    """Where elements are neither infinite nor nan."""
def isin(elements: _Any = None, test_elements: _Any = None, *, assume_unique: _bool = False, invert: _bool = False, out: Tensor | None = None, element: _Any = None, test_element: _Any = None) -> Tensor:
    """Which elements occur in ``test_elements``; bool. One of the two may be a number, an ``element``."""
def isinf(input: Tensor) -> Tensor:
    """Where elements are infinite, of either sign."""
def isnan(input: Tensor) -> Tensor:
    """Where elements are not a number."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where elements are negative infinity; refuses complex numbers."""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where elements are positive infinity; refuses complex numbers."""
def isreal(input: Tensor) -> Tensor:
    """Where the imaginary part is zero."""
def istft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
    """The signal whose `stft` comes nearest to given spectra, by least squares."""
def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = ..., *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Kaiser's window of shape ``beta``, by the Bessel function `i0`; ``periodic`` as in `hann_window`."""
def kl_div(input: Tensor, target: Tensor, reduction: _int = 1, *, log_target: _bool = False) -> Tensor:
    """``nn.functional.kl_div``."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: each element of ``input`` times the whole of ``other``."""
def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: _tuple[Tensor, ...] | None = None) -> _kthvalue_result:
    """The ``k``-th smallest element along ``dim``, counted from 1, and where it is."""
def layer_norm(input: Tensor, normalized_shape: _Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = ..., cudnn_enable: _bool = True) -> Tensor:
    """``nn.functional.layer_norm``."""
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The least common multiple of integers; what overflows wraps, and may be negative."""
def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """``input.lcm_(...)``."""
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * 2 ** other``."""
def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2 ** other`` written into ``input``; RuntimeError for integers."""
def le(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is not larger. The result is bool, broadcast."""
def lerp(input: Tensor, end: Tensor, weight: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """``input + weight * (end - input)``, exact at both ends."""
def less(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is smaller. The result is bool, broadcast."""
def less_equal(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is not larger. The result is bool, broadcast."""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function's absolute value."""
def linspace(start: _Any, end: _Any, steps: _Any, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm of each element."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 10."""
def log10_(input: Tensor) -> Tensor:
    """``input.log10_(...)``."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + input)``, accurate near zero."""
def log1p_(input: Tensor) -> Tensor:
    """``input.log1p_(...)``."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 2."""
def log2_(input: Tensor) -> Tensor:
    """``input.log2_(...)``."""
def log_(input: Tensor) -> Tensor:
    """``input.log_(...)``."""
def log_softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of `softmax` along ``dim``, without its loss of precision."""
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(exp(input) + exp(other))`` without overflow."""
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log2(2 ** input + 2 ** other)`` without overflow."""
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """``log(cumsum(exp(input)))`` along ``dim`` without overflow."""
def logdet(input: Tensor) -> Tensor:
    """Logarithms of determinants; nan where a real one is negative."""
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether both elements are nonzero. The result is bool, broadcast."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is zero."""
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether at least one element is nonzero. The result is bool, broadcast."""
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether exactly one element is nonzero. The result is bool, broadcast."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """``log(p / (1 - p))``, with ``input`` first limited to ``[eps, 1 - eps]`` if given."""
def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """``input.logit_(...)``."""
def logspace(start: _Any, end: _Any, steps: _Any, base: _float = ..., *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """``base`` to the power of ``steps`` evenly spaced numbers from ``start`` to ``end``."""
def logsumexp(input: Tensor, dim: _int | _Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``log(sum(exp(input)))`` over ``dim`` without overflow; minus infinity over nothing."""
def lstm_cell(input: Tensor, hx: _Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> _tuple[Tensor, Tensor]:
    """The next state and memory, each ``(N, size)``, of a long short-term memory."""
def lstsq(input: Tensor, A: Tensor, *, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.lstsq`."""
def lt(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is smaller. The result is bool, broadcast."""
def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False, out: _Any = None) -> _tuple:
    """The factors of `linalg.lu_factor`; with ``get_infos`` also those of `linalg.lu_factor_ex`."""
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`linalg.lu_solve` with its arguments in another order."""
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _bool = True, unpack_pivots: _bool = True, *, out: _Any = None) -> _tuple[Tensor, Tensor, Tensor]:
    """``P``, ``L`` and ``U`` of what `linalg.lu_factor` returned; what is not requested is empty."""
def manual_seed(seed: _int) -> _Generator:
    """Start the default generators of all devices from ``seed``; returns that of the CPU."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = ..., reduction: _int = 1) -> Tensor:
    """``nn.functional.margin_ranking_loss``."""
def masked_fill(input: Tensor, mask: Tensor, value: _Number) -> Tensor:
    """``input`` with ``value`` (a number or a 0-d tensor) where ``mask`` holds."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source``, in order, where ``mask`` holds."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where ``mask`` holds, as a vector; the two are broadcast."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of vectors, matrices and broadcast stacks of matrices, as the ``@`` operator."""
def matrix_exp(input: Tensor) -> Tensor:
    """``exp(A)`` of square matrices, by a polynomial of ``A / 2**s`` that is squared ``s`` times."""
def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """The same as `linalg.matrix_power`."""
def matrix_rank(input: Tensor, tol: _float | None = None, symmetric: _bool = False, *, out: _Any = None) -> Tensor:
    """Removed; raises RuntimeError. Use `linalg.matrix_rank`."""
@_overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest element, or with ``dim`` those along it, or with a tensor those of pairs."""
@_overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest element, or with ``dim`` those along it, or with a tensor those of pairs."""
@_overload
def max(input: Tensor, dim: _int, keepdim: _bool = False, *, out: _tuple[Tensor, Tensor] | None = None) -> _max_result:
    """The largest element, or with ``dim`` those along it, or with a tensor those of pairs."""
def max_pool1d(input: Tensor, kernel_size: _Any, stride: _Any = ..., padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False) -> Tensor:
    """`max_pool1d` of ``nn.functional``."""
def max_pool1d_with_indices(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """`max_pool1d` with ``return_indices``."""
def max_pool2d(input: Tensor, kernel_size: _Any, stride: _Any = ..., padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False) -> Tensor:
    """`max_pool2d` of ``nn.functional``."""
def max_pool3d(input: Tensor, kernel_size: _Any, stride: _Any = ..., padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False) -> Tensor:
    """`max_pool3d` of ``nn.functional``."""
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two elements, nan if one is nan; tied elements share the gradient."""
def mean(input: Tensor, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The mean over ``dim``; RuntimeError for integers unless ``dtype`` is floating."""
@_overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The lower median; with ``dim`` the medians along it and where they are."""
@_overload
def median(input: Tensor, dim: _int, keepdim: _bool = False, *, out: _tuple[Tensor, Tensor] | None = None) -> _median_result:
    """The lower median; with ``dim`` the medians along it and where they are."""
def meshgrid(*tensors: _Any, indexing: _str | None = None) -> _tuple[Tensor, ...]:
    """Grids of the coordinates that vectors span: views, one for each vector."""
@_overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest element, or with ``dim`` those along it, or with a tensor those of pairs."""
@_overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest element, or with ``dim`` those along it, or with a tensor those of pairs."""
@_overload
def min(input: Tensor, dim: _int, keepdim: _bool = False, *, out: _tuple[Tensor, Tensor] | None = None) -> _min_result:
    """The smallest element, or with ``dim`` those along it, or with a tensor those of pairs."""
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two elements, nan if one is nan; tied elements share the gradient."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices, ``(n, k) @ (k, m) -> (n, m)``."""
def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: _tuple[Tensor, ...] | None = None) -> _mode_result:
    """The most frequent element along ``dim`` (the smallest of several) and where it last is."""
def moveaxis(input: Tensor, source: _Any, destination: _Any) -> Tensor:
    """Dimensions ``source`` moved to the places ``destination``; a view."""
def movedim(input: Tensor, source: _Any, destination: _Any) -> Tensor:
    """Dimensions ``source`` moved to the places ``destination``; a view."""
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in order along the first dimension."""
def mul(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The product, broadcast; bools multiply as a logical and."""
def multinomial(input: Tensor, num_samples: _int, replacement: _bool = False, *, generator: _Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Indices drawn with probability proportional to the weights in the last dimension."""
def multiply(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The product, broadcast; bools multiply as a logical and."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of a matrix and a vector, ``(n, k) @ (k,) -> (n,)``."""
def mvlgamma(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension ``p``."""
def nan_to_num(input: Tensor, nan: _Number | None = None, posinf: _Number | None = None, neginf: _Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """Nan replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the dtype's limits)."""
def nan_to_num_(input: Tensor, nan: _Number | None = None, posinf: _Number | None = None, neginf: _Number | None = None) -> Tensor:
    """``input.nan_to_num_(...)``."""
def nanmean(input: Tensor, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The mean over ``dim`` of the elements that are not nan."""
@_overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The lower median, nan left out; with ``dim`` the medians along it and where they are."""
@_overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False, *, out: _tuple[Tensor, Tensor] | None = None) -> _nanmedian_result:
    """The lower median, nan left out; with ``dim`` the medians along it and where they are."""
def nanquantile(input: Tensor, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', axis: _int | None = None, keepdims: _bool = False, out: Tensor | None = None) -> Tensor:
    """The quantiles ``q`` of the elements that are not nan, over all or along ``dim``; ``q`` comes first in the result's shape."""
def nansum(input: Tensor, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The sum over ``dim`` with nan taken as 0."""
def narrow(input: Tensor, dim: _int, start: _Any, length: _int) -> Tensor:
    """``length`` elements from ``start`` along ``dim``; a view."""
def narrow_copy(input: Tensor, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `narrow` shows."""
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: _bool, momentum: _float, eps: _float, *, out: _Any = None) -> _tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.batch_norm`, and in training the batch's means and reciprocal deviations, else empty."""
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The channels of ``(N, C, ...)`` taken in turn from each of ``groups`` groups."""
def native_dropout(input: Tensor, p: _float, train: _bool | None) -> _tuple[Tensor, Tensor]:
    """The input with elements dropped with probability ``p`` and the others scaled, and which were kept."""
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: _int, C: _int, HxW: _int, group: _int, eps: _float) -> _tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.group_norm` of ``(N, C, *)``, the means and the reciprocal deviations of the groups."""
def native_layer_norm(input: Tensor, normalized_shape: _Sequence[_int], weight: Tensor | None, bias: Tensor | None, eps: _float) -> _tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.layer_norm`, the means and the reciprocal deviations (without a gradient)."""
def ne(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where two elements differ. The result is bool, broadcast."""
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element with its sign turned; refuses bools."""
def neg_(input: Tensor) -> Tensor:
    """``input.neg_(...)``."""
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element with its sign turned; refuses bools."""
def negative_(input: Tensor) -> Tensor:
    """``input.negative_(...)``."""
def nelement(input: _Any) -> _int:
    """The number of elements."""
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next representable number after ``input`` in the direction of ``other``."""
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: _bool = False) -> _Any:
    """The indices of all nonzero elements: one row each, or one vector for each dimension."""
def nonzero_static(input: Tensor, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
    """The indices of the first ``size`` nonzero elements, a row each; ``fill_value`` where there are fewer."""
def norm(input: Tensor, p: _Any = 'fro', dim: _Any = None, keepdim: _bool = False, out: Tensor | None = None, dtype: _dtype | None = None) -> Tensor:
    """The norm of order ``p`` over ``dim`` or all elements; ``"nuc"`` of a matrix's singular values."""
def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norms over all dimensions but ``dim``, which keep their dimensions, of size one; -1: over all."""
def normal(mean: _Any = ..., std: _Any = ..., size: _Any = None, *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Normal numbers: mean and std are tensors that broadcast together, or numbers with a ``size``."""
def not_equal(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Where two elements differ. The result is bool, broadcast."""
def nuclear_norm(input: Tensor, dim: _Any = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The sums of the singular values of matrices, by default in the last two dimensions."""
def numel(input: _Any) -> _int:
    """The number of elements."""
@_overload
def ones(*size: _int, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor of ones of the given size, of the default dtype unless ``dtype`` is."""
@_overload
def ones(size: _Sequence[_int], *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor of ones of the given size, of the default dtype unless ``dtype`` is."""
def ones_like(input: Tensor, *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False, memory_format: _Any = ...) -> Tensor:
    """Ones of the size, dtype, device and layout of ``input``."""
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first ``n`` columns of the product of the reflections that `geqrf` packed."""
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: _bool = True, transpose: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The product of all reflections that `geqrf` packed, a square matrix, times ``other``."""
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of each element of one vector with each of another."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = ..., eps: _float = ..., keepdim: _bool = False, *, keepdims: _bool = False) -> Tensor:
    """Norm of ``x1 - x2 + eps`` along the last dimension, broadcast."""
def pca_lowrank(A: Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2) -> _tuple[Tensor, Tensor, Tensor]:
    """The principal components of the rows of ``A``: `svd_lowrank` of the columns less their means."""
def pdist(input: Tensor, p: _float = ...) -> Tensor:
    """The distances of all pairs of rows ``i < j``, row by row: ``(N, M)`` to ``(N (N - 1) / 2,)``."""
@_overload
def permute(input: Tensor, dims: _Sequence[_int]) -> Tensor:
    """The dimensions in the order ``dims``; a view."""
@_overload
def permute(input: Tensor, *dims: _int) -> Tensor:
    """The dimensions in the order ``dims``; a view."""
def permute_copy(input: Tensor, dims: _int | _Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """A copy with the dimensions in the order ``dims``."""
def pinverse(input: Tensor, rcond: _float = ...) -> Tensor:
    """The pseudoinverse; singular values up to ``rcond`` times the largest one count as zero."""
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """``(..., C * r * r, H, W)`` to ``(..., C, H * r, W * r)`` for ``r = upscale_factor``."""
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """``(..., C, H * r, W * r)`` to ``(..., C * r * r, H, W)`` for ``r = downscale_factor``."""
def poisson(input: Tensor, generator: _Generator | None = None) -> Tensor:
    """Poisson numbers whose rates are the elements, in their dtype."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool, full: _bool, eps: _float, reduction: _int) -> Tensor:
    """``nn.functional.poisson_nll_loss``."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex number of an absolute value and an angle, float32 or float64."""
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of order ``n`` of the digamma function."""
def positive(input: Tensor) -> Tensor:
    """The tensor itself; refuses bools."""
def pow(input: _Any, exponent: _Any, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent``, of two tensors or a tensor and a number, broadcast."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Each element, times the weight of its channel (dimension 1) where it is not positive."""
def prod(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The product over all elements or one dimension; integers multiply in int64."""
def promote_types(type1: _Any, type2: _Any) -> _dtype:
    """Return the smallest dtype that both dtypes convert to; RuntimeError if they do not mix."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """``input`` with ``source`` written (or added) at positions in the flattened tensor."""
def q_per_channel_axis(input: Tensor) -> _Any:
    """The dimension of the channels of a quantized tensor. NotImplementedError for a tensor that is not quantized."""
def q_per_channel_scales(input: Tensor) -> _Any:
    """The scales of a quantized tensor with one for each channel. NotImplementedError for a tensor that is not quantized."""
def q_per_channel_zero_points(input: Tensor) -> _Any:
    """The zero points of a quantized tensor with one for each channel. NotImplementedError for a tensor that is not quantized."""
def q_scale(input: Tensor) -> _Any:
    """The scale of a quantized tensor, a float. NotImplementedError for a tensor that is not quantized."""
def q_zero_point(input: Tensor) -> _Any:
    """The integer that stands for 0 in a quantized tensor. NotImplementedError for a tensor that is not quantized."""
def qr(input: Tensor, some: _bool = True, *, out: _Any = None) -> _Any:
    """The QR decomposition by its older name; ``some`` is the mode "reduced", False "complete"."""
def quantile(input: Tensor, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', axis: _int | None = None, keepdims: _bool = False, out: Tensor | None = None) -> Tensor:
    """The quantiles ``q`` of the elements, over all or along ``dim``; ``q`` comes first in the result's shape."""
def quantize_per_channel(input: Tensor, scales: Tensor, zero_points: Tensor, axis: _int, dtype: _dtype | None) -> Tensor:
    """A quantized tensor of ``input``, with a scale for each channel."""
@_overload
def quantize_per_tensor(input: Tensor, scale: _float | Tensor, zero_point: _int | Tensor, dtype: _Any) -> Tensor:
    """A quantized tensor of ``input``, with one scale for all elements."""
@_overload
def quantize_per_tensor(tensors: _Sequence[Tensor], scales: Tensor, zero_points: Tensor, dtype: _Any) -> _tuple[Tensor, ...]:
    """A quantized tensor of ``input``, with one scale for all elements."""
def quantize_per_tensor_dynamic(input: Tensor, dtype: _dtype | None, reduce_range: _bool) -> Tensor:
    """A quantized tensor of ``input``, whose scale and zero point fit its range."""
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians as degrees; refuses complex numbers."""
def rad2deg_(input: Tensor) -> Tensor:
    """``input.rad2deg_(...)``."""
@_overload
def rand(*size: _int, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """Numbers from [0, 1), evenly spread."""
@_overload
def rand(size: _Sequence[_int], *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """Numbers from [0, 1), evenly spread."""
def rand_like(input: Tensor, *, generator: _Generator | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = ...) -> Tensor:
    """Numbers from [0, 1), evenly spread, of the shape of ``input``."""
@_overload
def randint(high: _int, size: _Sequence[_int], *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """Integers from ``low`` (0) to ``high`` - 1: ``randint(high, size)``, ``randint(low, high, size)``."""
@_overload
def randint(low: _int, high: _int, size: _Sequence[_int], *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """Integers from ``low`` (0) to ``high`` - 1: ``randint(high, size)``, ``randint(low, high, size)``."""
def randint_like(input: Tensor, *args: _Any, generator: _Generator | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = ..., **kwargs: _Any) -> Tensor:
    """``randint`` of the shape and dtype of ``input``."""
@_overload
def randn(*size: _int, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
@_overload
def randn(size: _Sequence[_int], *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
def randn_like(input: Tensor, *, generator: _Generator | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = ...) -> Tensor:
    """Normal numbers of mean 0 and variance 1, of the shape of ``input``."""
def randperm(n: _int, *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """The numbers 0 to ``n - 1`` in random order."""
def range(start: _Any = 0, end: _Any = None, step: _Any = 1, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """Like `arange` with the end included; PyTorch deprecates it."""
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension; a view where strides allow it."""
def real(input: Tensor) -> Tensor:
    """The real parts; a view of a complex tensor, the tensor itself when it is real."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over each element."""
def reciprocal_(input: Tensor) -> Tensor:
    """``input.reciprocal_(...)``."""
def relu(input: Tensor) -> Tensor:
    """Each element, or 0 where it is negative; the derivative at 0 is 0."""
def relu_(input: Tensor) -> Tensor:
    """`relu` written into ``input``."""
def remainder(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """What division rounded down leaves: the result has the sign of ``other``."""
def renorm(input: Tensor, p: _Number, dim: _int, maxnorm: _Number, *, out: Tensor | None = None) -> Tensor:
    """``input`` with every slice along ``dim`` scaled down to a norm of at most ``maxnorm``."""
def repeat_interleave(input: Tensor | None = None, repeats: _Any = None, dim: _int | None = None, *, output_size: _int | None = None, axis: _int | None = None) -> Tensor:
    """Each element (or slice along ``dim``) repeated ``repeats`` times in a row."""
@_overload
def reshape(input: Tensor, shape: _Sequence[_int]) -> Tensor:
    """The same elements in another shape: a view where strides allow it, else a copy."""
@_overload
def reshape(input: Tensor, *shape: _int) -> Tensor:
    """The same elements in another shape: a view where strides allow it, else a copy."""
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: _Any = ...) -> Tensor:
    """Change the shape of ``input`` to that of another tensor; see `Tensor.resize_`."""
def resolve_conj(input: Tensor) -> Tensor:
    """A copy that holds the conjugates themselves; a tensor that is no conjugate view itself."""
def resolve_neg(input: Tensor) -> Tensor:
    """A copy that holds the negatives themselves; a tensor that is no negative view itself."""
def result_type(*args: _Any, **kwargs: _Any) -> _Any:
    """Return the dtype of arithmetic on two tensors or Python numbers; TypeError for others."""
def rms_norm(input: Tensor, normalized_shape: _Any, weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """``nn.functional.rms_norm``."""
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """As `rnn_tanh_cell`, with ``relu``."""
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """``tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh)``."""
def roll(input: Tensor, shifts: _int | _Sequence[_int], dims: _int | _Sequence[_int] = ...) -> Tensor:
    """The elements shifted along ``dims``, those pushed out coming in again; flat without ``dims``."""
def rot90(input: Tensor, k: _int = 1, dims: _int | _Sequence[_int] = ...) -> Tensor:
    """The plane of ``dims`` turned by ``k`` quarters, from the first dimension to the second."""
def round(input: Tensor, *, decimals: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Each element rounded to ``decimals`` decimals (none), halves to even."""
def round_(input: Tensor, *, decimals: _int | None = None) -> Tensor:
    """``input.round_(...)``."""
def row_stack(tensors: _Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors joined row by row, along dimension 0; vectors are rows."""
def rrelu(input: Tensor, lower: _Number = ..., upper: _Number = ..., training: _bool = False, generator: _Generator | None = None) -> Tensor:
    """`nn.functional.rrelu` with slopes from ``generator``."""
def rrelu_(input: Tensor, lower: _Number = ..., upper: _Number = ..., training: _bool = False, generator: _Generator | None = None) -> Tensor:
    """`rrelu` that overwrites ``input``."""
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over the square root of each element."""
def rsqrt_(input: Tensor) -> Tensor:
    """``input.rsqrt_(...)``."""
def rsub(input: Tensor, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor:
    """``other - alpha * input``, broadcast; refuses bools."""
def saddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """`sspaddmm`."""
def scalar_tensor(s: _Any, *, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A 0-d tensor of a number, of the default dtype."""
@_overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, reduce: _str | None = None, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` (a tensor) or ``value`` written where ``index`` points along ``dim``."""
@_overload
def scatter(input: Tensor, dim: _int, index: Tensor, value: _Number, *, reduce: _str | None = None, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` (a tensor) or ``value`` written where ``index`` points along ``dim``."""
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input`` with the elements of ``src`` added where ``index`` points along ``dim``."""
def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: _Any, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` combined into it where ``index`` points: sum, prod, mean, amax, amin."""
def searchsorted(sorted_sequence: Tensor, input: _Any, *, out_int32: _bool = False, right: _bool = False, side: _str | None = None, out: Tensor | None = None, sorter: Tensor | None = None) -> Tensor:
    """Where each value would go in the sorted last dimension: before (``right``: after) its equals."""
def seed() -> _int:
    """Start the default generators from the operating system's entropy; returns the seed."""
def segment_reduce(data: Tensor, reduce: _str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: _int = 0, unsafe: _bool = False, initial: _float | None = None) -> Tensor:
    """One number for each segment of neighbouring elements along ``axis``."""
def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """The slice at ``index`` along ``dim``, without that dimension; a view."""
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `select` shows."""
def select_scatter(input: Tensor, src: Tensor, dim: _int | None = None, index: _int | None = None, *, axis: _int | None = None) -> Tensor:
    """``input`` with the slice at ``index`` along ``dim`` replaced by ``src``."""
def selu(input: Tensor) -> Tensor:
    """The exponential linear unit whose constants keep mean 0 and variance 1."""
def selu_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`selu` written into ``input``."""
def set_autocast_cache_enabled(enabled: _Any) -> None:
    """Set whether casts of weights are kept within an autocast region of this thread."""
def set_autocast_cpu_dtype(value: _Any) -> None:
    """Deprecated in favour of ``set_autocast_dtype('cpu', dtype)``."""
def set_autocast_cpu_enabled(value: _Any) -> None:
    """Deprecated in favour of ``set_autocast_enabled('cpu', enabled)``."""
def set_autocast_dtype(device_type: _str, dtype: _dtype | None) -> None:
    """Set the dtype that autocasting of a type of device casts to in this thread."""
def set_autocast_enabled(*args: _Any, **kwargs: _Any) -> None:
    """``set_autocast_enabled(device_type, enabled)``: switch autocasting of a type of device on or off."""
def set_autocast_gpu_dtype(value: _Any) -> None:
    """Deprecated in favour of ``set_autocast_dtype('cuda', dtype)``."""
def set_autocast_ipu_dtype(value: _Any) -> None:
    """Deprecated in favour of ``set_autocast_dtype('ipu', dtype)``."""
def set_autocast_ipu_enabled(value: _Any) -> None:
    """Deprecated in favour of ``set_autocast_enabled('ipu', enabled)``."""
def set_autocast_xla_dtype(value: _Any) -> None:
    """Deprecated in favour of ``set_autocast_dtype('xla', dtype)``."""
def set_autocast_xla_enabled(value: _Any) -> None:
    """Deprecated in favour of ``set_autocast_enabled('xla', enabled)``."""
def set_default_device(device: _device | _str | _int | None) -> None:
    """Set the device of tensors made without naming one; None goes back to the CPU."""
def set_default_dtype(d: _Any, /) -> None:
    """Set the floating type that Python floats become; TypeError unless it has 16 bits or more."""
def set_default_tensor_type(t: _Any, /) -> None:
    """Set the default dtype by the name of a legacy CPU tensor type; TypeError for other names."""
def set_deterministic_debug_mode(debug_mode: _int | _str) -> None:
    """`use_deterministic_algorithms` by a number or a word: 0 ``default``, 1 ``warn``, 2 ``error``."""
def set_float32_matmul_precision(precision: _str) -> None:
    """Remember how precise products of float32 are to be: ``"highest"``, ``"high"`` or ``"medium"``."""
def set_flush_denormal(mode: _bool) -> _bool:
    """False: how XLA's kernels treat denormal numbers cannot be chosen."""
def set_num_interop_threads(num: _int, /) -> None:
    """Accepted and remembered, as ``set_num_threads`` is. Raises as that does."""
def set_num_threads(num: _int, /) -> None:
    """Accepted and remembered; XLA keeps its own pool of one thread a core, fixed at start."""
def set_rng_state(new_state: Tensor) -> None:
    """Restore the state of the CPU's default generator."""
def set_warn_always(b: _Any, /) -> None:
    """Say whether warnings given once a process are given each time; RuntimeError for no bool."""
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sign of each element; for complex numbers the unit number in its direction, 0 at 0."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(-input))``."""
def sigmoid_(input: Tensor) -> Tensor:
    """``input.sigmoid_(...)``."""
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1 by the sign of each element; refuses complex numbers."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the sign bit is set: negative elements, and negative zero."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of each element, in radians."""
def sin_(input: Tensor) -> Tensor:
    """``input.sin_(...)``."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(pi x) / (pi x)``, 1 at 0."""
def sinc_(input: Tensor) -> Tensor:
    """``input.sinc_(...)``."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine of each element."""
def sinh_(input: Tensor) -> Tensor:
    """``input.sinh_(...)``."""
def slice_copy(input: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``start:end:step`` along ``dim``."""
def slice_scatter(input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """``input`` with ``start:end:step`` along ``dim`` replaced by ``src``."""
def slogdet(input: Tensor, *, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """Signs and logarithms of the absolute values of determinants; see `linalg.slogdet`."""
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, as a sparse tensor."""
def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Exponentials along ``dim``, scaled to add up to 1; ``dtype`` is converted to first."""
def solve(input: Tensor, A: Tensor, *, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.solve`."""
@_overload
def sort(input: Tensor, dim: _int = -1, descending: _bool = False, *, out: _tuple[Tensor, Tensor] | None = None) -> _sort_result:
    """The elements in order along ``dim``, and where they were; ties always keep their order."""
@_overload
def sort(input: Tensor, *, stable: _bool, dim: _int = -1, descending: _bool = False, out: _tuple[Tensor, Tensor] | None = None) -> _sort_result:
    """The elements in order along ``dim``, and where they were; ties always keep their order."""
def sparse_bsc_tensor(ccol_indices: _Any, row_indices: _Any, values: _Any, size: _Any = None, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor of layout ``torch.sparse_bsc``: blocks of columns one behind the other."""
def sparse_bsr_tensor(crow_indices: _Any, col_indices: _Any, values: _Any, size: _Any = None, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor of layout ``torch.sparse_bsr``: blocks of rows one behind the other."""
def sparse_compressed_tensor(compressed_indices: _Any, plain_indices: _Any, values: _Any, size: _Any = None, *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor of the compressed layout that ``layout`` names."""
def sparse_coo_tensor(*args: _Any, **kwargs: _Any) -> Tensor:
    """A sparse tensor in coordinates: values, and for each the place where it stands."""
def sparse_csc_tensor(ccol_indices: _Any, row_indices: _Any, values: _Any, size: _Any = None, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor of layout ``torch.sparse_csc``: columns one behind the other."""
def sparse_csr_tensor(crow_indices: _Any, col_indices: _Any, values: _Any, size: _Any = None, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor of layout ``torch.sparse_csr``: rows one behind the other."""
def split(tensor: Tensor, split_size_or_sections: _Any, dim: _int = 0) -> _tuple[Tensor, ...]:
    """Pieces of a size, or of the sizes in a list, along ``dim``; views."""
def split_copy(input: Tensor, split_size: _int, dim: _int = 0, *, out: _Sequence[Tensor] | None = None) -> _Any:
    """Copies of pieces of ``split_size`` along ``dim``; with ``out`` written there, and None."""
def split_with_sizes(input: Tensor, split_sizes: _Sequence[_int], dim: _int = 0, *, axis: _int | None = None) -> _tuple[Tensor, ...]:
    """Pieces of the given sizes along ``dim``; views."""
def split_with_sizes_copy(input: Tensor, split_sizes: _Sequence[_int], dim: _int = 0, *, out: _Sequence[Tensor] | None = None) -> _Any:
    """Copies of pieces of the given sizes along ``dim``; with ``out`` written there, and None."""
def spmm(mat1: Tensor, mat2: Tensor, reduce: _str | None = None) -> Tensor:
    """The product of two matrices, sparse or dense."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root of each element."""
def sqrt_(input: Tensor) -> Tensor:
    """``input.sqrt_(...)``."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element times itself; bools become integers."""
def square_(input: Tensor) -> Tensor:
    """``input.square_(...)``."""
def squeeze(input: Tensor, dim: _Any = None, *, axis: _Any = None) -> Tensor:
    """Without dimensions of size 1 (all of them, or ``dim``); a view."""
def squeeze_copy(input: Tensor, dim: _int | _Sequence[_int] | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy without dimensions of size 1: all of them, or ``dim``."""
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` of sparse ``input`` and ``mat1``, as a sparse tensor."""
def stack(tensors: _Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape joined along a new dimension ``dim``."""
@_overload
def std(input: Tensor, unbiased: _bool) -> Tensor:
    """The standard deviation over ``dim``, with ``correction`` (1)."""
@_overload
def std(input: Tensor, dim: _int | _Sequence[_int] | None, unbiased: _bool, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The standard deviation over ``dim``, with ``correction`` (1)."""
@_overload
def std(input: Tensor, dim: _int | _Sequence[_int] | None = None, *, correction: _Any = None, keepdim: _bool = False, out: Tensor | None = None) -> Tensor:
    """The standard deviation over ``dim``, with ``correction`` (1)."""
@_overload
def std_mean(input: Tensor, unbiased: _bool) -> _tuple[Tensor, Tensor]:
    """Standard deviation and mean over ``dim``, with ``correction`` (1)."""
@_overload
def std_mean(input: Tensor, dim: _int | _Sequence[_int] | None = None, *, correction: _Any = None, keepdim: _bool = False) -> _tuple[Tensor, Tensor]:
    """Standard deviation and mean over ``dim``, with ``correction`` (1)."""
def stft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _Any = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
    """The spectra of overlapping frames of a signal."""
def sub(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``, broadcast; refuses bools."""
def subtract(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``, broadcast; refuses bools."""
def sum(input: Tensor, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The sum over ``dim`` (a dimension, several, or all); integers add up in int64."""
def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: _Any = None) -> _Any:
    """``input = U diag(S) V^H`` by its older name: V itself is returned; see `jaxflow.linalg.svd`."""
def svd_lowrank(A: Tensor, q: _int | None = 6, niter: _int | None = 2, M: Tensor | None = None) -> _tuple[Tensor, Tensor, Tensor]:
    """``(U, S, V)`` with ``A - M`` nearly ``U diag(S) V^H``, of rank ``q``; the projections are random."""
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """Two dimensions exchanged; a view."""
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two dimensions exchanged; a view."""
def symeig(input: Tensor, eigenvectors: _bool = False, upper: _bool = True, *, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.eigh`."""
def t(input: Tensor) -> Tensor:
    """A matrix transposed (a vector stays); a view."""
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of a matrix transposed; a vector as it is."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements by their position in the flattened ``input``; negative ones count from the end."""
def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Like `gather`, the other dimensions broadcast, indices modulo the size; flat without ``dim``."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of each element, in radians."""
def tan_(input: Tensor) -> Tensor:
    """``input.tan_(...)``."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent of each element."""
def tanh_(input: Tensor) -> Tensor:
    """``input.tanh_(...)``."""
def tensor(data: _Any, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A new leaf tensor with a copy of ``data`` (nested sequences, numbers, arrays, tensors)."""
def tensor_split(input: Tensor, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
    """As many pieces along ``dim`` as ``sections`` says, of which the first ones may be larger by one."""
def tensordot(a: Tensor, b: Tensor, dims: _Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums of products over paired dimensions."""
def threshold(input: Tensor, threshold: _Number, value: _Number, *, out: Tensor | None = None) -> Tensor:
    """Each element, or ``value`` where it does not exceed ``threshold``."""
def threshold_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`threshold` written into ``input``."""
def tile(input: Tensor, dims: _int | _Sequence[_int]) -> Tensor:
    """The tensor repeated ``dims[i]`` times, counted from the last dimension."""
def to_dlpack(tensor: Tensor, *, dl_device: _Any = None, copy: _bool | None = None) -> _Any:
    """A DLPack capsule of a tensor, that can be consumed once; see ``Tensor.__dlpack__``."""
def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: _tuple[Tensor, ...] | None = None) -> _topk_result:
    """The ``k`` largest (or smallest) elements along ``dim``, in order, and where they are."""
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal; integers add up in int64."""
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two dimensions exchanged; a view."""
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy with two dimensions exchanged."""
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _Any = 1, dim: _int = -1, axis: _int | None = None) -> Tensor:
    """The integral of samples along ``dim`` by the trapezoidal rule, at ``x`` or ``dx`` apart."""
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _Any = 1, dim: _int = -1, axis: _int | None = None) -> Tensor:
    """The integral of samples along ``dim`` by the trapezoidal rule, at ``x`` or ``dx`` apart."""
def triangular_solve(input: Tensor, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """The solution of ``A X = input`` (of ``A^T X = input``) for a triangular ``A``, and a copy of ``A``."""
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The matrices with 0 above a diagonal."""
def tril_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, layout: _Any = ..., pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Row and column indices, in two rows, of the part of a matrix not above a diagonal; int64."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = ..., p: _float = 2, eps: _float = ..., swap: _bool = False, reduction: _int = 1) -> Tensor:
    """``nn.functional.triplet_margin_loss``."""
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The matrices with 0 below a diagonal."""
def triu_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, layout: _Any = ..., pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Row and column indices, in two rows, of the part of a matrix not below a diagonal; int64."""
def true_divide(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The quotient, broadcast; integers give floating results."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The integer part of each element, rounding towards zero."""
def trunc_(input: Tensor) -> Tensor:
    """``input.trunc_(...)``."""
def typename(obj: _Any, /) -> _str:
    """``"torch.FloatTensor"`` for tensors, else the qualified name of the type."""
def unbind(input: Tensor, dim: _int = 0, *, axis: _int | None = None) -> _tuple[Tensor, ...]:
    """All slices along ``dim``; views."""
def unbind_copy(input: Tensor, dim: _int = 0, *, out: _Sequence[Tensor] | None = None) -> _Any:
    """Copies of all slices along ``dim``; with ``out`` written there, and None."""
def unflatten(input: Tensor, dim: _int, sizes: _Any) -> Tensor:
    """Dimension ``dim`` split into ``sizes`` (one of them may be -1); a view."""
def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of all windows of ``size`` at distance ``step`` along a dimension."""
def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _Any = None) -> _Any:
    """The distinct elements in order, or the distinct slices along ``dim``; reads the data."""
def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _Any = None) -> _Any:
    """The elements without those that equal the one before; reads the data."""
def unravel_index(indices: Tensor, shape: _Any) -> _tuple[Tensor, ...]:
    """The coordinates, one int64 tensor for each dimension of ``shape``, of positions in a flattened tensor."""
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> _tuple[Tensor, ...]:
    """Like `chunk`, but autograd takes the pieces for new tensors; see `unsafe_split`."""
def unsafe_split(input: Tensor, split_size: _int, dim: _int = 0) -> _tuple[Tensor, ...]:
    """Like `split`, but the pieces may be written to one by one: autograd takes them for new tensors."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: _Sequence[_int], dim: _int = 0) -> _tuple[Tensor, ...]:
    """Like `split_with_sizes`, but autograd takes the pieces for new tensors; see `unsafe_split`."""
def unsqueeze(input: Tensor, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
    """With a dimension of size 1 put in at ``dim``; a view."""
def unsqueeze_copy(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy with a dimension of size 1 put in at ``dim``."""
def use_deterministic_algorithms(mode: _bool, *, warn_only: _bool = False) -> None:
    """With ``True``, the same operations on the same values give the same bits, whenever they run."""
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor:
    """The powers of a vector's elements as columns, from the highest unless ``increasing``."""
@_overload
def var(input: Tensor, unbiased: _bool) -> Tensor:
    """The variance over ``dim``, divided by the count less ``correction`` (1)."""
@_overload
def var(input: Tensor, dim: _int | _Sequence[_int] | None, unbiased: _bool, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The variance over ``dim``, divided by the count less ``correction`` (1)."""
@_overload
def var(input: Tensor, dim: _int | _Sequence[_int] | None = None, *, correction: _Any = None, keepdim: _bool = False, out: Tensor | None = None) -> Tensor:
    """The variance over ``dim``, divided by the count less ``correction`` (1)."""
@_overload
def var_mean(input: Tensor, unbiased: _bool) -> _tuple[Tensor, Tensor]:
    """Variance and mean over ``dim``, with ``correction`` (1)."""
@_overload
def var_mean(input: Tensor, dim: _int | _Sequence[_int] | None = None, *, correction: _Any = None, keepdim: _bool = False) -> _tuple[Tensor, Tensor]:
    """Variance and mean over ``dim``, with ``correction`` (1)."""
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of the products of two vectors, the first one conjugated."""
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of reals along the last dimension as complex numbers; a view."""
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of pairs of reals along the last dimension as complex numbers."""
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as pairs of reals along a new last dimension; a view."""
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of complex numbers as pairs of reals along a new last dimension."""
def view_copy(input: Tensor, size: _Any = None, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The elements in another shape, or their bytes as another dtype, in memory of their own."""
def vsplit(input: Tensor, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
    """Pieces of rows (dimension 0): as many equal ones as a number says, or those between the indices of a list; views."""
def vstack(tensors: _Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors joined row by row, along dimension 0; vectors are rows."""
def where(condition: Tensor, input: _Any = None, other: _Any = None, *, out: Tensor | None = None) -> _Any:
    """``input`` where ``condition`` holds and ``other`` elsewhere; alone, where ``condition`` is nonzero."""
def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
def xlogy_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """``input.xlogy_(...)``."""
def zero_(input: Tensor) -> Tensor:
    """Write zero into every element."""
@_overload
def zeros(*size: _int, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor of zeros of the given size, of the default dtype unless ``dtype`` is."""
@_overload
def zeros(size: _Sequence[_int], *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor of zeros of the given size, of the default dtype unless ``dtype`` is."""
def zeros_like(input: Tensor, *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False, memory_format: _Any = ...) -> Tensor:
    """Zeros of the size, dtype, device and layout of ``input``."""
