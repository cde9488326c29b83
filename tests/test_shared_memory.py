"""Tensors and NumPy arrays that are one memory; see NOTE [Host-shared storages].

Random programs held against PyTorch are in `compat_tests/memory`.
"""

import ctypes
import gc
import sys
import threading
import weakref

import jax
import numpy as np
import pytest

import jaxflow as torch
import jaxflow.nn.functional as F
from jaxflow._core import flags
from jaxflow._core.shared import SHARED, HostValue
from jaxflow._core.value import Value
from jaxflow._exec import result_buffers
from jaxflow._memory import addresses
from jaxflow._writes import inplace, writes

LARGE = 300, 300  # more than is copied without thinking


def is_shared(t):
    return t._storage.value.__class__ is HostValue


@pytest.mark.parametrize("shape", [(4, 6), LARGE])
def test_an_array_that_was_given_is_one_memory_with_the_tensor(shape, executor):
    a = np.ones(shape)
    t = torch.from_numpy(a)
    total = t.sum()
    a[0] = 3
    assert total.item() == a.size and t.sum().item() == a.sum() and t[0, 1].item() == 3
    t.mul_(2)
    assert a[0, 0] == 6 and a[1, 0] == 2 and t._version == 1
    t[1:, ::2] = 5
    assert (a[1:, ::2] == 5).all() and (a[1:, 1::2] == 2).all()
    t.T[0].zero_()
    assert not a[:, 0].any() and a[:, 1].all()


@pytest.mark.parametrize("shape", [(4, 6), LARGE])
def test_an_array_that_was_given_out_is_one_memory_with_the_tensor(shape, executor):
    t = torch.ones(shape) + 1
    row = t[1]
    a = t.numpy()
    a[...] = 4
    assert row.sum().item() == 4 * shape[1] and t.mean().item() == 4
    t += 1
    row.mul_(2)
    assert a[0, 0] == 5 and a[1, 0] == 10 and a.flags.writeable
    part = t[2:].detach().numpy()
    part[0, 0] = 7
    assert a[2, 0] == 7 and t[2, 0].item() == 7


def test_a_slice_keeps_the_memory_shared_when_the_array_is_gone():
    t = torch.zeros(10)
    a = t.numpy()
    b = a[2:].view(np.int32)[1:]
    del a
    b[0] = np.float32(5).view(np.int32)
    assert t.tolist() == [0, 0, 0, 5, 0, 0, 0, 0, 0, 0] and is_shared(t)
    del b
    assert not is_shared(t)
    t.add_(1)
    assert t[3].item() == 6


def test_a_storage_is_an_ordinary_one_once_the_other_side_is_gone():
    small, large = torch.zeros(3), torch.ones(LARGE)
    held = small._storage.value
    small.numpy().sum()
    assert small._storage.value is held  # nobody has written
    small.numpy()[1] = 2
    large.numpy()[0, 0] = 2
    assert type(small._storage.value) is type(large._storage.value) is Value
    assert small.tolist() == [0, 2, 0] and large.sum().item() == 90001
    a = np.arange(4.0)
    t = torch.from_numpy(a)
    b = a[1:]
    del a
    assert (t + 1).sum().item() == 10 and is_shared(t)
    del b
    assert (t + 1).sum().item() == 10 and not is_shared(t)
    gc.collect()
    assert t._storage not in SHARED.storages()


def test_a_buffer_is_let_go_of_as_an_array_is():
    for dtype in (torch.uint8, torch.float32):
        t = torch.frombuffer(bytearray(8), dtype=dtype)
        assert (t + 1).sum().item() == t.numel() and not is_shared(t)
    raw = bytearray(8)
    t = torch.frombuffer(raw, dtype=torch.uint8)[2:]
    assert (t + 1).sum().item() == 6 and is_shared(t)
    raw[3] = 5
    assert t.sum().item() == 5
    del raw
    assert (t + 1).sum().item() == 11 and not is_shared(t)
    view = memoryview(bytearray(4))
    t = torch.frombuffer(view, dtype=torch.uint8)
    view[0] = 3
    assert (t + 1).sum().item() == 7 and is_shared(t)
    view[1] = 3
    assert t.tolist() == [3, 3, 0, 0]


