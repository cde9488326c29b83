"""Worker threads: they fetch batches ahead, while the program computes.

Threads, not processes: XLA's runtime does not survive a fork, and NumPy, image decoders and files
release the interpreter lock where time is spent. Each worker sees a shallow copy of the dataset, so
what it sets on it (``worker_init_fn`` may) stays its own; the arrays inside are shared.

NOTE [Data is made eagerly]
    A dataset's ``__getitem__`` and a collate function run with the eager executor, in workers and in the
    calling thread. Samples differ in their sizes, so a Program of a whole batch would be a new one, to be
    compiled, at nearly every batch. On the CPU the small operations do not even need XLA:
    NOTE [Run at once].

NOTE [Workers end before the interpreter]
    A thread that the interpreter's end finds inside XLA aborts the process. So at exit the workers get
    a signal to stop and are waited for, a few seconds at most: what a dataset waits for may never come.
"""

from __future__ import annotations

import atexit
import copy
import random
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np

from jaxflow._core.generator import Generator
from jaxflow._core.state import making_data

_local = threading.local()

ENDED = object()  # in place of a batch: the worker's iterable dataset has no more
RESTART = object()  # in place of an index: a new epoch begins


class WorkerInfo:
    """What a worker stores about itself: ``id``, ``num_workers``, ``seed``, ``dataset`` and ``rng``.

    ``rng`` holds generators of this worker alone (``random_generator``, ``torch_generator``,
    ``numpy_generator``): the global ones belong to all threads.
    """

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields, worker_method="thread")

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self) -> str:
        fields = ", ".join(f"{key}={value}" for key, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"


class _WorkerRNG:
    """Random generators of one worker."""

    def __init__(self, seed: int) -> None:
        self.random_generator = random.Random(seed)
        self.numpy_generator = np.random.default_rng(seed)
        self._seed = seed
        self._generator: Any = None

    @property
    def torch_generator(self) -> Any:
        """A jaxflow Generator, made at its first use."""
        if self._generator is None:
            self._generator = Generator()
            self._generator.manual_seed(self._seed)
        return self._generator


def get_worker_info() -> WorkerInfo | None:
    """The calling worker's WorkerInfo; None outside of workers."""
    return getattr(_local, "info", None)


def thread_safe_generator() -> Generator | None:
    """The calling worker's own generator; None outside of workers, where functions take the default one.

    Returns:
        A generator, to be given as ``generator=`` by what runs in workers of a DataLoader, which are threads.

    Example:
        >>> torch.random.thread_safe_generator() is None
        True
    """
    info = get_worker_info()
    return None if info is None else info.rng.torch_generator


class Failure:
    """An exception on its way from a worker to the program."""

    def __init__(self, worker: int) -> None:
        kind, error, _ = sys.exc_info()
        self.kind = kind
        self.worker = worker
        self.text = "".join(traceback.format_exception(error))

    def reraise(self) -> None:
        """Raise an exception of the same type that shows the worker's traceback."""
        message = (
            f"Caught {self.kind.__name__} in DataLoader worker thread {self.worker}.\n"
            f"Original {self.text}"
        )
        # No local variable holds the exception: its traceback would hold this frame in turn.
        raise self._made(_Text(message) if self.kind is KeyError else message)

    def _made(self, message: str) -> BaseException:
        try:
            return self.kind(message)
        except Exception:  # a type that is not made of one message
            return RuntimeError(message)


class _Text(str):
    """A message that KeyError, which shows the repr of its argument, shows as it is."""

    def __repr__(self) -> str:
        return str(self)


class Worker(threading.Thread):
    """A thread that fetches: tasks are ``(number, index)``, results ``(number, worker, batch)``."""

    def __init__(
        self,
        worker: int,
        count: int,
        seed: int,
        dataset: Any,
        make_fetcher: Callable,
        worker_init_fn: Callable | None,
        results: SimpleQueue,
    ) -> None:
        super().__init__(name=f"DataLoader worker {worker}", daemon=True)
        own = copy.copy(dataset)
        self._info = WorkerInfo(
            id=worker, num_workers=count, seed=seed, dataset=own, rng=_WorkerRNG(seed)
        )
        self._make_fetcher = make_fetcher
        self._init = worker_init_fn
        self._results = results
        self._stopping = False
        self.tasks: SimpleQueue = SimpleQueue()
        _workers.add(self)

    def stop(self) -> None:
        """End after the batch that is being fetched, whatever tasks wait."""
        self._stopping = True
        self.tasks.put(None)

    def run(self) -> None:
        """Fetch until `stop` is called."""
        _local.info = self._info
        number, own = self._info.id, self._info.dataset
        with making_data():  # NOTE [Data is made eagerly]
            fetcher, failure = _guarded(number, lambda: self._first_fetcher(own))
            while (task := self.tasks.get()) is not None and not self._stopping:
                at, index = task
                if index is RESTART:
                    if failure is None:
                        fetcher, failure = _guarded(number, lambda: self._make_fetcher(own))
                    continue
                if failure is None:
                    batch, failed = _guarded(number, lambda f=fetcher, i=index: _fetch(f, i))
                else:
                    batch, failed = None, failure
                self._results.put((at, number, failed or batch))

    def _first_fetcher(self, own: Any) -> Any:
        if self._init is not None:
            self._init(self._info.id)
        return self._make_fetcher(own)


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


@atexit.register
def _end_workers(seconds: float = 5.0) -> None:
    """NOTE [Workers end before the interpreter]."""
    running = [worker for worker in _workers if worker.is_alive()]
    for worker in running:
        worker.stop()
    for worker in running:
        worker.join(seconds)


def _guarded(worker: int, call: Callable) -> tuple[Any, Failure | None]:
    try:
        return call(), None
    except Exception:
        return None, Failure(worker)


def _fetch(fetcher: Any, index: Any) -> Any:
    try:
        return fetcher.fetch(index)
    except StopIteration:
        return ENDED
