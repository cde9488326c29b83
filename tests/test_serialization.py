"""Checkpoints by themselves: whole or not at all, and nothing run that was not allowed."""

import collections
import io
import os
import pickle
import stat
import zipfile

import numpy as np
import pytest

import jaxflow
from jaxflow import serialization

pytestmark = pytest.mark.usefixtures("executor")


def saved(value, **options):
    file = io.BytesIO()
    jaxflow.save(value, file, **options)
    file.seek(0)
    return file


class Unpicklable:
    def __reduce__(self):
        raise RuntimeError("not this one")


class Custom:
    def __init__(self, x=0):
        self.x = x


class Slotted:
    __slots__ = ("x",)


# ----- Saving -----


def test_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    value = {
        "w": jaxflow.tensor(rng.normal(size=(3, 4)).astype(np.float32), requires_grad=True),
        "p": jaxflow.nn.Parameter(jaxflow.ones(2)),
        "n": [1, 2.5, None, "text", (b"bytes", {3})],
        "i": jaxflow.arange(5),
        "dtype": jaxflow.bfloat16,
    }
    for path in (tmp_path / "x.pt", str(tmp_path / "y.pt")):
        jaxflow.save(value, path)
        got = jaxflow.load(path)
        assert list(got) == list(value)
        assert jaxflow.equal(got["w"], value["w"])
        assert got["w"].requires_grad
        assert type(got["p"]) is jaxflow.nn.Parameter
        assert got["n"] == value["n"]
        assert got["i"].tolist() == [0, 1, 2, 3, 4]
        assert got["dtype"] is jaxflow.bfloat16


