"""Normalizations of quantized models: computed in float32, and quantized again."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow import nn
from jaxflow._core.tensor import Tensor

from .activation import requantized


class _Normalized:
    """Mixed in before a float layer, whose parameters are kept in float32."""

    def _own(self, scale: Any, zero_point: Any) -> None:
        self.register_buffer("scale", functions.tensor(float(scale)))
        self.register_buffer("zero_point", functions.tensor(int(zero_point)))

    def forward(self, input: Tensor) -> Tensor:
        """What the float layer makes of the numbers, quantized."""
        return requantized(super().forward(input.dequantize()), input, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The layer of a float one that was prepared and has observed its results."""
        new = cls.__new__(cls)
        nn.Module.__init__(new)
        kept = {k: v for k, v in vars(mod).items() if k not in vars(new)}
        kept.pop("qconfig", None)
        vars(new).update(kept)
        for name, p in mod._parameters.items():
            new.register_parameter(name, p)
        for name, b in mod._buffers.items():
            new.register_buffer(name, b)
        new._own(*mod.activation_post_process.calculate_qparams())
        new.eval()
        return new


def _made(name: str, doc: str) -> type:
    kind = getattr(nn, name)
    made = type(name, (_Normalized, kind), {
        "__doc__": f"""`torch.nn.{name}` of quantized tensors, in eval mode; {doc}

    Args:
        args, kwargs: those of `torch.nn.{name}`.
    """, "__module__": __name__, "__qualname__": name})

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super(made, self).__init__(*args, **kwargs)
        self._own(1.0, 0)
        self.eval()

    made.__init__ = __init__
    return made


_OF_BATCHES = "with the running statistics."
_OF_SAMPLES = "with those of each sample."
BatchNorm2d, BatchNorm3d = _made("BatchNorm2d", _OF_BATCHES), _made("BatchNorm3d", _OF_BATCHES)
LayerNorm, GroupNorm = _made("LayerNorm", _OF_SAMPLES), _made("GroupNorm", _OF_SAMPLES)
InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = (_made(f"InstanceNorm{d}d", _OF_SAMPLES) for d in (1, 2, 3))
