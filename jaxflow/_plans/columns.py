"""Results that lie column by column in PyTorch: strides are bookkeeping here, and this is where it is done.

This is done by the function that makes the public result, so other operations are not concerned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.geometry import column_strides
from jaxflow._core.tensor import Tensor


def lay_in_columns(t: Tensor, apart: int | None = None) -> None:
    """Give a fresh result the strides of matrices whose columns are contiguous and begin ``apart``."""
    t._stride = column_strides(t._aval.shape, apart)


def in_columns(numbers: tuple[int, ...], one: bool, then: Callable | None) -> Callable:
    """What makes the public result of a list of results, of which these hold matrices column by column."""

    def build(tensors: list) -> Any:
        for i in numbers:
            lay_in_columns(tensors[i])
        return then(tensors) if then else tensors[0] if one else tuple(tensors)

    return build
