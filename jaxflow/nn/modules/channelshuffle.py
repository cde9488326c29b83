"""Mixing the channels of groups."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class ChannelShuffle(Module):
    """Takes the channels of ``(N, C, ...)`` in turn from each of ``groups`` groups."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The elements of ``input``, rearranged."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
