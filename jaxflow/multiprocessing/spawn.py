"""Processes that are started together and fail together."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Any


class ProcessException(Exception):
    """One of several processes failed.

    Attributes:
        error_index: which one.
        pid: its number in the system.
    """

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process ended with an exception, whose traceback is in the message."""


class ProcessExitedException(ProcessException):
    """A process was ended by a signal, or left with an exit code.

    Attributes:
        exit_code: how it ended.
        signal_name: what ended it, if a signal did.
    """

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int,
                 signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn: Callable, index: int, args: tuple, error_file: str) -> None:
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        return  # the parent was interrupted as well, and reports it
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that run one function, each with its number."""

    def __init__(self, processes: list, folder: str) -> None:
        self.processes, self._folder = processes, folder
        self.error_files = [os.path.join(folder, str(i)) for i in range(len(processes))]
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The processes' numbers in the system."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends; whether all have. One that failed ends the others.

        Raises:
            ProcessRaisedException: with the traceback of the process that failed first.
            ProcessExitedException: where it left no exception.
        """
        if not self.sentinels:
            shutil.rmtree(self._folder, ignore_errors=True)
            return True
        failed = None
        for sentinel in multiprocessing.connection.wait(self.sentinels, timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode:
                failed = index
                break
        if failed is None:
            return not self.sentinels and self.join()
        self._end_all(grace_period)
        try:
            raise self._failure(failed)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _end_all(self, grace_period: float | None) -> None:
        running = [process for process in self.processes if process.is_alive()]
        for process in running:
            process.terminate()
        for process in running:
            process.join(30 if grace_period is None else grace_period)
            if process.is_alive():
                process.kill()
                process.join()

    def _failure(self, index: int) -> ProcessException:
        process, error_file = self.processes[index], self.error_files[index]
        if os.path.exists(error_file):
            with open(error_file, "rb") as file:
                told = pickle.load(file)
            return ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{told}", index, process.pid
            )
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            return ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, code, name
            )
        return ProcessExitedException(
            f"process {index} terminated with exit code {code}", index, process.pid, code
        )


SpawnContext = ProcessContext


def start_processes(fn: Callable, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
                    start_method: str = "spawn") -> Any:
    """Run ``fn(i, *args)`` in ``nprocs`` processes.

    Args:
        fn: a function of a module, as it is pickled.
        args: its arguments after the process's number.
        nprocs: how many processes.
        join: whether to wait for all; else their `ProcessContext` is returned.
        daemon: whether the processes end with this one.
        start_method: how they are started; jax's threads do not survive ``fork``.

    Raises:
        ProcessException: while waiting, when one fails; the others are ended.
    """
    method = multiprocessing.get_context(start_method)
    folder = tempfile.mkdtemp(prefix="jaxflow-processes-")
    processes = []
    for i in range(nprocs):
        run = (fn, i, args, os.path.join(folder, str(i)))
        process = method.Process(target=_run, args=run, daemon=daemon)
        process.start()
        processes.append(process)
    context = ProcessContext(processes, folder)
    if not join:
        return context
    while not context.join():
        pass
    return None


def spawn(fn: Callable, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> Any:
    """`start_processes` by ``spawn``; another ``start_method`` gets a warning, and is not used.

    Each process ``i`` from 0 to ``nprocs - 1`` imports the program's modules anew and calls ``fn(i,
    *args)``. So the call stands under ``if __name__ == "__main__":`` in a script.

    Args:
        fn: a function of a module, as it is pickled; what it returns is not kept.
        args: its arguments after the process's number, a tuple; they are pickled.
        nprocs: how many processes.
        join: whether to wait for all of them.
        daemon: whether the processes end with this one.
        start_method: ``"spawn"``.

    Returns:
        None once all have ended, or a `ProcessContext` if ``join`` is False; its ``join()`` waits.

    Raises:
        ProcessException: while waiting, when one fails; the others are ended.

    Example:
        >>> processes = torch.multiprocessing.spawn(divmod, args=(2,), nprocs=1, join=False)  # divmod(0, 2)
        >>> len(processes.pids())
        1
        >>> processes.join()
        True
    """
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different "
            "start_method use:\n\t\t torch.multiprocessing.start_processes(...)", FutureWarning, stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, "spawn")
