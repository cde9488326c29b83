"""Operations on each element: functions that map zero to zero, sums, products and quotients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from .coo import (
    assembled,
    at_places,
    coalesce,
    dense,
    entries,
    flat,
    merged,
    of_entries,
    parts_of,
    shared_places,
    sparse_shape,
    without_grad,
)
from .dispatch import on, refused
from .inplace import again
from .nodes import recorded

# What maps zero to zero and is not linear: entries of the same place are added first.
_UNARY = ("abs asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf "
          "log1p nan_to_num rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc")
_OTHER_NAMES = dict(absolute="abs", arcsin="asin", arcsinh="asinh", arctan="atan", arctanh="atanh",
                    fix="trunc",
                    __abs__="abs")
_LINEAR = ("neg", "positive", "conj_physical")


def mapped(t: Tensor, work: Callable[[Tensor], Tensor], name: str) -> Tensor:
    """``work`` of the entries of ``t``, at their places."""
    parts = parts_of(t)
    return assembled(parts.indices, work(entries(t)), t._aval.shape, parts.coalesced, name)


def _node_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _unary(name: str, linear: bool) -> Callable:
    function, shown = getattr(F, name), _node_name(name)

    def work(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        t = input if linear else coalesce(input)
        return mapped(t, lambda values: function(values, *args, **kwargs), shown)

    return work


def _written(name: str, linear: bool) -> Callable:
    compute = _unary(name, linear)

    def work(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not linear and not parts_of(input).coalesced:
            raise RuntimeError(f"{name}_ requires coalesced input")
        return again(input, lambda: compute(input, *args, **kwargs))

    return work


for _name in (*_UNARY.split(), *_LINEAR):
    _aliases = [alias for alias, of in _OTHER_NAMES.items() if of == _name]
    on(_name, *_aliases)(_unary(_name, _name in _LINEAR))
    if _name not in ("isinf", "isnan", "isneginf", "isposinf", "positive"):
        on(f"{_name}_", *(f"{alias}_" for alias in _aliases if "__" not in alias))(
            _written(_name, _name in _LINEAR))
on("negative", "__neg__")(_unary("neg", True))
on("negative_")(_written("neg", True))
on("__pos__")(_unary("positive", True))


@on("conj")
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    return mapped(input, F.conj_physical, "Conj") if input._aval.dtype.is_complex else input


@on("pow", "__pow__")
def power(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent`` for a number that is not 0."""
    if not has_parts(input):
        raise refused("pow.Scalar", "SparseCPU")
    if isinstance(exponent, Tensor):
        raise refused("pow.Tensor_Tensor", "SparseCPU")
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result "
                           "tensor dense")
    return mapped(coalesce(input), lambda values: F.pow(values, exponent), "Pow")


# ------------------------------------------------------------------------------------------------ sums


def _same_size(a: Tensor, b: Tensor) -> None:
    if a._aval.shape != b._aval.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(a._aval.shape)} != "
                           f"{list(b._aval.shape)}")
    ours, theirs = len(sparse_shape(a)), len(sparse_shape(b))
    if ours != theirs:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same density, but 'self' has "
            f"{ours} sparse dimensions while 'other' has {theirs} sparse dimensions")


def _scaled(values: Tensor, alpha: Any) -> Tensor:
    return values if alpha == 1 else values * alpha


def _sum_of_sparse(a: Tensor, b: Tensor, alpha: Any, name: str) -> Tensor:
    _same_size(a, b)
    found = without_grad(_entries_of_both, a, b, alpha)
    return recorded(found, name, [(a, lambda grad: _as_kind(grad, a)), (b, lambda grad: _as_kind(grad, b,
                                                                                                 alpha))])


def _as_kind(grad: Tensor, t: Tensor, alpha: Any = 1) -> Tensor:
    """The gradient of a summand: that of the sum, in the dtype of ``t``."""
    grad = grad if alpha == 1 else grad * alpha
    return grad if grad._aval.dtype is t._aval.dtype else grad.to(t._aval.dtype)


