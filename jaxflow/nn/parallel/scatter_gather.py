"""Batches for several devices, of which there is one here: containers keep PyTorch's forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core.tensor import Tensor

_SEVERAL = (
    "torch.nn.parallel: {} is not supported for several devices: one process computes on all of them, and "
    "arrays are spread by jax.sharding. Name one device, or leave the wrapper out."
)


def refuse_several(what: str, devices: Sequence[Any]) -> None:
    """Raise NotImplementedError where more than one device is named."""
    if len(devices) > 1:
        raise NotImplementedError(_SEVERAL.format(what))


def _rebuilt(like: Any, function: Callable, parts: Any) -> Any:
    """A container like another one, of ``function`` of the parts."""
    made = map(function, parts)
    return type(like)._make(made) if hasattr(like, "_fields") else type(like)(made)


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """What each device gets of tensors in containers: of one device, everything.

    Args:
        inputs: tensors, in containers of any depth, and other objects.
        target_gpus: devices.
        dim: along which tensors would be cut.

    Returns:
        A tuple of tensors for a tensor; else a list of what ``inputs`` is, for each device. Objects that are
        no tensors are the same for each.

    Raises:
        NotImplementedError: for tensors and more than one device.

    Example:
        >>> nn.parallel.scatter([torch.ones(2), "name"], [0])
        [[tensor([1., 1.]), 'name']]
    """
    if isinstance(inputs, Tensor):
        refuse_several("scatter of a tensor", target_gpus)
        return tuple(inputs for _ in target_gpus)
    if isinstance(inputs, (tuple, list, dict)) and inputs:
        items = inputs.items() if isinstance(inputs, dict) else inputs
        each = zip(*(scatter(item, target_gpus, dim) for item in items))
        return [_rebuilt(inputs, lambda item: item, parts) for parts in each]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs: tuple, kwargs: dict | None, target_gpus: Sequence[Any],
                   dim: int = 0) -> tuple[tuple, tuple]:
    """Arguments for each device: `scatter` of both kinds, with as many of one as of the other.

    Args:
        inputs: positional arguments.
        kwargs: keyword arguments.
        target_gpus: devices.
        dim: along which tensors would be cut.

    Returns:
        A tuple of positional arguments for each device, and one of keyword arguments.

    Raises:
        NotImplementedError: for tensors and more than one device.

    Example:
        >>> from jaxflow.nn.parallel.scatter_gather import scatter_kwargs
        >>> scatter_kwargs((1, 2), None, [0])
        (((1, 2),), ({},))
    """
    positional = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(positional), len(named))
    positional = [*positional, *[()] * (count - len(positional))]
    named = [*named, *({} for _ in range(count - len(named)))]
    return tuple(positional), tuple(named)


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """One result of those of each device: of one device, its own.

    Args:
        outputs: what each device returned: tensors, in containers of any depth, and None.
        target_device: where the result would be put.
        dim: along which tensors would be joined.

    Returns:
        What the only device returned.

    Raises:
        NotImplementedError: for tensors of more than one device.
        ValueError: for dicts of different lengths.

    Example:
        >>> nn.parallel.gather([{"loss": torch.ones(2)}], 0)
        {'loss': tensor([1., 1.])}
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        refuse_several("gather of tensors", outputs)
        return first
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(other) != len(first) for other in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([other[key] for other in outputs], target_device,
                                        dim)) for key in first)
    return _rebuilt(first, lambda parts: gather(parts, target_device, dim), zip(*outputs, strict=True))
