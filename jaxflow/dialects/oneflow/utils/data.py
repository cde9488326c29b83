"""Datasets, samplers and the DataLoader."""

from collections.abc import Iterator as _Iterator

from jaxflow.utils import data as _data

from .._dialect import DIALECT as _DIALECT
from .._dialect import fill as _fill


class DataLoader(_data.DataLoader):
    """Batches of a dataset, in the order of a sampler; see ``jaxflow.utils.data.DataLoader``."""

    def __iter__(self) -> _Iterator:
        return map(_DIALECT.wrap, super().__iter__())


__getattr__ = _fill("utils.data", globals(), _data)
