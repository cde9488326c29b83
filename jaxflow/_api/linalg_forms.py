"""What functions of matrices share: results stored by columns, and what they ask of ``out=``."""

from __future__ import annotations

from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.promotion import can_cast
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.op import Out


def by_columns(t: Tensor, apart: int | None = None) -> Tensor:
    """A fresh result, with the strides that LAPACK's results have: matrices whose columns are contiguous.

    ``apart`` is how far apart the columns begin where that is more than their length.
    """
    *batch, rows, columns = t._aval.shape
    *outer, across, along = contiguous_strides((*batch, columns, rows if apart is None else apart))
    t._stride = (*outer, along, across)
    return t


def castable(name: str, what: str = "result") -> Out:
    """The rule of functions whose results go into every dtype that they can be cast to."""
    return Out(
        f"{name}: Expected {what} to be safely castable from {{result}} dtype, but got {what} with dtype "
        "{out}",
        refuses=lambda have, want, _: not can_cast(have, want),
    )
