"""From the start of a process to the demo's first finished step, caches empty and warm."""

import pathlib
import tempfile
import time

from . import report
from .gpt_step import ENVIRONMENT
from .worker import Worker

PARTICIPANTS = ("PyTorch eager", "torch.compile", "jaxflow deferred", "jaxflow eager")


def seconds(name, cache):
    """One cold start of `name`, with its on-disk caches in the folder `cache`."""
    environment = {
        **ENVIRONMENT.get(name, {}),
        "JAXFLOW_CACHE_DIR": str(pathlib.Path(cache) / "jaxflow"),
        "TORCHINDUCTOR_CACHE_DIR": str(pathlib.Path(cache) / "inductor"),
    }
    with Worker("benchmarks.gpt_step", name, environment) as worker:
        worker.call("start")
        return time.perf_counter() - worker.began


def main(quick=False, only=None):
    names = [name for name in PARTICIPANTS if only is None or name in only]
    rounds = 1 if quick else 3
    empty, warm = {name: [] for name in names}, {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            with tempfile.TemporaryDirectory() as cache:
                empty[name].append(seconds(name, cache))
                warm[name].append(seconds(name, cache))
    empty = {name: report.summary(samples) for name, samples in empty.items()}
    warm = {name: report.summary(samples) for name, samples in warm.items()}
    rows = [[name, report.spread(empty[name]), report.spread(warm[name])] for name in names]
    text = (
        "Seconds from the start of the process, imports included, to the end of the first training"
        f" step: median of {rounds} (lowest to highest). PyTorch eager keeps no cache.\n\n"
    )
    text += report.table(["contender", "empty cache", "warm cache"], rows)
    return report.write("cold_start", "Cold start", {"empty": empty, "warm": warm}, text)