def test_pending_values_are_computed():
    x = jaxflow.ones(3)
    for _ in range(3):
        x = x * 2
    assert jaxflow.load(saved([x]))[0].tolist() == [8, 8, 8]


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.pt"
    jaxflow.save({"a": jaxflow.ones(2)}, path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="not this one"):
        jaxflow.save({"a": jaxflow.zeros(2), "b": Unpicklable()}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.pt"]


def test_a_save_that_fails_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.pt"
    jaxflow.save({"a": jaxflow.ones(2)}, path)
    before = path.read_bytes()

    def full(tensor):
        raise OSError("disk full")

    monkeypatch.setattr("jaxflow.serialization._save.physical_bytes", full)
    with pytest.raises(OSError, match="disk full"):
        jaxflow.save({"a": jaxflow.zeros(2)}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.pt"]


def test_a_failed_save_writes_nothing_to_a_file_object():
    file = io.BytesIO()
    with pytest.raises(RuntimeError, match="not this one"):
        jaxflow.save([jaxflow.ones(2), Unpicklable()], file)
    assert file.getvalue() == b""


def test_replacing_keeps_mode_and_link(tmp_path):
    real, link = tmp_path / "real.pt", tmp_path / "link.pt"
    jaxflow.save([1], real)
    real.chmod(0o640)
    link.symlink_to(real)
    jaxflow.save([2], link)
    assert link.is_symlink()
    assert jaxflow.load(real) == [2]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_new_files_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        jaxflow.save([1], tmp_path / "x.pt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.pt").stat().st_mode) == 0o640


def test_the_same_objects_give_the_same_file():
    def make():
        return saved({"a": jaxflow.arange(10), "b": [jaxflow.ones(3)]}).getvalue()

    assert make() == make()


def test_a_stream_without_seeking_is_enough_to_save():
    class Stream(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data)
            return len(data)

    stream = Stream()
    jaxflow.save({"a": jaxflow.arange(4)}, stream)
    assert jaxflow.load(io.BytesIO(stream.data))["a"].tolist() == [0, 1, 2, 3]


def test_several_archives_may_follow_in_one_buffer():
    file = io.BytesIO(b"head")
    file.seek(4)
    jaxflow.save({"a": jaxflow.ones(2)}, file)
    file.seek(4)
    assert jaxflow.load(file)["a"].tolist() == [1, 1]


def test_options_that_are_not_there():
    with pytest.raises(RuntimeError, match="pickle_module"):
        jaxflow.save([1], io.BytesIO(), pickle_module=io)


def test_hooks_are_not_saved():
    x = jaxflow.ones(2, requires_grad=True)
    x.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        file = saved(x)
    assert jaxflow.load(file).requires_grad


@pytest.mark.filterwarnings("error")
def test_hooks_that_are_marked_are_left_out_without_a_warning():
    x = jaxflow.ones(2, requires_grad=True)
    x.register_hook(jaxflow.utils.hooks.unserializable_hook(lambda g: g))
    assert jaxflow.load(saved(x)).requires_grad


# ----- Sharing and memory -----


def test_sharing_survives():
    base = jaxflow.arange(6.0)
    got = jaxflow.load(saved([base[2:4], base, base.view(2, 3).t()]))
    got[1].mul_(10)
    assert got[0].tolist() == [20, 30]
    assert got[2].tolist() == [[0, 30], [10, 40], [20, 50]]
    assert got[2].stride() == (1, 3)


def test_tied_parameters_of_a_module():
    class Tied(jaxflow.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = jaxflow.nn.Linear(3, 3, bias=False)
            self.b = jaxflow.nn.Linear(3, 3, bias=False)
            self.b.weight = self.a.weight

    state = Tied().state_dict()
    names = zipfile.ZipFile(saved(state)).namelist()
    assert sum("/data/" in name for name in names) == 1
    got = jaxflow.load(saved(state))
    got["a.weight"].zero_()
    assert got["b.weight"].abs().sum().item() == 0


def test_a_view_saves_its_whole_storage_and_a_clone_does_not():
    rows = jaxflow.ones(1000, 10)[:1]
    assert len(saved(rows).getvalue()) > 40_000 > len(saved(rows.clone()).getvalue())


def test_loaded_tensors_do_not_write_to_the_file(tmp_path):
    path = tmp_path / "x.pt"
    jaxflow.save(jaxflow.ones(100), path)
    for mmap in (False, True):
        got = jaxflow.load(path, mmap=mmap)
        got.zero_()
        assert jaxflow.load(path).sum().item() == 100


def test_optimizer_state_goes_on(tmp_path):
    def train(net, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            (net(jaxflow.ones(2, 3)) ** 2).mean().backward()
            optimizer.step()

    def start():
        jaxflow.manual_seed(0)
        net = jaxflow.nn.Linear(3, 2)
        return net, jaxflow.optim.AdamW(net.parameters(), lr=0.1)

    net, optimizer = start()
    train(net, optimizer, 3)
    jaxflow.save({"net": net.state_dict(), "opt": optimizer.state_dict()}, tmp_path / "x.pt")
    train(net, optimizer, 3)
    other, other_optimizer = start()
    loaded = jaxflow.load(tmp_path / "x.pt")
    other.load_state_dict(loaded["net"])
    other_optimizer.load_state_dict(loaded["opt"])
    train(other, other_optimizer, 3)
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        assert jaxflow.allclose(a, b)


def test_whole_modules():
    net = jaxflow.nn.Sequential(jaxflow.nn.Linear(2, 2), jaxflow.nn.ReLU())
    got = jaxflow.load(saved(net), weights_only=False)
    x = jaxflow.ones(1, 2)
    assert jaxflow.equal(got(x), net(x))
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        jaxflow.load(saved(net))


# ----- Damage -----


def test_a_damaged_record_is_found():
    data = bytearray(saved(jaxflow.full((50,), 3.0)).getvalue())
    at = bytes(data).find(np.full(20, 3.0, np.float32).tobytes())
    data[at] ^= 1
    with pytest.raises(RuntimeError, match="does not match its checksum"):
        jaxflow.load(io.BytesIO(bytes(data)))


def test_truncated_and_foreign_files():
    good = saved(jaxflow.ones(50)).getvalue()
    for cut in range(1, len(good), 97):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            jaxflow.load(io.BytesIO(good[:cut]))
    with pytest.raises(EOFError):
        jaxflow.load(io.BytesIO())
    with pytest.raises(pickle.UnpicklingError, match="neither a checkpoint"):
        jaxflow.load(io.BytesIO(b"a text file\n"))


def rewritten(file, **records):
    """The archive with some records replaced, or left out where the new content is None."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            root, _, record = name.partition("/")
            data = records.get(record.replace("/", "_").replace(".", "_"), source.read(name))
            if data is not None:
                target.writestr(name, data)
    out.seek(0)
    return out


def test_missing_and_short_records():
    with pytest.raises(RuntimeError, match="failed locating file data.pkl"):
        jaxflow.load(rewritten(saved([1]), data_pkl=None))
    with pytest.raises(RuntimeError, match="failed locating file data/0"):
        jaxflow.load(rewritten(saved(jaxflow.ones(4)), data_0=None))
    with pytest.raises(RuntimeError, match="has 8 bytes where 16 are needed"):
        jaxflow.load(rewritten(saved(jaxflow.ones(4)), data_0=b"\0" * 8))
    with pytest.raises(RuntimeError, match="TorchScript"):
        file = saved([1])
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("archive/constants.pkl", b"")
        file.seek(0)
        jaxflow.load(file)


def test_compressed_archives_are_read():
    out = io.BytesIO()
    with zipfile.ZipFile(saved(jaxflow.arange(9))) as source, zipfile.ZipFile(
        out, "w", zipfile.ZIP_DEFLATED
    ) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    out.seek(0)
    assert jaxflow.load(out).tolist() == list(range(9))


# ----- What a weights-only load allows -----


def with_pickle(data):
    return rewritten(saved([1]), data_pkl=data)


def call(function, *args):
    class Calls:
        def __reduce__(self):
            return function, args

    return pickle.dumps([Calls()], 2)


@pytest.mark.parametrize(
    "data",
    [
        call(os.getcwd),
        call(eval, "1"),
        call(getattr, 1, "real"),
        call(print, 1),
        call(jaxflow.save, [1], "x"),
        call(collections.defaultdict, list),
        b"\x80\x02cos\nsystem\n(S'true'\ntR.",
        b"\x80\x02(S'true'\nios\nsystem\n.",
        b"\x80\x02cbuiltins\nexec\n(X\x01\x00\x00\x001tR.",
        b"\x80\x02cjaxflow\nload\n(X\x01\x00\x00\x00xtR.",
        b"\x80\x02ctorch\nload\n(X\x01\x00\x00\x00xtR.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2.__globals__\n.",
        b"\x80\x04\x8c\x05torch\x8c\x0fTensor.__init__\x93.",
        b"\x80\x02c_codecs\nencode\n(X\x01\x00\x00\x00aX\x05\x00\x00\x00rot13tR.",
        b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x01\x00\x00\x00aK\x01sb.",
        b"\x80\x02K\x01(K\x02K\x03u.",
        b"\x80\x02K\x01K\x02a.",
        b"\x80\x02K\x01Q.",
        b"\x80\x02(X\x06\x00\x00\x00moduletQ.",
        b"\x80\x02(X\x06\x00\x00\x00modulettQ.",
        b"\x80\x02X\x06\x00\x00",
        b"\x80\x02h\x07.",
        b"",
        b"\x80\x02K\x01)R.",
        b"\x80\x02\x82\x01.",
    ],
)
def test_what_is_not_allowed_is_refused(data):
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        jaxflow.load(with_pickle(data))


def test_allowing_a_type():
    file = saved([Custom(5)])

    def load():
        file.seek(0)
        return jaxflow.load(file)

    with pytest.raises(pickle.UnpicklingError, match="Custom was not an allowed global"):
        load()
    with serialization.safe_globals([Custom]):
        assert load()[0].x == 5
        assert serialization.get_safe_globals() == [Custom]
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([Custom])
    try:
        assert load()[0].x == 5
    finally:
        serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        load()


def test_allowed_types_get_their_state():
    slotted = Slotted()
    slotted.x = 3
    with serialization.safe_globals([Slotted]):
        assert jaxflow.load(saved(slotted)).x == 3


def test_allowed_under_another_name():
    data = pickle.dumps([Custom(1)], 2)
    data = data.replace(f"{Custom.__module__}\nCustom\n".encode(), b"old.place\nThing\n")
    data = data.replace(b"ccopy_reg", b"ccopy_reg")
    with serialization.safe_globals([(Custom, "old.place.Thing")]):
        assert isinstance(jaxflow.load(with_pickle(data))[0], Custom)
    with serialization.safe_globals([(Custom, "a", "b")]), pytest.raises(ValueError, match="length"):
        jaxflow.load(with_pickle(data))
    with serialization.safe_globals([(Custom, 3)]), pytest.raises(TypeError, match="str"):
        jaxflow.load(with_pickle(data))


def test_pickle_options_are_for_full_loads():
    with pytest.warns(UserWarning, match="only works if"), pytest.raises(TypeError):
        jaxflow.load(saved([1]), fix_imports=True, foo=1)
    assert jaxflow.load(saved([1]), weights_only=False, fix_imports=True) == [1]


def test_names_jaxflow_does_not_have():
    data = b"\x80\x02ctorch.distributed.checkpoint\nFileSystemReader\n."
    with pytest.raises(AttributeError, match=r"torch.distributed.checkpoint.FileSystemReader, which jaxflow"):
        jaxflow.load(with_pickle(data), weights_only=False)
