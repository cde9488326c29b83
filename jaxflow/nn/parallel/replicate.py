"""Copies of a module for several devices, of which there is one here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import is_lazy

from .scatter_gather import refuse_several


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """The module for each device: for one, the module itself.

    Args:
        network: the module.
        devices: none or one.
        detach: accepted without effect.

    Returns:
        A list with the module, or an empty one for no device.

    Raises:
        NotImplementedError: for more than one device.
        RuntimeError: for a module whose parameters have no shape yet.

    Example:
        >>> net = nn.Linear(3, 2)
        >>> nn.parallel.replicate(net, [0])[0] is net
        True
    """
    refuse_several("replicate", devices)
    if devices and any(map(is_lazy, network.parameters())):
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Call "
                           "the module with a batch first.")
    return [network for _ in devices]
