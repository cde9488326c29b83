"""``DistributedDataParallel``: gradients averaged over processes, of which there is one."""

from __future__ import annotations

from typing import Any

from jaxflow import distributed
from jaxflow._core.modes import Changed
from jaxflow.nn.modules.module import Module


class DistributedDataParallel(Module):
    """``module`` under the name ``module``, in the world of one process of `jaxflow.distributed`.

    Gradients are their own average, and buffers agree with themselves, so calls go straight to the module.
    All of PyTorch's arguments are taken; those about buckets and broadcasts have nothing to do.

    Raises:
        ValueError: without a process group.
        RuntimeError: for a module without parameters that require a gradient.
    """

    def __init__(self, module: Module, device_ids: list | None = None, output_device: Any = None,
                 dim: int = 0, broadcast_buffers: bool = True, init_sync: bool = True,
                 process_group: Any = None, bucket_cap_mb: float | None = None,
                 find_unused_parameters: bool = False, check_reduction: bool = False,
                 gradient_as_bucket_view: bool = False, static_graph: bool = False,
                 delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
                 mixed_precision: Any = None, device_mesh: Any = None,
                 skip_all_reduce_unused_params: bool = False) -> None:
        super().__init__()
        if mixed_precision is not None or device_mesh is not None:
            name = "mixed_precision" if mixed_precision is not None else "device_mesh"
            raise NotImplementedError(f"{name}= of DistributedDataParallel is not supported; leave it out")
        distributed.get_world_size(process_group)
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any "
                               "parameters that require a gradient.")
        self.module = module
        self.dim = dim
        self.device_ids = None if device_ids is None else list(device_ids)
        self.output_device = output_device
        self.process_group = distributed.group.WORLD if process_group is None else process_group
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self.module(*inputs, **kwargs)

    def no_sync(self) -> Changed:
        """Inside, gradients are not averaged: for accumulating them over several batches."""
        return Changed(self, require_backward_grad_sync=False)
