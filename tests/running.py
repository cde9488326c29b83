"""Running things for tests: the programs that something compiles, and work in several threads."""

import threading

import jaxflow
from jaxflow._dispatch import library


def executables_of(run):
    """What ``run`` has compiled, from an empty library on."""
    with jaxflow.execution("deferred"):
        jaxflow.flush()
        library.forget()
        run()
        jaxflow.flush()
    return library.executables()


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
