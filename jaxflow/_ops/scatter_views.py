"""Copies with one view of them replaced: ``select_scatter`` and its like, and a filled diagonal."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.cast import cast
from jaxflow._core.geometry import contiguous_strides
from jaxflow._dispatch.op import EXACT, Out, Scalar, op

from .views import VIEWS, Geometry, contiguous


def _replaced(input, src, name, *static):
    """``input`` with what the view ``name`` shows of it replaced by ``src``."""
    return _written(input, src, VIEWS[name](contiguous(input), *static))


def _written(input, src, step):
    """``input`` with what a view step shows of it replaced by ``src``."""
    if src.shape != step.size:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(step.size)}"
        )
    return step.write(input, cast(src, input.dtype), *step.numbers)


@op(variants="function method", saves="none", layout="like")
def select_scatter(input, src, /, dim, index):
    """``input`` with the slice at ``index`` along ``dim`` replaced by ``src``."""
    return _replaced(input, src, "select", dim, index)


@op(saves="none", out=Out(EXACT.text, lost=True), layout="like")
def slice_scatter(input, src, /, dim=0, start=None, end=None, step=1):
    """``input`` with ``start:end:step`` along ``dim`` replaced by ``src``."""
    return _replaced(input, src, "slice", dim, start, end, step)


@op(variants="function method", saves="none", layout="like")
def diagonal_scatter(input, src, /, offset=0, dim1=0, dim2=1):
    """``input`` with the diagonal of two dimensions replaced by ``src``."""
    return _replaced(input, src, "diagonal", offset, dim1, dim2)


@op(name="_as_strided_scatter", variants="", saves="none", grad_name="AsStridedScatterBackward0",
    layout="like")
def as_strided_scatter(input, src, /, geometry, size, stride, storage_offset):
    """``input``, whose elements lie as ``geometry`` says, with the elements of a strided layout replaced."""
    return _written(input, src, VIEWS["as_strided"](Geometry(*geometry), size, stride, storage_offset))


@op(name="_fill_diagonal", variants="", saves="none", grad_name="FillDiagonalBackward0")
def fill_diagonal(input, /, wrap, fill_value: Scalar = 0):
    """``input`` with a number on its main diagonal; ``wrap`` goes on below in a tall matrix."""
    if input.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.ndim > 2 and any(n != input.shape[0] for n in input.shape):
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(contiguous_strides(input.shape))
    if wrap and input.ndim == 2:
        at = np.arange(0, input.size, step)
    else:
        at = np.arange(min(input.shape)) * step
    value = cast(jnp.asarray(fill_value), input.dtype)
    return input.reshape(-1).at[at].set(value).reshape(input.shape)
