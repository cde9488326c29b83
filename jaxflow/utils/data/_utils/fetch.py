"""From the indices of a batch to the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxflow import _functions as functions
from jaxflow._views.reading import shown_on_host

from ..._host import from_host
from ..dataset import Subset, TensorDataset
from .collate import default_collate


class MapFetcher:
    """Batches of a dataset that is indexed."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.by_column = (
            auto_collation and collate_fn is default_collate and _is_columns(dataset)
        )

    def fetch(self, index: Any) -> Any:
        """The collated samples at ``index``, or the one sample without automatic batching."""
        if self.by_column and index:
            return _gather(self.dataset, index)
        if not self.auto_collation:
            return self.collate_fn(self.dataset[index])
        getitems = getattr(self.dataset, "__getitems__", None)
        if getitems:
            return self.collate_fn(getitems(index))
        return self.collate_fn([self.dataset[i] for i in index])


class IterableFetcher:
    """Batches of a dataset that is iterated."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool
    ) -> None:
        self.iterator = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index: Any) -> Any:
        """The next batch of ``len(index)`` samples. Raises StopIteration when there is none."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.iterator))
        data = []
        for _ in index:
            try:
                data.append(next(self.iterator))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return self.collate_fn(data)


# ----- Batches of tensors, gathered column by column -----
# Taking rows one at a time and stacking them again gives the same batch, one operation a row later.


def _is_columns(dataset: Any) -> bool:
    cls = type(dataset)
    if isinstance(dataset, Subset):
        plain = cls.__getitem__ is Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__
        return plain and _is_columns(dataset.dataset)
    return (
        isinstance(dataset, TensorDataset)
        and cls.__getitem__ is TensorDataset.__getitem__
        and not hasattr(dataset, "__getitems__")
    )


def _gather(dataset: Any, indices: Sequence) -> list:
    while isinstance(dataset, Subset):
        indices = [dataset.indices[i] for i in indices]
        dataset = dataset.dataset
    rows = np.asarray(indices, dtype=np.int64)
    return [_take(tensor, rows) for tensor in dataset.tensors]


def _take(tensor: Any, rows: np.ndarray) -> Any:
    size = tensor.size(0)
    outside = rows[(rows >= size) | (rows < -size)]
    if outside.size:
        raise IndexError(
            f"index {outside[0]} is out of bounds for dimension 0 with size {size}"
        )
    array = None if tensor.requires_grad else shown_on_host(tensor)
    if array is None:
        return tensor[functions.as_tensor(rows, device=tensor.device)]
    first, last = int(rows[0]), int(rows[-1])
    if first >= 0 and last - first == len(rows) - 1 and (np.diff(rows) == 1).all():
        return from_host(array[first : last + 1].copy(), tensor.dtype)
    return from_host(array[rows], tensor.dtype)
