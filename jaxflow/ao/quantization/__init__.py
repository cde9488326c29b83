"""Marks of where a model would be quantized; what would quantize is refused: there are no such tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow.nn import Module


class QConfig(NamedTuple):
    """Constructors of what observes activations and weights."""

    activation: Any
    weight: Any


class QuantStub(Module):
    """Where a model's input would be quantized: its input as it is.

    Args:
        qconfig: kept as an attribute.

    Example:
        >>> torch.ao.quantization.QuantStub()(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, qconfig: QConfig | None = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x


class DeQuantStub(Module):
    """Where a model's output would be converted back to floating point: its input as it is.

    Args:
        qconfig: kept as an attribute.

    Example:
        >>> torch.ao.quantization.DeQuantStub()(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x


def _refused(name: str, instead: str = "keep the model in floating point, or convert it to "
                                       "bfloat16") -> Callable:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch.ao.quantization.{name}() is not supported: there are no quantized "
                                  f"tensors; {instead}.")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Raises NotImplementedError: there are no quantized tensors; {instead}."
    return call


_FUSE = "merge a convolution and its normalization by torch.nn.utils.fuse_conv_bn_eval"
convert, prepare, prepare_qat = _refused("convert"), _refused("prepare"), _refused("prepare_qat")
quantize_dynamic = _refused("quantize_dynamic")
fuse_modules, fuse_modules_qat = _refused("fuse_modules", _FUSE), _refused("fuse_modules_qat", _FUSE)
get_default_qconfig, get_default_qat_qconfig = (_refused("get_default_qconfig"),
                                                _refused("get_default_qat_qconfig"))
default_observer, default_weight_observer = _refused("default_observer"), _refused("default_weight_observer")
default_per_channel_weight_observer = _refused("default_per_channel_weight_observer")
