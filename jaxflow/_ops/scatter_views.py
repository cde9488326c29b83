"""Copies with one view of them replaced: ``select_scatter`` and its like, and a filled diagonal."""

from __future__ import annotations

from jaxflow._core.cast import cast
from jaxflow._plans.op import EXACT, Out, op

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


@op(variants="function method", saves="none", layout="like", complex_grad=False)
def select_scatter(input, src, /, dim: int, index: int):
    """``input`` with the slice at ``index`` along ``dim`` replaced by ``src``."""
    return _replaced(input, src, "select", dim, index)


@op(saves="none", out=Out(EXACT.text, lost=True, copied=True), layout="like", complex_grad=False)
def slice_scatter(input, src, /, dim: int = 0, start: int = None, end: int = None, step: int = 1):
    """``input`` with ``start:end:step`` along ``dim`` replaced by ``src``."""
    return _replaced(input, src, "slice", dim, start, end, step)


@op(variants="function method", saves="none", layout="like")
def diagonal_scatter(input, src, /, offset: int = 0, dim1: int = 0, dim2: int = 1):
    """``input`` with the diagonal of two dimensions replaced by ``src``."""
    return _replaced(input, src, "diagonal", offset, dim1, dim2)


@op(name="_as_strided_scatter", variants="", saves="none", grad_name="AsStridedScatterBackward0",
    layout="like")
def as_strided_scatter(input, src, /, geometry, size, stride, storage_offset):
    """``input``, whose elements lie as ``geometry`` says, with the elements of a strided layout replaced."""
    return _written(input, src, VIEWS["as_strided"](Geometry(*geometry), size, stride, storage_offset))
