"""Storages of checkpoints: views come back as views, and a file takes no more memory than it is worth."""

import collections
import contextlib
import io
import pickle
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

import jaxflow
from jaxflow import serialization
from jaxflow.serialization import _archive

pytestmark = pytest.mark.usefixtures("executor")


def saved(value):
    file = io.BytesIO()
    jaxflow.save(value, file)
    file.seek(0)
    return file


def rewritten(file, compression=zipfile.ZIP_STORED, claims=None, **records):
    """The archive with the content of some records replaced, and with the lengths they claim to have."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(out, "w", compression) as target:
        for name in source.namelist():
            record = name.partition("/")[2].replace("/", "_").replace(".", "_")
            target.writestr(name, records.get(record, source.read(name)))
            for field, length in (claims or {}).get(record, {}).items():
                setattr(target.filelist[-1], field, length)
    out.seek(0)
    return out


class Asked:
    """A tensor of any geometry on a storage of any length, as the pickle of a checkpoint asks for it."""

    def __init__(self, size, stride, offset=0, count=4):
        self.size, self.stride, self.offset, self.count = size, stride, offset, count

    def file(self):
        """A checkpoint with it, whose storage holds 0, 1, 2, 3 in float32."""
        names = {name: f"c{module}\n{name}\n".encode() for module, name in (
            ("torch._utils", "_rebuild_tensor_v2"), ("torch", "FloatStorage"))}
        out = io.BytesIO()
        pickler = pickle._Pickler(out, 2)
        pickler.write(pickle.PROTO + b"\x02" + names["_rebuild_tensor_v2"] + pickle.MARK + pickle.MARK)
        pickler.save("storage")
        pickler.write(names["FloatStorage"])
        for item in ("0", "cpu", self.count):
            pickler.save(item)
        pickler.write(pickle.TUPLE + pickle.BINPERSID)
        for item in (self.offset, self.size, self.stride, False, collections.OrderedDict()):
            pickler.save(item)
        pickler.write(pickle.TUPLE + pickle.REDUCE + pickle.STOP)
        return rewritten(saved(jaxflow.arange(4.0)), data_pkl=out.getvalue())


@contextlib.contextmanager
def at_most(limit):
    """That the block takes no more memory than so many bytes at any moment."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= limit, f"{peak >> 10} KB"


# ----- Views -----


