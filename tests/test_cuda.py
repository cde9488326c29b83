"""What programs ask GPUs about, where there is none, and of one that is pretended."""

import types

import jax
import pytest

import jaxflow as torch
from jaxflow import cuda


def test_without_a_gpu():
    if cuda.is_available():
        pytest.skip("there is one")
    assert cuda.memory_allocated() == cuda.max_memory_reserved() == cuda.device_count() == 0
    assert cuda.get_rng_state_all() == []
    cuda.set_rng_state_all([])
    with cuda.stream(None):
        pass
    for call in (cuda.current_stream, cuda.get_device_properties, cuda.mem_get_info, cuda.get_rng_state,
                 lambda: cuda.set_device(0), cuda.reset_peak_memory_stats, cuda.current_device):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            call()
    for made in (cuda.Stream, cuda.Event):
        with pytest.raises(RuntimeError, match="requires CUDA support"):
            made()


@pytest.fixture
def one_gpu(monkeypatch):
    stats = {"bytes_in_use": 10, "peak_bytes_in_use": 30, "pool_bytes": 40, "bytes_limit": 100}
    gpu = types.SimpleNamespace(platform="gpu", device_kind="A Name", compute_capability="9.0",
                                core_count=132, memory_stats=lambda: stats)
    pretended = types.SimpleNamespace(devices=lambda: [gpu], device_put=lambda x, _: jax.numpy.asarray(x))
    monkeypatch.setattr("jaxflow.cuda._gpus.jax", pretended)


def test_of_one_gpu(one_gpu):
    assert cuda.get_device_capability() == (9, 0) and cuda.get_device_name(0) == "A Name"
    about = cuda.get_device_properties("cuda:0")
    assert (about.name, about.total_memory, about.multi_processor_count) == ("A Name", 100, 132)
    assert cuda.mem_get_info() == (90, 100)
    assert (cuda.memory_allocated(), cuda.max_memory_allocated(0), cuda.memory_reserved()) == (10, 30, 40)
    cuda.set_device(0)
    with pytest.raises(AssertionError, match="Invalid device id"):
        cuda.set_device(1)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.get_device_name("cpu")
    with pytest.warns(UserWarning, match="from the start of the process"):
        cuda.reset_peak_memory_stats()


def test_events_wait_for_what_was_recorded(one_gpu):
    x = torch.ones(3) * 2
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    assert x._storage.value.producer is None
    side = cuda.Stream()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        side.record_event(end)
    assert start.elapsed_time(end) >= 0 and side.query() and end.query()
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        cuda.Event().elapsed_time(end)