def test_imports_that_share():
    a, raw = np.arange(4), bytearray(8)
    for share in (torch.as_tensor, torch.asarray, lambda a: torch.asarray(a, copy=False)):
        t = share(a)
        a[0] += 1
        assert t[0].item() == a[0]
    for copy in (torch.tensor(a), torch.asarray(a, copy=True), torch.as_tensor(a, dtype=torch.float64)):
        assert copy.data_ptr() != a.ctypes.data
    t = torch.frombuffer(raw, dtype=torch.int16, offset=2)
    raw[2] = 7
    t[1] = 1
    assert t.tolist() == [7, 1, 0] and raw[4] == 1


LAYOUTS = lambda a: a[:, ::2], lambda a: a.T, lambda a: a[1:, 1:3], lambda a: a[:, None, 0]


@pytest.mark.parametrize("view", LAYOUTS)
def test_layouts(view, executor):
    a = np.arange(24.0).reshape(4, 6)
    t = torch.from_numpy(view(a))
    assert t.stride() == tuple(s // 8 for s in view(a).strides) and t.storage_offset() == 0
    assert t._base is None and t.is_leaf and t.tolist() == view(a).tolist()
    t.add_(100)
    assert np.array_equal(view(a), np.asarray(t)) and (a >= 100).sum() == t.numel()
    a[...] = 1
    assert t.sum().item() == t.numel()
    assert t.clone().sum().item() == t.numel() and torch.stack([t, t]).sum().item() == 2 * t.numel()


def test_copies_have_memory_of_their_own(executor):
    import copy

    a = np.zeros(3, np.float32)
    t = torch.from_numpy(a)
    made = [t.clone(), copy.deepcopy(t), t + 0, t.to(torch.float64), torch.stack([t])[0],
            torch.zeros(3).copy_(t), torch.nn.Parameter(t.clone()).detach()]
    a[...] = 1
    assert [m.sum().item() for m in made] == [0] * len(made)
    u = torch.zeros(3)
    u.grad = t
    assert u.grad is t
    t.requires_grad_()
    t.backward(torch.from_numpy(b := np.ones(3, np.float32)))
    b[...] = 5
    assert t.grad.tolist() == [1, 1, 1]


def test_a_backward_reads_what_is_there_then(executor):
    a = np.array([1.0, 2.0])
    x, w = torch.from_numpy(a), torch.ones(2, dtype=torch.float64, requires_grad=True)
    loss = (x * w).sum()
    a[0] = 10
    loss.backward()
    assert w.grad.tolist() == [10, 2]
    later = torch.tensor([3.0, 4.0])
    w = torch.ones(2, requires_grad=True)
    loss = (later[:] * w).sum()
    kept = later.numpy()  # lent after it was saved
    kept[1] = 7
    loss.backward()
    assert w.grad.tolist() == [3, 7]


def test_a_backward_reads_memory_that_was_lent_again(executor):
    x, w = torch.tensor([3.0, 4.0]), torch.ones(2, requires_grad=True)
    first = x.numpy()
    loss, part = (x * w).sum(), (x[1:] * w[1:]).sum()
    first[0] = 5
    del first
    assert not is_shared(x)
    again = x.numpy()
    again[1] = 7
    (loss + part).backward()
    assert w.grad.tolist() == [5, 14]


def test_results_that_are_saved_are_as_they_were(executor):
    a = np.array([0.0, 1.0])
    x = torch.from_numpy(a).requires_grad_()
    y = x.exp()
    a[...] = 5
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0, 1]))
    z = x.prod()
    a[0] = 1
    with pytest.raises(RuntimeError, match="ProdBackward0 saved for its backward, together with its result"):
        z.backward()


def test_an_optimizer_writes_at_the_end_of_its_step(executor):
    model = torch.nn.Linear(2, 1)
    weight = model.weight.detach().numpy()
    before = weight.copy()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(3, 2)).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(weight, before - 3, rtol=1e-6)
    weight[...] = 0
    assert (model(torch.ones(1, 2)) == model.bias).all()


