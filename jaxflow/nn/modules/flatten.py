"""Joining and splitting dimensions."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules._rows import Row
from jaxflow.nn.modules.module import Module


def _flatten(input: Tensor, start_dim: int, end_dim: int) -> Tensor:
    return input.flatten(start_dim, end_dim)


class Flatten(Row, function=_flatten, start_dim=1, end_dim=-1):
    """Joins the dimensions from ``start_dim`` to ``end_dim`` into one.

    The input has any shape and dtype. The result has its elements in the same order; it is the input itself
    if there is nothing to join, a view of it where its strides allow that, else a copy. By default the
    dimension of the batch stays.

    Args:
        start_dim: the first dimension to join.
        end_dim: the last one; it is joined too.

    Raises:
        IndexError: when called with a tensor that has no such dimension.
        RuntimeError: when ``end_dim`` comes before ``start_dim``.

    Example:
        >>> x = torch.ones(2, 3, 4, 5)
        >>> nn.Flatten()(x).shape
        torch.Size([2, 60])
        >>> nn.Flatten(start_dim=1, end_dim=2)(x).shape
        torch.Size([2, 12, 5])
    """


class Unflatten(Module):
    """Splits dimension ``dim`` into ``unflattened_size``.

    The inverse of `Flatten`.

    The input has any dtype; the result is a view of it, with the dimensions ``unflattened_size`` where
    dimension ``dim`` was.

    Args:
        dim: which dimension, a number. (A name is refused: tensors have no named dimensions here.)
        unflattened_size: sizes whose product is the dimension's (one may be -1).

    Raises:
        TypeError: when the sizes are no tuple of integers, or ``dim`` is a name.
        RuntimeError: when called with a dimension of another size than the product.
        IndexError: when called with a tensor that has no dimension ``dim``.

    Example:
        >>> x = torch.arange(6).reshape(1, 6)
        >>> nn.Unflatten(1, (2, -1))(x)
        tensor([[[0, 1, 2],
                 [3, 4, 5]]])
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
