"""Conjugation and negation put off: views that share memory, and functions that check or resolve them."""

from __future__ import annotations

from jaxflow._api.forms import given_out
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.viewing import apply_view
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite


@composite()
def conj(input: Tensor) -> Tensor:
    """The complex conjugate of each element, a view; a real tensor itself."""
    return apply_view("conj", input) if input._aval.dtype.is_complex else input


@composite()
def _conj(input: Tensor) -> Tensor:
    """The complex conjugate of each element of a complex tensor; a view. RuntimeError for a real tensor."""
    if not input._aval.dtype.is_complex:
        raise RuntimeError(f"_conj(): a tensor of dtype {input._aval.dtype} has no conjugate view")
    return apply_view("conj", input)


@composite()
def _neg_view(input: Tensor) -> Tensor:
    """The negative of each element; a view. NotImplementedError for bools."""
    if input._aval.dtype is dtypes.bool:
        raise NotImplementedError("\"neg_cpu\" not implemented for 'Bool'")
    return apply_view("neg_view", input)


@composite()
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate of each element, computed at once; a real tensor itself."""
    if out is None and not input._aval.dtype.is_complex:
        return input
    return given_out("conj_physical", out, apply(OPS["conj_physical"], (input,)), (input,))


@composite()
def is_conj(input: Tensor) -> bool:
    """Whether the tensor shows its memory conjugated: see ``conj``."""
    return input._view is not None and input._view.plan.geometry.conj


@composite()
def is_neg(input: Tensor) -> bool:
    """Whether the tensor shows its memory negated, as the imaginary part of a conjugate does."""
    return input._view is not None and input._view.plan.geometry.neg


@composite()
def resolve_conj(input: Tensor) -> Tensor:
    """A copy that holds the conjugates themselves; a tensor that is no conjugate view itself."""
    return input.clone() if is_conj(input) else input


@composite()
def resolve_neg(input: Tensor) -> Tensor:
    """A copy that holds the negatives themselves; a tensor that is no negative view itself."""
    return input.clone() if is_neg(input) else input


def as_marked(t: Tensor, conj: bool, neg: bool) -> Tensor:
    """The elements of ``t`` in memory, shown conjugated if ``conj`` and negated if ``neg``."""
    if is_conj(t) is not conj:
        t = apply_view("conj", t)
    return t if is_neg(t) is neg else apply_view("neg_view", t)
