"""Copies, casts and fills: operations that move elements without computing on them."""

from __future__ import annotations

import jax.numpy as jnp

from jaxflow._core import dtype as dtypes
from jaxflow._core.cast import cast
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._plans.op import Scalar, op, overload

from . import _xla
from ._support import numbered


@op(variants="", saves="none", layout="preserve")
def clone(input, /):
    """The same elements in memory of their own."""
    return input


overload(clone, "_to_copy", "ToCopyBackward0")
overload(clone, "_copied", "CopyBackwards")
overload(clone, "_bagged", "EmbeddingBagBackward0")
overload(clone, "_as_strided_copied", "AsStridedBackward0_copy", layout="contiguous")


@op(variants="", name="_not_before", differentiable=False)
def not_before(input, other, /):
    """``input``, which XLA takes for another value: one that is not known before ``other`` is there."""
    return _xla.not_before(input, other)


@op(variants="", name="_unsafe_view", saves="none")
def unsafe_view(input, /, size: tuple[int, ...]):
    """The elements in another shape: the copy that ``reshape`` makes where no view can be."""
    return input.reshape(size)


@op(variants="", name="_to_dtype", grad_name="ToCopyBackward0", saves="none", layout="preserve")
def to_dtype(input, /, dtype: dtypes.dtype):
    """The elements converted to ``dtype``."""
    return cast(input, dtype.np)


@op(variants="", name="_copy", grad_name="CopyBackwards", saves="none")
def copy(input, src, /):
    """``src`` broadcast to the shape of ``input``: what ``input.copy_(src)`` writes."""
    broadcast = broadcast_shapes(input.shape, src.shape)
    if broadcast != input.shape:
        raise RuntimeError(
            f"output with shape {list(input.shape)} doesn't match the broadcast shape "
            f"{list(broadcast)}"
        )
    return jnp.broadcast_to(cast(src, input.dtype), input.shape)


@op(variants="", name="_fill", grad_name=numbered("Fill", 2, 3), saves="none", layout="like")
def fill(input, value, /):
    """Every element replaced by ``value``."""
    return _filled(input, value)


overload(fill, "_filled", numbered("Fill", 0, 1))


@op(variants="", name="_assign", grad_name="FillBackward3", saves="none")
def assign(input, value, /):
    """Every element replaced by ``value``: what ``x[...] = value`` is for PyTorch."""
    return _filled(input, value)


def _filled(input, value):
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    return jnp.broadcast_to(cast(value, input.dtype), input.shape)


@op(variants="", name="_zero", grad_name="ZeroBackward0", saves="none")
def zero(input, /):
    """Every element replaced by zero."""
    return jnp.zeros_like(input)


@op(variants="", name="_full", differentiable=False)
def full(*, size: tuple[int, ...], dtype: dtypes.dtype, device, fill_value: Scalar = 0):
    """A tensor of ``size`` on ``device`` filled with a number."""
    return jnp.full(size, cast(jnp.asarray(fill_value), dtype.np), dtype.np)
