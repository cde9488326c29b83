"""NOTE [Freed pages stay], [An arena for each thread]: what runs again faults in no fresh memory."""

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

# Megabytes resident with 200 blocks of one megabyte, without every other one, and when caches have let go.
BLOCKS = """
import pathlib
import resource

import numpy as np
import jaxflow
from jaxflow._core import budget

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6

blocks = [np.ones(1 << 17) for _ in range(200)]
found = [resident()]
del blocks[::2]
found.append(resident())
budget.rotate()
found.append(resident())
print(*found)
"""

# How many arenas the C library has after a program that XLA divided among its threads.
ARENAS = """
import ctypes
import pathlib
import tempfile
import jaxflow as torch

x = torch.ones(512, 512)
for _ in range(20):
    (x @ x).softmax(0).sum().item()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    print(pathlib.Path(file.name).read_text().count("<heap nr="))
"""

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is glibc's")


def _printed(program: str, **environment: str) -> list[float]:
    env = {**os.environ, **environment}
    out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    return list(map(float, out.stdout.split()))


def _faults_a_run(keep: str) -> float:
    return _printed(PROGRAM, JAXFLOW_KEEP_PAGES=keep)[0]


def test_freed_memory_is_used_again():
    released, kept = _faults_a_run("0"), _faults_a_run("1")
    assert kept < released / 4


def test_threads_of_xla_have_arenas_of_their_own():
    assert _printed(ARENAS, JAXFLOW_INTERPRET="0")[0] > 2


def test_freed_memory_is_handed_back_when_caches_let_go():
    full, freed, handed_back = _printed(BLOCKS)
    assert full - freed < 10 and freed - handed_back > 80
