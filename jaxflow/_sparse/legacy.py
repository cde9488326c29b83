"""``torch.sparse.FloatTensor`` and its like: constructors of a dtype, that say which tensors are theirs."""

from __future__ import annotations

from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import sparse_coo
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from .make import empty, sparse_coo_tensor


class SparseType:
    """A constructor of tensors in coordinates of one dtype.

    Args:
        dtype: theirs.
    """

    def __init__(self, dtype: dtypes.dtype) -> None:
        self.dtype, self.layout, self.is_sparse = dtype, sparse_coo, True
        self.__name__ = f"{dtype.scalar_name}Tensor"
        self.__module__ = "torch.sparse"

    def __call__(self, *args: Any, device: Any = None) -> Tensor:
        """Of indices and values, of a size alone, or of nothing. TypeError for others."""
        if not args or isinstance(args[0], int):
            return empty(args or (0,), self.dtype, device)
        if len(args) == 1 and not isinstance(args[0], Tensor):
            return empty(tuple(args[0]), self.dtype, device)
        if len(args) in (2, 3) and all(isinstance(a, Tensor) for a in args[:2]) and not any(
                isinstance(a, int) for a in args[2:]):
            return sparse_coo_tensor(*args, device=device)
        raise TypeError(
            "new() received an invalid combination of arguments: it takes (indices, values, size=None), "
                        "(size) or extents one by one")

    def __instancecheck__(self, x: Any) -> bool:
        return has_parts(x) and x._storage.parts.layout is sparse_coo and x._aval.dtype is self.dtype

    def __repr__(self) -> str:
        return f"<class 'torch.sparse.{self.__name__}'>"


TYPES = {f"{dtype.scalar_name}Tensor": SparseType(dtype) for dtype in (
    dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16,
    dtypes.float32, dtypes.float64)}
