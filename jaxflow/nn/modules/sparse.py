"""Embeddings: rows of a table, looked up by number."""

from __future__ import annotations

from typing import Self

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter


class _Table(Module):
    """Rows that are looked up: a learned ``weight`` of ``(num_embeddings, embedding_dim)``."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, max_norm: float | None,
        norm_type: float, scale_grad_by_freq: bool, sparse: bool, weight: Tensor | None, frozen: bool,
        device, dtype,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if weight is None:
            values = functions.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(values, requires_grad=not frozen)
            self.reset_parameters()
        else:
            if list(weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(weight, requires_grad=not frozen)

    def reset_parameters(self) -> None:
        """Draw the table from the standard normal distribution, with zeros at ``padding_idx``."""
        init.normal_(self.weight)
        _zero_row(self.weight, self.padding_idx)

    def _scaling(self) -> list[str]:
        """What `extra_repr` says of how rows and their gradients are scaled."""
        shown = []
        if self.max_norm is not None:
            shown.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            shown.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            shown.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        return shown


class Embedding(_Table):
    """Row ``i`` of a learned table for every integer ``i`` of the input.

    ``output[...] = weight[input[...]]``. It is called with ``input``, int64 or int32, of any shape, and
    returns ``(*input.shape, embedding_dim)`` of the dtype of the table. The table is the parameter
    ``weight`` of shape ``(num_embeddings, embedding_dim)``.

    Args:
        num_embeddings: rows of the table.
        embedding_dim: size of a row.
        padding_idx: a row that starts as zeros and gets no gradient; a negative one counts from the end.
        max_norm: rows that are looked up are first scaled down, in the table, to at most this norm.
        norm_type: which norm that is.
        scale_grad_by_freq: divide the gradient of a row by how often it was looked up.
        sparse: give the table a sparse gradient, of the rows that were looked up.
        _weight: the table to start with, shape ``(num_embeddings, embedding_dim)``; default: drawn from the
            standard normal distribution.
        _freeze: do not train it.
        device: where to put the table.
        dtype: its dtype.

    Raises:
        AssertionError: when ``padding_idx`` is no row, or ``_weight`` has another shape.
        IndexError: when called with an integer that is no row.
        RuntimeError: when called with another dtype.

    Example:
        >>> table = nn.Embedding.from_pretrained(torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]))
        >>> table(torch.tensor([[2, 1]]))
        tensor([[[3., 4.],
                 [1., 2.]]])
        >>> nn.Embedding(10, 4, padding_idx=-1)
        Embedding(10, 4, padding_idx=9)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
            _weight, _freeze, device, dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Integers of any shape to ``(*shape, embedding_dim)``."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            shown.append(f"padding_idx={self.padding_idx}")
        shown += self._scaling()
        if self.sparse is not False:
            shown.append("sparse=True")
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An embedding whose table is ``embeddings``, ``(rows, size)``, by default not trained.

        Args:
            embeddings: the table, shape ``(rows, size)``, floating point; the parameter shares its memory.
            freeze: whether the table is left out of training.
            padding_idx: a row that gets no gradient; its values stay as they are.
            max_norm: rows that are looked up are first scaled down, in the table, to at most this norm.
            norm_type: which norm that is.
            scale_grad_by_freq: divide the gradient of a row by how often it was looked up.
            sparse: give the table a sparse gradient, of the rows that were looked up.

        Returns:
            A new layer of this class, with ``num_embeddings`` and ``embedding_dim`` from the table.

        Raises:
            AssertionError: unless ``embeddings`` has two dimensions.

        Example:
            >>> table = nn.Embedding.from_pretrained(torch.ones(3, 2))
            >>> table(torch.tensor([2, 0])), table.weight.requires_grad
            (tensor([[1., 1.],
                    [1., 1.]]), False)
        """
        rows, size = _sizes_of(embeddings)
        return cls(
            num_embeddings=rows,
            embedding_dim=size,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows of a learned table.

    ``output[b] = sum (or mean, or max) of weight[i] over the integers i of bag b``; an empty bag gives
    zeros.

    It is called with ``input``, int64 or int32: either of shape ``(bags, n)``, or of shape ``(total,)``
    with ``offsets``, where each bag starts, of shape ``(bags,)``. With ``mode="sum"``,
    ``per_sample_weights``, shaped like ``input``, are factors for the rows. It returns
    ``(bags, embedding_dim)`` of the dtype of the table, which is the parameter ``weight`` of shape
    ``(num_embeddings, embedding_dim)``.

    Args:
        num_embeddings: rows of the table.
        embedding_dim: size of a row.
        max_norm: rows that are looked up are first scaled down, in the table, to at most this norm.
        norm_type: which norm that is.
        scale_grad_by_freq: divide the gradient of a row by how often it was looked up; not for ``"max"``.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        sparse: give the table a sparse gradient, of the rows that were looked up.
        _weight: the table to start with, shape ``(num_embeddings, embedding_dim)``; default: drawn from the
            standard normal distribution.
        include_last_offset: the last offset ends the last bag, so that there is one more offset than bags.
        padding_idx: a row left out of every bag; a negative one counts from the end.
        device: where to put the table.
        dtype: its dtype.

    Raises:
        AssertionError: when ``padding_idx`` is no row, or ``_weight`` has another shape.
        ValueError: when called, for an unknown mode, or offsets or weights that do not go with the input.
        NotImplementedError: when called with ``per_sample_weights`` in another mode than ``"sum"``.
        RuntimeError: when called with an integer that is no row, or another dtype.

    Example:
        >>> rows = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
        >>> bags = nn.EmbeddingBag.from_pretrained(rows, mode="sum")
        >>> bags(torch.tensor([0, 1, 2, 1]), torch.tensor([0, 3]))  # the bags [0, 1, 2] and [1]
        tensor([[ 7., 70.],
                [ 2., 20.]])
        >>> bags(torch.tensor([[0, 1]]), per_sample_weights=torch.tensor([[2.0, 3.0]]))
        tensor([[ 8., 80.]])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
            _weight, False, device, dtype,
        )
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """``(bags, n)`` integers, or ``(total,)`` with each bag's offset, to ``(bags, size)``."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}, {self.embedding_dim}", *self._scaling(), f"mode={self.mode!r}"]
        if self.padding_idx is not None:
            shown.append(f"padding_idx={self.padding_idx}")
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """An embedding bag whose table is ``embeddings``, ``(rows, size)``, by default not trained.

        Args:
            embeddings: the table, shape ``(rows, size)``, floating point; the parameter shares its memory.
            freeze: whether the table is left out of training.
            max_norm: rows that are looked up are first scaled down, in the table, to at most this norm.
            norm_type: which norm that is.
            scale_grad_by_freq: divide the gradient of a row by how often it was looked up.
            mode: ``"sum"``, ``"mean"`` or ``"max"``.
            sparse: give the table a sparse gradient, of the rows that were looked up.
            include_last_offset: the last offset ends the last bag.
            padding_idx: a row left out of every bag.

        Returns:
            A new layer of this class, with ``num_embeddings`` and ``embedding_dim`` from the table.

        Raises:
            AssertionError: unless ``embeddings`` has two dimensions.

        Example:
            >>> bags = nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0], [3.0]]))
            >>> bags(torch.tensor([[0, 1], [1, 1]]))
            tensor([[2.],
                    [3.]])
        """
        rows, size = _sizes_of(embeddings)
        bag = cls(
            num_embeddings=rows,
            embedding_dim=size,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag


def _row(index: int | None, rows: int) -> int | None:
    """``index`` counted from the start."""
    if index is None:
        return None
    if not -rows <= index < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return index % rows


def _sizes_of(table: Tensor) -> tuple[int, int]:
    if table.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, size = table.shape
    return rows, size


def _zero_row(table: Tensor, index: int | None) -> None:
    if index is not None:
        with no_grad():
            table[index].fill_(0)
