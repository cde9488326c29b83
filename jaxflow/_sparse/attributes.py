"""What sparse tensors say of themselves, and how they are copied, converted and cut off the graph."""

from __future__ import annotations

import copy as _copy
from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.fields import init_requires_grad, rebind, set_grad, set_history
from jaxflow._core.layouts import HANDLERS, PartsStorage, has_parts
from jaxflow._core.tensor import Tensor, make_view
from jaxflow._publish.overrides import install_overrides

from . import coo, make, printing
from .compressed import COMPRESSED_LAYOUTS, entries_of, to_layout, with_values
from .coo import coalesce, dense, parts_of
from .dispatch import COMPRESSED, PROPERTIES, on
from .inplace import again

# ---------------------------------------------------------------------------------------- attributes


def _is_coo(t: Tensor) -> bool:
    return t._storage.parts.layout.name == "sparse_coo"


def both(*names: str) -> Callable[[Callable], Callable]:
    """`on`, for tensors in coordinates and compressed ones."""
    def declare(fn: Callable) -> Callable:
        return on(*names)(on(*names, table=COMPRESSED)(fn))
    return declare


def _no_nbytes(t: Tensor) -> int:
    raise RuntimeError("nbytes is not defined for sparse tensors.  If you want the size of the constituent "
                       "tensors, add the nbytes of the indices and values.")


def _alias(t: Tensor) -> Tensor:
    return make_view(t._storage, t._aval, None, None, type(t) if type(t)._repr_name != "tensor" else Tensor)


def _transposed(t: Tensor) -> Tensor:
    return t.permute(*reversed(range(t._aval.ndim)))


PROPERTIES.update(
    layout=lambda t: t._storage.parts.layout,
    is_sparse=_is_coo,
    is_sparse_csr=lambda t: t._storage.parts.layout.name == "sparse_csr",
    nbytes=_no_nbytes,
    data=_alias,
    T=_transposed,
    mT=lambda t: t.transpose(-2, -1),
    H=lambda t: t.transpose(0, 1).conj(),
    mH=lambda t: t.transpose(-2, -1).conj(),
)


@on("_nnz")
def nnz(self: Tensor) -> int:
    """The number of entries."""
    return parts_of(self).values.shape[0]


@on("sparse_dim", "_dimI")
def sparse_dim(self: Tensor) -> int:
    """The number of sparse dimensions."""
    return parts_of(self).indices.shape[0]


@on("dense_dim", "_dimV")
def dense_dim(self: Tensor) -> int:
    """The number of dense dimensions."""
    return self._aval.ndim - parts_of(self).indices.shape[0]


@on("is_coalesced")
def is_coalesced(self: Tensor) -> bool:
    """Whether each place comes once, and in order."""
    return parts_of(self).coalesced


@on("_indices")
def _indices(self: Tensor) -> Tensor:
    """The indices as they are."""
    return parts_of(self).indices


@on("_values")
def _values(self: Tensor) -> Tensor:
    """The values as they are, without history; a write to them is one to the tensor."""
    return parts_of(self).values


def _need_coalesced(t: Tensor, what: str) -> None:
    if not parts_of(t).coalesced:
        raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")


@on("indices")
def indices(self: Tensor) -> Tensor:
    """The indices of a coalesced tensor."""
    _need_coalesced(self, "indices")
    return parts_of(self).indices


@on("values")
def values(self: Tensor) -> Tensor:
    """The values of a coalesced tensor."""
    _need_coalesced(self, "values")
    return coo.entries(self)


@on("_coalesced_")
def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Say that the tensor is coalesced, or that it is not; nothing is looked at."""
    self._storage.parts = parts_of(self)._replace(coalesced=coalesced)
    return self


on("coalesce")(coalesce)


@both("__repr__", "__str__")
def shown(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of the tensor."""
    return printing.text(self)


@both("__format__")
def formatted(self: Tensor, spec: str) -> str:
    """The text of the tensor. TypeError for a format."""
    if self._aval.ndim == 0 and spec:
        return format(self.item(), spec)
    return object.__format__(self, spec) if spec else printing.text(self)


