"""A sample of the long runs: fewer repetitions, under a smaller budget that they spend many times."""

import sys

import pytest

from . import long_life

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")


def test_ever_new_shapes_take_no_more_memory(monkeypatch):
    monkeypatch.setenv("JAXFLOW_KEEP_MB", "64")
    found = long_life.run("sizes", 8000, 1000)
    assert found["grown"] < 15  # 100 without a budget
    assert found["evicted"] > 10_000


def test_training_on_ever_new_shapes_takes_no_more_memory(monkeypatch):
    monkeypatch.setenv("JAXFLOW_KEEP_MB", "64")
    found = long_life.run("steps", 1200, 200)
    assert found["grown"] < 20
    assert found["evicted"] > 10_000


def test_compiled_functions_that_are_dropped_take_no_more_memory(monkeypatch):
    monkeypatch.setitem(long_life.PARTS["models"].environment, "JAXFLOW_KEEP_MB", "12")
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
    found = long_life.run("models", 36, 12)
    assert found["grown"] < 40
    assert max(found["programs"]) < 60  # each network has some five
    assert found["evicted"] > 36 * 3