def _entries_of_both(a: Tensor, b: Tensor, alpha: Any) -> Tensor:
    ours, theirs, shape = parts_of(a), parts_of(b), a._aval.shape
    kind = F.promote_types(a._aval.dtype, b._aval.dtype)
    left, right = ours.values.to(kind), _scaled(theirs.values, alpha).to(kind)
    if ours.indices is theirs.indices:
        return assembled(ours.indices, left + right, shape, ours.coalesced and theirs.coalesced)
    if not theirs.values.shape[0]:
        return assembled(ours.indices, left.clone(), shape, ours.coalesced)
    if not ours.values.shape[0]:
        return assembled(theirs.indices, right.clone(), shape, theirs.coalesced)
    indices, values = F.cat([ours.indices, theirs.indices], 1), F.cat([left, right])
    coalesced = ours.coalesced and theirs.coalesced
    # A sum that is added to again and again has no more entries than there are places.
    if coalesced or values.shape[0] > math.prod(sparse_shape(a)):
        return assembled(*merged(indices, values, sparse_shape(a)), shape, True)
    return assembled(indices, values, shape, False)


def onto_dense(a: Tensor, b: Tensor, alpha: Any, name: str = "Add") -> Tensor:
    """``a + alpha * b`` of the dense ``a``."""
    if a._aval.shape != b._aval.shape:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same size, but self has size "
            f"{list(a._aval.shape)} while other has size {list(b._aval.shape)} (FYI: dense-sparse addition "
            "does "
            "not currently support broadcasting)")
    found = without_grad(_onto_dense, a, b, alpha)

    def to_b(grad: Tensor) -> Tensor:
        grad = _as_kind(grad, b, alpha)
        return grad if b.is_leaf else of_entries(at_places(grad, parts_of(b).indices), parts_of(b),
                                                 b._aval.shape)

    return recorded(found, name, [(a, lambda grad: _as_kind(grad, a)), (b, to_b)])


def _onto_dense(a: Tensor, b: Tensor, alpha: Any) -> Tensor:
    shape, places = a._aval.shape, sparse_shape(b)
    kind = F.promote_types(a._aval.dtype, b._aval.dtype)
    if kind is dtypes.bool:
        return a | dense(b)
    values = _scaled(parts_of(b).values, alpha).to(kind)
    rows = a.to(kind).reshape((math.prod(places), *shape[len(places):]))
    return rows.index_add(0, flat(parts_of(b).indices, places), values).reshape(shape)


_ADD_TO_SPARSE = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."


@on("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1, name: str = "Add") -> Tensor:
    """``input + alpha * other``, of two sparse tensors or a dense and a sparse one."""
    if not (has_parts(input) and has_parts(other)):
        if has_parts(input) or not isinstance(input, Tensor):
            raise RuntimeError(_ADD_TO_SPARSE)
        return onto_dense(input, other, alpha, name)
    return _sum_of_sparse(input, other, alpha, name)


@on("sub", "subtract", "__sub__")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input - alpha * other``."""
    return add(input, other, alpha=-alpha, name="Sub")


@on("__rsub__")
def reversed_sub(input: Tensor, other: Any) -> Tensor:
    """``other - input``."""
    return add(F.tensor(other) if not isinstance(other, Tensor) else other, input, alpha=-1, name="Sub")


# --------------------------------------------------------------------------------- products, quotients


def _is_number(x: Any) -> bool:
    return not isinstance(x, Tensor) or (not has_parts(x) and not x._aval.ndim)


def _spread(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``t`` once for each of the leading dimensions that ``shape`` has more."""
    extra = len(shape) - t._aval.ndim
    if extra <= 0 and shape == t._aval.shape:
        return t
    if tuple(shape[extra:]) != t._aval.shape:
        raise NotImplementedError(
            f"a sparse tensor of size {list(t._aval.shape)} is not spread to size {list(shape)}: only new "
            "leading dimensions are. Give it its size, or convert it with to_dense()")
    parts, values, lead = parts_of(t), entries(t), tuple(shape[:extra])
    count, nnz = math.prod(lead), parts.indices.shape[1]
    above = F.stack([row.repeat_interleave(nnz) for row in _grid(lead, parts.indices.device)])
    indices = F.cat([above, parts.indices.repeat(1, count)])
    return assembled(indices, values.repeat(count, *(1,) * (values.dim() - 1)), shape, parts.coalesced,
                     "Expand")


def _grid(lead: tuple[int, ...], device: Any) -> list[Tensor]:
    rows = F.arange(math.prod(lead), device=device)
    found = []
    for extent in reversed(lead):
        found.append(rows % extent)
        rows = F.div(rows, extent, rounding_mode="floor")
    return found[::-1]


def _product_of_sparse(a: Tensor, b: Tensor) -> Tensor:
    if a._aval.shape != b._aval.shape or len(sparse_shape(a)) != len(sparse_shape(b)):
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of "
            "sparse dimensions, and shape of sparse dimensions")
    parts = parts_of(a)
    kept = shared_places(b, parts.indices)
    indices = parts.indices.index_select(1, kept)
    values = entries(a).index_select(0, kept) * at_places(b, indices)
    return assembled(indices, values, a._aval.shape, parts.coalesced, "Mul")


