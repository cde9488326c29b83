"""Layers that are quantized together: a convolution or linear layer, a normalization, an activation."""

from __future__ import annotations

from typing import Any

from jaxflow import nn


class _FusedModule(nn.Sequential):
    """The base of what is fused."""


#: The layers of each class, in order.
_ROWS: dict[str, tuple[type, ...]] = {
    f"Conv{k}{d}d": tuple(getattr(nn, f"{part}{d}d") if part != "ReLU" else nn.ReLU for part in (
        "Conv", *(("BatchNorm",) if "Bn" in k else ()), *(("ReLU",) if "ReLU" in k else ())))
    for d in (1, 2, 3) for k in ("ReLU", "Bn", "BnReLU")
}
_ROWS.update({"LinearReLU": (nn.Linear, nn.ReLU), "LinearBn1d": (nn.Linear, nn.BatchNorm1d),
              "BNReLU2d": (nn.BatchNorm2d, nn.ReLU), "BNReLU3d": (nn.BatchNorm3d, nn.ReLU)})
_NAMES = ("conv", "bn", "relu")


def _made(name: str, kinds: tuple[type, ...]) -> type:
    shown = ", then ".join(f"`torch.nn.{k.__name__}`" for k in kinds)

    def __init__(self: Any, *layers: Any) -> None:
        if len(layers) != len(kinds) or not all(map(isinstance, layers, kinds)):
            raise AssertionError(f"Incorrect types for input modules: {''.join(map(str, map(type, layers)))}")
        nn.Sequential.__init__(self, *layers)

    return type(name, (_FusedModule,), {
        "__init__": __init__, "__module__": __name__, "__qualname__": name,
        "__doc__": f"""{shown}, which are quantized as one.

    Args:
        layers: the layers, in this order.

    Raises:
        AssertionError: for other layers.
    """})


globals().update({_name: _made(_name, _kinds) for _name, _kinds in _ROWS.items()})
__all__ = sorted(_ROWS)  # noqa: PLE0605
