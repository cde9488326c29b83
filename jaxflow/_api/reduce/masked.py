"""Reductions and normalizations that leave out what a mask hides, under ``torch.masked``'s names.

A mask is a boolean tensor, True where an element counts, that broadcasts to the input. Hidden elements are
replaced by what changes nothing in the operation at hand (0 in a sum, minus infinity under a maximum), and
the ordinary operation does the rest; so do its gradients, which are 0 at hidden elements.
"""

from __future__ import annotations

import math
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import iinfo
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite

from .norms import vector_norm

_SUMMED_IN_INT64 = (dtypes.uint8, dtypes.bool, dtypes.int8, dtypes.int16, dtypes.int32)


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """``dim`` (a number, several, or all for None and ()) as ascending non-negative numbers."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim, found = max(ndim, 1), []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -ndim <= d < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})"
            )
        found.append(d % ndim)
    return tuple(sorted(found))


def _spread(input: Tensor, mask: Tensor) -> Tensor:
    """The mask as bools of the shape of ``input``."""
    if mask._aval.shape != input._aval.shape:
        if mask._aval.ndim > input._aval.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = mask.clone().expand(input._aval.shape)  # PyTorch lets the one given be overwritten
    return mask.to(dtypes.bool)


def _lowest(dtype: dtypes.dtype) -> Any:
    return -math.inf if dtype.category == dtypes.FLOATING else iinfo(dtype).min


def _highest(dtype: dtypes.dtype) -> Any:
    return math.inf if dtype.category == dtypes.FLOATING else iinfo(dtype).max


#: What hidden elements become, by what the operation does with them and the input's dtype.
_NEUTRAL = {
    "sum": lambda dtype: False if dtype is dtypes.bool else 0,
    "prod": lambda dtype: True if dtype is dtypes.bool else 1,
    "amax": _lowest, "argmax": _lowest, "logaddexp": _lowest,
    "amin": _highest, "argmin": _highest,
    "logsumexp": lambda dtype: -math.inf if dtype.is_complex else _lowest(dtype),
    "median": lambda dtype: math.nan,  # which nanmedian leaves out
    "norm": lambda dtype: 0,
    "norm of order -inf": lambda dtype: math.inf,
}


def _shown(operation: str, input: Tensor, mask: Tensor | None) -> Tensor:
    """The input with hidden elements replaced by what does not matter to ``operation``."""
    if mask is None:
        return input
    mask, dtype = _spread(input, mask), input._aval.dtype
    if dtype is dtypes.bool and operation not in ("sum", "prod", "norm"):
        raise NotImplementedError(f"identity of {operation} on {dtype} input")
    return apply(OPS["where"], (mask, input, _NEUTRAL[operation](dtype)))


def _sum_dtype(input: Tensor, dtype: Any) -> Any:
    if dtype is not None:
        return dtype
    return dtypes.int64 if input._aval.dtype in _SUMMED_IN_INT64 else input._aval.dtype


# -------------------------------------------------------------------------------------- reductions


@composite("function", name="sum", namespace="masked")
def masked_sum(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None,
               mask: Tensor | None = None) -> Tensor:
    """The sum of the unmasked elements over ``dim``; 0 where there are none. Integers add up in int64."""
    dims = _dims(dim, input._aval.ndim)
    return _shown("sum", input, mask).sum(dims, bool(keepdim), dtype=_sum_dtype(input, dtype))


@composite("function", name="prod", namespace="masked")
def masked_prod(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None,
                mask: Tensor | None = None) -> Tensor:
    """The product of the unmasked elements over ``dim``; 1 where there are none."""
    dims = _dims(dim, input._aval.ndim)
    result = _shown("prod", input, mask).to(_sum_dtype(input, dtype))
    for d in reversed(dims):
        result = result.prod(d, bool(keepdim))
    return result


@composite("function", namespace="masked")
def amax(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None,
         mask: Tensor | None = None) -> Tensor:
    """The largest unmasked element over ``dim``; the dtype's lowest value where there is none."""
    dims = _dims(dim, input._aval.ndim)
    return _shown("amax", input, mask).amax(dims, bool(keepdim)).to(dtype or input._aval.dtype)


@composite("function", namespace="masked")
def amin(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None,
         mask: Tensor | None = None) -> Tensor:
    """The smallest unmasked element over ``dim``; the dtype's highest value where there is none."""
    dims = _dims(dim, input._aval.ndim)
    return _shown("amin", input, mask).amin(dims, bool(keepdim)).to(dtype or input._aval.dtype)


@composite("function", namespace="masked")
def argmax(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: Any = None,
           mask: Tensor | None = None) -> Tensor:
    """Where the largest unmasked element is; in ``dtype``, by default that of ``input``."""
    return _shown("argmax", input, mask).argmax(dim, bool(keepdim)).to(dtype or input._aval.dtype)


@composite("function", namespace="masked")
def argmin(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: Any = None,
           mask: Tensor | None = None) -> Tensor:
    """Where the smallest unmasked element is; in ``dtype``, by default that of ``input``."""
    return _shown("argmin", input, mask).argmin(dim, bool(keepdim)).to(dtype or input._aval.dtype)


