"""Layers that are trained with fake quantization of their weight."""

from __future__ import annotations

from typing import Any

from jaxflow import nn
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F


class QATLayer:
    """Mixed in before a float layer: its weight passes ``weight_fake_quant`` on its way."""

    _relu = False

    def quantized_weight(self) -> Tensor:
        """The weight, rounded."""
        return self.weight_fake_quant(self.weight)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The layer of a float one, with its parameters, by the configuration that it has.

        Raises:
            AssertionError: for another layer, and one without ``qconfig``.
        """
        if not getattr(mod, "qconfig", None):
            raise AssertionError("Input float module must have a valid qconfig")
        source = mod[0] if isinstance(mod, nn.Sequential) else mod
        if not isinstance(source, cls._FLOAT_MODULE):
            raise AssertionError(f"qat.{cls.__name__}.from_float only works for "
                                 f"{cls._FLOAT_MODULE.__name__}, got {type(mod).__name__}")
        new = adopted(cls, source)
        new.qconfig = mod.qconfig
        new.weight_fake_quant = mod.qconfig.weight()
        return new

    def to_float(self) -> Any:
        """The float layer with the parameters of this one; with a ReLU where this has one."""
        plain = adopted(self._FLOAT_MODULE, self)
        for name in ("qconfig", "weight_fake_quant"):
            vars(plain).pop(name, None)
        plain._modules.pop("weight_fake_quant", None)
        return plain


def adopted(cls: type, source: Any) -> Any:
    """A module of another class with attributes, parameters and buffers of ``source``."""
    new = cls.__new__(cls)
    nn.Module.__init__(new)
    own = vars(new)
    own.update({k: v for k, v in vars(source).items() if k not in own})
    new.training = source.training
    for name, p in source._parameters.items():
        new.register_parameter(name, p)
    for name, b in source._buffers.items():
        new.register_buffer(name, b)
    return new


def _check(qconfig: Any) -> None:
    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")


class Linear(QATLayer, nn.Linear):
    """`torch.nn.Linear` with a weight rounded as if.

    Args:
        in_features, out_features, bias, device, dtype: as of `torch.nn.Linear`.
        qconfig: what rounds the weight: the ``weight`` of a `QConfig`.

    Example:
        >>> config = torch.ao.quantization.get_default_qat_qconfig()
        >>> torch.ao.nn.qat.Linear(3, 2, qconfig=config)(torch.ones(1, 3)).shape
        torch.Size([1, 2])
    """

    _FLOAT_MODULE = nn.Linear

    def __init__(self, in_features: int, out_features: int, bias: bool = True, qconfig: Any = None,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(in_features, out_features, bias, device, dtype)
        _check(qconfig)
        self.qconfig, self.weight_fake_quant = qconfig, qconfig.weight()

    def forward(self, input: Tensor) -> Tensor:
        """As of `torch.nn.Linear`."""
        out = F.linear(input, self.quantized_weight(), self.bias)
        return F.relu(out) if self._relu else out


class _Conv(QATLayer):
    """What the convolutions share."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", qconfig: Any = None, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                         padding_mode, device, dtype)
        _check(qconfig)
        self.qconfig, self.weight_fake_quant = qconfig, qconfig.weight()

    def forward(self, input: Tensor) -> Tensor:
        """As of the float layer."""
        out = self._conv_forward(input, self.quantized_weight(), self.bias)
        return F.relu(out) if self._relu else out


class Conv1d(_Conv, nn.Conv1d):
    """`torch.nn.Conv1d` with a weight rounded as if; arguments as there, and ``qconfig``."""

    _FLOAT_MODULE = nn.Conv1d


class Conv2d(_Conv, nn.Conv2d):
    """`torch.nn.Conv2d` with a weight rounded as if; arguments as there, and ``qconfig``."""

    _FLOAT_MODULE = nn.Conv2d


class Conv3d(_Conv, nn.Conv3d):
    """`torch.nn.Conv3d` with a weight rounded as if; arguments as there, and ``qconfig``."""

    _FLOAT_MODULE = nn.Conv3d


class Embedding(QATLayer, nn.Embedding):
    """`torch.nn.Embedding` with a weight rounded as if; made by ``from_float``."""

    _FLOAT_MODULE = nn.Embedding

    def forward(self, input: Tensor) -> Tensor:
        """As of `torch.nn.Embedding`."""
        return F.embedding(input, self.quantized_weight(), self.padding_idx, self.max_norm, self.norm_type,
                           self.scale_grad_by_freq, self.sparse)


class EmbeddingBag(QATLayer, nn.EmbeddingBag):
    """`torch.nn.EmbeddingBag` with a weight rounded as if; made by ``from_float``."""

    _FLOAT_MODULE = nn.EmbeddingBag

    def forward(self, input: Tensor, offsets: Tensor | None = None,
                per_sample_weights: Tensor | None = None) -> Tensor:
        """As of `torch.nn.EmbeddingBag`."""
        return F.embedding_bag(input, self.quantized_weight(), offsets, self.max_norm, self.norm_type,
                               self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights,
                               self.include_last_offset, self.padding_idx)