@both("type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The type's name, or the tensor as another dtype."""
    if dtype is None:
        kind = "sparse" if _is_coo(self) else self._storage.parts.layout.name
        return f"torch.{kind}.{self._aval.dtype.scalar_name}Tensor"
    return self.to(dtype)


@both("type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor with the dtype of another one of its layout."""
    if not (has_parts(self) and has_parts(other)):
        raise RuntimeError(
            "to(options) doesn't support converting to a different layout, but got self.layout "
                           f"being {self.layout} and options.layout set as {other.layout}")
    return self.to(other._aval.dtype)


# --------------------------------------------------------------------------------------------- numbers


@on("item")
def item(self: Tensor) -> Any:
    """The one element as a Python number."""
    if self._aval.numel != 1:
        raise RuntimeError(f"a Tensor with {self._aval.numel} elements cannot be converted to Scalar")
    return dense(self.detach()).item()


@on("__bool__", "is_nonzero")
def truth(self: Tensor) -> bool:
    """Whether the one element is not zero."""
    if self._aval.numel != 1:
        kind = "no values" if not self._aval.numel else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {kind} is ambiguous")
    return bool(item(self))


on("__float__")(lambda self: float(item(self)))
on("__int__")(lambda self: int(item(self)))
on("__index__")(lambda self: dense(self.detach()).__index__())
on("__complex__")(lambda self: complex(item(self)))


@on("__len__")
def length(self: Tensor) -> int:
    """The extent of the first dimension."""
    if not self._aval.ndim:
        raise TypeError("len() of a 0-d tensor")
    return self._aval.shape[0]


@on("unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The elements at each index of a dimension."""
    extent = input._aval.shape[dim]
    return tuple(input.select(dim, i) for i in range(extent))


on("__iter__")(lambda self: iter(unbind(self)))
on("stride")(lambda self, dim=None: (0,) * self._aval.ndim if dim is None else 0)
on("storage_offset")(lambda self: 0)


@both("numpy", "__array__")
def numpy(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Refused: NumPy has no sparse arrays."""
    kind = "Sparse" if _is_coo(self) else "SparseCsr"
    raise TypeError(f"can't convert {kind} layout tensor to numpy. Use Tensor.to_dense() first.")


@both("tolist", "data_ptr", "apply_")
def tolist(self: Tensor, *args: Any) -> Any:
    """Refused: there is no memory of all elements."""
    raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


@both("storage", "untyped_storage", "_typed_storage", "is_shared", "share_memory_")
def storage(self: Tensor) -> Any:
    """Refused: there is no storage of all elements."""
    raise NotImplementedError("Cannot access storage of SparseTensorImpl")


# ------------------------------------------------------------------------------- copies, conversions


@both("clone")
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy of all parts."""
    return with_values(input, entries_of(input).clone(), "Clone", copied=True)


@both("detach")
def detach(input: Tensor) -> Tensor:
    """The same parts without history."""
    return make_view(input._storage, input._aval, None, None)


@both("detach_")
def detach_(self: Tensor) -> Tensor:
    """The tensor, cut off the graph."""
    set_history(self, None, 0, False)
    return self


def convert(t: Tensor, dtype: Any, device: Any, copy: bool) -> Tensor:
    """``t`` as another dtype, on another device; itself if nothing changes, unless ``copy``."""
    dtype = dtypes.given_dtype(dtype)
    where = None if device is None else devices.resolve(device)[0]
    same = where is None or where is t._aval.device
    if same and (dtype is None or dtype is t._aval.dtype):
        return clone(t) if copy else t
    return with_values(t, entries_of(t).to(device=where, dtype=dtype), "ToCopy",
                       device=None if same else where)


@on("zero_")
def zero_(self: Tensor) -> Tensor:
    """Take all entries away, in place."""
    count = sparse_dim(self)
    return again(self, lambda: make.empty(self._aval.shape, self._aval.dtype, self._aval.device, count))


@on("zeros_like", "empty_like")
def zeros_like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None,
               pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """A tensor of the same size without entries; a dense one where the layout says so."""
    dtype, device = dtype or input._aval.dtype, device or input._aval.device
    if layout is not None and layout.name == "strided":
        return F.zeros(input._aval.shape, dtype=dtype, device=device, requires_grad=requires_grad)
    made = make.empty(input._aval.shape, dtype, device, sparse_dim(input))
    return made.requires_grad_() if requires_grad else made


@on("new_zeros", "new_empty")
def new_zeros(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, layout: Any = None,
              pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A sparse tensor without entries, of the dtype of ``self``."""
    size = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    made = make.empty(tuple(size), dtype or self._aval.dtype, device or self._aval.device)
    return made.requires_grad_() if requires_grad else made


@both("to_sparse", "to_sparse_coo", "_to_sparse")
def to_sparse(self: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None,
              dense_dim: Any = None) -> Tensor:
    """The tensor in another sparse layout; itself where it has it."""
    if layout is None or layout is self._storage.parts.layout:
        if sparse_dim is not None and _is_coo(self) and sparse_dim != parts_of(self).indices.shape[0]:
            raise RuntimeError("to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                               "!=self.sparse_dim() is not supported")
        if layout is not None or _is_coo(self):
            return self
    return to_layout(self, layout or coo.sparse_coo, blocksize, dense_dim)


for _name, _layout in COMPRESSED_LAYOUTS.items():
    def _convert(self: Tensor, blocksize: Any = None, dense_dim: Any = None, *,
                 _layout: Any = _layout) -> Tensor:
        return self if self._storage.parts.layout is _layout else to_layout(self, _layout, blocksize,
                                                                            dense_dim)

    both(f"to_{_name}")(_convert)


# ------------------------------------------------------------------------------------ copy and pickle


def _copied(t: Tensor, memo: dict) -> PartsStorage:
    copies = memo.setdefault("torch", {})
    storage = t._storage
    if id(storage) not in copies:
        parts = storage.parts
        new = parts._replace(**{f: p.clone() for f, p in zip(parts._fields, parts) if isinstance(p, Tensor)})
        copies[id(storage)] = storage, PartsStorage(new)
    return copies[id(storage)][1]


@both("__deepcopy__")
def deepcopy(self: Tensor, memo: dict) -> Tensor:
    """A leaf with parts of its own."""
    if id(self) in memo:
        return memo[id(self)]
    if self.grad_fn is not None:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                           "protocol at the moment.")
    new = make_view(_copied(self, memo), self._aval, None, None, type(self))
    init_requires_grad(new, self.requires_grad)
    memo[id(self)] = new
    if self._grad is not None:
        set_grad(new, _copy.deepcopy(self._grad, memo))
    new.__dict__.update(_copy.deepcopy(self.__dict__, memo))
    return new


@both("__copy__")
def shallow(self: Tensor) -> Tensor:
    """A leaf of the same parts."""
    new = make_view(self._storage, self._aval, None, None, type(self))
    init_requires_grad(new, self.requires_grad)
    new.__dict__.update(self.__dict__)
    return new


def rebuilt(cls: type, parts: Any, shape: tuple, requires_grad: bool, attributes: dict | None) -> Tensor:
    """What a pickle of a sparse tensor stands for."""
    install_overrides()
    made = coo.fresh(shape, parts)
    new = made if cls is Tensor else make_view(made._storage, made._aval, None, None, cls)
    init_requires_grad(new, requires_grad)
    new.__dict__.update(attributes or {})
    return new


@both("__reduce_ex__")
def reduce_ex(self: Tensor, protocol: Any) -> tuple:
    """Parts and attributes: what comes back is a leaf."""
    return rebuilt, (type(self), self._storage.parts, tuple(self._aval.shape), self.requires_grad,
                     self.__dict__ or None)


def make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Tensor:
    """A leaf of class ``cls`` with the parts of ``data``."""
    if require_grad and data._aval.dtype.category < 2:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    new = make_view(data._storage, data._aval, None, None, cls)
    init_requires_grad(new, require_grad)
    return new


def set_data(t: Tensor, new: Tensor) -> None:
    """``t.data = new`` where one of them is sparse."""
    if not has_parts(new) or not has_parts(t):
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible "
            "tensor "
            "type.")
    rebind(t, new._storage, new._aval, None, None)


HANDLERS["set_data"] = set_data
HANDLERS["convert"] = convert
HANDLERS["make_subclass"] = make_subclass
