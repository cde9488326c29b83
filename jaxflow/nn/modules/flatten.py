"""Joining and splitting dimensions."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules._rows import Row
from jaxflow.nn.modules.module import Module


def _flatten(input: Tensor, start_dim: int, end_dim: int) -> Tensor:
    return input.flatten(start_dim, end_dim)


class Flatten(Row, function=_flatten, start_dim=1, end_dim=-1):
    """Joins the dimensions from ``start_dim`` to ``end_dim`` into one."""


class Unflatten(Module):
    """Splits dimension ``dim`` into ``unflattened_size``.

    Args:
        dim: which dimension (or its name).
        unflattened_size: sizes whose product is the dimension's (one may be -1).

    Raises:
        TypeError: when the sizes are no tuple of integers.
    """

    def __init__(self, dim: int | str, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        _check_sizes(dim, unflattened_size)
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """The elements of ``input`` in more dimensions."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _check_sizes(dim: int | str, sizes: object) -> None:
    if isinstance(dim, str):
        raise TypeError(
            "Unflatten by name is not supported: jaxflow's tensors have no named dimensions. "
            "Give the dimension's number."
        )
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(
            f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}"
        )
    for i, size in enumerate(sizes):
        if not isinstance(size, int):
            raise TypeError(
                "unflattened_size must be tuple of ints, but found element of type "
                f"{type(size).__name__} at pos {i}"
            )
