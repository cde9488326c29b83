"""``DataParallel``: a batch shared among the devices of a process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow import cuda
from jaxflow.nn.modules.module import Module

from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, refuse_several, scatter_kwargs


class DataParallel(Module):
    """``module`` under the name ``module``; each batch goes to it whole.

    What PyTorch's class does where there is no GPU, or one. In JAX a program is spread over devices by the
    sharding of its arrays, not by copies of its modules.

    It is called with what ``module`` takes, and returns what that returns.

    Args:
        module: what is called.
        device_ids: at most one device; of no consequence where there is no GPU.
        output_device: as ``device_ids``.
        dim: the batch's dimension; of no consequence for one device.

    Raises:
        NotImplementedError: for several devices, where there are GPUs.

    Example:
        >>> net = nn.DataParallel(nn.Linear(3, 2))
        >>> net(torch.ones(4, 3)).shape
        torch.Size([4, 2])
        >>> sorted(net.state_dict())
        ['module.bias', 'module.weight']
    """

    def __init__(self, module: Module, device_ids: list | None = None, output_device: Any = None,
                 dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids = _devices(device_ids)
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self.module(*inputs, **kwargs)

    def replicate(self, module: Module, device_ids: Sequence[Any]) -> list[Module]:
        """See `replicate`."""
        return replicate(module, device_ids)

    def scatter(self, inputs: tuple, kwargs: dict | None, device_ids: Sequence[Any]) -> Any:
        """See `scatter_kwargs`."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas: Sequence[Module], inputs: Sequence[Any], kwargs: Any) -> list:
        """See `parallel_apply`."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[:len(replicas)] or None)

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """See `gather`."""
        return gather(outputs, output_device, dim=self.dim)


def _devices(device_ids: Sequence[Any] | None) -> list:
    """The devices that were named, one at most; none where there is no GPU."""
    if not cuda.is_available():
        return []
    refuse_several("DataParallel", device_ids or [])
    return list(device_ids or [])


def data_parallel(module: Module, inputs: Any, device_ids: Sequence[Any] | None = None,
                  output_device: Any = None, dim: int = 0, module_kwargs: dict | None = None) -> Any:
    """What a module returns for a batch: `DataParallel` as a function.

    Args:
        module: what is called.
        inputs: its positional arguments, a tuple, or one argument.
        device_ids: at most one device; of no consequence where there is no GPU.
        output_device: as ``device_ids``.
        dim: the batch's dimension; of no consequence for one device.
        module_kwargs: keyword arguments.

    Returns:
        What the module returns.

    Raises:
        NotImplementedError: for several devices, where there are GPUs.

    Example:
        >>> nn.parallel.data_parallel(nn.ReLU(), torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    _devices(device_ids)
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
