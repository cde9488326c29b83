"""`torch.Stream` and `torch.Event` on CPUs, where work is in order and nothing records it."""

import pytest

import jaxflow as torch


def test_a_stream_waits_for_what_was_recorded():
    stream = torch.Stream()
    y = torch.ones(3) + 1
    with stream as given:
        assert given is stream
    assert stream.synchronize() is None and stream.query()
    assert y.tolist() == [2.0, 2.0, 2.0]


def test_all_streams_of_a_device_are_one():
    stream = torch.Stream("cpu")
    assert stream == torch.Stream(device="cpu", priority=1) and hash(stream) == hash(torch.Stream("cpu"))
    assert stream != torch.Stream("meta")
    assert repr(stream) == "torch.Stream device_type=cpu, device_index=-1, stream_id=0"


def test_a_cpu_has_no_events():
    stream, event = torch.Stream("cpu"), torch.Event("cpu", enable_timing=True)
    for call in (stream.record_event, event.record, lambda: stream.wait_stream(stream)):
        with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
            call()
    assert event.query() and event.wait() is None and event.synchronize() is None
    with pytest.raises(ValueError, match="enable_timing"):
        event.elapsed_time(torch.Event("cpu"))
    with pytest.raises(ValueError, match="recorded"):
        event.elapsed_time(event)


def test_devices_that_are_not_there():
    with pytest.raises(RuntimeError, match="xpu"):
        torch.Stream("xpu")


def test_options_of_printing_for_a_block():
    before = torch._tensor_str.get_printoptions()
    with pytest.raises(KeyError), torch._tensor_str.printoptions(precision=2, sci_mode=False):
        assert str(torch.tensor([0.5])) == "tensor([0.50])"
        raise KeyError
    assert torch._tensor_str.get_printoptions() == before


def test_states_of_devices_and_selective_checkpoints():
    given = torch.ones(2), {"a": torch.ones(2, device="meta")}, 1.5
    assert torch.utils.checkpoint.get_device_states(*given) == ([], [])
    torch.utils.checkpoint.set_device_states([], [])
    with pytest.raises(RuntimeError, match="There are no xpu devices"):
        torch.utils.checkpoint.set_device_states([0], [torch.get_rng_state()], device_type="xpu")
    assert torch.utils.checkpoint.CheckpointPolicy.MUST_RECOMPUTE.value == 2
    with pytest.raises(NotImplementedError, match="create_selective_checkpoint_contexts"):
        torch.utils.checkpoint.create_selective_checkpoint_contexts([])
