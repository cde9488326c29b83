"""NOTE [Freed pages stay]: a program that runs again faults in no fresh memory."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import jaxflow as torch

def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

x = torch.ones(1024, 4096)  # 16 MB
def run():
    sums = [(x * i).cumsum(0) for i in range(6)]  # all alive at once: 96 MB of scratch memory
    return sum(a.softmax(0) * b for a, b in zip(sums, reversed(sums))).sum().item()

for _ in range(5):
    run()
before = faults()
for _ in range(10):
    run()
print((faults() - before) / 10)
"""


def _faults_a_run(keep: str) -> float:
    env = {**os.environ, "JAXFLOW_KEEP_PAGES": keep}
    out = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    return float(out.stdout)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="the setting is glibc's"
)
def test_freed_memory_is_used_again():
    released, kept = _faults_a_run("0"), _faults_a_run("1")
    assert kept < released / 4
