"""Memory formats of the weights of convolutions."""

from __future__ import annotations

from typing import Any

from jaxflow.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from jaxflow.nn.modules.module import Module


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Give the weights of all two-dimensional convolutions in ``module`` a memory format.

    Args:
        module: which is returned; convolutions in it are changed.
        memory_format: such as ``torch.channels_last``.

    Returns:
        ``module``.

    Example:
        >>> net = nn.utils.convert_conv2d_weight_memory_format(nn.Conv2d(2, 3, 4), torch.channels_last)
        >>> net.weight.stride()
        (32, 1, 8, 2)
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Give the weights of all three-dimensional convolutions in ``module`` a memory format.

    Args:
        module: which is returned; convolutions in it are changed.
        memory_format: such as ``torch.channels_last_3d``.

    Returns:
        ``module``.

    Example:
        >>> net = nn.utils.convert_conv3d_weight_memory_format(nn.Conv3d(2, 3, 1), torch.channels_last_3d)
        >>> net.weight.stride()
        (2, 1, 2, 2, 2)
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))


def _convert(module: Module, memory_format: Any, kinds: tuple[type, ...]) -> Module:
    for child in module.modules():
        if isinstance(child, kinds):
            child.weight.data = child.weight.detach().clone(memory_format=memory_format)
    return module
