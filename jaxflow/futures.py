"""Results that are still to come, as objects to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """What a computation will have found, for who started it and for callbacks.

    Args:
        devices: of no consequence: a tensor is waited for where its numbers are read.
    """

    def __init__(self, *, devices: list | None = None) -> None:
        self._changed = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether there is a result, or an exception."""
        return self._done

    def wait(self) -> T:
        """The result, once it is there; raises the exception that is there instead."""
        with self._changed:
            self._changed.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """The result; raises the exception that is there instead. RuntimeError if there is neither yet."""
        if not self._done:
            raise RuntimeError("The Future has no value yet: wait() waits for it.")
        if self._error is not None:
            raise self._error
        return self._result

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what ``callback`` returns for this one, which it is called with once that is done."""
        further: Future[S] = Future()

        def run(done: Future[T]) -> None:
            try:
                further.set_result(callback(done))
            except Exception as error:
                further.set_exception(error)

        self._after(run)
        return further

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call ``callback`` with this future once it is done; at once if it is."""
        self._after(callback)

    def _after(self, callback: Callable[[Future[T]], Any]) -> None:
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result: T) -> None:
        """Give the result, and run the callbacks. RuntimeError if it is done already."""
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an exception in the result's place, and run the callbacks. AssertionError for what is none."""
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._finish(None, result)

    def _finish(self, result: Any, error: BaseException | None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError("The Future is done: it can be given one result or exception only.")
            self._done, self._result, self._error = True, result, error
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)


def collect_all(futures: list[Future]) -> Future[list[Future]]:
    """A future of ``futures``, done when all of them are."""
    together: Future[list[Future]] = Future()
    left = len(futures)
    lock = threading.Lock()

    def one_more(_: Future) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = not left
        if last:
            together.set_result(futures)

    if not futures:
        together.set_result(futures)
    for future in futures:
        future.add_done_callback(one_more)
    return together


def wait_all(futures: list[Future]) -> list:
    """The results of all futures, once they are there; raises the first exception among them."""
    return [future.wait() for future in collect_all(futures).wait()]
