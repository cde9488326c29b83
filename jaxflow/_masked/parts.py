"""Tensors that carry a mask: their parts, how they are made, and how gradients pass in and out.

NOTE [Tensors with a mask]
    The storage of a `MaskedTensor` holds two tensors, data and mask, in place of a Value (NOTE [Layouts other
    than strided]). A function of it computes with the data by ordinary operations, which have gradients of
    their own. Nodes lead in and out of that. `data_of` gives the data of a masked tensor: its gradient is
    masked where the tensor is. `masked` makes a masked tensor of data: it hands a masked gradient on as it
    is, and the engine lets it through operations of single elements and through those that only move
    elements, with its mask (`gradients.py`). `reduced` does the same for results of reductions, whose
    gradients go on without a mask, 0 at masked places. `beside` is a tensor without a mask next to a masked
    one: its gradient is masked by the other's mask before it is added up over broadcast dimensions.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from jax.core import Tracer

from jaxflow import _functions as F
from jaxflow._api.reduce.masked_tensor import MaskedTensor
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.layout import layout as Layout
from jaxflow._core.layouts import PartsStorage, has_parts
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, make_view
from jaxflow._core.value import Untracked
from jaxflow._publish.overrides import install_overrides
from jaxflow._sparse import coo
from jaxflow._sparse.nodes import recorded
from jaxflow._views.values import value_of

_PROTOTYPE = (
    "The PyTorch API of MaskedTensors is in prototype stage: it may change, here with it")
_WITH_GRAD = (
    "It is not recommended to create a MaskedTensor with a tensor that requires_grad: take "
    "data.detach().clone()")
_DTYPES = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bool, dtypes.int8, dtypes.int16,
           dtypes.int32, dtypes.int64)
_LAYOUTS = ("strided", "sparse_coo", "sparse_csr")


class Masked(NamedTuple):
    """The parts: ``data`` without history, and ``mask``, bool, of its shape and layout."""

    data: Tensor
    mask: Tensor

    @property
    def layout(self) -> Layout:
        """That of the data."""
        return self.data.layout


def is_masked(x: Any) -> bool:
    """Whether ``x`` is a tensor that carries a mask."""
    return has_parts(x) and x._storage.parts.__class__ is Masked


def mask_of(x: Any) -> Tensor:
    """The mask of a masked tensor."""
    return x._storage.parts.mask


def fresh(data: Tensor, mask: Tensor) -> MaskedTensor:
    """A new masked tensor of these parts, without history."""
    _check_plain(data)
    install_overrides()
    storage = PartsStorage(Masked(data.detach(), mask))
    if state.inference:
        storage.version = Untracked((0,))
    return make_view(storage, aval_of(tuple(data.shape), data.dtype, data.device), None, None, MaskedTensor)


def _check_plain(data: Tensor) -> None:
    """Refuse what would be lost: examples of ``vmap``, tangents, tracers of jax."""
    if state.axes:
        raise NotImplementedError("there are no MaskedTensors inside of vmap: use masks as tensors there")
    if LEVELS and data._tangents:
        raise NotImplementedError("MaskedTensors have no tangents: use masks as tensors in forward mode")
    if not has_parts(data):
        value = value_of(data)
        if value.producer is None and isinstance(value.array, Tracer):
            raise NotImplementedError("there are no MaskedTensors inside of jax.jit, jax.grad and jax.vmap: "
                                      "use masks as tensors there")


def data_of(t: Tensor) -> Tensor:
    """The data of ``t`` with its history, to compute with; another tensor as it is."""
    if not is_masked(t):
        return t
    data, mask = t._storage.parts
    if not (t.requires_grad and state.grad):
        return data
    return recorded(again(data), "GetData", [(t, lambda grad: masked_by(grad, mask))])


def again(t: Tensor) -> Tensor:
    """A tensor of the same numbers, without history."""
    return t.detach() if has_parts(t) else make(value_of(t))


def masked(data: Tensor, mask: Tensor) -> Tensor:
    """A masked tensor of ``data`` with its history."""
    def back(grad: Tensor) -> Tensor:
        if has_parts(data):  # what has no place is masked
            return data_of(grad)
        return grad if is_masked(grad) else masked(grad, mask)

    return recorded(fresh(data, mask), "Constructor", [(data, back)])


def reduced(data: Tensor, mask: Tensor) -> Tensor:
    """A masked tensor of ``data``, into which gradients go without a mask."""
    return recorded(fresh(data, mask), "Constructor", [(data, without_mask)])


def cleared(t: Tensor) -> Tensor:
    """The dense data of a masked tensor, 0 at masked places, so that no nan there is multiplied by 0."""
    data = data_of(t)
    return F.where(mask_of(t), data, False if data.dtype is dtypes.bool else 0)


def without_mask(grad: Tensor) -> Tensor:
    """A gradient with 0 at its masked places."""
    return F.where(mask_of(grad), data_of(grad), 0) if is_masked(grad) else grad


def masked_by(grad: Tensor, mask: Tensor) -> Tensor:
    """A gradient that is masked at least where ``mask`` is."""
    if not is_masked(grad):
        return masked(grad, mask) if has_parts(grad) == has_parts(mask) else masked(grad, mask.to_dense())
    own = mask_of(grad)
    if own is mask or has_parts(own) or has_parts(mask):
        return grad
    return masked(data_of(grad), own & mask)


def beside(t: Tensor, shape: tuple[int, ...], mask: Tensor) -> Tensor:
    """``t``, which carries no mask, in the shape of a result that is masked by ``mask``."""
    if not (t.requires_grad and state.grad):
        return t
    own = tuple(t.shape)
    wide = again(t.detach().expand(shape))
    return recorded(wide, "Expand", [(t, lambda grad: added_up(masked_by(grad, mask), own))])


def added_up(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A masked gradient, added up to ``shape`` over what counts."""
    if tuple(grad.shape) == shape:
        return grad
    return masked(without_mask(grad).sum_to_size(shape), mask_of(grad).long().sum_to_size(shape) > 0)


