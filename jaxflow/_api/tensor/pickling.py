"""Tensors and ``pickle`` (``save`` and ``load`` have a format of their own)."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._api.shape.conjugates import as_marked, is_conj, is_neg
from jaxflow._core.geometry import is_non_overlapping_and_dense
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import strides_of
from jaxflow._views.values import value_of


def _reduce_ex(self: Tensor, protocol: Any) -> tuple:
    """Values, device and attributes: what comes back is a leaf with a storage of its own."""
    memory = as_marked(self.detach(), False, False)
    array = value_of(memory).host()
    state = (array, str(self.device), self.requires_grad, self.__dict__ or None)
    dense = is_non_overlapping_and_dense(self._aval.shape, strides_of(self))
    marks = (is_conj(self), is_neg(self))
    return _rebuild, (type(self), *state, self._stride if dense else None, marks)


def _rebuild(
    cls: type, array: np.ndarray, device: str, requires_grad: bool, attributes: dict | None,
    stride: tuple[int, ...] | None = None, marks: tuple[bool, bool] = (False, False),
) -> Tensor:
    tensor = put(array, device)
    tensor._stride = stride
    return restored(tensor, cls, requires_grad, attributes, marks)


def restored(tensor: Tensor, cls: type, requires_grad: bool, attributes: dict | None,
             marks: tuple[bool, bool]) -> Tensor:
    """A leaf of class ``cls`` on the memory of ``tensor``, with the marks of a conjugate or negative view."""
    if any(marks):
        tensor = as_marked(tensor, *marks).detach()
    if cls is not Tensor:
        tensor = Tensor._make_subclass(cls, tensor)
    tensor.requires_grad_(requires_grad)
    if attributes:
        tensor.__dict__.update(attributes)
    return tensor


def _copy(self: Tensor) -> Tensor:
    """A leaf on the same storage, for ``copy.copy``."""
    new = Tensor._make_subclass(type(self), self)
    new.requires_grad_(self.requires_grad)
    new.__dict__.update(self.__dict__)
    return new


Tensor.__reduce_ex__ = _reduce_ex
Tensor.__copy__ = _copy
