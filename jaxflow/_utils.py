"""Helpers that programs borrow from ``torch._utils``: many tensors as one, tensors of storages."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ._core import device as _devices
from ._core.tensor import Tensor
from ._dispatch.dispatch import apply as _apply
from ._plans.op import OPS as _OPS
from .serialization._rebuild import _rebuild_parameter as _rebuild_parameter
from .serialization._rebuild import _rebuild_tensor as _rebuild_tensor
from .serialization._rebuild import _rebuild_tensor_v2 as _rebuild_tensor_v2
from .serialization._rebuild import _rebuild_tensor_v3 as _rebuild_tensor_v3


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of all tensors, one after the other, in a vector: a copy."""
    return _apply(_OPS["cat"], tuple(t.reshape(-1) for t in tensors), (0,))


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Pieces of a vector in the shapes of ``tensors``; views."""
    found, start = [], 0
    for t in tensors:
        found.append(flat.narrow(0, start, t.numel()).view(t.shape))
        start += t.numel()
    return tuple(found)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Lists of tensors of one dtype, each of ``size_limit`` bytes at most, or of one tensor."""
    open_lists: dict[Any, tuple[list[Tensor], int]] = {}
    for t in tensors:
        nbytes = t.numel() * t.element_size()
        taken, total = open_lists.get(t.dtype, ([], 0))
        if taken and total + nbytes > size_limit:
            yield taken
            taken, total = [], 0
        open_lists[t.dtype] = [*taken, t], total + nbytes
    for taken, _ in open_lists.values():
        yield taken


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors grouped by type, in the order in which the types come in another sequence."""
    queues: dict[str, list[Tensor]] = {}
    for t in tensors:
        queues.setdefault(t.type(), []).append(t)
    waiting = {kind: iter(queue) for kind, queue in queues.items()}
    return tuple(next(waiting[t.type()]) for t in ordered_tensors)


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device. ValueError for one without where there must be one."""
    if isinstance(device, str):
        device = _devices.device(device)
    if isinstance(device, _devices.device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        device = -1 if device.type == "cpu" else device.index
    if device is not None:
        return device
    if optional:
        return 0
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def get_device_module(device: Any = None) -> types.ModuleType:
    """The module of a type of device (``torch.cuda``); that of the accelerator, or of the CPU, for None.

    Raises:
        RuntimeError: for a type without a module.
    """
    kind = _devices.accelerator() or "cpu" if device is None else _devices.device(device).type
    found = sys.modules.get(f"{__package__}.{kind}")
    if found is None:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'."
        )
    return found
