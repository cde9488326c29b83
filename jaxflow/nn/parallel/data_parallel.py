"""``DataParallel``: a batch shared among the devices of a process."""

from __future__ import annotations

from typing import Any

from jaxflow.nn.modules.module import Module


class DataParallel(Module):
    """``module`` under the name ``module``; each batch goes to it whole.

    What PyTorch's class does where there is no GPU, or one. In JAX a program is spread over devices by the
    sharding of its arrays, not by copies of its modules.

    It is called with what ``module`` takes, and returns what that returns.

    Args:
        module: what is called.
        device_ids: at most one device.
        output_device: as ``device_ids``.
        dim: the batch's dimension; of no consequence for one device.

    Raises:
        NotImplementedError: for several devices.

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
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(
                f"DataParallel over {len(device_ids)} devices is not supported; spread the batch by "
                "jax.sharding, or name one device"
            )
        self.module = module
        self.dim = dim
        self.device_ids = list(device_ids or [])
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self.module(*inputs, **kwargs)
