"""Storages: the memory behind tensors, read, written, resized, sliced, mapped and shared.

What PyTorch gives for the same lines is compared in `compat_tests/memory`.
"""

import copy
import gc
import os
import pickle
import warnings

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.value import Value

pytestmark = [
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:Casting complex values to real"),
]
KINDS = torch.uint8, torch.int16, torch.float32, torch.float64, torch.complex64, torch.bool, torch.bfloat16


def made(how):
    """A tensor of [0, 1, 2, 3] in float32 whose memory is ordinary, or another side's, too."""
    t = torch.arange(4.0)
    if how == "ours":
        return t, None
    if how == "lent":
        return t, t.numpy()
    if how == "mapped":
        return t.share_memory_(), None
    a = np.arange(4, dtype=np.float32)
    return torch.from_numpy(a), a


every_memory = pytest.mark.parametrize("how", ["ours", "lent", "given", "mapped"])


@every_memory
def test_what_is_written_to_a_storage_is_seen_by_all(how, executor):
    t, array = made(how)
    s, row, total = t.untyped_storage(), t[2:], t.sum()
    s[0:4] = 0
    s[7] = 0x40  # the highest byte of the second number, which was 1
    s[-1] = 0xC0  # the sign of the last
    assert t.tolist() == [0, 4, 2, -3]
    assert s.tolist() == list(np.asarray(t.tolist(), np.float32).tobytes())
    assert row.tolist() == t.tolist()[2:] and total.item() == 6
    assert array is None or array.tolist() == t.tolist()
    t.fill_(1)
    assert s.tolist() == [0, 0, 0x80, 0x3F] * 4 and s[2] == 0x80 and t._version == 1
    t.storage().fill_(7)
    t.storage()[1:3] = 5
    t.storage()[-1] = 4
    assert t.tolist() == [7, 5, 5, 4] and t._version == 1
    assert array is None or array.tolist() == [7, 5, 5, 4]


@every_memory
def test_a_slice_of_a_storage_shares_its_memory(how, executor):
    t, array = made(how)
    s = t.untyped_storage()
    part = s[4:12]
    x = torch.asarray(part, dtype=torch.float32)
    assert part.data_ptr() == s.data_ptr() + 4 and part.nbytes() == 8 and x.tolist() == [1, 2]
    x.mul_(10)
    part[7] = 0xC1
    assert t.tolist() == [0, 10, -20, 3] and (array is None or array.tolist() == t.tolist())
    t[1] = 6
    if array is not None:
        array[2] = 8
    assert x.tolist() == [6, 8 if array is not None else -20]
    del s, t, array
    gc.collect()
    assert x[0].item() == 6  # the slice keeps the memory


def test_a_slice_that_is_gone_leaves_an_ordinary_storage():
    t = torch.arange(4.0)
    part = t.untyped_storage()[4:8]
    part.fill_(0)
    del part
    assert type(t._storage.value) is Value and t.tolist() == [0, 0, 2, 3]


@pytest.mark.parametrize("dtype", KINDS)
def test_elements_of_every_dtype(dtype, executor):
    t = torch.tensor([1, 0, 1, 1, 0, 1]).to(dtype)
    s = t.storage()
    assert s.dtype is dtype and s.tolist() == t.tolist() and list(s) == t.tolist() and s[-1] == t[-1].item()
    s[1] = 1
    s[3:5] = 0
    assert t.tolist() == [1, 1, 1, 0, 0, 1] and s.size() == 6 and s.element_size() == t.itemsize
    assert s.untyped() is t.untyped_storage() and len(s.untyped()) == s.nbytes() == 6 * t.itemsize
    assert s.clone().tolist() == s.tolist() and s.clone().data_ptr() != s.data_ptr()
    assert s.float().tolist() == [1, 1, 1, 0, 0, 1] and s.float().dtype is torch.float32
    before = t.untyped_storage().tolist()
    s.untyped().byteswap(dtype)
    width = t.itemsize // (2 if dtype.is_complex else 1)
    turned = np.array(before).reshape(-1, width)[:, ::-1]
    assert s.untyped().tolist() == turned.reshape(-1).tolist()


