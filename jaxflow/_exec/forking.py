"""What a process made by ``os.fork`` may do: compute, if its parent had not used XLA, and else say why not.

NOTE [Forked processes]
    A forked child has a copy of its parent's memory and one thread. XLA's client, once made, waits for
    threads that the child does not have: any call of it there may never return. Where the parent
    has made no client (it has not computed anything, or nothing that NumPy did not do), the child is a
    process like any other, and runs what was recorded at the fork as well. Else its functions that hand work
    to XLA are replaced, in the child alone, by one that raises RuntimeError; so the check costs nothing
    anywhere. What is known already can still be read, pickled, and sent: the arrays of the host that were
    ready. Tensors that come from other processes are NumPy arrays there.

    The end of the interpreter destroys XLA's client and executables, which may wait for their threads as
    well. Children that ``multiprocessing`` forks end without it; after a bare ``os.fork`` use ``os._exit``.
"""

from __future__ import annotations

import os
import sys
import threading
from types import FunctionType
from typing import Any, NoReturn

import jax
import numpy as np

from jaxflow._core import value as values
from jaxflow._core.state import state
from jaxflow._core.value import Value

from . import program, run

_REFUSED = (
    "Cannot compute in a forked process: its parent has used XLA, whose threads a forked process does not "
    "have. To compute in several processes, start them with the 'spawn' or 'forkserver' method of "
    "multiprocessing, or fork before the first computation."
)

#: Functions through which work gets to XLA. Only their code is replaced: other modules refer to them.
ENTRIES: list[FunctionType] = [run.run, run.flush, program.Program.close, values.device_array, Value.get]


def refused() -> RuntimeError:
    """What a child that cannot compute says."""
    return RuntimeError(_REFUSED)


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    from jaxflow._exec.forking import refused  # this runs with the globals of another module

    raise refused()


def _settled(self: Value) -> Any:
    """`Value.settled` in such a child: arrays of the host that are there."""
    array = self.array
    if self.producer is None and self.unchecked is None:
        if isinstance(array, np.ndarray):
            return array
        if isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer) and (
            self.aval.device.type == "cpu" and array.is_ready()
        ):
            return np.asarray(array)
    raise refused()


def _xla_in_use() -> bool:
    """Whether jax has made a client: then it refuses to change a setting that this tries to change."""
    before = jax.config.jax_num_cpu_devices
    try:
        jax.config.update("jax_num_cpu_devices", 1 if before != 1 else 2)
    except RuntimeError:
        return True
    jax.config.update("jax_num_cpu_devices", before)
    return False


def _begin_again() -> None:
    """Locks that threads of the parent held are held by nobody here."""
    locks = [p.lock for p in (state.programs or {}).values() if hasattr(p, "lock")]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "jaxflow" and module is not None:
            locks += [x for x in list(vars(module).values()) if isinstance(x, _LOCKS)]
    for lock in locks:
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):
            lock._at_fork_reinit()


_LOCKS = (type(threading.Lock()), type(threading.RLock()))


def _after_fork() -> None:
    _begin_again()
    if not _xla_in_use():
        return
    for function in ENTRIES:
        function.__code__ = _refuse.__code__
    Value.settled = _settled
    values.SMALL = sys.maxsize  # no array becomes one of jax's


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)
