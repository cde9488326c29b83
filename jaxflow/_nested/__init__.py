"""Nested tensors: what computes with them, loaded when the first one is made."""

from typing import Any

import jaxflow._masked  # noqa: F401  (what is below is put over it)
from jaxflow._core.layouts import HANDLERS as _HANDLERS

from . import (
    attention,
    attributes,
    dispatch,
    elementwise,  # noqa: F401  (fills the tables)
    gradients,
    make,
    parts,
    products,  # noqa: F401
    reductions,  # noqa: F401
    shapes,  # noqa: F401
    storing,
    strided_ops,  # noqa: F401
)


def _set_data(t: parts.Tensor, new: parts.Tensor) -> None:
    """``t.data = new`` where one of them has another layout."""
    (attributes.set_data if parts.is_nested(t) or parts.is_nested(new) else _set_other_data)(t, new)


def _convert(t: parts.Tensor, *args: Any) -> parts.Tensor:
    """What other code than ``Tensor.to`` converts: tensors of other layouts, and no nested ones."""
    if parts.is_nested(t):
        raise dispatch.refused("to", parts.is_jagged(t))
    return _convert_other(t, *args)


_set_other_data, _convert_other = _HANDLERS["set_data"], _HANDLERS["convert"]
_HANDLERS.update(
    nested_tensor=make.nested_tensor, as_nested_tensor=make.as_nested_tensor,
    nested_tensor_from_jagged=make.nested_tensor_from_jagged, nested_narrow=make.narrow,
    nested_masked_select=make.masked_select, nested_attention=attention.self_attention,
    nested_stored=storing.stored, nested_jagged_again=storing.jagged_again,
    nested_pieces_again=storing.pieces_again, add_gradients=gradients.summed, taken=gradients.taken,
    through_operation=gradients.through, call=dispatch.call, set_data=_set_data, convert=_convert,
)