def test_storages_of_views_and_of_other_orders_of_memory(executor):
    t = torch.arange(6.0).reshape(2, 3)
    for view in (t[1:], t.T, t[..., ::2], t.detach(), t.data, t.view(torch.int32)):
        assert view.untyped_storage() is t.untyped_storage() and view.untyped_storage().nbytes() == 24
    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    x[0, 1] = 5
    assert x.storage().tolist()[:6] == [1, 5, 1, 1, 5, 1]
    x.storage()[2] = 9
    assert x[0, 2, 0, 0].item() == 9 and (x != 1).sum().item() == 17
    z = torch.tensor([1 + 2j, 3 + 4j]).conj()
    assert z.storage().tolist() == [1 + 2j, 3 + 4j]


def test_tensors_made_of_storages(executor):
    s = torch.FloatStorage([1, 2, 3, 4])
    t, u = torch.asarray(s), torch.tensor(s)  # in PyTorch the latter is no copy, either
    s[0] = 9
    assert t.tolist() == u.tolist() == [9, 2, 3, 4]
    assert torch.as_tensor(s.untyped(), dtype=torch.float32).data_ptr() == t.data_ptr()
    with pytest.raises(RuntimeError, match="Storage of type Float or an UntypedStorage, but got Long"):
        torch.tensor(torch.LongStorage([1]))
    assert torch.tensor(torch.UntypedStorage([1, 2, 300])).shape == (0,)
    assert torch.tensor(torch.UntypedStorage([1, 2, 300]), dtype=torch.uint8).tolist() == [1, 2, 44]
    assert torch.asarray(torch.UntypedStorage([1] * 6), dtype=torch.int32).tolist() == [0x01010101]
    assert torch.FloatTensor(s).tolist() == torch.Tensor(s).tolist() == [9, 2, 3, 4]
    with pytest.raises(ValueError, match="can't alias"):
        torch.asarray(s, copy=False)


def test_a_tensor_is_set_to_a_storage(executor):
    t = torch.arange(6.0)
    s = t.untyped_storage()
    x = torch.zeros(0).set_(s, 1, (2, 2), (2, 1))
    x.add_(10)
    assert t.tolist() == [0, 11, 12, 13, 14, 5] and x.untyped_storage() is s and x.storage_offset() == 1
    assert torch.zeros(0).set_(s).tolist() == t.tolist()
    assert torch.zeros(0, dtype=torch.uint8).set_(s).shape == (24,)
    assert torch.zeros(0).set_(t.storage(), 2, (3,)).tolist() == [12, 13, 14]
    with pytest.raises(RuntimeError, match="Expected a Storage of type int or an UntypedStorage, but got"):
        torch.zeros(0, dtype=torch.int32).set_(t.storage())
    y = torch.zeros(0).set_(s, 4, (4,))  # too small for that: it grows
    assert s.nbytes() == 32 and y.tolist() == [14, 5, 0, 0]
    y[:2] = 1
    assert t.tolist() == [0, 11, 12, 13, 1, 1]
    t[5] = 2
    assert y.tolist() == [1, 2, 0, 0] and x.tolist() == [[11, 12], [13, 1]]


def test_a_storage_that_was_resized_is_so_for_all_tensors(executor):
    t = torch.arange(4.0)
    s, row, double = t.untyped_storage(), t[:2], t * 2
    assert s.resize_(8) is s and s.nbytes() == t.storage().nbytes() == 8 and t.shape == (4,)
    assert row.tolist() == [0, 1] and double.tolist() == [0, 2, 4, 6]
    for use in (t.sum, t.tolist, t.clone, lambda: t + 1, lambda: t.add_(1), t[3].item, t.numpy,
                t[2:].zero_, t.__repr__):
        with pytest.raises(RuntimeError, match="its data is not allocated yet"):
            use()
    row.add_(1)
    s.resize_(0)
    assert t.data_ptr() == 0 and s.tolist() == []
    s.resize_(16)
    assert t.tolist() == [0, 0, 0, 0] and type(t._storage.value) is Value
    s.copy_(torch.arange(1.0, 5).untyped_storage())
    assert t.tolist() == [1, 2, 3, 4] and row.tolist() == [1, 2] and t._version == 1
    s.resize_(24)
    t.mul_(2)
    assert s.nbytes() == 24 and t.storage().tolist() == [2, 4, 6, 8, 0, 0]
    t.storage()[5] = 3
    assert torch.zeros(0).set_(s).tolist() == [2, 4, 6, 8, 0, 3]


