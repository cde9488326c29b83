"""Nested tensors: their parts, how they are made of them, and how gradients pass in and out.

NOTE [Nested tensors]
    The storage of a nested tensor holds one ordinary tensor with the elements of all rows, in place of a
    Value (NOTE [Layouts other than strided]), and what says where the rows lie: `Jagged` the offsets of one
    ragged dimension, `Pieces` the sizes of all rows. A function of it computes with the ordinary tensor by
    ordinary operations, which have gradients of their own. Two nodes lead in and out of that: `values_of`
    gives the ordinary tensor, whose gradient becomes a nested one; `jagged` (or `pieces`) makes a nested
    tensor of such a one, and hands the values of its gradient on. Both are made of the other, so gradients
    have gradients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from jax.core import Tracer

from jaxflow._api.tensor.nested import NestedTensor
from jaxflow._core.aval import aval_of
from jaxflow._core.layout import jagged as jagged_layout
from jaxflow._core.layout import strided
from jaxflow._core.layouts import PartsStorage, has_parts
from jaxflow._core.levels import LEVELS
from jaxflow._core.size import Size
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make_view
from jaxflow._core.value import Untracked
from jaxflow._publish.overrides import install_overrides
from jaxflow._sparse.nodes import recorded
from jaxflow._views.values import value_of

from .ragged import NestedInt, Ragged

_VIEW = "NestedViewFromJagged"
_INSTEAD = "unbind() or to_padded_tensor(padding) give ordinary tensors"


class Jagged(NamedTuple):
    """Parts of the jagged layout: rows packed along one dimension.

    ``values`` has the dimensions of the nested tensor but the first; its dimension ``dim - 1`` is the packed
    one, and ``dim`` the ragged dimension of the nested tensor. ``ragged`` says where the rows lie in it.
    """

    values: Tensor
    ragged: Ragged
    dim: int

    layout = property(lambda self: jagged_layout)
    instead = _INSTEAD

    @property
    def shape(self) -> Size:
        """The shape, with a symbol at the ragged dimension."""
        inner = self.values._aval.shape
        return Size.trusted((self.ragged.count, *inner[:self.dim - 1], self.ragged.size, *inner[self.dim:]))


class Pieces(NamedTuple):
    """Parts of the strided layout: ``values``, the elements of all rows in turn, and the rows' sizes."""

    values: Tensor
    sizes: tuple[tuple[int, ...], ...]
    contiguous: bool = True

    layout = property(lambda self: strided)
    instead = _INSTEAD

    @property
    def shape(self) -> tuple:
        """The number of rows, and the extents that all rows share; where they do not, a symbol."""
        columns = zip(*self.sizes, strict=True)
        return len(self.sizes), *(c[0] if len(set(c)) == 1 else NestedInt(c) for c in columns)


def parts_of(t: Tensor) -> Any:
    """The parts of a nested tensor."""
    return t._storage.parts


def is_nested(x: Any) -> bool:
    """Whether ``x`` is a nested tensor."""
    return has_parts(x) and x._storage.parts.__class__ in (Jagged, Pieces)


def is_jagged(x: Any) -> bool:
    """Whether ``x`` is a nested tensor of the jagged layout."""
    return has_parts(x) and x._storage.parts.__class__ is Jagged


def fresh(parts: Jagged | Pieces) -> Tensor:
    """A new nested tensor of these parts, without history."""
    values = parts.values
    _check_plain(values)
    install_overrides()
    storage = PartsStorage(parts._replace(values=values.detach()))
    if state.inference:
        storage.version = Untracked((0,))
    cls = NestedTensor if parts.__class__ is Jagged else Tensor
    aval = aval_of(tuple(parts.shape), values._aval.dtype, values._aval.device)
    aval.numel = values._aval.numel  # a number, of which code that has to do with memory makes use
    return make_view(storage, aval, None, None, cls)


def _check_plain(values: Tensor) -> None:
    """Refuse what would be lost: examples of ``vmap``, tangents, tracers of jax."""
    if has_parts(values):
        raise RuntimeError("the values of a nested tensor are a strided tensor that is not nested itself")
    if state.axes:
        raise NotImplementedError("there are no nested tensors inside of vmap: use padded ones there")
    if LEVELS and values._tangents:
        raise NotImplementedError("nested tensors have no tangents: use padded ones in forward mode")
    value = value_of(values)
    if value.producer is None and isinstance(value.array, Tracer):
        raise NotImplementedError("there are no nested tensors inside of jax.jit, jax.grad and jax.vmap: use "
                                  "padded ones there")


def values_of(t: Any) -> Any:
    """The elements of a nested tensor, with their history; anything else as it is."""
    if not is_nested(t):
        return t
    parts = t._storage.parts
    if not (t.requires_grad and state.grad):
        return parts.values
    return recorded(parts.values.detach(), "NestedGetValues", [(t, lambda grad: like(parts, grad))])


def like(parts: Jagged | Pieces, values: Tensor, name: str = "") -> Tensor:
    """A nested tensor with rows as ``parts`` says, of ``values`` with their history.

    Args:
        parts: what says where the rows lie.
        values: the elements.
        name: that of the node, without ``Backward0``; as a default that of the node of ``values``.
    """
    made = fresh(parts._replace(values=values))
    if not name:
        node = values.grad_fn
        name = _VIEW if node is None else node.name().rpartition("::")[2].removesuffix("Backward0")
    return recorded(made, name, [(values, values_of)])


def jagged(values: Tensor, ragged: Ragged, dim: int = 1, name: str = "") -> Tensor:
    """A nested tensor of the jagged layout, of ``values`` with their history."""
    return like(Jagged(values, ragged, dim), values, name)


def view_of(values: Tensor, ragged: Ragged, dim: int = 1) -> Tensor:
    """`jagged`, for what makes nested tensors of ordinary ones."""
    return jagged(values, ragged, dim, _VIEW)


def pieces(values: Tensor, sizes: Sequence[Sequence[int]], contiguous: bool = True) -> Tensor:
    """A nested tensor of the strided layout, of ``values`` with their history."""
    return like(Pieces(values, tuple(map(tuple, sizes)), contiguous), values)


def counts(sizes: Sequence[Sequence[int]]) -> list[int]:
    """The number of elements of each row."""
    return [math.prod(size) for size in sizes]
