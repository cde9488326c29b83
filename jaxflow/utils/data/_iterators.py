"""One pass over a DataLoader: in the calling thread, or with workers."""

from __future__ import annotations

import functools
import queue
import warnings
import weakref
from queue import SimpleQueue
from typing import Any

from jaxflow._core.device import accelerator
from jaxflow._core.state import making_data

from ._utils.fetch import IterableFetcher, MapFetcher
from ._utils.worker import ENDED, RESTART, Failure, Worker
from .sampler import draw_seed


class _Iterator:
    """What both kinds of pass share."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._iterable = loader._dataset_kind == 1
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._index_sampler = loader._index_sampler
        if loader.pin_memory and loader.pin_memory_device:
            warnings.warn(
                "pin_memory_device is deprecated, the current accelerator will be used as the device,"
                f"ignore pin_memory_device='{loader.pin_memory_device}'.",
                stacklevel=4,
            )
        if loader.pin_memory and accelerator() is None:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                stacklevel=4,
            )
        self._make_fetcher = functools.partial(
            IterableFetcher if self._iterable else MapFetcher,
            auto_collation=loader._auto_collation,
            collate_fn=loader.collate_fn,
            drop_last=loader.drop_last,
        )
        self._start(loader)
        # Drawn whether or not anybody uses it: so does PyTorch, and a seed gives the same shuffle.
        self._base_seed = draw_seed(loader.generator)

    def _start(self, loader: Any) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._length_told = loader._IterableDataset_len_called

    def __iter__(self) -> _Iterator:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        told = self._length_told
        if self._iterable and told is not None and self._num_yielded > told:
            message = (
                f"Length of IterableDataset {self._dataset} was reported to be {told}(when "
                f"accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
            )
            if self._num_workers > 0:
                message += (
                    "Each worker iterates over all of an IterableDataset unless it uses "
                    "get_worker_info() to take its share."
                )
            warnings.warn(message, stacklevel=2)
        return data

    def __getstate__(self) -> None:
        raise NotImplementedError("{} cannot be pickled", self.__class__.__name__)


class SingleThreadIterator(_Iterator):
    """Fetches each batch when ``next`` is called."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        with making_data():  # NOTE [Data is made eagerly]
            self._fetcher = self._make_fetcher(self._dataset)

    def _next_data(self) -> Any:
        index = next(self._sampler_iter)
        with making_data():
            return self._fetcher.fetch(index)


class WorkerIterator(_Iterator):
    """Keeps workers supplied with tasks, and gives their batches in the order of the tasks."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._in_order = loader.in_order
        self._ahead = loader.prefetch_factor * self._num_workers
        self._results: SimpleQueue = SimpleQueue()
        self._workers = [
            Worker(
                i,
                self._num_workers,
                self._base_seed + i,
                self._dataset,
                self._make_fetcher,
                loader.worker_init_fn,
                self._results,
            )
            for i in range(self._num_workers)
        ]
        for worker in self._workers:
            worker.start()
        # Threads do not hold this object, so dropping it ends them.
        self._stop = weakref.finalize(self, _stop, self._workers)
        self._sent = 0
        self._begin()

    def _begin(self) -> None:
        self._first = self._sent  # results of earlier passes carry smaller numbers
        self._due = self._sent
        self._worker_of: dict[int, int] = {}
        self._arrived: dict[int, tuple[int, Any]] = {}
        self._active = [True] * self._num_workers
        self._turn = 0
        self._exhausted = False
        for _ in range(max(self._ahead, 1)):
            self._send()

    def _reset(self, loader: Any) -> None:
        """Begin another pass with the same workers."""
        self._start(loader)
        for worker in self._workers:
            worker.tasks.put((self._sent, RESTART))
        self._begin()

    def _shutdown_workers(self) -> None:
        """Let the workers end; the pass cannot be gone on with."""
        self._stop()

    def _send(self) -> None:
        """Give the next task to the next worker that is not done."""
        if self._exhausted or not any(self._active):
            return
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            self._exhausted = True
            return
        while not self._active[self._turn % self._num_workers]:
            self._turn += 1
        worker = self._turn % self._num_workers
        self._turn += 1
        self._workers[worker].tasks.put((self._sent, index))
        self._worker_of[self._sent] = worker
        self._sent += 1

    def _receive(self) -> int:
        """Wait for a result of this pass; its number."""
        while True:
            try:
                number, worker, data = self._results.get(timeout=self._timeout or None)
            except queue.Empty:
                raise RuntimeError(
                    f"DataLoader timed out after {self._timeout} seconds"
                ) from None
            if number >= self._first:
                self._arrived[number] = (worker, data)
                return number

    def _next_data(self) -> Any:
        while True:
            if self._in_order:
                while self._due in self._worker_of and self._due not in self._arrived:
                    self._receive()
                number = self._due
                self._due += 1
            elif self._worker_of:
                number = self._receive()
            else:
                raise StopIteration
            if number not in self._worker_of:
                raise StopIteration
            del self._worker_of[number]
            worker, data = self._arrived.pop(number)
            if data is ENDED:
                self._active[worker] = False
            self._send()
            if isinstance(data, Failure):
                data.reraise()
            if data is not ENDED:
                return data


def _stop(workers: list[Worker]) -> None:
    for worker in workers:
        worker.stop()