def test_a_storage_grows_and_shrinks_for_all_tensors_as_often_as_one_asks(executor):
    whole = torch.arange(4.0)
    view, s = whole[1:3], whole.untyped_storage()
    assert view.resize_(5).untyped_storage().nbytes() == s.nbytes() == 24
    assert view.resize_(50).shape == (50,) and s.nbytes() == 204
    whole[2] = 7
    view[2] = 8
    assert whole.tolist() == [0, 1, 7, 8] and view[:4].tolist() == [1, 7, 8, 0]
    assert whole.data_ptr() + 4 == view.data_ptr() and whole._version == view._version == 4
    view.resize_(2)
    s.resize_(20)
    assert whole.resize_(5).tolist() == [0, 1, 7, 8, 0] and view.tolist() == [1, 7]
    array = view.numpy()
    for grow in (lambda: whole.resize_(9), lambda: s.resize_(0), lambda: view.set_(s, 0, (9,))):
        with pytest.raises(RuntimeError, match="not resizable"):
            grow()
    array[0] = 3
    assert whole.tolist() == [0, 3, 7, 8, 0]


def test_a_tensor_takes_what_its_storage_has_room_for(executor):
    t = torch.arange(4.0)
    t.untyped_storage().resize_(64)
    assert t.resize_(8).tolist() == [0, 1, 2, 3, 0, 0, 0, 0] and t.untyped_storage().nbytes() == 64
    t.untyped_storage().resize_(0)
    assert t.resize_(2).tolist() == [0, 0] and t.untyped_storage().nbytes() == 8
    assert t.set_(t.untyped_storage(), 0, (6,)).add_(1).tolist() == [1] * 6
    shown = t.detach()
    shown.resize_(9).share_memory_()
    t[0] = 5
    assert t.is_shared() and shown.tolist() == [5, 1, 1, 1, 1, 1, 0, 0, 0]


def test_a_compiled_function_sees_that_a_storage_was_resized():
    function = torch.compile(lambda x: x * 2)
    t = torch.ones(4)
    assert function(t).tolist() == function(t).tolist() == [2, 2, 2, 2]
    t.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="its data is not allocated yet"):
        function(t).tolist()
    t.untyped_storage().resize_(16).copy_(torch.full((4,), 3.0).untyped_storage())
    assert function(t).tolist() == [6, 6, 6, 6]


@pytest.mark.parametrize("how", ["given", "mapped", "lent"])
def test_memory_of_others_is_not_resized(how):
    t, _array = made(how)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        t.untyped_storage().resize_(64)
    assert not t.untyped_storage().resizable() and torch.ones(2).untyped_storage().resizable()


@pytest.mark.parametrize("make", [
    lambda: torch.from_numpy(np.ones(4)), lambda: torch.as_tensor(np.ones(4))[:],
    lambda: torch.frombuffer(bytearray(32), dtype=torch.float64), lambda: torch.from_dlpack(np.ones(4)),
    lambda: _asked_for_an_array(torch.ones(4)), lambda: torch.ones(4).untyped_storage()[:]])
def test_memory_that_others_had_is_not_resized_when_they_are_gone(make):
    made = make()
    if isinstance(made, torch.Tensor):
        made.add_(1)
        assert made.resize_(2).shape == (2,)
        for grow in (lambda: made.resize_(9), lambda: made.set_(made.untyped_storage(), 0, (9,))):
            with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
                grow()
        made = made.untyped_storage()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        made.resize_(0)
    assert not made.resizable()


def _asked_for_an_array(t):
    t.numpy()
    return t


