"""What distributions share: broadcasting, probabilities and logits, properties that are computed once."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from jaxflow import _functions as fn
from jaxflow._core.dtype import get_default_dtype
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.autograd.grad_mode import enable_grad
from jaxflow.overrides import is_tensor_like
from jaxflow.types import Number, _Number

__all__ = ["broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property",
           "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060  # Euler and Mascheroni's

T = TypeVar("T", contravariant=True)  # noqa: PLC0105  (PyTorch's names)
R = TypeVar("R", covariant=True)  # noqa: PLC0105


def broadcast_all(*values: Tensor | Number) -> tuple[Tensor, ...]:
    """Broadcast tensors and numbers to one shape.

    Args:
        values: tensors, or numbers, which become tensors of the first tensor's dtype and device; of the
            default dtype where there is no tensor.

    Returns:
        A tuple of as many tensors, all of the shape that the given ones broadcast to.

    Raises:
        ValueError: for what is neither a tensor nor a number.

    Example:
        >>> torch.distributions.utils.broadcast_all(torch.zeros(2), 1.0)
        (tensor([0., 0.]), tensor([1., 1.]))
    """
    first = None
    for value in values:
        if not (is_tensor_like(value) or isinstance(value, _Number)):
            raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects "
                             "implementing __torch_function__.")
        if first is None and isinstance(value, Tensor):
            first = value
    options: dict[str, Any] = {"dtype": get_default_dtype()}
    if first is not None:
        options = {"dtype": first.dtype, "device": first.device}
    tensors = [v if is_tensor_like(v) else fn.tensor(v, **options) for v in values]
    shape = fn.broadcast_shapes(*[t.shape for t in tensors]) if len(tensors) > 1 else tensors[0].shape
    return tuple([t if t.shape == shape else t.expand(shape) for t in tensors])


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    """Numbers of mean 0 and variance 1, of a shape, dtype and device."""
    return fn.normal(fn.zeros(shape, dtype=dtype, device=device), fn.ones(shape, dtype=dtype, device=device))


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dimensions."""
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1) if dim else value


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """The probabilities that belong to logits: ``sigmoid(logits)``, or ``softmax(logits, -1)``.

    Args:
        logits: floating point, of any shape; with ``is_binary`` the logarithms of odds, otherwise
            logarithms of weights along the last dimension.
        is_binary: whether each element is a logit of its own.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> torch.distributions.utils.logits_to_probs(torch.zeros(2))
        tensor([0.5000, 0.5000])
    """
    return fn.sigmoid(logits) if is_binary else fn.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved into ``[eps, 1 - eps]``, where ``eps`` is that of their dtype.

    Args:
        probs: floating point, of any shape.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> bool((torch.distributions.utils.clamp_probs(torch.zeros(2)) > 0).all())
        True
    """
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The logits that belong to probabilities: ``log(p) - log(1 - p)`` if binary, else ``log(p)``.

    Args:
        probs: floating point, of any shape; they are clamped as by `clamp_probs` first.
        is_binary: whether each element is a probability of its own.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> torch.distributions.utils.probs_to_logits(torch.tensor([0.5]), is_binary=True)
        tensor([0.])
    """
    inside = clamp_probs(probs)
    return fn.log(inside) - fn.log1p(-inside) if is_binary else fn.log(inside)


class lazy_property(Generic[T, R]):
    """A method that is a property, computed once: the first value takes its place in the object.

    Args:
        wrapped: a function of the object.

    Example:
        >>> class Square:
        ...     @torch.distributions.utils.lazy_property
        ...     def side(self):
        ...         return 2
        >>> Square().side
        2
    """

    def __init__(self, wrapped: Callable[[T], R]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """What the class itself shows: tools that document classes look for a property there."""

    def __init__(self, wrapped: Callable) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangles of matrices, row by row in one dimension.

    Args:
        mat: of shape ``(*, D, D)``.
        diag: the last diagonal that belongs to the triangle, as in ``torch.tril``.

    Returns:
        A tensor of shape ``(*, L)``, where ``L`` is the number of elements of a triangle.

    Raises:
        ValueError: for a diagonal that the matrices have not.

    Example:
        >>> torch.distributions.utils.tril_matrix_to_vec(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 3, 4])
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = fn.tril_indices(size, size, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Matrices whose lower triangles are given row by row; all else is 0.

    Args:
        vec: of shape ``(*, L)``, where ``L`` is the number of elements of a triangle.
        diag: the last diagonal that belongs to the triangle.

    Returns:
        A tensor of shape ``(*, D, D)``.

    Raises:
        ValueError: where no triangle has so many elements.

    Example:
        >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1, 3, 4]))
        tensor([[1, 0],
                [3, 4]])
    """
    length, below = vec.shape[-1], 1 + 2 * diag
    root = math.sqrt(below * below + 8 * length + 4 * abs(diag) * (diag + 1))
    size = round((root - below) / 2)
    rows, columns = fn.tril_indices(size, size, diag)
    if len(rows) != length:
        raise ValueError(f"The size of last dimension is {length} which cannot be expressed as "
                         "the lower triangular part of a square D x D matrix.")
    matrix = fn.zeros(vec.shape[:-1] + (size, size), dtype=vec.dtype, device=vec.device)
    matrix[..., rows, columns] = vec
    return matrix