# ----------------------------------------------------------------------------------------------- making


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False, stacklevel: int = 2) -> MaskedTensor:
    """`torch.masked.masked_tensor`."""
    t = fresh(*_checked(data, mask, stacklevel + 1))
    if requires_grad:
        t.requires_grad_()
    return t


def as_masked_tensor(data: Any, mask: Any, stacklevel: int = 4) -> Tensor:
    """`torch.masked.as_masked_tensor`."""
    return masked(*_checked(data, mask, stacklevel + 1))


def _checked(data: Any, mask: Any, stacklevel: int) -> tuple[Tensor, Tensor]:
    """Copies of data and mask, of which the mask has the places of the data."""
    for name, t in (("data", data), ("mask", mask)):
        if is_masked(t) or not isinstance(t, Tensor):
            raise TypeError(f"{name} must be a Tensor")
    warnings.warn(_PROTOTYPE, UserWarning, stacklevel=stacklevel)
    if data.requires_grad:
        warnings.warn(_WITH_GRAD, UserWarning, stacklevel=stacklevel)
    if data.layout is not mask.layout:
        raise TypeError("data and mask must have the same layout.")
    if data.layout.name == "sparse_coo":
        data, mask = data.coalesce(), mask.coalesce()
    if data.layout.name in _LAYOUTS[1:] and data._nnz() != mask._nnz():
        data, mask = _at_places_of(data, mask)
    data, mask = data.clone(), mask.clone()
    check(data, mask)
    return data, mask


def _at_places_of(data: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Sparse data at the places at which a mask is True, if it is so at all its places."""
    if data.shape == mask.shape and mask.dtype is dtypes.bool and mask.values().all().item():
        found = coo.at_places(data.to_dense(), mask.to_sparse_coo().coalesce().indices())
        data = with_values(mask, found)
    return data, mask


def check(data: Tensor, mask: Tensor) -> None:
    """Refuse data and mask that do not go together."""
    if data.layout.name not in _LAYOUTS:
        raise TypeError(f"data layout of {data.layout} is not supported.")
    if data.layout.name == "sparse_coo" and not same(data.indices(), mask.indices()):
        raise ValueError("data and mask are both sparse COO tensors but do not have the same indices.")
    if data.layout.name == "sparse_csr" and not (
            same(data.crow_indices(), mask.crow_indices()) and same(data.col_indices(), mask.col_indices())):
        raise ValueError(
            "data and mask are both sparse CSR tensors but do not share either crow or col indices.")
    if mask.dtype is not dtypes.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")


def with_values(like: Tensor, values: Tensor) -> Tensor:
    """A sparse tensor with the places of ``like`` and other values."""
    if like.layout.name == "sparse_coo":
        return coo.assembled(coo.parts_of(like).indices, values, tuple(like.shape), True)
    return F.sparse_csr_tensor(like.crow_indices(), like.col_indices(), values, like.shape)


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two dense tensors have as many dimensions and equal elements."""
    return a is b or (a.dim() == b.dim() and (a == b).all().item())


def same_masks(a: Tensor, b: Tensor) -> bool:
    """Whether two masks are the same, of whatever layout."""
    if a is b:
        return True
    if a.layout is not b.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if not has_parts(a):
        return same(a, b)
    return all(same(x, y) for x, y in zip(_parts(a), _parts(b), strict=True))


def _parts(t: Tensor) -> list[Tensor]:
    if t.layout.name == "sparse_coo":
        return [t.values(), t.indices()]
    return [t.crow_indices(), t.col_indices(), t.values()]
