"""Tensors that carry a mask: the class, and what makes them. What they compute is in ``jaxflow._masked``."""

from __future__ import annotations

from typing import Any

from jaxflow._core.layouts import handler
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite
from jaxflow._publish.overrides import disabled


class MaskedTensor(Tensor):
    """A tensor some of whose elements count and some do not, as a mask of the same shape says.

    Functions of elements keep the mask; functions of two tensors need masks that are the same, or one tensor
    without a mask; reductions leave out what is masked, and are masked where nothing is left. Gradients are
    masked, too. In PyTorch it is a prototype.

    Args:
        data: a tensor, strided or of layout `sparse_coo` or `sparse_csr`, without complex numbers.
        mask: bool, of the shape and layout of ``data``: True for what counts.
        requires_grad: whether gradients are recorded.

    Raises:
        TypeError: for what is no tensor, other dtypes, and layouts that are not the same.
        ValueError: for shapes, or places of sparse tensors, that are not the same.

    Example:
        >>> data, mask = torch.tensor([1.0, 2.0, 5.0]), torch.tensor([True, False, True])
        >>> t = torch.masked.masked_tensor(data, mask)
        >>> t
        MaskedTensor(
          [  1.0000,       --,   5.0000]
        )
        >>> t.sum(), t.mean()
        (MaskedTensor(  6.0000, True), MaskedTensor(  3.0000, True))
    """

    __torch_function__ = disabled  # what is done with one stands in ``jaxflow._masked``

    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
        return handler("masked_tensor")(data, mask, requires_grad, stacklevel=3)

    def __init__(self, data: Tensor, mask: Tensor, requires_grad: bool = False) -> None:
        """All is done by ``__new__``."""

    @staticmethod
    def _from_values(data: Tensor, mask: Tensor) -> MaskedTensor:
        return handler("as_masked_tensor")(data, mask)

    def get_data(self) -> Tensor:
        """The data, with what stands at masked places; gradients pass."""
        return handler("get_data")(self)

    def get_mask(self) -> Tensor:
        """The mask: True for what counts."""
        return self._storage.parts.mask

    def to_tensor(self, value: Any) -> Tensor:
        """The data with ``value`` at masked places; gradients pass."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    @property
    def _masked_data(self) -> Tensor:
        return self._storage.parts.data

    @property
    def _masked_mask(self) -> Tensor:
        return self._storage.parts.mask

    def is_sparse_coo(self) -> bool:
        """Whether the data are in coordinates."""
        return self._storage.parts.layout.name == "sparse_coo"

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether the data are in compressed rows."""
        return self._storage.parts.layout.name == "sparse_csr"

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether the data are sparse."""
        return self.is_sparse_coo() or self.is_sparse_csr()

    def __repr__(self) -> str:  # type: ignore[override]
        return handler("masked_text")(self)


@composite("function", namespace="masked")
def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A `MaskedTensor` of copies of data and mask: a leaf.

    Args:
        data: a tensor.
        mask: bool, of the same shape and layout.
        requires_grad: whether gradients are recorded.

    Returns:
        A `MaskedTensor`.

    Raises:
        TypeError: for what is no tensor, other dtypes, and layouts that are not the same.
        ValueError: for shapes that are not the same.

    Example:
        >>> torch.masked.masked_tensor(torch.arange(3), torch.tensor([True, False, True])).sum()
        MaskedTensor(2, True)
    """
    return handler("masked_tensor")(data, mask, requires_grad, stacklevel=4)


@composite("function", namespace="masked")
def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """A `MaskedTensor` through which gradients pass to ``data``, where they are masked.

    Args:
        data: a tensor.
        mask: bool, of the same shape and layout.

    Returns:
        A `MaskedTensor`.

    Raises:
        TypeError: for what is no tensor, other dtypes, and layouts that are not the same.
        ValueError: for shapes that are not the same.

    Example:
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> divisor = torch.tensor([0.0, 1.0])
        >>> torch.masked.as_masked_tensor(x / divisor, divisor != 0).sum().backward()
        >>> x.grad
        MaskedTensor(
          [      --,   1.0000]
        )
    """
    return handler("as_masked_tensor")(data, mask)


@composite("function", namespace="masked")
def is_masked_tensor(obj: Any, /) -> bool:
    """Whether ``obj`` is a `MaskedTensor`."""
    return isinstance(obj, MaskedTensor)
