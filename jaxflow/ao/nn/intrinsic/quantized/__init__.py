"""Quantized layers with a ReLU in them: ``torch.ao.nn.intrinsic.quantized``."""

from jaxflow.ao.nn import intrinsic as _intrinsic
from jaxflow.ao.nn.quantized import Conv1d, Conv2d, Linear

from . import dynamic as dynamic


class LinearReLU(Linear):
    """`torch.ao.nn.quantized.Linear`, then a ReLU.

    Args:
        in_features, out_features, bias_, dtype: as of the linear layer.

    Example:
        >>> layer = torch.ao.nn.intrinsic.quantized.LinearReLU(2, 1)
        >>> layer.set_weight_bias(torch.quantize_per_tensor(-torch.ones(1, 2), 0.5, 0, torch.qint8), None)
        >>> layer(torch.quantize_per_tensor(torch.ones(1, 2), 0.1, 0, torch.quint8)).dequantize()
        tensor([[0.]])
    """

    _FLOAT_MODULE = _intrinsic.LinearReLU
    _relu = True

    def _get_name(self) -> str:
        return "QuantizedLinearReLU"


class ConvReLU1d(Conv1d):
    """`torch.ao.nn.quantized.Conv1d`, then a ReLU; arguments as there."""

    _relu = True

    def _get_name(self) -> str:
        return "QuantizedConvReLU1d"


class ConvReLU2d(Conv2d):
    """`torch.ao.nn.quantized.Conv2d`, then a ReLU; arguments as there."""

    _relu = True

    def _get_name(self) -> str:
        return "QuantizedConvReLU2d"


__all__ = ["ConvReLU1d", "ConvReLU2d", "LinearReLU"]
