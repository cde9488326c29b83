"""DataLoader: a dataset in batches, fetched when they are needed or ahead by worker threads."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from ._iterators import SingleThreadIterator, WorkerIterator, _Iterator
from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)

_FIXED = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)

# PyTorch's names, which libraries test for.
_BaseDataLoaderIter = _Iterator
_SingleProcessDataLoaderIter, _MultiProcessingDataLoaderIter = SingleThreadIterator, WorkerIterator


class _DatasetKind:
    Map = 0
    Iterable = 1


class _Endless(Sampler):
    """Stands for the order of an iterable dataset, which has its own."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Batches of a dataset, in the order of a sampler.

    Args:
        dataset: indexed (``__getitem__``) or iterated (an IterableDataset).
        batch_size: samples a batch; None gives single samples.
        shuffle, sampler, batch_sampler: the order; at most one of them.
        num_workers: threads that fetch ahead; 0 fetches in the calling thread.
        collate_fn: from a list of samples to a batch; default_collate if not given.
        drop_last: leave out a last batch that is not full.
        timeout: seconds to wait for a worker; 0 waits for ever.
        worker_init_fn: called with its number in each worker.
        generator: source of the shuffle and of the workers' seeds.
        prefetch_factor: batches each worker fetches ahead.
        persistent_workers: keep the workers from one epoch to the next.
        in_order: give batches in the sampler's order, not as they come from the workers.

    ``pin_memory`` and ``multiprocessing_context`` are accepted and choose nothing: XLA gives
    no pinned memory, and workers are threads.

    Raises:
        ValueError: for options that exclude each other or are out of range.
    """

    _ready = False

    def __init__(
        self,
        dataset: Dataset[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable | None = None,
        batch_sampler: Sampler[list] | Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = (
            2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        )
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                    "and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            if iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._ready = True
        self._IterableDataset_len_called: int | None = None
        self._iterator: Any = None
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self) -> Any:
        """A valid context, kept for programs that read it; workers are threads."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self._multiprocessing_context = (
            None if context is None else _checked_context(context, self.num_workers)
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if self._ready and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {self.__class__.__name__} is initialized"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> Any:
        if not self.num_workers:
            return SingleThreadIterator(self)
        if not self.persistent_workers:
            return WorkerIterator(self)
        if self._iterator is None:
            self._iterator = WorkerIterator(self)
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        full, rest = divmod(length, self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def check_worker_number_rationality(self) -> None:
        """Warn when there are more workers than cores this process may use."""
        affinity = getattr(os, "sched_getaffinity", None)
        cores = len(affinity(0)) if affinity else os.cpu_count()
        if self.num_workers and cores is not None and self.num_workers > cores:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker threads in total, but this "
                f"system suggests at most {cores}. More may slow the program down; lower "
                "num_workers if they do.",
                stacklevel=3,
            )


def _check_numbers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 "
            "to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )


def _checked_context(context: Any, num_workers: int) -> Any:
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > "
            f"0), but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{methods!r}, but got multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )
    return context
