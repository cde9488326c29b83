"""The mode in which tensors without dimensions are indices under ``vmap``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._publish.overrides import TorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(TorchFunctionMode):
    """Within it ``x[i, j]`` takes tensors without dimensions as indices without reading their numbers.

    So a function that looks up one element can be mapped by ``vmap`` over the indices.
    """

    def __torch_function__(self, func: Callable, types: Sequence[type], args: tuple = (),
                           kwargs: dict | None = None) -> Any:
        if func is Tensor.__getitem__:
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            if index and all(isinstance(i, Tensor) for i in index) and all(i.ndim == 0 for i in index):
                return args[0][tuple(i.reshape(1) for i in index)].squeeze(0)
        return func(*args, **(kwargs or {}))
