"""Datasets, samplers and the DataLoader, under Paddle's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jaxflow.utils import data as _data
from jaxflow.utils.data import ChainDataset as ChainDataset
from jaxflow.utils.data import ConcatDataset as ConcatDataset
from jaxflow.utils.data import Dataset as Dataset
from jaxflow.utils.data import IterableDataset as IterableDataset
from jaxflow.utils.data import Subset as Subset
from jaxflow.utils.data import get_worker_info as get_worker_info
from jaxflow.utils.data import random_split as random_split

from ._places import DIALECT as _DIALECT


class TensorDataset(_data.TensorDataset):
    """Samples that are rows of tensors, which come as a list."""

    def __init__(self, tensors: list) -> None:
        super().__init__(*tensors)


class BatchSampler(_data.BatchSampler):
    """Lists of ``batch_size`` indices of a dataset, in order or shuffled, or of a sampler's."""

    def __init__(
        self, dataset: Any = None, sampler: Any = None, shuffle: bool = False, batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        if (dataset is None) == (sampler is None):
            raise ValueError("BatchSampler takes a dataset or a sampler")
        if sampler is None:
            sampler = _data.RandomSampler(dataset) if shuffle else _data.SequentialSampler(dataset)
        super().__init__(sampler, batch_size, drop_last)


class DataLoader(_data.DataLoader):
    """Batches of a dataset; each is a list of tensors, one for each part of a sample.

    ``places``, ``use_shared_memory``, ``use_buffer_reader`` and ``feed_list`` choose nothing.
    """

    def __init__(
        self, dataset: Any, feed_list: Any = None, places: Any = None, return_list: bool = True,
        batch_sampler: Any = None, batch_size: int | None = 1, shuffle: bool = False, drop_last: bool = False,
        collate_fn: Callable | None = None, num_workers: int = 0, use_buffer_reader: bool = True,
        prefetch_factor: int = 2, use_shared_memory: bool = True, timeout: int = 0,
        worker_init_fn: Callable | None = None, persistent_workers: bool = False,
    ) -> None:
        if not return_list:
            raise ValueError("return_list=False belongs to static programs, which are not supported")
        several = {} if batch_sampler is not None else dict(
            batch_size=batch_size, shuffle=shuffle, drop_last=drop_last
        )
        ahead = dict(prefetch_factor=prefetch_factor) if num_workers else {}
        super().__init__(
            dataset, batch_sampler=batch_sampler, collate_fn=collate_fn, num_workers=num_workers,
            timeout=timeout, worker_init_fn=worker_init_fn, persistent_workers=persistent_workers,
            **several, **ahead,
        )

    def __iter__(self) -> Iterator:
        for batch in super().__iter__():
            yield _DIALECT.wrap(list(batch) if isinstance(batch, tuple) else batch)
