"""A function of each row of tensors, with the results stacked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core import tree
from jaxflow._core.tensor import Tensor
from jaxflow._functions import stack

__all__ = ["map"]


def map(f: Callable, xs: Any, *args: Any) -> Any:  # noqa: A001 - PyTorch's name
    """Apply a function to each row, one after the other.

    Args:
        f: a function of a row of ``xs`` and of ``*args``, which returns a tree of tensors.
        xs: a tensor, or a tree of tensors of the same size along dimension 0, which is not 0.
        args: what every call is given as it is.

    Returns:
        A tree like the results, stacked along dimension 0.

    Raises:
        RuntimeError: for other ``xs``.

    Example:
        >>> from jaxflow._higher_order_ops.map import map
        >>> map(lambda x, y: x * y, torch.tensor([1., 2.]), torch.tensor([3., 4.]))
        tensor([[3., 4.],
                [6., 8.]])
    """
    leaves, spec = tree.flatten(xs)
    if not all(isinstance(x, Tensor) for x in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    shapes = [x.shape for x in leaves]
    if not all(shape[0] == shapes[0][0] for shape in shapes):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    if shapes[0][0] == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    rows = zip(*(x.unbind() for x in leaves), strict=True)
    results = [tree.flatten(f(spec.unflatten(row), *args)) for row in rows]
    columns = zip(*(each for each, _ in results), strict=True)
    return results[0][1].unflatten([stack(column) for column in columns])