def test_a_storage_grows_and_shrinks_in_a_compiled_function():
    def grown(t):
        t.resize_(6)[4:] = 1
        return t * 2

    def freed_and_back(t):
        t.untyped_storage().resize_(0)
        t.untyped_storage().resize_(16)
        return t.fill_(3) * 2

    def written_out(t):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.add(torch.ones(5), 1, out=t)

    for function, expected, nbytes in (
            (grown, [0, 2, 4, 6, 2, 2], 24), (freed_and_back, [6] * 4, 16), (written_out, [2] * 5, 20)):
        compiled = torch.compile(function)
        for _ in range(3):
            whole = torch.arange(4.0)
            shown = whole[:]
            assert compiled(shown).tolist() == expected and whole.untyped_storage().nbytes() == nbytes
            assert compiled(shown).tolist() == expected and shown.data_ptr() == whole.data_ptr()
        for shared in (np.arange(4, dtype=np.float32), np.from_dlpack(torch.arange(4.0))):
            t = torch.from_dlpack(shared)
            with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
                torch.compile(function)(t)
            assert t.shape == (4,) and t.tolist() == [0, 1, 2, 3] and t._version == 0


def test_parts_of_a_training_step_live_while_a_parameter_is_freed(executor):
    layer = torch.nn.Linear(3, 2)
    weight = layer.weight.detach().clone()
    storage = layer.weight.untyped_storage()
    for _ in range(2):
        storage.resize_(0)
        storage.resize_(24)
        layer.weight.data.copy_(weight)
        layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight.grad.tolist() == [[2, 2, 2], [2, 2, 2]] and layer.weight.equal(weight)


def test_copies_of_storages(executor):
    t = torch.arange(3.0)
    s = t.untyped_storage()
    for made in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), s.clone()):
        assert type(made) is torch.UntypedStorage and made.tolist() == s.tolist() and made != s
        made.fill_(0)
    typed = t.storage()
    for made in (copy.copy(typed), copy.deepcopy(typed), pickle.loads(pickle.dumps(typed))):
        assert made.tolist() == [0, 1, 2] and made.dtype is torch.float32 and made.data_ptr() != s.data_ptr()
    x, y = copy.deepcopy([t, s])
    y.fill_(0)
    assert x.tolist() == [0, 0, 0] and t.tolist() == [0, 1, 2] and x.untyped_storage() is y
    assert s.cpu() is s and s.to(device="cpu") is s and s.untyped() is s
    assert hash(s) == hash(t.untyped_storage())


@pytest.mark.parametrize(("use", "error", "text"), [
    (lambda s: s[12], IndexError, "index 12 out of range for storage of size 12"),
    (lambda s: s[1.0], TypeError, "can't index a torch.UntypedStorage with float"),
    (lambda s: s[::2], RuntimeError, "Trying to slice with a step of 2"),
    (lambda s: s.__setitem__(0, 1.5), RuntimeError, "can only set storage content with a int types"),
    (lambda s: s.__setitem__(12, 1), RuntimeError, "out of bounds"),
    (lambda s: s.fill_("a"), RuntimeError, "fill_ expects int, but got str"),
    (lambda s: s.resize_("a"), RuntimeError, "resize_ expects an int, but got str"),
    (lambda s: s.resize_(-1), RuntimeError, "negative"),
    (lambda s: s.copy_(torch.UntypedStorage(8)), RuntimeError, "self was 12 bytes but src was 8 bytes"),
    (lambda s: s.copy_(torch.ones(3)), TypeError, "must be torch.Storage, not Tensor"),
    (lambda s: s.float()[0:1], RuntimeError, "slices are only supported in UntypedStorage.__getitem__"),
    (lambda s: s.float()["a"], RuntimeError, "can't index a"),
    (lambda s: s.float()[12], IndexError, "index 12 out of range"),
    (lambda s: torch.UntypedStorage(2.5), RuntimeError, "Expected a sequence type, but got float"),
    (lambda s: torch.UntypedStorage(4, device="meta")[0], NotImplementedError, "Not available for 'meta'"),
    (lambda s: torch.FloatStorage(1, 2), RuntimeError, "Too many positional arguments"),
    (lambda s: torch.TypedStorage(wrap_storage=s), RuntimeError, "'dtype' must be specified"),
    (lambda s: torch.TypedStorage.from_file("x"), RuntimeError, "can only be called on derived classes"),
])
def test_refusals(use, error, text):
    s = torch.ones(3).untyped_storage()
    with pytest.raises(error, match=text):
        use(s)
    assert s.tolist() == [0, 0, 128, 63] * 3


