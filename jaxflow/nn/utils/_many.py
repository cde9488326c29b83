"""Operations on many tensors at once, which have no public name of their own."""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._core.commit import Overtaken
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops import clip
from jaxflow._plans.op import OPS
from jaxflow._writes.inplace import apply_together, check_writable
from jaxflow._writes.writes import write_all


def total_norm(tensors: Sequence[Tensor], norm_type: float) -> Tensor:
    """The norm of all tensors as one vector, 0-d, on the device of the first."""
    device = tensors[0].device
    by_device: dict = {}
    for tensor in tensors:
        by_device.setdefault(tensor.device, []).append(tensor)
    norms = [
        apply(clip._total_norm, tuple(group), (norm_type,)) for group in by_device.values()
    ]
    if len(norms) == 1:
        return norms[0]
    return apply(clip._total_norm, tuple(norm.to(device) for norm in norms), (norm_type,))


def clamp_all(tensors: Sequence[Tensor], bound: float) -> None:
    """Keep all elements of each tensor within ``bound`` of zero, in place."""
    apply_together([(OPS["clamp"], (t, -bound, bound), ()) for t in tensors])


def scale_all(tensors: Sequence[Tensor], factor: Tensor) -> None:
    """Multiply each tensor by a 0-d tensor, in place."""
    by_device: dict = {}
    for tensor in tensors:
        by_device.setdefault(tensor.device, []).append(tensor)
    for device, group in by_device.items():
        while True:
            epochs = [tensor._storage.epoch for tensor in group]
            results = apply(clip._all_scaled, (factor.to(device), *group))
            for tensor in group:
                check_writable(tensor, tensor.requires_grad)
            try:
                write_all(group, results, epochs)
                break
            except Overtaken:
                continue
