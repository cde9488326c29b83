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
from jaxflow._core.generator import Generator as _Generator

_Number = _bool | _int | _float | _complex

class _aminmax_result(_NamedTuple):
    min: Tensor
    max: Tensor

class _cummax_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _cummin_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _frexp_result(_NamedTuple):
    mantissa: Tensor
    exponent: Tensor

class _geqrf_result(_NamedTuple):
    a: Tensor
    tau: Tensor

class _kthvalue_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _linalg_eig_result(_NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class _linalg_eigh_result(_NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class _linalg_qr_result(_NamedTuple):
    Q: Tensor
    R: Tensor

class _linalg_svd_result(_NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor

class _max_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _median_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _min_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _mode_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _nanmedian_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _sort_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class _topk_result(_NamedTuple):
    values: Tensor
    indices: Tensor

class Tensor:
    """A multi-dimensional array with PyTorch's interface."""
    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...
    def __hash__(self) -> _int: ...
    @property
    def H(self) -> Tensor: ...
    @property
    def T(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: _Any) -> Tensor: ...
    def __and__(self, other: _Any) -> Tensor: ...
    def __array__(self, dtype: _dtype | None = None, copy: _Any = None) -> _np.ndarray: ...
    def __array_wrap__(self, array: _Any, context: _Any = None, return_scalar: _bool = False) -> _Any:
        """What NumPy's functions make of a result: a tensor; bools as uint8, as in PyTorch."""
    def __bool__(self) -> _bool: ...
    def __complex__(self) -> _complex: ...
    def __contains__(self, element: _Any) -> _bool: ...
    def __copy__(self) -> Tensor:
        """A leaf on the same storage, for ``copy.copy``."""
    def __deepcopy__(self, memo: _Any) -> _Any: ...
    def __delitem__(self, index: _Any) -> None: ...
    def __dlpack__(self, *, stream: _Any = -1, max_version: _tuple[_int, _int] | None = None, dl_device: _tuple[_enum.IntEnum, _int] | None = None, copy: _bool | None = None) -> _Any:
        """A DLPack capsule of the tensor: on the CPU of its memory, which its consumer may write to."""
    def __dlpack_device__(self) -> _tuple[_enum.IntEnum, _int]:
        """Kind and number of the device the elements are on, in DLPack's numbers."""
    def __eq__(self, other: _Any) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _float: ...
    def __floordiv__(self, other: _Any) -> Tensor: ...
    def __format__(self, spec: _str) -> _str: ...
    def __ge__(self, other: _Any) -> Tensor: ...
    def __getitem__(self, index: _Any) -> Tensor: ...
    def __gt__(self, other: _Any) -> Tensor: ...
    def __iadd__(self, other: _Any) -> Tensor: ...
    def __iand__(self, other: _Any) -> Tensor: ...
    def __ifloordiv__(self, other: _Any) -> Tensor: ...
    def __ilshift__(self, other: _Any) -> Tensor: ...
    def __imod__(self, other: _Any) -> Tensor: ...
    def __imul__(self, other: _Any) -> Tensor: ...
    def __index__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: _Any) -> Tensor: ...
    def __ipow__(self, other: _Any) -> _Any: ...
    def __irshift__(self, other: _Any) -> Tensor: ...
    def __isub__(self, other: _Any) -> Tensor: ...
    def __iter__(self) -> _Iterator[Tensor]: ...
    def __itruediv__(self, other: _Any) -> Tensor: ...
    def __ixor__(self, other: _Any) -> Tensor: ...
    def __jax_array__(self) -> _Any:
        """What jnp functions and jax arrays call on a Tensor operand. Autograd does not see what they compute."""
    def __le__(self, other: _Any) -> Tensor: ...
    def __len__(self) -> _int: ...
    def __lshift__(self, other: _Any) -> Tensor: ...
    def __lt__(self, other: _Any) -> Tensor: ...
    def __matmul__(self, other: _Any) -> Tensor:
        """``self @ other``."""
    def __mod__(self, other: _Any) -> Tensor: ...
    def __mul__(self, other: _Any) -> Tensor: ...
    def __ne__(self, other: _Any) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: _Any) -> Tensor: ...
    def __pos__(self) -> Tensor:
        """The tensor itself; refuses bools."""
    def __pow__(self, other: _Any) -> _Any: ...
    def __radd__(self, other: _Any) -> Tensor: ...
    def __rand__(self, other: _Any) -> Tensor: ...
    def __rdiv__(self, other: _Any) -> _Any: ...
    def __repr__(self, *, tensor_contents: _str | None = None, name: _str | None = None, dtype_text: _str | None = None) -> _str: ...
    def __reversed__(self) -> Tensor: ...
    def __rfloordiv__(self, other: _Any) -> Tensor: ...
    def __rlshift__(self, other: _Any) -> Tensor: ...
    def __rmatmul__(self, other: _Any) -> Tensor:
        """``other @ self``."""
    def __rmod__(self, other: _Any) -> Tensor: ...
    def __rmul__(self, other: _Any) -> Tensor: ...
    def __ror__(self, other: _Any) -> Tensor: ...
    def __rpow__(self, other: _Any) -> _Any: ...
    def __rrshift__(self, other: _Any) -> Tensor: ...
    def __rshift__(self, other: _Any) -> Tensor: ...
    def __rsub__(self, other: _Any) -> Tensor: ...
    def __rtruediv__(self, other: _Any) -> _Any: ...
    def __rxor__(self, other: _Any) -> Tensor: ...
    def __setitem__(self, index: _Any, value: _Any) -> None: ...
    def __sub__(self, other: _Any) -> Tensor: ...
    def __truediv__(self, other: _Any) -> Tensor: ...
    def __xor__(self, other: _Any) -> Tensor: ...
    @property
    def _base(self) -> Tensor | None: ...
    @property
    def _version(self) -> _int: ...
    def abs(self) -> Tensor:
        """The absolute value of each element; real for complex input."""
    def abs_(self) -> Tensor:
        """Overwrite each element with its absolute value. RuntimeError for complex tensors."""
    def absolute(self) -> Tensor:
        """The absolute value of each element; real for complex input."""
    def absolute_(self) -> Tensor:
        """`Tensor.abs_` under another name."""
    def acos(self) -> Tensor:
        """The angle whose cosine each element is."""
    def acos_(self) -> Tensor:
        """The angle whose cosine each element is."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def acosh_(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def add(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor:
        """``input + alpha * other``, broadcast; bools add as a logical or."""
    def add_(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor:
        """``input + alpha * other``, broadcast; bools add as a logical or."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha *`` the sum over the batch of ``batch1 @ batch2``."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> Tensor:
        """In-place `addbmm`. Alone of its family it lets a ``self`` that broadcasts grow to the result."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor:
        """``input + value * tensor1 / tensor2``; ``tensor1`` and ``tensor2`` must not both be integer."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor:
        """``input + value * tensor1 / tensor2``; ``tensor1`` and ``tensor2`` must not both be integer."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor:
        """``input + value * tensor1 * tensor2``."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor:
        """``input + value * tensor1 * tensor2``."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha * mat1 @ mat2``; with ``beta`` 0 the input's values do not matter."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> Tensor:
        """In-place `addmm`; ``self`` has the shape of the product already."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha * mat @ vec``."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha * mat @ vec``."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha *`` the outer product of two vectors."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> Tensor:
        """In-place `addr`; ``self`` has the shape of the outer product already."""
    def adjoint(self) -> Tensor:
        """The conjugates of the last two dimensions exchanged; a view."""
    def all(self, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether every element is nonzero; bool, but uint8 for uint8."""
    def allclose(self, other: Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = False) -> _bool:
        """Whether `isclose` holds for all elements."""
    def amax(self, dim: _int | _Sequence[_int] = ..., keepdim: _bool = False) -> Tensor:
        """The largest elements over ``dim``; tied elements share the gradient."""
    def amin(self, dim: _int | _Sequence[_int] = ..., keepdim: _bool = False) -> Tensor:
        """The smallest elements over ``dim``; tied elements share the gradient."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> _aminmax_result:
        """The smallest and the largest elements, over all or along one dimension."""
    def angle(self) -> Tensor:
        """The angle of each complex element in radians; 0 or pi for real ones."""
    def any(self, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether some element is nonzero; bool, but uint8 for uint8."""
    def apply_(self, callable: _Callable) -> Tensor:
        """Replace each element by what a Python function makes of it; not where the tensor requires grad."""
    def arccos(self) -> Tensor:
        """The angle whose cosine each element is."""
    def arccos_(self) -> Tensor:
        """The angle whose cosine each element is."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def arccosh_(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def arcsin(self) -> Tensor:
        """The angle whose sine each element is."""
    def arcsin_(self) -> Tensor:
        """The angle whose sine each element is."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def arcsinh_(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def arctan(self) -> Tensor:
        """The angle whose tangent each element is."""
    def arctan2(self, other: Tensor) -> Tensor:
        """The angle of the point with ordinate ``input`` and abscissa ``other``, in radians."""
    def arctan2_(self, other: Tensor) -> Tensor:
        """The angle of the point with ordinate ``input`` and abscissa ``other``, in radians."""
    def arctan_(self) -> Tensor:
        """The angle whose tangent each element is."""
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def arctanh_(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Where the largest element first is, in all or along ``dim``; int64."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Where the smallest element first is, in all or along ``dim``; int64."""
    def argsort(self, dim: _int = -1, descending: _bool = False, *, stable: _bool = False, axis: _int | None = None) -> Tensor:
        """The indices that sort ``input`` along ``dim``; ties keep their order."""
    def argwhere(self) -> Tensor:
        """The indices of all nonzero elements, one row each."""
    def as_strided(self, size: _Sequence[_int], stride: _Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """Any strided layout on the storage of ``input``; a view."""
    def as_strided_(self, size: _Sequence[_int], stride: _Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """In-place ``as_strided``: changes how this tensor shows its storage."""
    def as_strided_scatter(self, src: Tensor, size: _Sequence[_int], stride: _Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """A copy of ``input`` with what `as_strided` shows of it replaced by ``src``."""
    def as_subclass(self, cls: _type) -> Tensor:
        """The same tensor, history included, as an instance of a subclass of Tensor; else TypeError."""
    def asin(self) -> Tensor:
        """The angle whose sine each element is."""
    def asin_(self) -> Tensor:
        """The angle whose sine each element is."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def asinh_(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def atan(self) -> Tensor:
        """The angle whose tangent each element is."""
    def atan2(self, other: Tensor) -> Tensor:
        """The angle of the point with ordinate ``input`` and abscissa ``other``, in radians."""
    def atan2_(self, other: Tensor) -> Tensor:
        """The angle of the point with ordinate ``input`` and abscissa ``other``, in radians."""
    def atan_(self) -> Tensor:
        """The angle whose tangent each element is."""
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def atanh_(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def backward(self, gradient: _Any = None, retain_graph: _bool | None = None, create_graph: _bool = False, inputs: _Any = None) -> None:
        """Add the gradients of this tensor to the ``.grad`` of the leaves; see ``autograd.backward``."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha * batch1 @ batch2`` for each matrix of the batch."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha * batch1 @ batch2`` for each matrix of the batch."""
    def bernoulli(self, p: _float | None = None, *, generator: _Generator | None = None) -> Tensor:
        """1 with the probability that each element (or ``p``) says, else 0, in the dtype of ``input``."""
    def bernoulli_(self, p: _Any = ..., *, generator: _Generator | None = None) -> Tensor:
        """Fill with 1 with probability ``p`` (a number, or a tensor element by element), else 0."""
    def bfloat16(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.bfloat16)``."""
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each non-negative integer occurs, or the sum of its weights; reads the data."""
    def bitwise_and(self, other: Tensor | _Number) -> Tensor:
        """The bits set in both elements. On bools, the logical operation."""
    def bitwise_and_(self, other: Tensor | _Number) -> Tensor:
        """The bits set in both elements. On bools, the logical operation."""
    def bitwise_left_shift(self, other: Tensor | _Number) -> Tensor:
        """Integers shifted left by ``other`` bits; 0 where no bit is left."""
    def bitwise_left_shift_(self, other: Tensor | _Number) -> Tensor:
        """Integers shifted left by ``other`` bits; 0 where no bit is left."""
    def bitwise_not(self) -> Tensor:
        """Every bit turned over; on bools, the logical not."""
    def bitwise_not_(self) -> Tensor:
        """Every bit turned over; on bools, the logical not."""
    def bitwise_or(self, other: Tensor | _Number) -> Tensor:
        """The bits set in either element. On bools, the logical operation."""
    def bitwise_or_(self, other: Tensor | _Number) -> Tensor:
        """The bits set in either element. On bools, the logical operation."""
    def bitwise_right_shift(self, other: Tensor | _Number) -> Tensor:
        """Integers shifted right by ``other`` bits, keeping the sign; 0 where no bit is left."""
    def bitwise_right_shift_(self, other: Tensor | _Number) -> Tensor:
        """Integers shifted right by ``other`` bits, keeping the sign; 0 where no bit is left."""
    def bitwise_xor(self, other: Tensor | _Number) -> Tensor:
        """The bits set in exactly one element. On bools, the logical operation."""
    def bitwise_xor_(self, other: Tensor | _Number) -> Tensor:
        """The bits set in exactly one element. On bools, the logical operation."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """Products of two stacks of matrices, ``(b, n, k) @ (b, k, m) -> (b, n, m)``."""
    def bool(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.bool)``."""
    def broadcast_to(self, size: _Any) -> Tensor:
        """``input`` expanded to ``size``; a view."""
    def byte(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.uint8)``."""
    def cauchy_(self, median: _float = 0, sigma: _float = 1, *, generator: _Generator | None = None) -> Tensor:
        """Fill with Cauchy numbers around ``median``, of scale ``sigma``."""
    def ccol_indices(self) -> Tensor:
        """What a tensor of sparse column compressed layout has; RuntimeError for others."""
    def cdouble(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.complex128)``."""
    def ceil(self) -> Tensor:
        """The smallest integer not below each element."""
    def ceil_(self) -> Tensor:
        """The smallest integer not below each element."""
    def cfloat(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.complex64)``."""
    def chalf(self, *, memory_format: _Any = ...) -> Tensor:
        """Refused: XLA has no complex numbers of half precision. NotImplementedError."""
    def char(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.int8)``."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """The same as `linalg.cholesky`."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of the matrix whose Cholesky factor ``input`` is."""
    def cholesky_solve(self, input2: Tensor, upper: _bool = False) -> Tensor:
        """``X`` with ``A X = input``, where ``input2`` is a Cholesky factor of ``A``; batches broadcast."""
    def chunk(self, chunks: _int, dim: _int = 0, *, axis: _int | None = None) -> _tuple[Tensor, ...]:
        """At most ``chunks`` pieces of equal size (the last may be smaller) along ``dim``; views."""
    def clamp(self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
        """Each element limited to ``[min, max]``, each a number, a tensor or None."""
    def clamp_(self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
        """Each element limited to ``[min, max]``, each a number, a tensor or None."""
    def clamp_max(self, max: Tensor | _Number) -> Tensor:
        """Each element, but at most ``max``."""
    def clamp_max_(self, max: Tensor | _Number) -> Tensor:
        """Each element, but at most ``max``."""
    def clamp_min(self, min: Tensor | _Number) -> Tensor:
        """Each element, but at least ``min``."""
    def clamp_min_(self, min: Tensor | _Number) -> Tensor:
        """Each element, but at least ``min``."""
    def clip(self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
        """Each element limited to ``[min, max]``, each a number, a tensor or None."""
    def clip_(self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
        """Each element limited to ``[min, max]``, each a number, a tensor or None."""
    def clone(self, *, memory_format: _Any = ...) -> Tensor:
        """A copy of the elements, with autograd history; later writes to either do not show in the other."""
    def coalesce(self) -> Tensor:
        """What a tensor of sparse coordinate layout has; RuntimeError for others."""
    def col_indices(self) -> Tensor:
        """What a tensor of sparse row compressed layout has; RuntimeError for others."""
    def conj(self) -> Tensor:
        """The complex conjugate of each element, a view; a real tensor itself."""
    def conj_physical(self) -> Tensor:
        """The complex conjugate of each element, computed at once; a real tensor itself."""
    def conj_physical_(self) -> Tensor:
        """The complex conjugate of each element; real input is returned as it is."""
    def const_data_ptr(self) -> _int:
        """`data_ptr`: a number, through which nothing can be written anyhow."""
    def contiguous(self, memory_format: _Any = ...) -> Tensor:
        """The tensor itself if its elements lie in the given order without gaps, else a copy that does."""
    def copy_(self, other: _Any, non_blocking: _bool = False) -> Tensor:
        """Write the elements of ``other``, converted and broadcast, into this tensor."""
    def copysign(self, other: Tensor | _Number) -> Tensor:
        """The magnitude of ``input`` with the sign of ``other``."""
    def copysign_(self, other: Tensor | _Number) -> Tensor:
        """The magnitude of ``input`` with the sign of ``other``."""
    def corrcoef(self) -> Tensor:
        """The correlation coefficients of the rows of ``input``, limited to ``[-1, 1]``."""
    def cos(self) -> Tensor:
        """The cosine of each element, in radians."""
    def cos_(self) -> Tensor:
        """The cosine of each element, in radians."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine of each element."""
    def cosh_(self) -> Tensor:
        """The hyperbolic cosine of each element."""
    def count_nonzero(self, dim: _int | _Sequence[_int] | None = None) -> Tensor:
        """How many elements over ``dim`` are nonzero; int64."""
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance matrix of the rows of ``input``, weighted by frequencies and importances."""
    def cpu(self, memory_format: _Any = ...) -> Tensor:
        """The tensor on the host; itself if it is there."""
    def cross(self, other: Tensor, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
        """The cross product of vectors of three along ``dim`` (the first dimension of size 3)."""
    def crow_indices(self) -> Tensor:
        """What a tensor of sparse row compressed layout has; RuntimeError for others."""
    def cuda(self, device: _device | _str | _int | None = None, non_blocking: _bool = False, memory_format: _Any = ...) -> Tensor:
        """The tensor on a GPU. Raises PyTorch's error where there is none."""
    def cummax(self, dim: _int) -> _cummax_result:
        """The largest element up to each one along ``dim``, and where it last is."""
    def cummin(self, dim: _int) -> _cummin_result:
        """The smallest element up to each one along ``dim``, and where it last is."""
    def cumprod(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The products of the elements up to each one along ``dim``; integers multiply in int64."""
    def cumprod_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The products of the elements up to each one along ``dim``; integers multiply in int64."""
    def cumsum(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The sums of the elements up to each one along ``dim``; integers add up in int64."""
    def cumsum_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The sums of the elements up to each one along ``dim``; integers add up in int64."""
    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: _Any) -> None: ...
    def data_ptr(self) -> _int:
        """Where the first element lies in memory; 0 where there is none."""
    def deg2rad(self) -> Tensor:
        """Degrees as radians; refuses complex numbers."""
    def deg2rad_(self) -> Tensor:
        """Degrees as radians; refuses complex numbers."""
    def dense_dim(self) -> _int:
        """The number of dimensions, all dense."""
    def dequantize(self) -> _Any:
        """The numbers that a quantized tensor stands for, in float32; any other tensor as float32."""
    def det(self) -> Tensor:
        """Determinants of square matrices; see `linalg.det`."""
    def detach(self) -> Tensor:
        """The tensor without its autograd history: shares storage and version, never requires grad."""
    def detach_(self) -> Tensor:
        """Cut this tensor off the graph; it becomes a leaf. Refused for views, whose base has history."""
    @property
    def device(self) -> _device: ...
    def diag(self, diagonal: _int = 0) -> Tensor:
        """A vector as the diagonal of a new matrix; of a matrix, its diagonal, copied."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """The last dimension as the diagonal of new matrices, 0 elsewhere."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """All elements as the diagonal of one matrix."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonal of two dimensions as a new last one; a view."""
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """``input`` with the diagonal of two dimensions replaced by ``src``."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, axis: _int | None = None) -> Tensor:
        """The differences of neighbours along ``dim``, taken ``n`` times; exclusive or for bools."""
    def digamma(self) -> Tensor:
        """The logarithmic derivative of the gamma function."""
    def digamma_(self) -> Tensor:
        """The logarithmic derivative of the gamma function."""
    def dim(self) -> _int:
        """The number of dimensions."""
    def dim_order(self, ambiguity_check: _bool | _list = False) -> _tuple[_int, ...]:
        """The dimensions from the outermost to the innermost in memory."""
    def dist(self, other: Tensor, p: _Number = 2) -> Tensor:
        """The norm of order ``p`` of ``input - other``, broadcast."""
    def div(self, other: Tensor | _Number, *, rounding_mode: _Any = None) -> Tensor:
        """The quotient, broadcast; ``rounding_mode`` may be ``"trunc"`` or ``"floor"``."""
    def div_(self, other: Tensor | _Number, *, rounding_mode: _Any = None) -> Tensor:
        """The quotient, broadcast; ``rounding_mode`` may be ``"trunc"`` or ``"floor"``."""
    def divide(self, other: Tensor | _Number, *, rounding_mode: _Any = None) -> Tensor:
        """The quotient, broadcast; ``rounding_mode`` may be ``"trunc"`` or ``"floor"``."""
    def divide_(self, other: Tensor | _Number, *, rounding_mode: _Any = None) -> Tensor:
        """The quotient, broadcast; ``rounding_mode`` may be ``"trunc"`` or ``"floor"``."""
    def dot(self, tensor: Tensor) -> Tensor:
        """Sum of the products of two vectors of equal length; nothing is conjugated."""
    def double(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.float64)``."""
    def dsplit(self, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
        """Pieces of layers (dimension 2): as many equal ones as a number says, or those between the indices of a list; views."""
    @property
    def dtype(self) -> _dtype: ...
    def eig(self, eigenvectors: _bool = False, *, e: _Any = None, v: _Any = None) -> _tuple[Tensor, Tensor]:
        """Removed; raises RuntimeError. Use `linalg.eig`."""
    def element_size(self) -> _int:
        """Bytes of one element."""
    def eq(self, other: Tensor | _Number) -> Tensor:
        """Where two elements are equal. The result is bool, broadcast."""
    def eq_(self, other: Tensor | _Number) -> Tensor:
        """Where two elements are equal. The result is bool, broadcast."""
    def equal(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape and elements."""
    def erf(self) -> Tensor:
        """The error function."""
    def erf_(self) -> Tensor:
        """The error function."""
    def erfc(self) -> Tensor:
        """One minus the error function."""
    def erfc_(self) -> Tensor:
        """One minus the error function."""
    def erfinv(self) -> Tensor:
        """The inverse of the error function."""
    def erfinv_(self) -> Tensor:
        """The inverse of the error function."""
    def exp(self) -> Tensor:
        """The exponential of each element."""
    def exp2(self) -> Tensor:
        """Two to the power of each element."""
    def exp2_(self) -> Tensor:
        """Two to the power of each element."""
    def exp_(self) -> Tensor:
        """The exponential of each element."""
    def expand(self, *size: _Any, implicit: _bool = False) -> Tensor:
        """Dimensions of size 1 repeated to ``size`` without copying; -1 keeps one; a view."""
    def expand_as(self, other: Tensor) -> Tensor:
        """``self`` expanded to the shape of ``other``; a view."""
    def expm1(self) -> Tensor:
        """``exp(input) - 1``, accurate near zero."""
    def expm1_(self) -> Tensor:
        """``exp(input) - 1``, accurate near zero."""
    def exponential_(self, lambd: _float = 1, *, generator: _Generator | None = None) -> Tensor:
        """Fill with exponential numbers of rate ``lambd``; none is 0."""
    def fill_(self, value: _Any) -> Tensor:
        """Write one number (or 0-d tensor) into every element."""
    def fill_diagonal_(self, fill_value: _Any, wrap: _bool = False) -> Tensor:
        """Write a number on the main diagonal; with ``wrap`` a tall matrix has several."""
    def fix(self) -> Tensor:
        """The integer part of each element, rounding towards zero."""
    def fix_(self) -> Tensor:
        """The integer part of each element, rounding towards zero."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Dimensions ``start_dim`` to ``end_dim`` joined into one; a view where strides allow it."""
    def flip(self, dims: _int | _Sequence[_int]) -> Tensor:
        """The elements in reverse order along ``dims``."""
    def fliplr(self) -> Tensor:
        """The columns in reverse order."""
    def flipud(self) -> Tensor:
        """The rows in reverse order."""
    def float(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.float32)``."""
    def float_power(self, exponent: _Any) -> Tensor:
        """``input ** exponent`` in double precision. RuntimeError for an ``out`` of another dtype."""
    def float_power_(self, exponent: _Any) -> Tensor:
        """``self ** exponent`` in double precision, for a ``self`` of double precision."""
    def floor(self) -> Tensor:
        """The largest integer not above each element."""
    def floor_(self) -> Tensor:
        """The largest integer not above each element."""
    def floor_divide(self, other: Tensor | _Number) -> Tensor:
        """The quotient rounded down, broadcast."""
    def floor_divide_(self, other: Tensor | _Number) -> Tensor:
        """The quotient rounded down, broadcast."""
    def fmax(self, other: Tensor) -> Tensor:
        """The larger of two elements, the number where one is nan; ``input`` wins a tie."""
    def fmin(self, other: Tensor) -> Tensor:
        """The smaller of two elements, the number where one is nan; ``input`` wins a tie."""
    def fmod(self, other: Tensor | _Number) -> Tensor:
        """What division rounded towards zero leaves: the result has the sign of ``input``."""
    def fmod_(self, other: Tensor | _Number) -> Tensor:
        """What division rounded towards zero leaves: the result has the sign of ``input``."""
    def frac(self) -> Tensor:
        """The fractional part of each element, with its sign."""
    def frac_(self) -> Tensor:
        """The fractional part of each element, with its sign."""
    def frexp(self) -> _frexp_result:
        """Mantissa in ``[0.5, 1)`` and int32 exponent of each floating element."""
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """``input[i][index[i][j]][k]`` for ``dim`` 1, and likewise for others; shaped like ``index``."""
    def gcd(self, other: Tensor) -> Tensor:
        """The greatest common divisor of integers; negative for the least number of the dtype alone."""
    def gcd_(self, other: Tensor) -> Tensor:
        """The greatest common divisor of integers; negative for the least number of the dtype alone."""
    def ge(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not smaller. The result is bool, broadcast."""
    def ge_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not smaller. The result is bool, broadcast."""
    def geometric_(self, p: _float, *, generator: _Generator | None = None) -> Tensor:
        """Fill with how many trials of chance ``p`` it takes to the first success: 1, 2, ..."""
    def geqrf(self) -> _geqrf_result:
        """The QR decomposition as LAPACK stores it: R above the diagonal, the reflections' vectors below."""
    def ger(self, vec2: Tensor) -> Tensor:
        """`outer`, by its old name."""
    def get_device(self) -> _int:
        """The index of the tensor's device, -1 for the CPU."""
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: _Any) -> None: ...
    @property
    def grad_dtype(self) -> _dtype | None: ...
    @grad_dtype.setter
    def grad_dtype(self, value: _Any) -> None: ...
    @property
    def grad_fn(self) -> _Any: ...
    def greater(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is larger. The result is bool, broadcast."""
    def greater_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is larger. The result is bool, broadcast."""
    def greater_equal(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not smaller. The result is bool, broadcast."""
    def greater_equal_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not smaller. The result is bool, broadcast."""
    def gt(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is larger. The result is bool, broadcast."""
    def gt_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is larger. The result is bool, broadcast."""
    def half(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.float16)``."""
    def hardshrink(self, lambd: _Number = ...) -> Tensor:
        """Each element, 0 where it lies within ``lambd`` of zero."""
    def hash_tensor(self, dim: _int | _Sequence[_int] = ..., *, keepdim: _bool = False, mode: _int = 0) -> Tensor:
        """The exclusive or of all elements, or of those along ``dim``, as 64 bits; uint64."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 where ``input`` is negative, 1 where positive, ``values`` where it is 0."""
    def heaviside_(self, values: Tensor) -> Tensor:
        """0 where ``input`` is negative, 1 where positive, ``values`` where it is 0."""
    def histc(self, bins: _int = 100, min: _Number = 0, max: _Number = 0) -> Tensor:
        """How many elements fall into each of ``bins`` equal bins between ``min`` and ``max``."""
    def histogram(self, bins: _Any = 100, *, range: _Any = None, weight: Tensor | None = None, density: _bool = False) -> _Any:
        """How many elements fall into each bin, and the bins' edges; both in the dtype of ``input``."""
    def hsplit(self, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
        """Pieces of columns (dimension 1, or 0 of a vector): as many equal ones as a number says, or those between the indices of a list; views."""
    def hypot(self, other: Tensor) -> Tensor:
        """``sqrt(input ** 2 + other ** 2)`` without overflow on the way."""
    def hypot_(self, other: Tensor) -> Tensor:
        """``sqrt(input ** 2 + other ** 2)`` without overflow on the way."""
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind of order 0."""
    def i0_(self) -> Tensor:
        """The modified Bessel function of the first kind of order 0."""
    def igamma(self, other: Tensor) -> Tensor:
        """The integral of ``t ** (input - 1) exp(-t)`` from 0 to ``other``, over that to infinity."""
    def igamma_(self, other: Tensor) -> Tensor:
        """The integral of ``t ** (input - 1) exp(-t)`` from 0 to ``other``, over that to infinity."""
    def igammac(self, other: Tensor) -> Tensor:
        """One minus `igamma`, without its cancellation."""
    def igammac_(self, other: Tensor) -> Tensor:
        """One minus `igamma`, without its cancellation."""
    @property
    def imag(self) -> Tensor: ...
    @imag.setter
    def imag(self, value: _Any) -> None: ...
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Tensor:
        """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` names them."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Tensor:
        """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` names them."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """``input`` with the slices of ``source`` written where ``index`` names them."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """``input`` with the slices of ``source`` written where ``index`` names them."""
    def index_fill(self, dim: _int, index: Tensor, value: _Number) -> Tensor:
        """``input`` with one number written to the slices that ``index`` names."""
    def index_fill_(self, dim: _int, index: Tensor, value: _Number) -> Tensor:
        """``input`` with one number written to the slices that ``index`` names."""
    def index_put(self, indices: _Any, values: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy of ``input`` with ``values`` written (or added) where the index tensors point."""
    def index_put_(self, indices: _Any, values: Tensor, accumulate: _bool = False) -> Tensor:
        """Write (or with ``accumulate`` add) ``values`` where the index tensors point."""
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: _Any, *, include_self: _bool = True) -> Tensor:
        """``input`` with slices of ``source`` combined into it: prod, mean, amax or amin."""
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: _Any, *, include_self: _bool = True) -> Tensor:
        """``input`` with slices of ``source`` combined into it: prod, mean, amax or amin."""
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """The slices of ``input`` along ``dim`` that a vector of indices names, in its order."""
    def indices(self) -> Tensor:
        """What a tensor of sparse coordinate layout has; RuntimeError for others."""
    def inner(self, other: Tensor) -> Tensor:
        """Sums of products over the last dimensions of both; a plain product where one is 0-d."""
    def int(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.int32)``."""
    def int_repr(self) -> _Any:
        """A copy of the integers of a quantized tensor. NotImplementedError for a tensor that is not quantized."""
    def inverse(self) -> Tensor:
        """The same as `linalg.inv`."""
    def is_coalesced(self) -> Tensor:
        """What a tensor of sparse coordinate layout has; RuntimeError for others."""
    def is_complex(self) -> _bool:
        """Whether the dtype is complex."""
    def is_conj(self) -> _bool:
        """Whether the tensor shows its memory conjugated: see ``conj``."""
    def is_contiguous(self, memory_format: _Any = ...) -> _bool:
        """Whether the elements lie in row-major order without gaps (or in ``memory_format``)."""
    @property
    def is_cpu(self) -> _bool: ...
    @property
    def is_cuda(self) -> _bool: ...
    def is_distributed(self) -> _bool:
        """Always False: see ``torch.is_distributed``."""
    def is_floating_point(self) -> _bool:
        """Whether the dtype is real floating point."""
    def is_inference(self) -> _bool:
        """Whether the tensor was made in inference mode, and so may take no part in autograd."""
    @property
    def is_ipu(self) -> _bool: ...
    @property
    def is_leaf(self) -> _bool: ...
    @property
    def is_maia(self) -> _bool: ...
    @property
    def is_meta(self) -> _bool: ...
    @property
    def is_mkldnn(self) -> _bool: ...
    @property
    def is_mps(self) -> _bool: ...
    @property
    def is_mtia(self) -> _bool: ...
    def is_neg(self) -> _bool:
        """Whether the tensor shows its memory negated, as the imaginary part of a conjugate does."""
    @property
    def is_nested(self) -> _bool: ...
    def is_nonzero(self) -> _bool:
        """Whether the one element is not zero. Raises RuntimeError for another number of elements."""
    def is_pinned(self, device: _device | _str | _int | None = None) -> _bool:
        """Always False; see ``pin_memory``."""
    @property
    def is_quantized(self) -> _bool: ...
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape."""
    def is_set_to(self, tensor: _Any) -> _bool:
        """Whether both show the same storage in the same layout, neither conjugated nor negated."""
    def is_shared(self) -> _bool:
        """Whether other processes may have the memory: after `share_memory_`, of a mapped file, on a GPU."""
    def is_signed(self) -> _bool:
        """Whether the dtype can hold negative numbers."""
    @property
    def is_sparse(self) -> _bool: ...
    @property
    def is_sparse_csr(self) -> _bool: ...
    @property
    def is_vulkan(self) -> _bool: ...
    @property
    def is_xla(self) -> _bool: ...
    @property
    def is_xpu(self) -> _bool: ...
    def isclose(self, other: Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = False) -> Tensor:
        """Where ``|input - other| <= atol + rtol * |other|``; bool."""
    def isfinite(self) -> Tensor:
        """Where elements are neither infinite nor nan."""
    def isinf(self) -> Tensor:
        """Where elements are infinite, of either sign."""
    def isnan(self) -> Tensor:
        """Where elements are not a number."""
    def isneginf(self) -> Tensor:
        """Where elements are negative infinity; refuses complex numbers."""
    def isposinf(self) -> Tensor:
        """Where elements are positive infinity; refuses complex numbers."""
    def isreal(self) -> Tensor:
        """Where the imaginary part is zero."""
    def istft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
        """The signal whose `stft` comes nearest to given spectra, by least squares."""
    def item(self) -> _int | _float | _complex | _bool:
        """The one element as a Python number. Raises RuntimeError for another number of elements."""
    @property
    def itemsize(self) -> _int: ...
    def jax(self) -> _Any:
        """The tensor's elements as a jax array, shared and never changed by later writes to the tensor."""
    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: each element of ``input`` times the whole of ``other``."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> _kthvalue_result:
        """The ``k``-th smallest element along ``dim``, counted from 1, and where it is."""
    @property
    def layout(self) -> _Any: ...
    def lcm(self, other: Tensor) -> Tensor:
        """The least common multiple of integers; what overflows wraps, and may be negative."""
    def lcm_(self, other: Tensor) -> Tensor:
        """The least common multiple of integers; what overflows wraps, and may be negative."""
    def ldexp(self, other: Tensor) -> Tensor:
        """``input * 2 ** other``."""
    def ldexp_(self, other: Tensor) -> Tensor:
        """``input * 2 ** other`` written into ``input``; RuntimeError for integers."""
    def le(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not larger. The result is bool, broadcast."""
    def le_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not larger. The result is bool, broadcast."""
    def lerp(self, end: Tensor, weight: Tensor | _Number) -> Tensor:
        """``input + weight * (end - input)``, exact at both ends."""
    def lerp_(self, end: Tensor, weight: Tensor | _Number) -> Tensor:
        """``input + weight * (end - input)``, exact at both ends."""
    def less(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is smaller. The result is bool, broadcast."""
    def less_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is smaller. The result is bool, broadcast."""
    def less_equal(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not larger. The result is bool, broadcast."""
    def less_equal_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is not larger. The result is bool, broadcast."""
    def lgamma(self) -> Tensor:
        """The logarithm of the gamma function's absolute value."""
    def lgamma_(self) -> Tensor:
        """The logarithm of the gamma function's absolute value."""
    def log(self) -> Tensor:
        """The natural logarithm of each element."""
    def log10(self) -> Tensor:
        """The logarithm to base 10."""
    def log10_(self) -> Tensor:
        """The logarithm to base 10."""
    def log1p(self) -> Tensor:
        """``log(1 + input)``, accurate near zero."""
    def log1p_(self) -> Tensor:
        """``log(1 + input)``, accurate near zero."""
    def log2(self) -> Tensor:
        """The logarithm to base 2."""
    def log2_(self) -> Tensor:
        """The logarithm to base 2."""
    def log_(self) -> Tensor:
        """The natural logarithm of each element."""
    def log_normal_(self, mean: _float = 1, std: _float = 2, *, generator: _Generator | None = None) -> Tensor:
        """Fill with numbers whose logarithms are normal, of that mean and deviation."""
    def log_softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """The logarithm of `softmax` along ``dim``, without its loss of precision."""
    def logaddexp(self, other: Tensor) -> Tensor:
        """``log(exp(input) + exp(other))`` without overflow."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """``log2(2 ** input + 2 ** other)`` without overflow."""
    def logcumsumexp(self, dim: _int) -> Tensor:
        """``log(cumsum(exp(input)))`` along ``dim`` without overflow."""
    def logdet(self) -> Tensor:
        """Logarithms of determinants; nan where a real one is negative."""
    def logical_and(self, other: Tensor) -> Tensor:
        """Whether both elements are nonzero. The result is bool, broadcast."""
    def logical_and_(self, other: Tensor) -> Tensor:
        """Whether both elements are nonzero. The result is bool, broadcast."""
    def logical_not(self) -> Tensor:
        """Whether each element is zero."""
    def logical_not_(self) -> Tensor:
        """Whether each element is zero."""
    def logical_or(self, other: Tensor) -> Tensor:
        """Whether at least one element is nonzero. The result is bool, broadcast."""
    def logical_or_(self, other: Tensor) -> Tensor:
        """Whether at least one element is nonzero. The result is bool, broadcast."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """Whether exactly one element is nonzero. The result is bool, broadcast."""
    def logical_xor_(self, other: Tensor) -> Tensor:
        """Whether exactly one element is nonzero. The result is bool, broadcast."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """``log(p / (1 - p))``, with ``input`` first limited to ``[eps, 1 - eps]`` if given."""
    def logit_(self, eps: _float | None = None) -> Tensor:
        """``log(p / (1 - p))``, with ``input`` first limited to ``[eps, 1 - eps]`` if given."""
    def logsumexp(self, dim: _int | _Sequence[_int], keepdim: _bool = False) -> Tensor:
        """``log(sum(exp(input)))`` over ``dim`` without overflow; minus infinity over nothing."""
    def long(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.int64)``."""
    def lstsq(self, A: Tensor) -> _tuple[Tensor, Tensor]:
        """Removed; raises RuntimeError. Use `linalg.lstsq`."""
    def lt(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is smaller. The result is bool, broadcast."""
    def lt_(self, other: Tensor | _Number) -> Tensor:
        """Where ``input`` is smaller. The result is bool, broadcast."""
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> _tuple:
        """The factors of `linalg.lu_factor`; with ``get_infos`` also those of `linalg.lu_factor_ex`."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """`linalg.lu_solve` with its arguments in another order."""
    @property
    def mH(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def map2_(self, x: Tensor, y: Tensor, callable: _Callable) -> Tensor:
        """Replace each element by what a Python function makes of it and of those of ``x`` and ``y``."""
    def map_(self, other: Tensor, callable: _Callable) -> Tensor:
        """Replace each element by what a Python function makes of it and of that of ``other``, broadcast."""
    def masked_fill(self, mask: Tensor, value: _Number) -> Tensor:
        """``input`` with ``value`` (a number or a 0-d tensor) where ``mask`` holds."""
    def masked_fill_(self, mask: Tensor, value: _Number) -> Tensor:
        """``input`` with ``value`` (a number or a 0-d tensor) where ``mask`` holds."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """``input`` with the elements of ``source``, in order, where ``mask`` holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """`masked_scatter` into ``input``, to whose shape the mask is expanded; RuntimeError if it cannot be."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where ``mask`` holds, as a vector; the two are broadcast."""
    def matmul(self, other: Tensor) -> Tensor:
        """Product of vectors, matrices and broadcast stacks of matrices, as the ``@`` operator."""
    def matrix_exp(self) -> Tensor:
        """``exp(A)`` of square matrices, by a polynomial of ``A / 2**s`` that is squared ``s`` times."""
    def matrix_power(self, n: _int) -> Tensor:
        """The same as `linalg.matrix_power`."""
    @_overload
    def max(self) -> Tensor:
        """The largest element, or with ``dim`` those along it, or with a tensor those of pairs."""
    @_overload
    def max(self, other: Tensor) -> Tensor:
        """The largest element, or with ``dim`` those along it, or with a tensor those of pairs."""
    @_overload
    def max(self, dim: _int, keepdim: _bool = False) -> _max_result:
        """The largest element, or with ``dim`` those along it, or with a tensor those of pairs."""
    def maximum(self, other: Tensor) -> Tensor:
        """The larger of two elements, nan if one is nan; tied elements share the gradient."""
    def mean(self, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """The mean over ``dim``; RuntimeError for integers unless ``dtype`` is floating."""
    @_overload
    def median(self) -> Tensor:
        """The lower median; with ``dim`` the medians along it and where they are."""
    @_overload
    def median(self, dim: _int, keepdim: _bool = False) -> _median_result:
        """The lower median; with ``dim`` the medians along it and where they are."""
    @_overload
    def min(self) -> Tensor:
        """The smallest element, or with ``dim`` those along it, or with a tensor those of pairs."""
    @_overload
    def min(self, other: Tensor) -> Tensor:
        """The smallest element, or with ``dim`` those along it, or with a tensor those of pairs."""
    @_overload
    def min(self, dim: _int, keepdim: _bool = False) -> _min_result:
        """The smallest element, or with ``dim`` those along it, or with a tensor those of pairs."""
    def minimum(self, other: Tensor) -> Tensor:
        """The smaller of two elements, nan if one is nan; tied elements share the gradient."""
    def mm(self, mat2: Tensor) -> Tensor:
        """Product of two matrices, ``(n, k) @ (k, m) -> (n, m)``."""
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> _mode_result:
        """The most frequent element along ``dim`` (the smallest of several) and where it last is."""
    def moveaxis(self, source: _Any, destination: _Any) -> Tensor:
        """Dimensions ``source`` moved to the places ``destination``; a view."""
    def movedim(self, source: _Any, destination: _Any) -> Tensor:
        """Dimensions ``source`` moved to the places ``destination``; a view."""
    def msort(self) -> Tensor:
        """The elements in order along the first dimension."""
    def mul(self, other: Tensor | _Number) -> Tensor:
        """The product, broadcast; bools multiply as a logical and."""
    def mul_(self, other: Tensor | _Number) -> Tensor:
        """The product, broadcast; bools multiply as a logical and."""
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: _Generator | None = None) -> Tensor:
        """Indices drawn with probability proportional to the weights in the last dimension."""
    def multiply(self, other: Tensor | _Number) -> Tensor:
        """The product, broadcast; bools multiply as a logical and."""
    def multiply_(self, other: Tensor | _Number) -> Tensor:
        """The product, broadcast; bools multiply as a logical and."""
    def mv(self, vec: Tensor) -> Tensor:
        """Product of a matrix and a vector, ``(n, k) @ (k,) -> (n,)``."""
    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension ``p``."""
    def mvlgamma_(self, p: _int) -> Tensor:
        """`mvlgamma` written into ``self``; RuntimeError for integers."""
    @property
    def name(self) -> _Any: ...
    def nan_to_num(self, nan: _Number | None = None, posinf: _Number | None = None, neginf: _Number | None = None) -> Tensor:
        """Nan replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the dtype's limits)."""
    def nan_to_num_(self, nan: _Number | None = None, posinf: _Number | None = None, neginf: _Number | None = None) -> Tensor:
        """Nan replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the dtype's limits)."""
    def nanmean(self, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """The mean over ``dim`` of the elements that are not nan."""
    @_overload
    def nanmedian(self) -> Tensor:
        """The lower median, nan left out; with ``dim`` the medians along it and where they are."""
    @_overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> _nanmedian_result:
        """The lower median, nan left out; with ``dim`` the medians along it and where they are."""
    def nanquantile(self, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """The quantiles ``q`` of the elements that are not nan, over all or along ``dim``; ``q`` comes first in the result's shape."""
    def nansum(self, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """The sum over ``dim`` with nan taken as 0."""
    def narrow(self, dim: _int, start: _Any, length: _int) -> Tensor:
        """``length`` elements from ``start`` along ``dim``; a view."""
    def narrow_copy(self, dim: _int, start: _int, length: _int) -> Tensor:
        """A copy of what `narrow` shows."""
    @property
    def nbytes(self) -> _int: ...
    @property
    def ndim(self) -> _int: ...
    def ndimension(self) -> _int:
        """The number of dimensions."""
    def ne(self, other: Tensor | _Number) -> Tensor:
        """Where two elements differ. The result is bool, broadcast."""
    def ne_(self, other: Tensor | _Number) -> Tensor:
        """Where two elements differ. The result is bool, broadcast."""
    def neg(self) -> Tensor:
        """Each element with its sign turned; refuses bools."""
    def neg_(self) -> Tensor:
        """Each element with its sign turned; refuses bools."""
    def negative(self) -> Tensor:
        """Each element with its sign turned; refuses bools."""
    def negative_(self) -> Tensor:
        """Each element with its sign turned; refuses bools."""
    def nelement(self) -> _int:
        """The number of elements."""
    def new(self, *args: _Any, **kwargs: _Any) -> Tensor:
        """A tensor of this one's dtype and device, of the given lengths or data; by default empty."""
    @_overload
    def new_empty(self, *size: _int, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """An unspecified tensor (here zeros) with the dtype of ``self``."""
    @_overload
    def new_empty(self, size: _Sequence[_int], *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """An unspecified tensor (here zeros) with the dtype of ``self``."""
    def new_empty_strided(self, size: _Any, stride: _Any, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """An unspecified tensor (zeros here) of the given size and strides, with the dtype of ``self``."""
    def new_full(self, size: _Any, fill_value: _Any, *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """A number repeated over the given size, with the dtype and device of ``self``."""
    @_overload
    def new_ones(self, *size: _int, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """Ones of the given size with the dtype and device of ``self``."""
    @_overload
    def new_ones(self, size: _Sequence[_int], *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """Ones of the given size with the dtype and device of ``self``."""
    def new_tensor(self, data: _Any, *, dtype: _dtype | None = None, device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
        """A new leaf with a copy of ``data``, with the dtype and device of ``self``."""
    @_overload
    def new_zeros(self, *size: _int, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """Zeros of the given size with the dtype and device of ``self``."""
    @_overload
    def new_zeros(self, size: _Sequence[_int], *, dtype: _dtype | None = None, layout: _Any = None, device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """Zeros of the given size with the dtype and device of ``self``."""
    def nextafter(self, other: Tensor) -> Tensor:
        """The next representable number after ``input`` in the direction of ``other``."""
    def nextafter_(self, other: Tensor) -> Tensor:
        """The next representable number after ``input`` in the direction of ``other``."""
    def nonzero(self, *, as_tuple: _bool = False) -> _Any:
        """The indices of all nonzero elements: one row each, or one vector for each dimension."""
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """The indices of the first ``size`` nonzero elements, a row each; ``fill_value`` where there are fewer."""
    def norm(self, p: _Any = 'fro', dim: _Any = None, keepdim: _bool = False, dtype: _dtype | None = None) -> Tensor:
        """The norm of order ``p`` over ``dim`` or all elements; ``"nuc"`` of a matrix's singular values."""
    def normal_(self, mean: _float = 0, std: _float = 1, *, generator: _Generator | None = None) -> Tensor:
        """Fill with normal numbers."""
    def not_equal(self, other: Tensor | _Number) -> Tensor:
        """Where two elements differ. The result is bool, broadcast."""
    def not_equal_(self, other: Tensor | _Number) -> Tensor:
        """Where two elements differ. The result is bool, broadcast."""
    def numel(self) -> _int:
        """The number of elements."""
    def numpy(self, *, force: _bool = False) -> _np.ndarray:
        """The tensor as a NumPy array of the same memory: what is written to either shows in the other."""
    def orgqr(self, tau: Tensor) -> Tensor:
        """The first ``n`` columns of the product of the reflections that `geqrf` packed."""
    def ormqr(self, tau: Tensor, other: Tensor, left: _bool = True, transpose: _bool = False) -> Tensor:
        """The product of all reflections that `geqrf` packed, a square matrix, times ``other``."""
    def outer(self, vec2: Tensor) -> Tensor:
        """The product of each element of one vector with each of another."""
    @property
    def output_nr(self) -> _int: ...
    @_overload
    def permute(self, dims: _Sequence[_int]) -> Tensor:
        """The dimensions in the order ``dims``; a view."""
    @_overload
    def permute(self, *dims: _int) -> Tensor:
        """The dimensions in the order ``dims``; a view."""
    def pin_memory(self, device: _device | _str | _int | None = None) -> Tensor:
        """The tensor itself: XLA manages transfers, and there is no pinned memory."""
    def pinverse(self, rcond: _float = ...) -> Tensor:
        """The pseudoinverse; singular values up to ``rcond`` times the largest one count as zero."""
    def polygamma(self, n: _int) -> Tensor: ...
    def polygamma_(self, n: _int) -> Tensor:
        """`polygamma` written into ``self``."""
    def positive(self) -> Tensor:
        """The tensor itself; refuses bools."""
    def pow(self, exponent: _Any) -> Tensor:
        """``input ** exponent``, of two tensors or a tensor and a number, broadcast."""
    def pow_(self, exponent: _Any) -> Tensor:
        """``self ** exponent`` written into ``self``."""
    def prelu(self, weight: Tensor) -> Tensor:
        """Each element, times the weight of its channel (dimension 1) where it is not positive."""
    def prod(self, dim: _int | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """The product over all elements or one dimension; integers multiply in int64."""
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """``input`` with ``source`` written (or added) at positions in the flattened tensor."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """``input`` with ``source`` written (or added) at positions in the flattened tensor."""
    def q_per_channel_axis(self) -> _Any:
        """The dimension of the channels of a quantized tensor. NotImplementedError for a tensor that is not quantized."""
    def q_per_channel_scales(self) -> _Any:
        """The scales of a quantized tensor with one for each channel. NotImplementedError for a tensor that is not quantized."""
    def q_per_channel_zero_points(self) -> _Any:
        """The zero points of a quantized tensor with one for each channel. NotImplementedError for a tensor that is not quantized."""
    def q_scale(self) -> _Any:
        """The scale of a quantized tensor, a float. NotImplementedError for a tensor that is not quantized."""
    def q_zero_point(self) -> _Any:
        """The integer that stands for 0 in a quantized tensor. NotImplementedError for a tensor that is not quantized."""
    def qr(self, some: _bool = True) -> _Any:
        """The QR decomposition by its older name; ``some`` is the mode "reduced", False "complete"."""
    def qscheme(self) -> _Any:
        """How the integers of a quantized tensor stand for numbers. NotImplementedError for a tensor that is not quantized."""
    def quantile(self, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """The quantiles ``q`` of the elements, over all or along ``dim``; ``q`` comes first in the result's shape."""
    def rad2deg(self) -> Tensor:
        """Radians as degrees; refuses complex numbers."""
    def rad2deg_(self) -> Tensor:
        """Radians as degrees; refuses complex numbers."""
    def random_(self, *args: _Any, generator: _Generator | None = None, **kwargs: _Any) -> Tensor:
        """Fill with integers from [from, to); ``random_(to)`` starts at 0."""
    def ravel(self) -> Tensor:
        """All elements in one dimension; a view where strides allow it."""
    @property
    def real(self) -> Tensor: ...
    @real.setter
    def real(self, value: _Any) -> None: ...
    def reciprocal(self) -> Tensor:
        """One over each element."""
    def reciprocal_(self) -> Tensor:
        """One over each element."""
    def record_stream(self, s: _Any) -> None:
        """Nothing to do: XLA orders the work on a device, and frees memory when that is done."""
    def register_hook(self, hook: _Any) -> _Any:
        """Call ``hook(grad)`` whenever this tensor's gradient is computed; a returned tensor replaces it."""
    def register_post_accumulate_grad_hook(self, hook: _Any) -> _Any:
        """Call ``hook(tensor)`` after this leaf's ``.grad`` was updated."""
    def relu(self) -> Tensor:
        """Each element, or 0 where it is negative; the derivative at 0 is 0."""
    def relu_(self) -> Tensor:
        """Each element, or 0 where it is negative; the derivative at 0 is 0."""
    def remainder(self, other: Tensor | _Number) -> Tensor:
        """What division rounded down leaves: the result has the sign of ``other``."""
    def remainder_(self, other: Tensor | _Number) -> Tensor:
        """What division rounded down leaves: the result has the sign of ``other``."""
    def renorm(self, p: _Number, dim: _int, maxnorm: _Number) -> Tensor:
        """``input`` with every slice along ``dim`` scaled down to a norm of at most ``maxnorm``."""
    def renorm_(self, p: _Number, dim: _int, maxnorm: _Number) -> Tensor:
        """``input`` with every slice along ``dim`` scaled down to a norm of at most ``maxnorm``."""
    def repeat(self, repeats: _int | _Sequence[_int]) -> Tensor:
        """The tensor repeated ``repeats[i]`` times along dimension ``i``; new dimensions come first."""
    def repeat_interleave(self, *args: _Any, **kwargs: _Any) -> Tensor:
        """`repeat_interleave` of this tensor."""
    @property
    def requires_grad(self) -> _bool: ...
    @requires_grad.setter
    def requires_grad(self, value: _Any) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Tensor:
        """Set ``requires_grad`` and return the tensor."""
    @_overload
    def reshape(self, shape: _Sequence[_int]) -> Tensor:
        """The same elements in another shape: a view where strides allow it, else a copy."""
    @_overload
    def reshape(self, *shape: _int) -> Tensor:
        """The same elements in another shape: a view where strides allow it, else a copy."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """``self`` in the shape of ``other``."""
    def resize(self, *sizes: _Any) -> Tensor:
        """The elements in another shape; deprecated in favour of ``reshape`` and ``resize_``."""
    def resize_(self, *shape: _Any, size: _Any = None, memory_format: _Any = ...) -> Tensor:
        """Change the shape in place; elements are kept in memory order, new ones are zero."""
    def resize_as(self, tensor: Tensor) -> Tensor:
        """The elements in the shape of another tensor; deprecated in favour of ``reshape``."""
    def resize_as_(self, the_template: Tensor, *, memory_format: _Any = ...) -> Tensor:
        """Change the shape of ``input`` to that of another tensor; see `Tensor.resize_`."""
    def resize_as_sparse_(self, the_template: Tensor) -> Tensor:
        """Give a tensor in coordinates the size of another one, in place."""
    def resolve_conj(self) -> Tensor:
        """A copy that holds the conjugates themselves; a tensor that is no conjugate view itself."""
    def resolve_neg(self) -> Tensor:
        """A copy that holds the negatives themselves; a tensor that is no negative view itself."""
    def retain_grad(self) -> None:
        """Keep this non-leaf's gradient in ``.grad``. Raises RuntimeError if it requires none."""
    @property
    def retains_grad(self) -> _bool: ...
    def roll(self, shifts: _int | _Sequence[_int], dims: _int | _Sequence[_int] = ...) -> Tensor:
        """The elements shifted along ``dims``, those pushed out coming in again; flat without ``dims``."""
    def rot90(self, k: _int = 1, dims: _int | _Sequence[_int] = ...) -> Tensor:
        """The plane of ``dims`` turned by ``k`` quarters, from the first dimension to the second."""
    def round(self, *, decimals: _int | None = None) -> Tensor:
        """Each element rounded to ``decimals`` decimals (none), halves to even."""
    def round_(self, *, decimals: _int | None = None) -> Tensor:
        """Each element rounded to ``decimals`` decimals (none), halves to even."""
    def row_indices(self) -> Tensor:
        """What a tensor of sparse column compressed layout has; RuntimeError for others."""
    def rsqrt(self) -> Tensor:
        """One over the square root of each element."""
    def rsqrt_(self) -> Tensor:
        """One over the square root of each element."""
    @_overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor, *, reduce: _str | None = None) -> Tensor:
        """``input`` with ``src`` (a tensor) or ``value`` written where ``index`` points along ``dim``."""
    @_overload
    def scatter(self, dim: _int, index: Tensor, value: _Number, *, reduce: _str | None = None) -> Tensor:
        """``input`` with ``src`` (a tensor) or ``value`` written where ``index`` points along ``dim``."""
    @_overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor, *, reduce: _str | None = None) -> Tensor:
        """`scatter` written into ``self``."""
    @_overload
    def scatter_(self, dim: _int, index: Tensor, value: _Number, *, reduce: _str | None = None) -> Tensor:
        """`scatter` written into ``self``."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """``input`` with the elements of ``src`` added where ``index`` points along ``dim``."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """``input`` with the elements of ``src`` added where ``index`` points along ``dim``."""
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: _Any, *, include_self: _bool = True) -> Tensor:
        """``input`` with ``src`` combined into it where ``index`` points: sum, prod, mean, amax, amin."""
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: _Any, *, include_self: _bool = True) -> Tensor:
        """``input`` with ``src`` combined into it where ``index`` points: sum, prod, mean, amax, amin."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """The slice at ``index`` along ``dim``, without that dimension; a view."""
    def select_scatter(self, src: Tensor, dim: _int | None = None, index: _int | None = None, *, axis: _int | None = None) -> Tensor:
        """``input`` with the slice at ``index`` along ``dim`` replaced by ``src``."""
    def set_(self, source: _Any = None, storage_offset: _int = 0, size: _Any = None, stride: _Any = None) -> Tensor:
        """Make this tensor show the storage of ``source`` (nothing without one), as it does or strided anew."""
    def sgn(self) -> Tensor:
        """The sign of each element; for complex numbers the unit number in its direction, 0 at 0."""
    def sgn_(self) -> Tensor:
        """The sign of each element; for complex numbers the unit number in its direction, 0 at 0."""
    @property
    def shape(self) -> _Size: ...
    def share_memory_(self) -> Tensor:
        """Move the tensor's storage to memory that other processes may share with this one."""
    def short(self, memory_format: _Any = ...) -> _Any:
        """``self.to(torch.int16)``."""
    def sigmoid(self) -> Tensor:
        """``1 / (1 + exp(-input))``."""
    def sigmoid_(self) -> Tensor:
        """``1 / (1 + exp(-input))``."""
    def sign(self) -> Tensor:
        """-1, 0 or 1 by the sign of each element; refuses complex numbers."""
    def sign_(self) -> Tensor:
        """-1, 0 or 1 by the sign of each element; refuses complex numbers."""
    def signbit(self) -> Tensor:
        """Where the sign bit is set: negative elements, and negative zero."""
    def sin(self) -> Tensor:
        """The sine of each element, in radians."""
    def sin_(self) -> Tensor:
        """The sine of each element, in radians."""
    def sinc(self) -> Tensor:
        """``sin(pi x) / (pi x)``, 1 at 0."""
    def sinc_(self) -> Tensor:
        """``sin(pi x) / (pi x)``, 1 at 0."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine of each element."""
    def sinh_(self) -> Tensor:
        """The hyperbolic sine of each element."""
    @_overload
    def size(self, dim: None = None) -> _Size:
        """The shape, or its extent along ``dim``. Raises IndexError for a dimension that is not there."""
    @_overload
    def size(self, dim: _int) -> _int:
        """The shape, or its extent along ``dim``. Raises IndexError for a dimension that is not there."""
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, axis: _int | None = None) -> Tensor:
        """``input`` with ``start:end:step`` along ``dim`` replaced by ``src``."""
    def slogdet(self) -> _tuple[Tensor, Tensor]:
        """Signs and logarithms of the absolute values of determinants; see `linalg.slogdet`."""
    def smm(self, mat2: Tensor) -> Tensor:
        """The product of a sparse and a dense matrix, as a sparse tensor."""
    def softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """Exponentials along ``dim``, scaled to add up to 1; ``dtype`` is converted to first."""
    def solve(self, A: Tensor) -> _tuple[Tensor, Tensor]:
        """Removed; raises RuntimeError. Use `linalg.solve`."""
    @_overload
    def sort(self, dim: _int = -1, descending: _bool = False) -> _sort_result:
        """The elements in order along ``dim``, and where they were; ties always keep their order."""
    @_overload
    def sort(self, *, stable: _bool, dim: _int = -1, descending: _bool = False) -> _sort_result:
        """The elements in order along ``dim``, and where they were; ties always keep their order."""
    def sparse_dim(self) -> _int:
        """0: no dimension of a dense tensor is sparse."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """The elements of ``self`` where a sparse tensor has entries."""
    def sparse_resize_(self, size: _Any, sparse_dim: _int, dense_dim: _int) -> Tensor:
        """Give a tensor in coordinates another size, in place; its entries stay."""
    def sparse_resize_and_clear_(self, size: _Any, sparse_dim: _int, dense_dim: _int) -> Tensor:
        """Give a tensor in coordinates another size, and no entries, in place."""
    def split(self, split_size: _Any, dim: _int = 0) -> _tuple[Tensor, ...]:
        """Pieces of a size, or of the sizes in a list, along ``dim``; views."""
    def split_with_sizes(self, split_sizes: _Sequence[_int], dim: _int = 0, *, axis: _int | None = None) -> _tuple[Tensor, ...]:
        """Pieces of the given sizes along ``dim``; views."""
    def sqrt(self) -> Tensor:
        """The square root of each element."""
    def sqrt_(self) -> Tensor:
        """The square root of each element."""
    def square(self) -> Tensor:
        """Each element times itself; bools become integers."""
    def square_(self) -> Tensor:
        """Each element times itself; bools become integers."""
    def squeeze(self, dim: _Any = None, *, axis: _Any = None) -> Tensor:
        """Without dimensions of size 1 (all of them, or ``dim``); a view."""
    def squeeze_(self, dim: _Any = None, *, axis: _Any = None) -> Tensor:
        """In-place ``squeeze``: changes how this tensor shows its storage."""
    def sspaddmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)`` of sparse ``input`` and ``mat1``, as a sparse tensor."""
    @_overload
    def std(self, unbiased: _bool) -> Tensor:
        """The standard deviation over ``dim``, with ``correction`` (1)."""
    @_overload
    def std(self, dim: _int | _Sequence[_int] | None, unbiased: _bool, keepdim: _bool = False) -> Tensor:
        """The standard deviation over ``dim``, with ``correction`` (1)."""
    @_overload
    def std(self, dim: _int | _Sequence[_int] | None = None, *, correction: _Any = None, keepdim: _bool = False) -> Tensor:
        """The standard deviation over ``dim``, with ``correction`` (1)."""
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _Any = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
        """The spectra of overlapping frames of a signal."""
    def storage(self) -> _Any:
        """The storage of the tensor, as elements of its dtype; deprecated."""
    def storage_offset(self) -> _int:
        """Where in its storage the tensor starts, in elements."""
    @_overload
    def stride(self, dim: None = None) -> _tuple[_int, ...]:
        """How many elements lie between neighbours, for every dimension or along ``dim``."""
    @_overload
    def stride(self, dim: _int) -> _int:
        """How many elements lie between neighbours, for every dimension or along ``dim``."""
    def sub(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor:
        """``input - alpha * other``, broadcast; refuses bools."""
    def sub_(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor:
        """``input - alpha * other``, broadcast; refuses bools."""
    def subtract(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor:
        """``input - alpha * other``, broadcast; refuses bools."""
    def subtract_(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor:
        """`subtract` written into ``self``."""
    def sum(self, dim: _int | _Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """The sum over ``dim`` (a dimension, several, or all); integers add up in int64."""
    def sum_to_size(self, *size: _Any) -> Tensor:
        """``self`` summed over what `expand` would have repeated to get here from ``size``."""
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> _Any:
        """``input = U diag(S) V^H`` by its older name: V itself is returned; see `jaxflow.linalg.svd`."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two dimensions exchanged; a view."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Tensor:
        """In-place ``swapaxes``: changes how this tensor shows its storage."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dimensions exchanged; a view."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place ``swapdims``: changes how this tensor shows its storage."""
    def symeig(self, eigenvectors: _bool = False, upper: _bool = True) -> _tuple[Tensor, Tensor]:
        """Removed; raises RuntimeError. Use `linalg.eigh`."""
    def t(self) -> Tensor:
        """A matrix transposed (a vector stays); a view."""
    def t_(self) -> Tensor:
        """In-place ``t``: changes how this tensor shows its storage."""
    def take(self, index: Tensor) -> Tensor:
        """Elements by their position in the flattened ``input``; negative ones count from the end."""
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """Like `gather`, the other dimensions broadcast, indices modulo the size; flat without ``dim``."""
    def tan(self) -> Tensor:
        """The tangent of each element, in radians."""
    def tan_(self) -> Tensor:
        """The tangent of each element, in radians."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
    def tanh_(self) -> Tensor:
        """The hyperbolic tangent of each element."""
    def tensor_split(self, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
        """As many pieces along ``dim`` as ``sections`` says, of which the first ones may be larger by one."""
    def tile(self, dims: _int | _Sequence[_int]) -> Tensor:
        """The tensor repeated ``dims[i]`` times, counted from the last dimension."""
    @_overload
    def to(self, dtype: _dtype, non_blocking: _bool = False, copy: _bool = False, *, memory_format: _Any = None) -> Tensor:
        """The tensor as another dtype, on another device, or like another tensor; itself if nothing changes."""
    @_overload
    def to(self, device: _device | _str | _int | None = None, dtype: _dtype | None = None, non_blocking: _bool = False, copy: _bool = False, *, memory_format: _Any = None) -> Tensor:
        """The tensor as another dtype, on another device, or like another tensor; itself if nothing changes."""
    @_overload
    def to(self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *, memory_format: _Any = None) -> Tensor:
        """The tensor as another dtype, on another device, or like another tensor; itself if nothing changes."""
    def to_dense(self, dtype: _dtype | None = None, *, masked_grad: _bool | None = None) -> Tensor:
        """The tensor itself, or converted to ``dtype``: it is dense already."""
    def to_padded_tensor(self, padding: _float, output_size: _Sequence[_int] | None = None) -> Tensor:
        """The dense tensor of a nested one, with ``padding`` where a row has ended."""
    def to_sparse(self, sparse_dim: _int | None = None, *, layout: _Any = None, blocksize: _Any = None, dense_dim: _int | None = None) -> Tensor:
        """The tensor in a sparse layout: entries where it is not zero."""
    def to_sparse_bsc(self, blocksize: _Any, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout ``torch.sparse_bsc``."""
    def to_sparse_bsr(self, blocksize: _Any, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout ``torch.sparse_bsr``."""
    def to_sparse_coo(self) -> Tensor:
        """The tensor in coordinates: ``to_sparse()``."""
    def to_sparse_csc(self, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout ``torch.sparse_csc``."""
    def to_sparse_csr(self, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout ``torch.sparse_csr``."""
    def tolist(self) -> _Any:
        """The elements as nested lists of Python numbers; a number for a 0-d tensor."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> _topk_result:
        """The ``k`` largest (or smallest) elements along ``dim``, in order, and where they are."""
    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal; integers add up in int64."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dimensions exchanged; a view."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place ``transpose``: changes how this tensor shows its storage."""
    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> _tuple[Tensor, Tensor]:
        """The solution of ``A X = input`` (of ``A^T X = input``) for a triangular ``A``, and a copy of ``A``."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The matrices with 0 above a diagonal."""
    def tril_(self, diagonal: _int = 0) -> Tensor:
        """The matrices with 0 above a diagonal."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The matrices with 0 below a diagonal."""
    def triu_(self, diagonal: _int = 0) -> Tensor:
        """The matrices with 0 below a diagonal."""
    def true_divide(self, other: Tensor | _Number) -> Tensor:
        """The quotient, broadcast; integers give floating results."""
    def true_divide_(self, other: Tensor | _Number) -> Tensor:
        """The quotient, broadcast; integers give floating results."""
    def trunc(self) -> Tensor:
        """The integer part of each element, rounding towards zero."""
    def trunc_(self) -> Tensor:
        """The integer part of each element, rounding towards zero."""
    def type(self, dtype: _dtype | None = None, non_blocking: _bool = False) -> _Any:
        """The type's name (``torch.FloatTensor``), or the tensor as another dtype (a dtype or such a name)."""
    def type_as(self, other: Tensor) -> Tensor:
        """``self`` with the dtype and device of ``other``."""
    def unbind(self, dim: _int = 0, *, axis: _int | None = None) -> _tuple[Tensor, ...]:
        """All slices along ``dim``; views."""
    def unflatten(self, dim: _int, sizes: _Any) -> Tensor:
        """Dimension ``dim`` split into ``sizes`` (one of them may be -1); a view."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """All windows of ``size`` at distance ``step`` along a dimension; a view."""
    def uniform_(self, from_: _float = 0, to: _float = 1, *, generator: _Generator | None = None, **kwargs: _Any) -> Tensor:
        """Fill with numbers from [from, to), evenly spread; both parts of complex ones."""
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _Any = None) -> _Any:
        """The distinct elements in order, or the distinct slices along ``dim``; reads the data."""
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _Any = None) -> _Any:
        """The elements without those that equal the one before; reads the data."""
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> _tuple[Tensor, ...]:
        """Like `chunk`, but autograd takes the pieces for new tensors; see `unsafe_split`."""
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> _tuple[Tensor, ...]:
        """Like `split`, but the pieces may be written to one by one: autograd takes them for new tensors."""
    def unsafe_split_with_sizes(self, split_sizes: _Sequence[_int], dim: _int = 0) -> _tuple[Tensor, ...]:
        """Like `split_with_sizes`, but autograd takes the pieces for new tensors; see `unsafe_split`."""
    def unsqueeze(self, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
        """With a dimension of size 1 put in at ``dim``; a view."""
    def unsqueeze_(self, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
        """In-place ``unsqueeze``: changes how this tensor shows its storage."""
    def untyped_storage(self) -> _Any:
        """The storage of the tensor."""
    def values(self) -> Tensor:
        """What a tensor of sparse layout has; RuntimeError for others."""
    @_overload
    def var(self, unbiased: _bool) -> Tensor:
        """The variance over ``dim``, divided by the count less ``correction`` (1)."""
    @_overload
    def var(self, dim: _int | _Sequence[_int] | None, unbiased: _bool, keepdim: _bool = False) -> Tensor:
        """The variance over ``dim``, divided by the count less ``correction`` (1)."""
    @_overload
    def var(self, dim: _int | _Sequence[_int] | None = None, *, correction: _Any = None, keepdim: _bool = False) -> Tensor:
        """The variance over ``dim``, divided by the count less ``correction`` (1)."""
    def vdot(self, other: Tensor) -> Tensor:
        """Sum of the products of two vectors, the first one conjugated."""
    @_overload
    def view(self, dtype: _dtype) -> Tensor:
        """The same elements in another shape, or the same bytes as another dtype; a view."""
    @_overload
    def view(self, size: _Sequence[_int]) -> Tensor:
        """The same elements in another shape, or the same bytes as another dtype; a view."""
    @_overload
    def view(self, *size: _int) -> Tensor:
        """The same elements in another shape, or the same bytes as another dtype; a view."""
    def view_as(self, other: Tensor) -> Tensor:
        """``self`` in the shape of ``other``; a view."""
    def view_as_complex(self) -> Tensor:
        """Pairs of reals along the last dimension as complex numbers; a view."""
    def view_as_real(self) -> Tensor:
        """A complex tensor as pairs of reals along a new last dimension; a view."""
    def vsplit(self, *args: _Any, **kwargs: _Any) -> _tuple[Tensor, ...]:
        """Pieces of rows (dimension 0): as many equal ones as a number says, or those between the indices of a list; views."""
    def where(self, condition: Tensor, other: _Any) -> Tensor:
        """``self`` where ``condition`` holds and ``other`` elsewhere."""
    def xlogy(self, other: Tensor | _Number) -> Tensor:
        """``input * log(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
    def xlogy_(self, other: Tensor | _Number) -> Tensor:
        """``input * log(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
    def zero_(self) -> Tensor:
        """Write zero into every element."""

class ViewInfo:
    def __init__(self, *args: _Any) -> None: ...
    def __getattr__(self, name: _str) -> _Any: ...
class ConstantInfo:
    def __init__(self, *args: _Any) -> None: ...
    def __getattr__(self, name: _str) -> _Any: ...
class MovedInfo:
    def __init__(self, *args: _Any) -> None: ...
    def __getattr__(self, name: _str) -> _Any: ...
def make(value: _Any, cls: _type = ...) -> Tensor:
    """A fresh contiguous base tensor that holds ``value`` and requires no grad."""
def make_result(value: _Any, node: _Any, number: _int) -> Tensor:
    """A fresh contiguous base tensor that holds ``value``, the result of ``node`` with this number."""
def make_view(storage: _Any, aval: _Any, stride: _Any, info: _Any, cls: _type = ...) -> Tensor:
    """A fresh tensor that shows a storage that is there already, as ``info`` says; it requires no grad."""
def version_cell(t: Tensor) -> _list[_int]:
    """The list whose first element is ``t._version``."""
