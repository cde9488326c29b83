"""Mixing the channels of groups."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class ChannelShuffle(Module):
    """Takes the channels of ``(N, C, ...)`` in turn from each of ``groups`` groups.

    ``out[:, i * groups + g] = input[:, g * (C / groups) + i]``: Zhang, Zhou, Lin and Sun, "ShuffleNet: An
    Extremely Efficient Convolutional Neural Network for Mobile Devices", 2017.

    The input has 3 or more dimensions and any dtype; the result is a new tensor like it.

    Args:
        groups: the number of groups, which has to divide ``C``.

    Raises:
        RuntimeError: when called with fewer than 3 dimensions, or with a number of channels that ``groups``
            does not divide; and for a ``groups`` that is not positive.

    Example:
        >>> nn.ChannelShuffle(2)(torch.arange(6).reshape(1, 6, 1)).flatten()
        tensor([0, 3, 1, 4, 2, 5])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The elements of ``input``, rearranged."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