def _times_dense(t: Tensor, other: Tensor) -> Tensor:
    """The product with a dense tensor of the same size; both gradients are sparse, as in PyTorch."""
    parts, shape = parts_of(t), t._aval.shape
    found = mapped(t.detach(), lambda values: values * at_places(other.detach(), parts.indices), "Mul")

    def pulled(grad: Tensor, by: Tensor, like: Tensor) -> Tensor:
        values = at_places(grad, parts.indices) * _conj(by)
        return of_entries(values.to(like._aval.dtype), parts, shape)

    def to_other(grad: Tensor) -> Tensor:
        values = at_places(grad, parts.indices) * _conj(entries(t))
        return assembled(parts.indices, values.to(other._aval.dtype), shape, parts.coalesced)

    return recorded(found, "Mul", [
        (t, lambda grad: pulled(grad, at_places(other, parts.indices), t)), (other, to_other),
    ], (t, other))


def _conj(t: Tensor) -> Tensor:
    return t.conj() if t._aval.dtype.is_complex else t


@on("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any) -> Tensor:
    """The product of each element: with a number, a dense or a sparse tensor."""
    if not has_parts(input):
        input, other = other, input
    if _is_number(other):
        return mapped(input, lambda values: values * other, "Mul")
    if has_parts(other):
        return _product_of_sparse(input, other)
    if input._aval.shape == other._aval.shape:
        return _times_dense(input, other)
    shape = F.broadcast_shapes(input._aval.shape, other._aval.shape)
    input = _spread(input, tuple(shape))
    places = parts_of(input).indices
    return mapped(input, lambda values: values * at_places(other.expand(shape), places), "Mul")


@on("div", "divide", "true_divide", "__truediv__")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient of each element by a number; rounded ones after adding entries of the same place."""
    if not has_parts(input):
        raise refused("reciprocal", "SparseCPU")
    if not _is_number(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other._aval.shape)} for divisor)")
    t = input if rounding_mode is None else coalesce(input)
    return mapped(t, lambda values: F.div(values, other, rounding_mode=rounding_mode), "Div")


@on("floor_divide", "__floordiv__")
def floor_divide(input: Any, other: Any) -> Tensor:
    """The quotient of each element by a number, rounded down."""
    return div(input, other, rounding_mode="floor")


# ---------------------------------------------------------------------------------------------- in place


def _in_place(names: str, compute: Callable, onto: Callable) -> None:
    def work(self: Tensor, other: Any, **kwargs: Any) -> Tensor:
        if has_parts(self):
            return again(self, lambda: compute(self, other, **kwargs))
        return onto(self, other, **kwargs)

    on(*names.split())(work)


def _add_onto(sign: int) -> Callable:
    def work(self: Tensor, other: Tensor, *, alpha: Any = 1) -> Tensor:
        return self.copy_(onto_dense(self, other, sign * alpha))
    return work


def _mul_onto(self: Tensor, other: Tensor) -> Tensor:
    return self.mul_(dense(other))


def _div_onto(self: Tensor, other: Tensor, **kwargs: Any) -> Tensor:
    return div(self, other)  # which refuses it


_in_place("add_ __iadd__", add, _add_onto(1))
_in_place("sub_ subtract_ __isub__", sub, _add_onto(-1))
_in_place("mul_ multiply_ __imul__", mul, _mul_onto)
_in_place("div_ divide_ true_divide_ __itruediv__", div, _div_onto)
_in_place("floor_divide_ __ifloordiv__", floor_divide, _div_onto)