def test_storages_of_buffers():
    data = bytes(range(1, 9))
    make = torch.UntypedStorage.from_buffer
    assert make(data, dtype=torch.uint8).tolist() == list(data)
    assert make(data, "big", dtype=torch.int32).tolist() == [4, 3, 2, 1, 8, 7, 6, 5]
    assert make(data, "native", 2, 3, dtype=torch.uint8).tolist() == [4, 5]
    assert torch.IntStorage.from_buffer(b"\1\0\0\0\0\0\0\2", "big").tolist() == [1 << 24, 2]
    mine = bytearray(4)
    torch.ByteStorage.from_buffer(mine)[0] = 3
    assert mine[0] == 0  # a copy
    for arguments, error, text in (
        ({}, RuntimeError, "'dtype' cannot be None"), ({"dtype": torch.int32}, RuntimeError, "byte_order"),
        ({"dtype": torch.uint8, "offset": 9}, ValueError, "offset must be non-negative"),
        ({"dtype": torch.uint8, "count": 9}, ValueError, "buffer has only 8 elements after offset 0"),
    ):
        with pytest.raises(error, match=text):
            make(data, **arguments)
    with pytest.raises(ValueError, match=r"buffer size \(7\) must be a multiple of element size \(4\)"):
        torch.FloatStorage.from_buffer(data[:7], "little")


def test_a_file_and_a_storage_are_one_memory(tmp_path, executor):
    path = tmp_path / "x"
    path.write_bytes(bytes(range(16)))
    private = torch.UntypedStorage.from_file(str(path), False, 16)
    shared = torch.UntypedStorage.from_file(str(path), shared=True, nbytes=16)
    t = torch.zeros(0, dtype=torch.int32).set_(shared)
    private[0] = 200
    assert path.read_bytes() == bytes(range(16)) and private.filename is None and private.is_shared()
    t[0] = 7
    shared[15] = 0
    assert path.read_bytes() == bytes([7, 0, 0, 0, *range(4, 15), 0]) and shared.filename == str(path)
    with open(path, "r+b") as file:
        file.write(b"\5")
    assert t[0].item() == 5 and shared[0] == 5 and private[0] == 200
    x = torch.from_file(str(path), shared=True, size=2, dtype=torch.int64)
    x[0] = -1
    assert t[:2].tolist() == [-1, -1] and x.is_shared() and x.untyped_storage().filename == str(path)
    floats = torch.FloatStorage.from_file(str(path), size=2)
    assert floats.size() == 2 and np.isnan(floats[0])


