"""The clock that measures: the wall's, or with ``--cpu-time`` the processor time of the process."""

import os
import time

VARIABLE = "JAXFLOW_BENCHMARKS_CLOCK"
now = time.process_time if os.environ.get(VARIABLE) == "cpu" else time.perf_counter
