"""Quantized tensors: what computes with them, loaded when the first one is made."""

from typing import Any

import jaxflow._nested  # noqa: F401  (what is below is put over it)
from jaxflow._core.layouts import HANDLERS as _HANDLERS

from . import (
    attributes,
    dispatch,
    functions,  # noqa: F401  (fills the table)
    make,
    parts,
)


def _set_data(t: parts.Tensor, new: parts.Tensor) -> None:
    """``t.data = new`` where one of them has parts; quantized ones are refused."""
    if parts.is_quantized(t) or parts.is_quantized(new):
        raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                           "incompatible tensor type: a quantized tensor keeps its own, use copy_()")
    _set_other_data(t, new)


def _convert(t: parts.Tensor, *args: Any) -> parts.Tensor:
    """What other code than ``Tensor.to`` converts."""
    return attributes.convert(t, *args) if parts.is_quantized(t) else _convert_other(t, *args)


_set_other_data, _convert_other = _HANDLERS["set_data"], _HANDLERS["convert"]
_HANDLERS.update(
    quantize_per_tensor=make.quantize_per_tensor, quantize_per_channel=make.quantize_per_channel,
    quantize_per_tensor_dynamic=make.quantize_per_tensor_dynamic, of_integers=make.of_integers,
    of_integers_by_channel=make.of_integers_by_channel, rebuilt=make.rebuilt, empty_quantized=make.empty,
    empty_quantized_by_channel=make.empty_by_channel,
    call=dispatch.call, set_data=_set_data, convert=_convert,
)
