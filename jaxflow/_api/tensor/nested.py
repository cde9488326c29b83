"""Nested tensors: the class of the jagged layout, and methods; ``jaxflow._nested`` computes them."""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._core.layouts import handler
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite
from jaxflow._publish.overrides import disabled


class NestedTensor(Tensor):
    """Rows of several lengths as one tensor of the jagged layout: what `torch.nested.nested_tensor` makes.

    Its shape has a symbol at the ragged dimension. Functions of elements keep the rows; reductions over the
    ragged dimension give ordinary tensors; gradients are nested, too.

    Args:
        values: the rows, one after the other along dimension ``_ragged_idx - 1``.
        offsets: ``(B + 1,)`` integers: where they begin and end.
        lengths: ``(B,)``, where rows end before the next one begins.
        requires_grad: whether gradients are recorded.
        _ragged_idx: the ragged dimension of the nested tensor.

    Example:
        >>> rows = [torch.ones(2, 3), torch.zeros(1, 3)]
        >>> t = torch.nested.nested_tensor(rows, layout=torch.jagged)
        >>> t.offsets(), t.values().shape
        (tensor([0, 2, 3]), torch.Size([3, 3]))
    """

    __torch_function__ = disabled  # what is done with one stands in ``jaxflow._nested``

    def __new__(cls, values: Tensor, offsets: Tensor, *, lengths: Tensor | None = None,
                requires_grad: bool = False, _ragged_idx: int = 1) -> NestedTensor:
        made = handler("nested_tensor_from_jagged")(values.detach(), offsets, lengths, _ragged_idx)
        return made.requires_grad_() if requires_grad else made

    def __init__(self, *args: object, **kwargs: object) -> None:
        """All is done by ``__new__``."""

    def offsets(self) -> Tensor:
        """``(B + 1,)``: where the rows begin and end in the values."""
        return self._storage.parts.ragged.offsets

    def lengths(self) -> Tensor | None:
        """``(B,)``: the lengths of rows that end before the next one begins; None where there are none."""
        return self._storage.parts.ragged.lengths

    @property
    def _values(self) -> Tensor:  # type: ignore[override]
        return self._storage.parts.values

    _offsets = property(offsets)
    _lengths = property(lengths)

    @property
    def _ragged_idx(self) -> int:
        return self._storage.parts.dim

    def _get_max_seqlen(self) -> int:
        """The length of the longest row."""
        return self._storage.parts.ragged.longest()

    def _get_min_seqlen(self) -> int:
        """The length of the shortest row."""
        return self._storage.parts.ragged.shortest()

    _max_seqlen = property(_get_max_seqlen)
    _min_seqlen = property(_get_min_seqlen)


@composite("method")
def to_padded_tensor(self: Tensor, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
    """The dense tensor of a nested one, with ``padding`` where a row has ended.

    Args:
        padding: a number.
        output_size: the shape of the result, with room for all rows; as a default, that of the longest ones.

    Returns:
        A tensor that is not nested.

    Raises:
        NotImplementedError: for a tensor that is not nested.

    Example:
        >>> t = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
        >>> t.to_padded_tensor(0.0)
        tensor([[1., 1., 0.],
                [1., 1., 1.]])
    """
    raise NotImplementedError("Could not run 'aten::to_padded_tensor' with arguments from the 'CPU' "
                              "backend: it takes nested tensors")


@composite("method")
def _nested_tensor_size(self: Tensor) -> Tensor:
    """The sizes of the rows of a nested tensor of the strided layout, a row each."""
    raise NotImplementedError("Could not run 'aten::_nested_tensor_size' with arguments from the 'CPU' "
                              "backend: it takes nested tensors")
