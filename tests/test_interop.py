"""Tensors exchanged with NumPy and jax: DLPack, `np.asarray`, `from_jax`, jnp functions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")


def grid():
    return torch.arange(6.0).reshape(2, 3)


# ----- DLPack -------------------------------------------------------------------------------------


def test_dlpack_to_numpy_and_jax():
    x = grid()
    for t in (x, x.t(), x[:, 1:], x.bool(), x.long(), x.to(torch.complex64), x[:0], x[1, 1]):
        for imported, given in ((np.from_dlpack, t), (jax.dlpack.from_dlpack, t.contiguous())):
            got = imported(given)
            assert got.tolist() == t.tolist() and str(got.dtype) == str(t.dtype).removeprefix("torch.")
    assert jax.dlpack.from_dlpack(x.to(torch.bfloat16)).dtype == jnp.bfloat16
    assert x.__dlpack_device__() == (torch.utils.dlpack.DLDeviceType.kDLCPU, 0)


def test_dlpack_from_numpy_and_jax():
    source = np.arange(8)
    t = torch.from_dlpack(source[::2])
    source[0] = 100
    assert t.tolist() == [100, 2, 4, 6] and t.dtype is torch.int64
    array = jnp.arange(3.0, dtype=jnp.bfloat16)
    assert torch.from_dlpack(array).jax() is array
    assert torch.from_dlpack(np.ones((), bool), device="cpu").item() is True


def test_a_capsule_is_used_once():
    capsule = torch.utils.dlpack.to_dlpack(grid().t())
    assert torch.utils.dlpack.from_dlpack(capsule).tolist() == grid().t().tolist()
    for used in (capsule, 3):
        with pytest.raises(RuntimeError, match="invalid capsule"):
            torch.from_dlpack(used)


def test_dlpack_of_our_own_tensor_shares_storage():
    x = grid()
    y = torch.from_dlpack(x)
    y.mul_(2)
    assert x.tolist() == y.tolist() == (grid() * 2).tolist()
    assert torch.from_dlpack(x, copy=True).zero_().sum() == 0 and x[1, 2] == 10


def test_what_dlpack_refuses():
    x = grid()
    y = x.clone()
    with pytest.raises(BufferError, match="require gradient"):
        x.requires_grad_().__dlpack__()
    with pytest.raises(BufferError, match="require gradient"):
        torch.from_dlpack(x)
    with pytest.raises(BufferError, match=r"Tensor\.to\(\)"):
        y.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="return it from the function"):
        jax.jit(lambda t: t.__dlpack__())(y)


# ----- NumPy --------------------------------------------------------------------------------------


def test_asarray_shares_and_array_copies():
    x = grid()
    shared, copy = np.asarray(x), np.array(x)
    copy[0, 0] = 7
    shared[0, 1] = 9
    assert x[0, 0] == 0 and x[0, 1] == 9 and np.asarray(x, dtype="int32").dtype == np.int32
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(x, dtype="int32", copy=False)


def test_asarray_takes_whatever_there_is():
    array = jnp.arange(3)
    assert torch.asarray(array, copy=False).jax() is array
    assert torch.asarray(grid()[0], dtype=torch.int64).tolist() == [0, 1, 2]
    assert torch.asarray(np.arange(2)).tolist() == [0, 1] and torch.asarray(bytearray(4)).tolist() == [0.0]
    for refused in (np.float32(2), [1]):
        with pytest.raises(ValueError, match="can't alias"):
            torch.asarray(refused, copy=False)
    source = bytearray(b"\x01\x00\x02\x00")
    t = torch.frombuffer(source, dtype=torch.int16)
    source[0] = 9
    assert t.tolist() == [9, 2]