def test_files_that_are_missing_or_too_small(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(RuntimeError, match="unable to open file <.*> in read-only mode: No such file"):
        torch.UntypedStorage.from_file(str(path), False, 8)
    made = torch.UntypedStorage.from_file(str(path), True, 8)
    made[7] = 1
    assert path.read_bytes() == bytes(7) + b"\1"
    with pytest.raises(RuntimeError, match="size <8> is smaller than the required mapping size <9>"):
        torch.UntypedStorage.from_file(str(path), False, 9)
    torch.UntypedStorage.from_file(str(path), True, 9)
    assert path.stat().st_size == 9 and torch.UntypedStorage.from_file(str(path)).nbytes() == 0


def test_shared_memory_is_one_for_all_tensors_on_it(executor):
    t = torch.arange(6.0).reshape(2, 3)
    row = t[1]
    assert not t.is_shared() and not t.untyped_storage().is_shared() and t.share_memory_() is t
    for x in (t, row, t.detach(), t.data, t.untyped_storage(), t.storage()):
        assert x.is_shared()
    assert not t.clone().is_shared()
    at = t.data_ptr()
    row.add_(1)
    assert t.share_memory_().data_ptr() == at and t.tolist() == [[0, 1, 2], [4, 5, 6]]
    layer = torch.nn.Linear(2, 1)
    assert layer.share_memory() is layer and layer.weight.is_shared() and layer.bias.is_shared()
    layer(torch.ones(1, 2)).sum().backward()
    torch.optim.SGD(layer.parameters(), 1.0).step()
    assert layer.weight.is_shared() and layer.weight.grad.tolist() == [[1, 1]]


def test_an_array_stays_with_the_memory_that_was():
    a = np.zeros(3)
    t = torch.from_numpy(a).share_memory_()
    a[0] = 1
    t[1] = 2
    assert t.tolist() == [0, 2, 0] and a.tolist() == [1, 0, 0]


@pytest.mark.filterwarnings("ignore:os.fork")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_writes_to_shared_memory():
    t = torch.zeros(3).share_memory_()
    array = t.numpy()
    child = os.fork()
    if not child:
        array[1] = 5  # NumPy alone: what threads a fork leaves to XLA is another matter
        os._exit(0)
    os.waitpid(child, 0)
    assert t.tolist() == [0, 5, 0]


@every_memory
def test_a_storage_is_printed_and_found(how):
    t, _array = made(how)
    text = repr(t.untyped_storage()[2:5])
    assert text == " 0\n 0\n 0\n[torch.storage.UntypedStorage(device=cpu) of size 3]"
    assert str(t.storage()).endswith("TypedStorage(dtype=torch.float32, device=cpu) of size 4]")
    assert torch.is_storage(t.storage()) and torch.is_storage(t.untyped_storage()) and not torch.is_storage(t)
    assert t.storage().type() == "torch.FloatStorage" and isinstance(t.storage(), torch.FloatStorage)
    assert issubclass(torch.FloatStorage, torch.TypedStorage) and 3.0 in t.storage()


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("weights_only", [True, False])
def test_storages_are_saved_and_loaded(zipped, weights_only, tmp_path):
    path, t = tmp_path / "x", torch.arange(3.0)
    value = {"t": t, "typed": t.storage(), "bytes": torch.UntypedStorage([1, 2]), "again": t.storage()}
    torch.save(value, path, _use_new_zipfile_serialization=zipped)
    got = torch.load(path, weights_only=weights_only)
    typed, found = got["typed"], got["bytes"]
    assert type(typed) is type(found) is torch.TypedStorage
    assert typed.tolist() == [0, 1, 2] and typed.dtype is torch.float32
    assert typed.untyped() is got["again"].untyped()
    assert found.tolist() == [1, 2] and found.dtype is torch.uint8  # as PyTorch gives it back
    typed[0] = 7
    assert got["t"].tolist() == [7, 1, 2] and got["t"].untyped_storage() is typed.untyped()
    with pytest.raises(RuntimeError, match="that view the same data as different types"):
        torch.save([t, t.untyped_storage()], tmp_path / "y")


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("loss", ["soft_margin_loss", "mse_loss", "huber_loss", "hinge_embedding_loss"])
def test_storages_of_losses_of_strided_operands(executor, loss, reduction):
    """A sum or a mean has no strides of its operands, also where the elements of the loss have."""
    for x in (torch.linspace(0, 1, 10).reshape(5, 2)[:, 0], torch.ones(2, 3, 4).permute(2, 0, 1)):
        found = getattr(torch.nn.functional, loss)(x, x + 1, reduction=reduction)
        assert found.untyped_storage().data_ptr() and found.untyped_storage().nbytes() == found.numel() * 4
        assert len(found.stride()) == found.dim()


@every_memory
def test_a_slice_lies_where_it_begins_empty_or_not(how):
    t, _array = made(how)
    storage = t.untyped_storage()
    for start, stop in ((0, 0), (3, 3), (3, 7), (len(storage), len(storage))):
        part = storage[start:stop]
        assert (part.data_ptr() - storage.data_ptr(), part.nbytes()) == (start, stop - start)
    assert torch.empty(0).untyped_storage().data_ptr() == 0
