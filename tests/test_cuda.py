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
    for call in (cuda.init, cuda.initial_seed, cuda.ipc_collect, cuda.get_sync_debug_mode,
                 cuda.memory_summary, lambda: cuda.set_sync_debug_mode(0),
                 lambda: cuda.can_device_access_peer(0, 1)):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            call()
    assert cuda.is_initialized() is cuda.is_tf32_supported() is False and cuda.default_generators == ()
    assert cuda.memory_stats() == cuda.memory_stats_as_nested_dict() == {}
    cuda.seed()
    cuda.seed_all()
    for call in (cuda.nvtx.range_pop, lambda: cuda.nvtx.mark("a"), lambda: cuda.nvtx.range_push("a")):
        with pytest.raises(RuntimeError, match="NVTX functions not installed"):
            call()
    for made in (cuda.Stream, cuda.Event):
        with pytest.raises(RuntimeError, match="requires CUDA support"):
            made()


@pytest.fixture
def one_gpu(monkeypatch):
    stats = {"bytes_in_use": 10, "peak_bytes_in_use": 30, "pool_bytes": 40, "bytes_limit": 100}
    gpu = types.SimpleNamespace(platform="gpu", device_kind="A Name", compute_capability="9.0",
                                core_count=132, memory_stats=lambda: stats)
    pretended = types.SimpleNamespace(devices=lambda: [gpu])
    monkeypatch.setattr("jaxflow.cuda._gpus.jax", pretended)
    monkeypatch.setattr("jaxflow.accelerator.jax", pretended)
    monkeypatch.setattr("jaxflow._streams.jax", pretended)
    monkeypatch.setattr("jaxflow._exec.waiting.jax",
                        types.SimpleNamespace(device_put=lambda x, _: jax.numpy.asarray(x)))
    monkeypatch.setattr("jaxflow._core.device.accelerator", lambda: "cuda")


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
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    assert x._storage.value.producer is None
    side = cuda.Stream()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        side.record_event(end)
    assert start.elapsed_time(end) >= 0 and side.query() and end.query()
    with pytest.raises(ValueError, match="enable_timing=True"):
        cuda.Event().elapsed_time(end)


def test_streams_are_those_of_any_device(one_gpu):
    stream, event = cuda.Stream(priority=-1), cuda.Event()
    assert isinstance(stream, torch.Stream) and isinstance(event, torch.Event)
    assert stream == cuda.current_stream() == torch.accelerator.current_stream() and stream.cuda_stream == 0
    assert repr(stream) == "<torch.cuda.Stream device=cuda:0 cuda_stream=0x0>"
    assert repr(event) == "<torch.cuda.Event uninitialized>"
    cuda.set_stream(stream)
    torch.accelerator.set_stream(stream)


def test_what_the_allocator_counts(one_gpu):
    assert cuda.memory_stats() == {"allocated_bytes.all.current": 10, "allocated_bytes.all.peak": 30,
                                   "reserved_bytes.all.current": 40}
    assert cuda.memory_stats_as_nested_dict()["allocated_bytes"] == {"all": {"current": 10, "peak": 30}}
    assert [line.split() for line in cuda.memory_summary().splitlines()[1:2]] == [
        ["allocated_bytes.all.current", "10"]]
    with pytest.warns(FutureWarning, match="renamed"):
        assert cuda.memory_cached() == 40
    assert torch.accelerator.get_memory_info() == torch.accelerator.get_memory_info("cuda:0") == (90, 100)
    assert torch.accelerator.memory_stats()["pool_bytes"] == torch.accelerator.memory_reserved(0) == 40
    with pytest.raises(RuntimeError, match="doesn't match the current accelerator cuda"):
        torch.accelerator.memory_stats("cpu")
    with pytest.warns(UserWarning, match="from the start of the process"):
        torch.accelerator.reset_peak_memory_stats()


def test_modes_that_are_accepted(one_gpu):
    cuda.set_sync_debug_mode("default")
    assert cuda.get_sync_debug_mode() == 0 and cuda.is_tf32_supported()
    with pytest.raises(NotImplementedError, match="explain"):
        cuda.set_sync_debug_mode("warn")
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        cuda.set_sync_debug_mode("loud")
    with cuda.device_of(torch.ones(2)):
        assert cuda.current_device() == 0


def test_ranges_are_nested(one_gpu):
    assert [cuda.nvtx.range_push("a"), cuda.nvtx.range_push("b")] == [0, 1]
    assert [cuda.nvtx.range_pop(), cuda.nvtx.range_pop(), cuda.nvtx.range_pop()] == [1, 0, -1]
    with cuda.nvtx.range("step {}", 3):
        cuda.nvtx.mark("now")


def test_the_cpu_has_the_names_of_streams():
    cpu = torch.cpu
    assert cpu.current_stream("cpu").wait_stream(cpu.Stream()) is None and cpu.Event().query()
    with cpu.stream(cpu.Stream()) as given:
        assert given is None


def test_accelerators_without_one():
    if torch.accelerator.is_available():
        pytest.skip("there is one")
    there = torch.accelerator
    calls = (there.current_stream, there.memory_stats, there.get_memory_info, there.max_memory_reserved,
             there.empty_host_cache, there.reset_accumulated_memory_stats,
             lambda: there.device_index(0).__enter__())
    for call in calls:
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            call()
    with torch.accelerator.device_index(None):
        pass