def test_compiled_functions_see_what_was_written_and_write():
    a = np.ones(3, np.float32)
    t = torch.from_numpy(a)
    counter = torch.zeros(())
    shown = counter.numpy()

    @torch.compile
    def f(x):
        counter.add_(1)
        x.mul_(2)
        return x + counter

    for k in range(1, 5):
        a[...] = k
        assert f(t).tolist() == [3 * k] * 3 and a.tolist() == [2 * k] * 3 and shown == k


def test_compiled_functions_serve_again_when_the_array_is_gone(deferred):
    weight = torch.ones(3)
    f = torch.compile(lambda x: (x * weight).sum())
    for _ in range(4):
        assert f(torch.ones(3)).item() == 3
    held = weight.numpy()
    held[0] = 5
    assert f(torch.ones(3)).item() == 7
    held[1] = 5
    assert f(torch.ones(3)).item() == 11
    hits = f.explain()["hits"]
    del held
    assert f(torch.ones(3)).item() == 11 and f.explain()["hits"] == hits + 1


def test_threads_write_to_one_memory():
    t = torch.zeros(8)
    a = t.numpy()

    def work(k):
        for _ in range(50):
            t[k].add_(1)
            a[k] += 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert t.tolist() == a.tolist() and a[:4].sum() == 400


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(ValueError, match="At least one stride in the given numpy array is negative"):
        torch.from_numpy(np.ones(3)[::-1])
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        torch.from_numpy(np.ones(3, ">f4"))
    with pytest.raises(ValueError, match="not a multiple of the element byte size"):
        torch.from_numpy(np.ones(3, [("a", "i1"), ("b", "<f4")])["b"])
    with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy.object_"):
        torch.from_numpy(np.array([None]))
    with pytest.raises(RuntimeError, match="requires grad. Use tensor.detach"):
        torch.ones(2, requires_grad=True).numpy()
    with pytest.raises(RuntimeError, match="storage that is not resizable"):
        torch.from_numpy(kept := np.ones(2)).resize_(5)
    assert kept.shape == (2,)
    with pytest.warns(UserWarning, match="NumPy array is not writable"):
        array = np.ones(2)
        array.flags.writeable = False
        torch.set_warn_always(True)
        try:
            torch.from_numpy(array)
        finally:
            torch.set_warn_always(False)


def bytes_at(t):
    return bytes((ctypes.c_ubyte * (t.numel() * t.element_size())).from_address(t.data_ptr()))


def test_addresses_are_those_of_the_bytes(executor):
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64, torch.uint8):
        t = (torch.arange(6) % 3).to(dtype)
        assert bytes_at(t) == bytes(t.untyped_storage().tolist()), dtype
        assert t[2:].data_ptr() == t.data_ptr() + 2 * t.element_size()
        assert t.detach().data_ptr() == t.data_ptr()
    x = torch.ones(4)
    y = x.clone()
    assert x.data_ptr() != y.data_ptr() and x.data_ptr() == x.data_ptr() == x.untyped_storage().data_ptr()
    channels = torch.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)
    in_order = channels.permute(0, 2, 3, 1).flatten().tolist()
    assert np.frombuffer(bytes_at(channels), np.float32).tolist() == in_order
    x.add_(1)
    assert np.frombuffer(bytes_at(x), np.float32).tolist() == [2] * 4
    assert torch.empty(0).data_ptr() == torch.ones(2, device="meta").data_ptr() == 0
    assert torch.ones(3)[3:].data_ptr() == 0


def test_bytes_are_there_when_an_address_is():
    size = 700
    raw, w = np.ones(size * size + 1, np.float32), jax.numpy.ones((size, size), np.float32)
    multiplied = jax.jit(lambda x, w: x @ w @ w)
    for address in (addresses._of, result_buffers.exclusive):
        for _ in range(5):
            # What XLA cannot read where it lies it copies beside what goes on here, and computes there too.
            array = multiplied(raw[1:].reshape(size, size), w)
            result_buffers.register([array], [0])
            assert address(array) is not None or flags.ASYNC
            assert array.is_ready() or flags.ASYNC


