"""Work on many records in processes of their own, one of which may die."""

import concurrent.futures
import multiprocessing
import sys

#: After so many records workers are replaced by fresh ones.
RECORDS_A_WORKER = 40
DIED = "the process died"


def each(keys, work, done, jobs, died):
    """Call ``done(key, *work(key))`` as each key's work is done, ``died(key)`` where nothing came back."""
    size = RECORDS_A_WORKER * jobs
    for batch in (keys[i:i + size] for i in range(0, len(keys), size)):
        for key in _together(batch, work, done, jobs):
            # A worker died: of what is left, each has a process of its own now.
            if _together([key], work, done, 1):
                died(key)


def _together(batch, work, done, jobs):
    """Do some keys' work in workers of their own; those that nothing came back of."""
    context = multiprocessing.get_context("spawn")
    left = dict.fromkeys(batch)
    try:
        with concurrent.futures.ProcessPoolExecutor(min(jobs, len(batch)), context) as pool:
            futures = {pool.submit(work, key): key for key in batch}
            for future in concurrent.futures.as_completed(futures):
                done(futures[future], *future.result())
                del left[futures[future]]
    except concurrent.futures.process.BrokenProcessPool:
        sys.stderr.write("a worker process died\n")
    return list(left)
