"""Operations that need their operands' numbers, under ``vmap``: one example after the other, as in PyTorch.

An operation whose result has a size that depends on its numbers has no batched form. Where the results of
all examples turn out to be of one size they are stacked; where they do not, `stack` raises its own error.
"""

from __future__ import annotations

from collections.abc import Callable

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.vmap_axes import enter, leave
from jaxflow._plans.op import OPS
from jaxflow._transforms.batching import axes_of


def is_batched(*tensors: Tensor | None) -> bool:
    """Whether any of the tensors is another one in each example of a ``vmap``."""
    return any(axes_of(t._storage.value) for t in tensors if t is not None)


def per_example(function: Callable[..., Tensor], *tensors: Tensor | None) -> Tensor:
    """``function(*tensors)`` for each example, stacked; nothing is differentiated through it.

    Raises:
        RuntimeError: when the results of two examples differ in shape.
    """
    tensors = tuple(None if t is None else t.detach() for t in tensors)
    axes = {axis for t in tensors if t is not None for axis in axes_of(t._storage.value)}
    if not axes:
        return function(*tensors)
    axis = max(axes, key=lambda axis: axis.serial)
    apart = [t if t is None or axis not in axes_of(t._storage.value) else leave(t, axis).unbind()
             for t in tensors]
    results = [
        per_example(function, *(each[k] if isinstance(each, tuple) else each for each in apart))
        for k in range(axis.size)
    ]
    return enter(apply(OPS["stack"], tuple(results), (0,)), axis)


def of_all_examples(t: Tensor) -> Tensor:
    """``t`` of all examples: one more leading dimension for each axis, none outside ``vmap``."""
    for axis in sorted(axes_of(t._storage.value), key=lambda axis: axis.serial, reverse=True):
        t = leave(t, axis)
    return t