def _count(input: Tensor, dim: Any, keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements are reduced into each one of the result; int64."""
    counted = input.new_ones(input._aval.shape, dtype=dtypes.bool) if mask is None else mask
    return counted.sum(_dims(dim, input._aval.ndim), keepdim)


@composite("function", namespace="masked")
def mean(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None,
         mask: Tensor | None = None) -> Tensor:
    """The mean of the unmasked elements over ``dim``; nan where there are none.

    Raises:
        ValueError: when the result's dtype is an integer or bool.
    """
    kind = input._aval.dtype if dtype is None else dtype
    if kind.category < dtypes.FLOATING:
        which = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {which} dtype must be either a floating point or "
            f"complex dtype. Got: {kind}"
        )
    mask = None if mask is None else _spread(input, mask)
    count = _count(input, dim, bool(keepdim), mask)
    return masked_sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask) / count


@composite("function", namespace="masked")
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None,
           mask: Tensor | None = None) -> Tensor:
    """The lower median of the unmasked elements along ``dim``; nan where there are none.

    Raises:
        ValueError: for integers, where all elements are masked. The check reads a number.
    """
    along = _dims(dim, input._aval.ndim)[0]
    if input._aval.dtype.category == dtypes.FLOATING:
        return _shown("median", input, mask).nanmedian(along, keepdim).values
    found = _shown("median", input.to(dtypes.float32), mask).nanmedian(along, keepdim).values
    if mask is not None and found.isnan().any():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return found.to(dtype or input._aval.dtype)


@composite("function", namespace="masked")
def logsumexp(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
              mask: Tensor | None = None) -> Tensor:
    """``log(sum(exp(input)))`` of the unmasked elements over ``dim``; minus infinity where there are none."""
    dims = _dims(dim, input._aval.ndim)
    return _shown("logsumexp", input, mask).logsumexp(dims, keepdim).to(dtype or input._aval.dtype)


@composite("function", namespace="masked")
def norm(input: Tensor, ord: float | None = 2.0, dim: Any = None, *, keepdim: bool | None = False,
         dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The vector norm of order ``ord`` of the unmasked elements over ``dim``."""
    least = ord == -math.inf
    if least and mask is not None and input._aval.dtype.category != dtypes.FLOATING:
        raise AssertionError(f"input must be floating point, got {input._aval.dtype}")
    shown = _shown("norm of order -inf" if least else "norm", input, mask)
    return vector_norm(shown, ord, _dims(dim, input._aval.ndim), bool(keepdim),
                       dtype=dtype or input._aval.dtype)


def _spread_of(input: Tensor, dim: Any, unbiased: bool | None, correction: float | None,
               keepdim: bool | None, dtype: Any, mask: Tensor | None) -> tuple[Tensor, dtypes.dtype]:
    """The variance of the unmasked elements, and the dtype that the result is to have."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1.0 if unbiased is None else float(unbiased)
    kind = input._aval.dtype if dtype is None else dtype
    if dtype is None and kind.category < dtypes.FLOATING:
        kind = dtypes.float32
    computed = kind if kind.category >= dtypes.FLOATING else dtypes.float32
    mask = None if mask is None else _spread(input, mask)
    count = _count(input, dim, True, mask)
    away = input - masked_sum(input, dim, keepdim=True, dtype=kind, mask=mask) / count
    total = masked_sum(away * away.conj(), dim, keepdim=keepdim, dtype=computed, mask=mask)
    free = count.reshape(total._aval.shape)
    if correction != 0:
        free = (free.to(computed.to_real()) - correction).clamp(min=0)
    return total / free, kind


@composite("function", namespace="masked")
def var(input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None,
        keepdim: bool | None = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The variance of the unmasked elements over ``dim``; nan where there are too few."""
    variance, kind = _spread_of(input, dim, unbiased, correction, keepdim, dtype, mask)
    return variance.to(kind)


@composite("function", namespace="masked")
def std(input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None,
        keepdim: bool | None = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The standard deviation of the unmasked elements over ``dim``; nan where there are too few."""
    variance, kind = _spread_of(input, dim, unbiased, correction, keepdim, dtype, mask)
    return variance.to(kind).sqrt()


# ---------------------------------------------------------------------------------- normalizations


def _along(name: str, hidden: str, method: str, doc: str) -> None:
    """Operations along one dimension whose result has the input's shape: a row each."""

    def normalization(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
        shown = _shown(hidden, input, mask)
        kind = dtype or input._aval.dtype
        # Sums of integers are made in int64 and come back.
        return getattr(shown, method)(_dims(dim, input._aval.ndim)[0], dtype=kind).to(kind)

    normalization.__name__ = normalization.__qualname__ = name
    normalization.__doc__ = doc
    composite("function", namespace="masked")(normalization)


_along("cumsum", "sum", "cumsum", "The sum of the unmasked elements up to each one along ``dim``.")
_along("cumprod", "prod", "cumprod", "The product of the unmasked elements up to each one along ``dim``.")
_along("softmax", "amax", "softmax", "The softmax of the unmasked elements along ``dim``; 0 at masked ones.")
_along("log_softmax", "amax", "log_softmax",
       "The logarithm of the softmax of the unmasked elements along ``dim``; minus infinity at masked ones.")


@composite("function", namespace="masked")
def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The softmax of the negated unmasked elements along ``dim``; 0 at masked ones."""
    along = _dims(dim, input._aval.ndim)[0]
    return (-_shown("amin", input, mask)).softmax(along, dtype=dtype or input._aval.dtype)


@composite("function", namespace="masked")
def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None,
              mask: Tensor | None = None) -> Tensor:
    """The unmasked elements over their norm of order ``ord`` along ``dim``, or over ``eps`` where less."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    least = length.new_full((), eps)
    return _shown("sum", input, mask) / length.maximum(least)


@composite("function", namespace="masked")
def logaddexp(input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None,
              other_mask: Tensor | None = None) -> Tensor:
    """``log(exp(input) + exp(other))``, each masked by its own mask: a masked element adds nothing."""
    result = _shown("logaddexp", input, input_mask).logaddexp(_shown("logaddexp", other, other_mask))
    return result.to(dtype or input._aval.dtype)