@pytest.mark.parametrize("size", [1 << 28, 1 << 40])
def test_an_expanded_tensor_is_a_view_whatever_its_size(size):
    jaxflow.load(saved(jaxflow.ones(1)))  # what loading takes the first time
    file = Asked((size,), (0,), 2).file()
    with at_most(4 << 20):
        got = jaxflow.load(file)
    assert (got.shape, got.stride(), got.storage_offset()) == ((size,), (0,), 2)
    assert got[size // 2].item() == 2
    assert got[:3].tolist() == [2, 2, 2]


def test_what_expands_one_storage_shares_it():
    base = jaxflow.arange(3.0)
    rows, one = jaxflow.load(saved([base.expand(4, 3), base[1]]))
    assert rows.stride() == (0, 1)
    one.fill_(7)
    assert rows.tolist() == [[0, 7, 2]] * 4
    rows[2, 0] = 5
    assert rows.tolist() == [[5, 7, 2]] * 4
    assert rows.untyped_storage().nbytes() == 12 and rows.untyped_storage() == one.untyped_storage()


def test_windows_that_overlap_share_their_storage():
    base = jaxflow.arange(5.0)
    windows, every, whole = jaxflow.load(saved([base.unfold(0, 3, 1), base[1::2], base]))
    assert (windows.shape, windows.stride()) == ((3, 3), (1, 1))
    whole.mul_(10)
    assert windows.tolist() == [[0, 10, 20], [10, 20, 30], [20, 30, 40]]
    windows[1, 1] = -1
    assert whole.tolist() == [0, 10, -1, 30, 40]
    assert windows.tolist() == [[0, 10, -1], [10, -1, 30], [-1, 30, 40]]
    assert (every.stride(), every.storage_offset(), every.tolist()) == ((2,), 1, [10, 30])


@pytest.mark.parametrize("size, stride, offset", [
    ((2, 3), (8, 2), 1), ((3, 2), (2, 8), 0), ((2, 2, 2), (1, 0, 5), 3), ((3, 3), (6, 3), 0),
    ((2, 5), (6, 1), 2), ((1, 4), (99, 4), 2), ((2, 2, 2), (10, 1, 2), 0), ((4, 3), (4, 2), 3),
    ((), (), 19), ((5, 2), (3, 5), 0), ((0, 3), (3, 1), 4), ((2, 1, 10), (10, 1, 1), 0),
])
def test_every_layout_is_read_and_written_where_it_lies(size, stride, offset):
    memory = np.arange(20.0)
    expected = np.lib.stride_tricks.as_strided(memory[offset:], size, [8 * s for s in stride])
    base = jaxflow.arange(20.0, dtype=jaxflow.float64)
    got, whole = jaxflow.load(saved([base.as_strided(size, stride, offset), base]))
    assert got.stride() == stride and got.tolist() == expected.tolist()
    whole.add_(100)
    memory += 100
    assert got.tolist() == expected.tolist()
    if got.numel():
        at = tuple(n - 1 for n in size)
        got[at] = -1
        expected[at] = -1
    assert whole.tolist() == memory.tolist() and got.tolist() == expected.tolist()
    x = jaxflow.zeros(20, requires_grad=True)
    x.as_strided(size, stride, offset).sum().backward()
    counts = np.zeros(20)
    at = np.lib.stride_tricks.as_strided(np.arange(20)[offset:], size, [8 * s for s in stride])
    np.add.at(counts, at.reshape(-1), 1)
    assert x.grad.tolist() == counts.tolist()


def _check_layouts_of(n):
    memory = np.arange(n)
    x = jaxflow.arange(n)
    for size, stride, offset in (
        ((2, 3), (n // 2, 1), 1), ((n // 4, 2), (4, 2), 0), ((n // 2, 3), (1, 2), 2),
        ((3, n // 4, 2), (0, 3, 1), 1),
    ):
        shown = np.lib.stride_tricks.as_strided(memory[offset:], size, [8 * s for s in stride])
        view = x.as_strided(size, stride, offset)
        assert view.tolist() == shown.tolist()
        view[-1, 1] = -n
        shown[-1, 1] = -n
        assert x.tolist() == memory.tolist() and view.tolist() == shown.tolist()


def test_layouts_of_many_sizes_in_turns():
    for n in (20, 24, 32, 20, 40):
        _check_layouts_of(n)


def test_layouts_in_compiled_programs(compiled):
    for n in (20, 28):
        _check_layouts_of(n)


@pytest.mark.parametrize("asked, words", [
    (Asked((5,), (1,)), "out of bounds for storage"),
    (Asked((2,), (1,), 3), "out of bounds for storage"),
    (Asked((1 << 62,), (1,)), "out of bounds for storage"),
    (Asked((1 << 40, 1 << 40), (0, 0)), "numel: integer multiplication overflow"),
    (Asked((1 << 70,), (0,)), "a tensor that cannot be"),
    (Asked((-1,), (1,)), "a tensor that cannot be"),
    (Asked((2,), (-1,), 3), "a tensor that cannot be"),
    (Asked((1,), (1,), -1), "a tensor that cannot be"),
    (Asked((2, 2), (1,)), "a tensor that cannot be"),
    (Asked((2.0,), (1,)), "a tensor that cannot be"),
    (Asked((4,), (1,), 0, 1 << 40), "has 16 bytes where 4398046511104 are needed"),
    (Asked((4,), (1,), 0, -4), "no storage '0' of -4 elements"),
    (Asked((4,), (1,), 0, "4"), "no storage '0' of '4' elements"),
])
def test_geometries_that_cannot_be_are_refused_without_memory(asked, words):
    file = asked.file()
    with at_most(2 << 20), pytest.raises((RuntimeError, pickle.UnpicklingError), match=words):
        jaxflow.load(file)


# ----- Records -----


def test_a_compressed_record_takes_its_own_size():
    count = 3_000_000
    value = jaxflow.arange(count, dtype=jaxflow.int32) // 7
    file = rewritten(saved(value), zipfile.ZIP_DEFLATED)
    with at_most(4 * count * 1.2 + (4 << 20)):
        got = jaxflow.load(file)
    assert jaxflow.equal(got, value)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused_by_name(compression):
    with pytest.raises(RuntimeError, match=f"compression method {compression}"):
        jaxflow.load(rewritten(saved(jaxflow.ones(3)), compression))


def test_a_compressed_record_is_no_part_of_a_mapped_file(tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(rewritten(saved(jaxflow.arange(500.0)), zipfile.ZIP_DEFLATED).getvalue())
    assert jaxflow.load(path, mmap=True).tolist() == list(range(500))


def test_a_mapped_file_is_where_its_tensors_lie_and_is_not_written_to(tmp_path, executor):
    path = tmp_path / "x.pt"
    jaxflow.save({"a": jaxflow.ones(300_000), "b": jaxflow.arange(3.0)}, path)
    before = path.read_bytes()
    got = jaxflow.load(path, mmap=True)
    a, b = got["a"], got["b"]
    assert a.data_ptr() - b.data_ptr() == before.index(np.ones(300_000, np.float32).tobytes()) - before.index(
        np.arange(3, dtype=np.float32).tobytes())
    array = a.numpy()
    array[3] = 7  # in memory of the file's
    b.mul_(2)
    a[4] = 8
    assert a[:6].tolist() == array[:6].tolist() == [1, 1, 1, 7, 8, 1] and b.tolist() == [0, 2, 4]
    assert path.read_bytes() == before
    assert jaxflow.load(path, mmap=True)["a"].sum().item() == 300_000


def test_a_mapped_file_whose_records_lie_anywhere(tmp_path, executor):
    path = tmp_path / "x.pt"
    value = jaxflow.arange(40_000).reshape(200, 200)
    path.write_bytes(rewritten(saved([value, value.T[1:]])).getvalue())
    t, view = jaxflow.load(path, mmap=True)
    assert t.data_ptr() % 64 and t.equal(value) and view.equal(value.T[1:])
    view.zero_()
    assert t[:, 1:].sum().item() == 0 and t[1, 0].item() == 200


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("claims", [
    {"file_size": 1 << 40}, {"file_size": 1 << 40, "compress_size": 1 << 40}, {"file_size": 8},
])
@pytest.mark.parametrize("mmap", [False, True])
def test_records_that_lie_about_their_length(tmp_path, compression, claims, mmap):
    path = tmp_path / "x.pt"
    path.write_bytes(rewritten(saved(jaxflow.ones(500)), compression, {"data_0": claims}).getvalue())
    with at_most(8 << 20), pytest.raises(RuntimeError, match="PytorchStreamReader|has 8 bytes"):
        jaxflow.load(path, mmap=mmap)


def test_a_long_record_where_a_word_is_expected():
    file = rewritten(saved(jaxflow.ones(5)), zipfile.ZIP_DEFLATED, byteorder=b"little" + b" " * (64 << 20))
    with at_most(4 << 20):
        assert jaxflow.load(file).tolist() == [1] * 5


@pytest.mark.parametrize("pickled", [
    b"\x80\x02cbuiltins\nbytearray\n\x8a\x06" + (1 << 40).to_bytes(6, "little") + b"\x85R.",
    b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"abc.",
])
def test_bytearrays_of_no_bytes(pickled):
    with at_most(2 << 20), pytest.raises((RuntimeError, pickle.UnpicklingError)):
        jaxflow.load(rewritten(saved([1]), data_pkl=pickled))


def test_bytearrays_come_back():
    value = [bytearray(b"abc\xff"), bytearray()]
    assert jaxflow.load(saved(value)) == value
    assert jaxflow.load(rewritten(saved([1]), data_pkl=pickle.dumps(value, 5))) == value


@pytest.mark.parametrize("sizes", [(1,), (100, 3), (1 << 20, 1 << 20, 5), (70,) * 40])
def test_what_grows_stays_aligned(sizes):
    pieces = [np.random.default_rng(i).bytes(n) for i, n in enumerate(sizes)]
    held = _archive.Growing(sum(sizes))
    for piece in pieces:
        held.add(piece)
    found = held.finished()
    assert found.tobytes() == b"".join(pieces) and found.ctypes.data % _archive.ALIGNMENT == 0
    with pytest.raises(ValueError, match="more than"):
        held.add(b"x")


# ----- Classes of storages -----


def test_classes_of_storages_are_names():
    typed = jaxflow.ones(2)._typed_storage()
    assert isinstance(typed, jaxflow.FloatStorage) and not isinstance(typed, jaxflow.DoubleStorage)
    assert not isinstance(typed, jaxflow.cuda.FloatStorage) and not isinstance(3, jaxflow.FloatStorage)
    assert jaxflow.ComplexFloatStorage.dtype is jaxflow.complex64
    assert list(jaxflow.LongStorage([1, 2])) == [1, 2] and len(jaxflow.HalfStorage(3)) == 3
    assert isinstance(jaxflow.BoolStorage(2), jaxflow.BoolStorage)
    with pytest.raises(RuntimeError, match="dtype"):
        jaxflow.FloatStorage(2, dtype=jaxflow.float32)
    assert list(jaxflow.UntypedStorage([1, 255])) == [1, 255] and jaxflow.UntypedStorage(8).nbytes() == 8
    shown = jaxflow.TypedStorage(wrap_storage=jaxflow.ones(3).untyped_storage(), dtype=jaxflow.float32)
    assert shown.tolist() == [1, 1, 1]


def test_pickles_that_name_classes_of_storages():
    value = [jaxflow.FloatStorage, jaxflow.UntypedStorage]
    data = b"\x80\x02]ctorch\nFloatStorage\nactorch.storage\nUntypedStorage\na."
    assert jaxflow.load(rewritten(saved([1]), data_pkl=data), weights_only=False) == value
    file = saved([jaxflow.arange(3.0), jaxflow.arange(2, dtype=jaxflow.uint16)])
    whole = jaxflow.load(file, weights_only=False)
    assert [t.tolist() for t in whole] == [[0, 1, 2], [0, 1]]
    with serialization.safe_globals([jaxflow.FloatStorage]):
        assert jaxflow.load(saved([jaxflow.FloatStorage])) == value[:1]
