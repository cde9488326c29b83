"""Running things for tests: what something compiles, work in several threads, results compared."""

import os
import threading

import numpy as np

import jaxflow
from jaxflow._exec import program_cache

#: Whether sweeps are to leave nothing out, which takes some of them many minutes.
FULL = os.environ.get("JAXFLOW_SWEEP") == "full"


def executables_of(run):
    """What ``run`` has compiled, from an empty library on."""
    with jaxflow.execution("deferred"):
        jaxflow.flush()
        program_cache.forget()
        run()
        jaxflow.flush()
    return program_cache.executables()


def in_threads(work, count):
    """Call ``work(k)`` in ``count`` threads at once; what they raise is raised here."""
    failures = []

    def guarded(k):
        try:
            work(k)
        except Exception as error:  # noqa: BLE001 - told to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures


def numbers(x):
    """What a program returned, tensors as arrays of their own."""
    if isinstance(x, jaxflow.Tensor):
        return x.detach().numpy().copy()
    if isinstance(x, (list, tuple)):
        return [numbers(y) for y in x]
    return x


def check_same(a, b):
    """That two results of `numbers` are the same, arrays up to rounding."""
    if isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            check_same(x, y)
    elif isinstance(a, np.ndarray):
        assert a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-6)
    else:
        assert a == b
