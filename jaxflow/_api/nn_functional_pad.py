"""``nn.functional.pad``: which padding a mode and a number of dimensions ask for."""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply
from jaxflow._ops.pad import REFLECT, REPLICATE, _pad_circular, constant_pad_nd

# The other modes pad the last one to three dimensions of an input with channels and maybe a batch.
_MODES = {
    "reflect": REFLECT,
    "replicate": REPLICATE,
    "circular": dict.fromkeys((1, 2, 3), _pad_circular),
}


@composite("function", namespace="nn.functional")
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Positions added before and after in the last dimensions; negative numbers cut them off.

    Args:
        input: any tensor; other modes than ``"constant"`` need two dimensions before those padded,
            or one.
        pad: two numbers a dimension, the last dimension first.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: what the new positions hold in mode ``"constant"`` (default 0).

    Raises:
        RuntimeError: for pads that do not fit the input.
        NotImplementedError: for an unknown mode, or a number of dimensions it has not.
    """
    pad = tuple(pad)
    if mode == "constant":
        if len(pad) % 2:
            raise RuntimeError("Padding length must be divisible by 2")
        if len(pad) > 2 * input._aval.ndim:
            raise RuntimeError(
                "Padding length should be less than or equal to two times the input dimension but got "
                f"padding length {len(pad)} and input of dimension {input._aval.ndim}"
            )
        return apply(constant_pad_nd, (input, 0 if value is None else value), (pad,))
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    dims = len(pad) // 2
    if dims in (1, 2, 3) and input.dim() in (dims + 1, dims + 2):
        if mode not in _MODES:
            raise NotImplementedError(f"Unrecognised padding mode {mode}")
        return apply(_MODES[mode][dims], (input,), (pad,))
    raise NotImplementedError(
        f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor."
    )
