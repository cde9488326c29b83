"""NOTE [Lowered and let go]: of an operation that is compiled by itself, only the compiled program stays."""

import ctypes
import os
import platform
import subprocess
import sys

import pytest

import jaxflow as torch
from jaxflow._core import budget, cache_pressure
from jaxflow._exec import eager as eager_executor

# What is in use of the C library's memory, in megabytes, for each of thirty products of other shapes.
MEMORY = """
import ctypes, gc
import jaxflow as torch

class Info(ctypes.Structure):
    _fields_ = [(f"field{i}", ctypes.c_size_t) for i in range(10)]  # the eighth is what is in use

mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Info

def use(sizes):
    for n in sizes:
        (torch.ones(n) * 3.0).tolist()
    gc.collect()
    return mallinfo2().field7 / 1e6

before = use(range(2, 22))
print((use(range(22, 52)) - before) / 30)
"""

SPREAD = """
import jax, numpy as np
import jaxflow as torch
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()), ("a",))
spread = jax.device_put(np.arange(8.0), NamedSharding(mesh, PartitionSpec("a")))
(torch.arange(8.0, dtype=torch.float64) * 2).tolist()  # compiled for one device
result = torch.from_jax(spread) * 2
print(len(result._storage.value.get().devices()), *result.tolist())
"""


def _printed(program, **environment):
    environment = {**os.environ, "JAXFLOW_EXECUTION": "eager", **environment}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                          check=True)
    return done.stdout.split()


@pytest.fixture
def eager():
    """Run the test in the eager executor, with nothing compiled by itself before."""
    eager_executor._compiled.clear()
    with torch.execution("eager"):
        yield


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="the C library does not tell what is in use",
)
def test_what_was_lowered_is_let_go():
    assert float(_printed(MEMORY)[0]) < 1  # 3 with what was lowered: `ones` and the product


def test_arrays_on_several_devices_stay_there():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    assert _printed(SPREAD, XLA_FLAGS=flags) == ["2", *(str(float(n)) for n in range(0, 16, 2))]


def test_one_program_serves_all_calls(eager):
    x = torch.ones(3)
    assert (x * 2.0).tolist() == [2] * 3
    made = len(eager_executor._compiled)
    assert (x * 5.0).tolist() == [5] * 3 and len(eager_executor._compiled) == made > 0
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.ones(3, dtype=torch.int64) * 2**70
    assert (torch.ones(4) * 2.0).tolist() == [2] * 4 and len(eager_executor._compiled) > made


@pytest.mark.parametrize("forget", [cache_pressure.forget, lambda: (budget.rotate(), budget.rotate())])
def test_what_is_not_used_is_forgotten_and_made_again(eager, forget):
    x = torch.ones(3)
    first = (x * 2.0).tolist()
    assert len(eager_executor._compiled)
    forget()
    assert not len(eager_executor._compiled)
    assert (x * 2.0).tolist() == first
