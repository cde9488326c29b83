"""``torch.nested``: tensors whose rows have several lengths. What they compute is in ``jaxflow._nested``."""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from ._api.tensor.nested import NestedTensor as _NestedTensor  # noqa: F401  (what the functions make)
from ._core.layout import layout as _Layout
from ._core.layout import strided as _strided
from ._core.layouts import handler as _handler
from ._core.tensor import Tensor as _Tensor

__all__ = ["to_padded_tensor", "as_nested_tensor", "nested_tensor", "nested_tensor_from_jagged", "narrow",
           "masked_select"]


def nested_tensor(tensor_list: _Sequence[_Any], *, dtype: _Any = None, layout: _Layout | None = None,
                  device: _Any = None, requires_grad: bool = False, pin_memory: bool = False) -> _Tensor:
    """A nested tensor of copies of rows: a leaf.

    Args:
        tensor_list: tensors with as many dimensions each, or what `torch.tensor` takes.
        dtype: that of the first row as a default.
        layout: ``torch.jagged`` for rows that differ in one extent; ``torch.strided`` (the default) for any.
        device: that of the first row as a default.
        requires_grad: whether gradients are recorded.
        pin_memory: accepted; the memory is the same.

    Returns:
        A nested tensor; its dimension 0 counts rows.

    Raises:
        TypeError: for what is no list, in the strided layout.
        RuntimeError: for rows that the layout cannot hold, and other layouts.

    Example:
        >>> t = torch.nested.nested_tensor([torch.arange(2), torch.arange(3)], layout=torch.jagged)
        >>> (t * 2).unbind()
        (tensor([0, 2]), tensor([0, 2, 4]))
    """
    return _handler("nested_tensor")(tensor_list, dtype, layout, device, requires_grad, pin_memory)


def as_nested_tensor(ts: _Tensor | _Sequence[_Tensor], dtype: _Any = None, device: _Any = None,
                     layout: _Layout | None = None) -> _Tensor:
    """A nested tensor of rows, through which gradients pass to them.

    Args:
        ts: tensors, or one tensor whose dimension 0 counts rows; or a nested tensor.
        dtype: that of the first row as a default.
        device: that of the first row as a default.
        layout: ``torch.jagged`` or ``torch.strided`` (the default).

    Returns:
        A nested tensor.

    Raises:
        TypeError: for what is neither a tensor nor a list of tensors.
        RuntimeError: for rows that the layout cannot hold, and a nested tensor of another layout.

    Example:
        >>> rows = [torch.ones(2, requires_grad=True), torch.ones(3)]
        >>> t = torch.nested.as_nested_tensor(rows, layout=torch.jagged)
        >>> (t * t).sum().backward()
        >>> rows[0].grad
        tensor([2., 2.])
    """
    return _handler("as_nested_tensor")(ts, dtype, device, layout)


def nested_tensor_from_jagged(values: _Tensor, offsets: _Tensor | None = None, lengths: _Tensor | None = None,
                              jagged_dim: int | None = None, min_seqlen: int | None = None,
                              max_seqlen: int | None = None) -> _Tensor:
    """A nested tensor of the jagged layout, of rows that are packed already.

    Args:
        values: the rows one after the other along a dimension.
        offsets: ``(B + 1,)`` integers: where rows begin and end.
        lengths: ``(B,)``: how long they are, if ``offsets`` are not given; else where they end early.
        jagged_dim: the ragged dimension of the result; 1 as a default.
        min_seqlen: the length of the shortest row, if it is known.
        max_seqlen: the length of the longest row, if it is known. It is waited for, where it is needed.

    Returns:
        A nested tensor that shows ``values``; gradients pass.

    Raises:
        RuntimeError: with neither offsets nor lengths.
        ValueError: for a ``jagged_dim`` below 1.

    Example:
        >>> torch.nested.nested_tensor_from_jagged(torch.arange(5.0), torch.tensor([0, 2, 5])).sum(1)
        tensor([1., 9.])
    """
    return _handler("nested_tensor_from_jagged")(values, offsets, lengths, jagged_dim, min_seqlen, max_seqlen)


def narrow(tensor: _Tensor, dim: int, start: int | _Tensor, length: int | _Tensor,
           layout: _Layout = _strided) -> _Tensor:
    """A nested tensor of a part of each row of a dense tensor.

    Args:
        tensor: ``(B, S, ...)``.
        dim: 1 for the jagged layout, 0 for the strided one.
        start: where each part begins: an integer, or one for each row.
        length: how long it is, likewise.
        layout: ``torch.jagged``, or ``torch.strided`` (the default), for which both are integers.

    Returns:
        A nested tensor; in the jagged layout it shows ``tensor``.

    Raises:
        RuntimeError: for other dimensions and layouts.

    Example:
        >>> x = torch.arange(6).reshape(2, 3)
        >>> torch.nested.narrow(x, 1, 0, torch.tensor([1, 2]), layout=torch.jagged).unbind()
        (tensor([0]), tensor([3, 4]))
    """
    return _handler("nested_narrow")(tensor, dim, start, length, layout)


def masked_select(tensor: _Tensor, mask: _Tensor) -> _Tensor:
    """A nested tensor of the elements of each row that a mask picks.

    Args:
        tensor: a tensor; its last dimension becomes the ragged one.
        mask: bool, broadcast to ``tensor``.

    Returns:
        A nested tensor ``(B, j1)``, where ``B`` counts all rows of ``tensor``.

    Raises:
        RuntimeError: for tensors that are not strided.

    Example:
        >>> x, mask = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[True, False], [True, True]])
        >>> torch.nested.masked_select(x, mask).unbind()
        (tensor([1]), tensor([3, 4]))
    """
    return _handler("nested_masked_select")(tensor, mask)


def to_padded_tensor(input: _Tensor, padding: float, output_size: _Sequence[int] | None = None,
                     out: _Tensor | None = None) -> _Tensor:
    """The dense tensor of a nested one, with ``padding`` where a row has ended: `Tensor.to_padded_tensor`.

    Args:
        input: a nested tensor.
        padding: a number.
        output_size: the shape of the result; as a default, that of the longest rows.
        out: refused.

    Raises:
        NotImplementedError: for a tensor that is not nested, and for ``out``.

    Example:
        >>> t = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)], layout=torch.jagged)
        >>> torch.nested.to_padded_tensor(t, -1.0)
        tensor([[ 1., -1.],
                [ 1.,  1.]])
    """
    if out is not None:
        raise NotImplementedError("to_padded_tensor(): out= is not taken; copy_() the result")
    return input.to_padded_tensor(padding, output_size)
