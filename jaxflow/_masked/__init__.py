"""Tensors with a mask: what computes with them, loaded when the first one is made."""

from typing import Any

import jaxflow._sparse  # noqa: F401  (what is below is put over it)
from jaxflow._core.layouts import HANDLERS as _HANDLERS

from . import (
    dispatch,
    elementwise,  # noqa: F401  (fills the table)
    gradients,
    parts,
    printing,
    reductions,  # noqa: F401
    shapes,  # noqa: F401
)


def _get_data(t: parts.MaskedTensor) -> parts.Tensor:
    """The data for a user: with history, or as an alias of what the tensor holds."""
    found = parts.data_of(t)
    return found.detach() if found is t._storage.parts.data else found


def _set_data(t: parts.Tensor, new: parts.Tensor) -> None:
    """``t.data = new`` where one of them is masked, or sparse."""
    if parts.is_masked(t) != parts.is_masked(new):
        raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                           "incompatible tensor type.")
    _set_sparse_data(t, new)


def _convert(t: parts.Tensor, *args: Any) -> parts.Tensor:
    """What other code than ``Tensor.to`` converts: sparse tensors, and no masked ones."""
    if parts.is_masked(t):
        raise dispatch.refused("Tensor.to within this function")
    return _convert_sparse(t, *args)


_set_sparse_data, _convert_sparse = _HANDLERS["set_data"], _HANDLERS["convert"]
_HANDLERS.update(
    masked_tensor=parts.masked_tensor, as_masked_tensor=parts.as_masked_tensor, get_data=_get_data,
    masked_text=printing.text, add_gradients=gradients.summed, taken=gradients.taken,
    through_operation=gradients.through, call=dispatch.call, set_data=_set_data, convert=_convert,
)
