"""The linear layer of dynamic quantization with a ReLU in it."""

from jaxflow.ao.nn.quantized.dynamic import Linear


class LinearReLU(Linear):
    """`torch.ao.nn.quantized.dynamic.Linear`, then a ReLU.

    Args:
        in_features, out_features, bias_, dtype: as of the linear layer.

    Example:
        >>> layer = torch.ao.nn.intrinsic.quantized.dynamic.LinearReLU(2, 1)
        >>> layer.set_weight_bias(torch.quantize_per_tensor(-torch.ones(1, 2), 0.5, 0, torch.qint8), None)
        >>> layer(torch.ones(1, 2))
        tensor([[0.]])
    """

    _relu = True

    def _get_name(self) -> str:
        return "DynamicQuantizedLinearReLU"
