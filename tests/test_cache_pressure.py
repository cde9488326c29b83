"""NOTE [Room for programs]: a process that compiles without end must not run out of memory mappings."""

import os
import subprocess
import sys

import pytest

import jaxflow as torch
from jaxflow._core import cache_pressure
from jaxflow._exec import program_cache

pytestmark = pytest.mark.usefixtures("compiled")

# In a process of its own: threads, and whatever else is loaded and freed beside it, have mappings, too.
FORGETTING = """
import jaxflow as torch
from jaxflow._core import flags
from jaxflow._core import cache_pressure

flags.INTERPRET = False

def use(n):
    return [torch.ones(k).sin().sum().item() for k in range(n, n + 20)]

use(1)  # whatever is loaded on first use
before = cache_pressure.mappings()
first = use(400)
peak = cache_pressure.mappings()
cache_pressure.forget()
print(before, peak, cache_pressure.mappings(), use(400) == first)
"""


def test_forgotten_programs_give_their_mappings_back(executor):
    found = subprocess.run(
        [sys.executable, "-c", FORGETTING], env={**os.environ, "JAXFLOW_EXECUTION": executor},
        capture_output=True, text=True, check=True,
    ).stdout.split()
    before, peak, after = map(int, found[:3])
    assert peak > before + 20 and after - before <= (peak - before) / 2
    assert found[3] == "True"


def test_programs_are_forgotten_when_there_is_no_room(monkeypatch, deferred):
    x = torch.ones(3)
    (x * 2).sum().item()
    assert program_cache.executables()
    monkeypatch.setattr(cache_pressure, "_crowded", lambda: True)
    for _ in range(cache_pressure._EVERY):
        cache_pressure.made()
    assert not program_cache.executables()
    assert (x * 2).sum().item() == 6