def test_an_address_of_shared_memory_may_be_written_to(executor):
    t = torch.zeros(3)
    a = t.numpy()
    assert t.data_ptr() == a.ctypes.data
    ctypes.memmove(t.data_ptr(), np.float32(4).tobytes(), 4)
    assert t.tolist() == [4, 0, 0]


def test_gradients_accumulate_in_memory_that_was_lent(executor):
    x = torch.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    held = x.grad.numpy()
    (x * 2).sum().backward()
    assert held.tolist() == [4, 4, 4]
    held[0] = 9
    (x * 2).sum().backward()
    assert x.grad.tolist() == held.tolist() == [11, 6, 6]
    x.grad.zero_()
    assert not held.any()


def test_threads_that_take_arrays_and_drop_them(switching):
    t = torch.zeros(4)
    wrong, over = [], threading.Event()

    def lender(k):
        for i in range(300):
            a = t.numpy()
            a[k] = i
            if t[k].item() != i:
                wrong.append((k, i))
            del a

    def reader():
        while not over.is_set():
            (t + 1).sum()

    threads = [threading.Thread(target=lender, args=(k,)) for k in range(4)]
    other = threading.Thread(target=reader)
    for thread in (other, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    over.set()
    other.join()
    assert not wrong and t.tolist() == [299] * 4 and not is_shared(t)


@pytest.fixture
def switching():
    """Threads change as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("shape", [(4,), LARGE])
def test_inside_a_trace_of_jax_it_is_read_when_it_is_traced(shape):
    a = np.ones(shape)
    t = torch.from_numpy(a)
    doubled = jax.jit(lambda x: (torch.from_jax(x) * t + t.sum()).jax())
    assert np.asarray(doubled(np.full(shape, 2.0))).max() == 2 + a.size
    assert t.jax().shape == shape
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda x: torch.from_jax(x).numpy())(a)


def test_counters_of_an_optimizer_that_were_taken_as_arrays(executor):
    weights = [torch.ones(2, requires_grad=True) for _ in range(3)]
    optimizer = torch.optim.Adam(weights, lr=0.1)

    def step():
        optimizer.zero_grad()
        sum(w.sum() for w in weights).backward()
        optimizer.step()

    step()
    counters = [optimizer.state[w]["step"].numpy() for w in weights]
    counters[0][...] = 100.0
    step()
    assert [c.item() for c in counters] == [101.0, 2.0, 2.0]
    optimizer.load_state_dict(optimizer.state_dict())
    step()
    # The gradient is always 1: what a step makes of it hangs on the counter alone.
    assert weights[0].tolist() != weights[1].tolist() == weights[2].tolist()


def test_memory_of_nothing_can_be_written_to(executor):
    t = torch.from_numpy(a := np.zeros((0, 3), np.float32))
    for _ in range(12):
        t.copy_(t).add_(1)
        t.numpy().fill(2)
    assert t.shape == a.shape and t._version == 24


BIG = 400_000  # 1.6 MB
SAME = {
    "copy_": lambda a: torch.empty(BIG).copy_(a), "clone": lambda a: a.clone(),
    "pad": lambda a: F.pad(a, (0, 0)),
    "where": lambda a: torch.where(torch.tensor(True), a, a), "expand": lambda a: a.expand(BIG).clone(),
    "squeeze": lambda a: a.squeeze().clone(), "reshape": lambda a: a.reshape(BIG).clone(),
    "add": lambda a: a + 0, "cat": lambda a: torch.cat([a]), "to": lambda a: a.to(torch.float32, copy=True),
}


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("name", SAME)
def test_nobody_else_sees_what_is_written_to_memory_that_was_lent(name, settled, executor):
    """Equal tensors may lie in one array as long as nobody can write to it."""
    for first in (True, False):
        a = torch.arange(BIG).float()
        if settled:
            a[0].item()
        b = SAME[name](a)
        if settled:
            b[0].item()
        written, other = (a, b) if first else (b, a)
        written.numpy().fill(-7)
        assert other[:3].tolist() == [0, 1, 2] and written[:3].tolist() == [-7] * 3


@pytest.mark.filterwarnings("ignore:The given:UserWarning")  # it is not writable
def test_memory_of_a_jax_array_is_never_written_to(executor):
    source = jax.numpy.arange(100_000, dtype="float32")
    shown = np.asarray(source)
    for make in (torch.from_numpy, torch.as_tensor, torch.asarray, torch.from_dlpack,
                 lambda a: torch.frombuffer(memoryview(a), dtype=torch.float32)):
        make(shown).fill_(5)
    assert source[1] == 1 and shown[1] == 1


def test_a_storage_stays_in_the_table_while_it_is_shared():
    t = torch.zeros(3)
    held = t.numpy()
    assert SHARED.at(t._storage.version) is t._storage
    del held
    assert SHARED.at(t._storage.version) is None
    held = t.numpy()
    storage, key = weakref.ref(t._storage), id(t._storage.version)
    del t
    assert storage() is None and key not in SHARED and held.tolist() == [0, 0, 0]


DTYPES = ("float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 int64 int32 int16 int8 uint8 uint16 "
          "uint32 uint64 bool complex64 complex128").split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_buffer_of_any_dtype_is_one_memory_with_the_tensor(dtype, executor):
    dtype = getattr(torch, dtype)
    ones = torch.ones(6).to(dtype)
    buffer = bytearray(bytes(ones.untyped_storage().tolist()))
    t = torch.frombuffer(buffer, dtype=dtype)
    assert t.tolist() == ones.tolist()
    t[2] = 0
    assert bytes(buffer) == bytes(t.untyped_storage().tolist())
    buffer[-dtype.itemsize:] = bytes(dtype.itemsize)
    assert t.tolist() == [1, 1, 0, 1, 1, 0]


class _NotStored:
    """What NumPy cannot store, as if it ran out of memory."""

    def __array__(self, dtype=None, copy=None):
        raise MemoryError("not stored")


def _not_stored(monkeypatch):
    """Let every store into shared memory fail when it is under way, in one call with what counts it."""
    row, part = writes._memory_row, inplace.part_of
    monkeypatch.setattr(writes, "_memory_row", lambda *args: (*row(*args)[:3], _NotStored()))

    def failing_part(*args):
        found = part(*args)
        return found and (*found[:3], _NotStored())

    monkeypatch.setattr(inplace, "part_of", failing_part)


@pytest.mark.parametrize("write", [
    lambda t: t.add_(1), lambda t: t.fill_(2), lambda t: t.__setitem__(0, 5), lambda t: t[1:].mul_(2),
    lambda t: t.__setitem__(Ellipsis, 3), lambda t: t.copy_(torch.ones(t.shape)),
    lambda t: t.copy_(t.flip(0)), lambda t: torch.add(t, 1, out=t), lambda t: t.normal_(),
    lambda t: t.index_fill_(0, torch.tensor([0]), 4), lambda t: torch._foreach_add_([t, t[:1]], 1),
    lambda t: t.mul_(torch.zeros(t.shape, requires_grad=True)),
    lambda t: t[1:].mul_(torch.zeros(t[1:].shape, requires_grad=True))])
@pytest.mark.parametrize("size", [4, 40000])  # of the larger one a part is written alone
def test_a_store_that_numpy_cannot_do_is_not_counted(write, size, executor, monkeypatch):
    array = np.arange(size, dtype=np.float32)
    before = array.copy()
    t, w = torch.from_numpy(array), torch.ones(size, requires_grad=True)
    loss = (t * w).sum()
    seed = torch.random.get_rng_state()
    with monkeypatch.context() as patch:
        _not_stored(patch)
        with pytest.raises(MemoryError, match="not stored"):
            write(t)
    assert (array == before).all() and t._version == 0 and t.grad_fn is None and not t.requires_grad
    assert torch.random.get_rng_state().equal(seed)
    loss.backward()
    assert w.grad.numpy().tolist() == before.tolist()
    write(t)
    assert t._version > 0 and not (array == before).all()
