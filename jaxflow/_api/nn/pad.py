"""``nn.functional.pad``: which padding a mode and a number of dimensions stand for."""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._api.forms import tuple_of_ints
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.pad import REFLECT, REPLICATE, _pad_circular, constant_pad_nd
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import guarded

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

    ``pad=(left, right)`` changes the last dimension, ``pad=(left, right, top, bottom)`` the last two, and
    so on.

    Args:
        input: any tensor; other modes than ``"constant"`` need two dimensions before those padded,
            or one.
        pad: two numbers a dimension, the last dimension first.
        mode: ``"constant"``, ``"reflect"`` (mirrored, without the border itself), ``"replicate"`` (the
            border again) or ``"circular"`` (from the other end).
        value: what the new positions hold in mode ``"constant"`` (default 0).

    Returns:
        A new tensor of the dtype of ``input``; a dimension of size ``n`` has size ``left + n + right``.

    Raises:
        RuntimeError: for pads that do not fit the input.
        NotImplementedError: for an unknown mode, or a number of dimensions it has not.

    Example:
        >>> F.pad(torch.tensor([[1, 2], [3, 4]]), (0, 1, 1, 0), value=9)
        tensor([[9, 9, 9],
                [1, 2, 9],
                [3, 4, 9]])
        >>> F.pad(torch.tensor([[1, 2, 3]]), (2, -1), mode="constant")
        tensor([[0, 0, 1, 2]])
        >>> F.pad(torch.tensor([[1.0, 2.0, 3.0]]), (2, 1), mode="reflect")
        tensor([[3., 2., 1., 2., 3., 2.]])
    """
    pad = tuple_of_ints("pad", "pad", pad, 2)
    if isinstance(value, (complex, str)):
        raise TypeError(f"pad(): argument 'value' (position 4) must be float, not {type(value).__name__}")
    if mode != "constant" and mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    ndim = input._aval.ndim
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return guarded(apply, constant_pad_nd, (input, 0 if value is None else value), (pad,))
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pad) // 2
    if dims in (1, 2, 3) and ndim in (dims + 1, dims + 2):
        return apply(_MODES[mode][dims], (input,), (pad,))
    raise NotImplementedError(f"Padding size {len(pad)} is not supported for {ndim}D input tensor.")
