"""The clock that measures: the wall's, or with ``--cpu-time`` the processor time of the process."""

import itertools
import os
import time

VARIABLE = "JAXFLOW_BENCHMARKS_CLOCK"
now = time.process_time if os.environ.get(VARIABLE) == "cpu" else time.perf_counter


def repeated(step, number, steps):
    """Seconds of `steps` calls of ``step()``, ended by reading a number of what the last one returned."""
    began = now()
    for _ in range(steps):
        found = step()
    number(found)
    return now() - began


class OverBatches:
    """Times steps over batches that a round takes from ``batches``: ``over(batches)`` takes them all.

    With `passes` a round first goes over its batches that often without being timed.
    """

    passes = 0

    def measure(self, steps):
        batches = list(itertools.islice(self.batches, steps))
        for _ in range(self.passes):
            self.over(batches)
        began = now()
        self.over(batches)
        return (now() - began) / steps
