"""Storages, and the small helpers that programs borrow from PyTorch's inside."""

import pytest

import jaxflow as torch


def test_storages_tell_who_shares_memory(executor):
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    row, other = x[1], torch.zeros(2, 3)
    whole = x.t().untyped_storage()
    assert whole.nbytes() == len(whole) == 24 and whole.data_ptr() == x.data_ptr()
    assert row.untyped_storage() == whole != other.untyped_storage()
    assert row.untyped_storage().data_ptr() == whole.data_ptr() != row.data_ptr()
    typed = row._typed_storage()
    assert typed.tolist() == [0, 1, 2, 3, 4, 5] and typed[4] == 4 and typed.dtype is torch.float32
    assert torch.is_storage(typed) and not torch.is_storage(x) and x.get_device() == -1
    rebuilt = torch._utils._rebuild_tensor_v2(typed, 1, (2, 2), (2, 1), False, {})
    assert rebuilt.tolist() == [[1, 2], [3, 4]]
    rebuilt.zero_()
    assert x.tolist() == [[0, 0, 0], [0, 0, 5]]
    whole.resize_(0)
    with pytest.raises(RuntimeError, match="not allocated yet"):
        row.sum()


def test_python_functions_element_by_element(executor):
    x = torch.arange(4, dtype=torch.float32)
    assert x.apply_(lambda v: v + 1) is x and x.tolist() == [1, 2, 3, 4]
    assert x.map_(torch.full((), 2.0), lambda a, b: a * b).tolist() == [2, 4, 6, 8]
    assert x.map2_(x, x, lambda a, b, c: a - b - c).tolist() == [-2, -4, -6, -8]
    with pytest.raises(RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad"):
        x.requires_grad_().apply_(abs)


def test_tensors_change_places(executor):
    a, b = torch.ones(2, requires_grad=True), torch.zeros(3)
    a.note = "mine"
    torch.utils.swap_tensors(a, b)
    assert a.shape == (3,) and b.shape == (2,) and b.requires_grad and b.note == "mine"
    b.sum().backward()
    with pytest.raises(RuntimeError, match="use_count of t1"):
        (b * 2).sum(), torch.utils.swap_tensors(b, a)


def test_many_tensors_as_one(executor):
    parts = [torch.ones(2, 2), torch.zeros(3)]
    flat = torch._utils._flatten_dense_tensors(parts)
    assert flat.tolist() == [1, 1, 1, 1, 0, 0, 0]
    again = torch._utils._unflatten_dense_tensors(flat, parts)
    assert [t.shape for t in again] == [t.shape for t in parts] and again[0]._base is flat
    assert [len(taken) for taken in torch._utils._take_tensors(parts, 16)] == [1, 1]


def test_checks_and_switches():
    torch._check(True)
    with pytest.raises(IndexError, match="too far"):
        torch._check_index(False, lambda: "too far")
    with pytest.raises(TypeError, match="cond must be a bool"):
        torch._check(1)
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    torch.set_deterministic_debug_mode("warn")
    assert torch.get_deterministic_debug_mode() == 1 and torch.are_deterministic_algorithms_enabled()
    torch.set_deterministic_debug_mode(0)
    assert not torch.is_autocast_enabled() and torch.get_autocast_dtype("cpu") is torch.bfloat16
    with pytest.warns(FutureWarning, match=r"in favor of `nn.init.constant_`"):
        assert torch.nn.init.constant(torch.ones(2), 3.0).tolist() == [3.0, 3.0]
    assert not torch.xpu.is_available() and torch.mps.device_count() == 0
    assert torch.get_device_module("cpu") is torch.cpu
    with pytest.raises(AssertionError, match="XPU"):
        torch.xpu.synchronize()


def test_kernels_of_attention_are_remembered():
    from jaxflow.nn.attention import SDPBackend, sdpa_kernel

    switches = torch.backends.cuda
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        assert switches.flash_sdp_enabled() and not switches.mem_efficient_sdp_enabled()
    switches.enable_flash_sdp(False)
    assert not switches.flash_sdp_enabled() and switches.cudnn_sdp_enabled()
    switches.enable_flash_sdp(True)
    with pytest.raises(AssertionError, match="must be an instance of SDPBackend"), sdpa_kernel("math"):
        pass
