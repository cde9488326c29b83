"""Checkpoints both ways: PyTorch reads what jaxflow writes, and jaxflow what PyTorch writes."""

import collections
import functools
import io
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests import judge
from compat_tests.both import check_both
from compat_tests.exact import exactly
from compat_tests.harness import Case, check, raises, rand

pytestmark = pytest.mark.usefixtures("executor")

DTYPES = (
    "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 bool "
    "uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"
).split()


def saved(T, value, **options):
    file = io.BytesIO()
    T.save(value, file, **options)
    file.seek(0)
    return file


def facts(T, value):
    """``value`` with every tensor as its type, dtype, geometry, flags, attributes and bytes."""
    if isinstance(value, T.Tensor):
        return (
            type(value).__name__,
            str(value.dtype),
            tuple(value.shape),
            tuple(value.stride()),
            value.storage_offset(),
            value.requires_grad,
            value.is_leaf,
            dict(value.__dict__),
            contents(T, value),
        )
    if isinstance(value, dict):
        return type(value).__name__, [(facts(T, k), facts(T, v)) for k, v in value.items()]
    if isinstance(value, T.Size):
        return "Size", list(value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [facts(T, v) for v in value]
    if isinstance(value, (T.dtype, T.device, T.layout, T.memory_format)):
        return str(value)
    return value


def contents(T, value):
    if value.is_meta:
        return None
    flat = value.detach().reshape(-1)
    if value.dtype.itemsize == 1 and value.is_floating_point():
        flat = flat.view(T.uint8)
    if value.dtype == T.bfloat16:
        flat = flat.view(T.int16)
    return flat.numpy().tobytes()


def there_and_back(make, weights_only=True):
    """Save with each, load with the other; both must be what the original was."""
    original, other = make(torch), make(jaxflow)
    expected = facts(torch, original)
    assert facts(jaxflow, other) == expected
    read = jaxflow.load(saved(torch, original), weights_only=weights_only)
    assert facts(jaxflow, read) == expected
    read = torch.load(saved(jaxflow, other), weights_only=weights_only)
    assert facts(torch, read) == expected
    read = jaxflow.load(saved(jaxflow, other), weights_only=weights_only)
    assert facts(jaxflow, read) == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    bits = np.random.default_rng(0).integers(0, 100, 48).astype(np.uint8)
    if dtype == "bool":
        bits %= 2

    def make(T):
        return T.tensor(bits).view(getattr(T, dtype)).reshape(3, -1)

    there_and_back(make)


VALUES = {
    "scalar": lambda T: T.tensor(2.5),
    "empty": lambda T: [T.zeros(0), T.zeros(2, 0, 3)],
    "transposed": lambda T: T.arange(6.0).reshape(2, 3).t(),
    "slice": lambda T: T.arange(20.0)[3:11:2],
    "column": lambda T: T.arange(12.0).reshape(3, 4)[:, 1],
    "expanded": lambda T: T.arange(3.0).expand(2, 3),
    "diagonal": lambda T: T.arange(9.0).reshape(3, 3).diagonal(),
    "channels last": lambda T: T.arange(24.0).reshape(1, 2, 3, 4).to(
        memory_format=T.channels_last
    ),
    "permuted": lambda T: T.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1).contiguous(),
    "strided": lambda T: T.empty_strided((2, 3), (1, 2)).fill_(3.0),
    "requires grad": lambda T: T.ones(2, requires_grad=True),
    "parameter": lambda T: T.nn.Parameter(T.ones(2, 2)),
    "frozen parameter": lambda T: T.nn.Parameter(T.ones(2), requires_grad=False),
    "integer parameter": lambda T: T.nn.Parameter(T.tensor([1, 2]), requires_grad=False),
    "meta": lambda T: T.empty(2, 3, device="meta"),
    "values": lambda T: [T.Size([1, 2]), T.float32, T.bfloat16, T.device("cpu"), T.strided],
    "plain": lambda T: {
        "none": None, "yes": True, "int": 3, "big": 1 << 80, "negative": -5, "float": 1.5,
        "nan": float("inf"), "complex": 1 + 2j, "text": "ünï", "bytes": b"\x00\xffabc",
        "list": [1, [2, [3]]], "tuple": (1, (2,), ()), "set": {1, 2}, "array": bytearray(b"xy"),
        3: "int key", (1, 2): "tuple key", "empty": [{}, [], (), ""],
    },
    "ordered": lambda T: collections.OrderedDict(b=T.ones(1), a=2),
    "counter": lambda T: collections.Counter("hello"),
    "long": lambda T: ["x" * 300, "y" * 70000, list(range(300))],
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    there_and_back(VALUES[name])


def test_result_comes_back_as_a_leaf():
    for A, B in ((torch, jaxflow), (jaxflow, torch)):
        got = B.load(saved(A, A.ones(2, requires_grad=True) * 2))
        assert got.requires_grad
        assert got.is_leaf
        assert got.tolist() == [2, 2]


def test_attributes_of_tensors():
    def make(T):
        t, p = T.ones(2), T.nn.Parameter(T.ones(3))
        t.note, p.tags = "kept", [1, 2]
        return [t, p]

    there_and_back(make)


def sharing(T):
    base = T.arange(12.0)
    tied = T.nn.Parameter(T.ones(3))
    return {
        "base": base,
        "rows": base.view(3, 4),
        "part": base[4:8],
        "column": base.view(3, 4)[:, 1],
        "same": base,
        "tied": [tied, tied],
        "alias": tied.detach(),
        "unlike": T.arange(12.0),
    }


@pytest.mark.parametrize("first", ["base", "part", "column"])
@pytest.mark.parametrize("way", ["torch to jaxflow", "jaxflow to torch", "jaxflow to jaxflow"])
def test_sharing_survives(way, first):
    names = {"torch": torch, "jaxflow": jaxflow}
    writer, reader = (names[name] for name in way.split(" to "))
    value = sharing(writer)
    value = {first: value[first], **value}
    got = reader.load(saved(writer, value))
    assert facts(reader, got) == facts(writer, value)
    assert got["same"] is got["base"]
    assert got["tied"][0] is got["tied"][1]
    with reader.no_grad():
        got["base"].mul_(2)
        got["column"].fill_(-1)
        got["alias"].zero_()
        value["base"].mul_(2)
        value["column"].fill_(-1)
        value["alias"].zero_()
    assert facts(reader, got) == facts(writer, value)


def test_sharing_has_one_record():
    names = zipfile.ZipFile(saved(jaxflow, sharing(jaxflow))).namelist()
    assert sum("/data/" in name for name in names) == 3


def test_records_are_where_pytorch_puts_them(tmp_path):
    value = {"a": torch.arange(10.0), "b": torch.ones(3, dtype=torch.int8)}
    mine = {"a": jaxflow.arange(10.0), "b": jaxflow.ones(3, dtype=jaxflow.int8)}
    for T, v in ((torch, value), (jaxflow, mine)):
        T.save(v, tmp_path / f"{T.__name__}.pt")
    records = {}
    for name in ("torch", "jaxflow"):
        data = (tmp_path / f"{name}.pt").read_bytes()
        archive = zipfile.ZipFile(io.BytesIO(data))
        records[name] = {}
        for info in archive.infolist():
            root, _, record = info.filename.partition("/")
            assert root == name
            assert info.compress_type == zipfile.ZIP_STORED
            header = data[info.header_offset :][:30]
            extra = int.from_bytes(header[28:], "little")
            assert (info.header_offset + 30 + len(info.filename) + extra) % 64 == 0
            records[name][record] = archive.read(info)
    ids = [records[name].pop(".data/serialization_id") for name in records]
    assert [len(i) for i in ids] == [40, 40]
    pickles = [records[name].pop("data.pkl") for name in records]
    assert pickles[0] == pickles[1]
    assert records["torch"] == records["jaxflow"]


def model(T):
    T.manual_seed(0)
    return T.nn.Sequential(T.nn.Linear(3, 4), T.nn.ReLU(), T.nn.BatchNorm1d(4), T.nn.Linear(4, 2))


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW", "RMSprop", "NAdam"])
def test_training_goes_on_in_the_other_library(optimizer, tmp_path):
    """Three steps in one, a checkpoint, three in the other: as six steps in one."""

    def steps(T, net, opt, seeds):
        for seed in seeds:
            rng = np.random.default_rng(seed)
            x = T.tensor(rng.normal(size=(8, 3)).astype(np.float32))
            opt.zero_grad()
            (net(x) ** 2).mean().backward()
            opt.step()

    def start(T):
        net = model(T)
        return net, getattr(T.optim, optimizer)(net.parameters(), lr=0.05, weight_decay=0.01)

    def checkpoint(net, opt):
        return {"model": net.state_dict(), "optimizer": opt.state_dict(), "epoch": 3}

    first, path = start(torch)[0].state_dict(), tmp_path / "x.pt"
    torch.save(first, path)

    def without_a_break():
        net, opt = start(torch)
        steps(torch, net, opt, range(6))
        return dict(net.state_dict())

    whole, exact = without_a_break(), functools.cache(lambda: exactly(without_a_break))
    for A, B in ((torch, jaxflow), (jaxflow, torch), (jaxflow, jaxflow)):
        net, opt = start(A)
        net.load_state_dict(A.load(path))
        steps(A, net, opt, range(3))
        file = saved(A, checkpoint(net, opt))
        net, opt = start(B)
        loaded = B.load(file)
        net.load_state_dict(loaded["model"])
        opt.load_state_dict(loaded["optimizer"])
        steps(B, net, opt, range(3, 6))
        for key, value in whole.items():
            got = torch.from_numpy(np.array(net.state_dict()[key].detach().numpy()))
            judge.assert_close(got, value, lambda key=key: exact()[key], where=key)


def test_whole_torch_module_loads_as_a_jaxflow_module():
    net = model(torch).eval()
    other = jaxflow.load(saved(torch, net), weights_only=False)
    assert type(other) is jaxflow.nn.Sequential
    x = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    check_both(lambda T: (net if T is torch else other)(T.tensor(x)))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickle_protocols(protocol):
    value = {"a": torch.ones(2), "b": [1, "x", {2}, b"y", frozenset([1])]}
    file = saved(torch, value, pickle_protocol=protocol)
    got = jaxflow.load(file, weights_only=False)
    assert facts(jaxflow, got) == facts(torch, value)
    mine = {"a": jaxflow.ones(2), "b": value["b"]}
    got = torch.load(saved(jaxflow, mine, pickle_protocol=protocol), weights_only=False)
    assert facts(torch, got) == facts(torch, value)


def test_numpy_values_come_through():
    value = {"x": np.arange(3), "y": np.float32(2)}
    assert str(torch.load(saved(jaxflow, value), weights_only=False)) == str(value)
    assert str(jaxflow.load(saved(torch, value), weights_only=False)) == str(value)


def run(function):
    """Check ``function(T)``: PyTorch's errors in PyTorch's words."""

    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


class Custom:
    """A type that no loader knows."""

    def __init__(self):
        self.x = 1


ADVICE = "the advice on what to do is in other words"
DAMAGE = "what PyTorch's zip library says of itself is left out"


@run
def test_weights_only_refusals(T):
    module = T.serialization
    custom, system = saved(T, [Custom()]), saved(T, os.getcwd)
    name = f"{Custom.__module__}.Custom"

    def load(file, **options):
        file.seek(0)
        return T.load(file, **options)

    with module.safe_globals([Custom]):
        allowed = load(custom)[0].x
    before = module.get_safe_globals()
    with module.safe_globals([(Custom, "elsewhere.Custom")]):
        listed = len(module.get_safe_globals()) - len(before)
    return [
        allowed,
        listed,
        raises(lambda: load(custom), phrase="Weights only load failed.", because=ADVICE),
        raises(
            lambda: load(custom),
            phrase="Weights only load failed.",
            because=ADVICE,
        ),
        _mentions(lambda: load(custom), f"GLOBAL {name} was not an allowed global by default."),
        _mentions(lambda: load(system), "whose module posix is blocked."),
        load(custom, weights_only=False)[0].x,
        load(custom, pickle_module=pickle)[0].x,
        raises(lambda: load(custom, weights_only=True, pickle_module=pickle)),
    ]


def _mentions(call, text):
    try:
        call()
    except pickle.UnpicklingError as error:
        return text in str(error)
    return None


@run
def test_load_errors(T):
    good = saved(T, {"a": rand(T, 100)}).getvalue()
    other_zip = io.BytesIO()
    with zipfile.ZipFile(other_zip, "w") as archive:
        archive.writestr("archive/foo", "x")
    folder = os.path.dirname(os.path.abspath(__file__))
    finding = "failed finding central directory"
    at_end = io.BytesIO(good)
    at_end.seek(0, 2)
    return [
        raises(lambda: T.load(io.BytesIO(good[:300])), phrase=finding, because=DAMAGE),
        raises(lambda: T.load(io.BytesIO(good[:-10])), phrase=finding, because=DAMAGE),
        raises(lambda: T.load(io.BytesIO(other_zip.getvalue())),
               phrase='Expected hasRecord("version") to be true, but got false.',
               because="PyTorch asks whether its message could be better"),
        raises(lambda: T.load(os.path.join(folder, "no such file"))),
        raises(lambda: T.load(folder)),
        raises(lambda: T.load(5)),
        raises(lambda: T.load(io.BytesIO(good), mmap=True)),
        raises(lambda: T.load(io.BytesIO(good), map_location="cuda")),
        raises(lambda: T.load(io.BytesIO(good), map_location="foo"), because="module names",
               phrase="don't know how to restore data location of torch.storage.UntypedStorage"),
        raises(lambda: T.load(io.BytesIO(good), map_location={"cpu": "cuda:0"})),
        raises(lambda: T.load(io.BytesIO(good), map_location=3)),
        _kind(lambda: T.load(io.BytesIO())),
        _kind(lambda: T.load(at_end)),
    ]


def _kind(call):
    """The class of an error whose message PyTorch leaves empty."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


@run
def test_save_errors(T):
    x = rand(T, 4)
    return [
        raises(lambda: T.save({}, 5)),
        raises(lambda: T.save({}, None)),
        raises(lambda: T.save({}, "/no/such/folder/x.pt")),
        raises(lambda: T.save([x, x.view(T.int32)], io.BytesIO())),
        raises(lambda: T.save(lambda: 1, io.BytesIO())),
    ]


@run
def test_map_location(T):
    value = {"a": rand(T, 3), "p": T.nn.Parameter(rand(T, 2))}
    seen = []

    def remember(storage, location):
        seen.append((location, str(storage.device), storage.nbytes()))
        return storage

    def load(where):
        got = T.load(saved(T, value), map_location=where)
        return [(type(v).__name__, str(v.device), tuple(v.shape)) for v in got.values()]

    return [
        load(None), load("cpu"), load(T.device("cpu")), load({"cpu": "cpu"}), load({"x": "y"}),
        load(remember), load(lambda storage, location: None), load("meta"),
        load(lambda storage, location: storage.cpu()), seen,
    ]


def test_cuda_checkpoint_on_a_machine_without():
    file = saved(torch, torch.ones(2))
    moved = io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(moved, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("data.pkl"):
                data = data.replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0")
            target.writestr(name, data)
    for options in (dict(map_location="cpu"), dict(map_location={"cuda:0": "cpu"})):
        moved.seek(0)
        assert jaxflow.load(moved, **options).tolist() == [1, 1]
    messages = []
    for T in (torch, jaxflow):
        moved.seek(0)
        with pytest.raises(RuntimeError) as info:
            T.load(moved)
        messages.append(str(info.value))
    assert messages[0] == messages[1]


def test_mapped_file(tmp_path):
    path = tmp_path / "x.pt"
    torch.save({"a": torch.arange(100.0), "b": torch.ones(3, dtype=torch.bfloat16)}, path)
    got = jaxflow.load(path, mmap=True)
    assert got["a"].tolist() == list(range(100))
    assert got["b"].tolist() == [1, 1, 1]
    got["a"].add_(1)
    assert got["a"][0].item() == 1
    assert torch.load(path)["a"][0].item() == 0


def test_big_endian_checkpoint():
    file = saved(torch, {"x": torch.tensor([1.0, 2.0]), "z": torch.tensor([1 + 2j])})
    swapped = io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(swapped, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            elif "/data/" in name:
                data = np.frombuffer(data, "<f4").astype(">f4").tobytes()
            target.writestr(name, data)
    swapped.seek(0)
    got = jaxflow.load(swapped)
    assert got["x"].tolist() == [1, 2]
    assert got["z"].tolist() == [1 + 2j]


@pytest.mark.parametrize("wrote, reads", [(torch, jaxflow), (jaxflow, torch)])
@pytest.mark.parametrize("weights_only", [True, False])
def test_the_format_before_version_1_6(wrote, reads, weights_only):
    x = wrote.arange(6.0)
    state = {"x": x, "part": x[2:4], "turned": x.view(2, 3).t(), "i": wrote.tensor([3, 4]), "s": ["a", 1.5],
             "half": wrote.ones(2, dtype=wrote.bfloat16), "weight": wrote.nn.Parameter(x * 2)}
    got = reads.load(saved(wrote, state, _use_new_zipfile_serialization=False), weights_only=weights_only)
    assert list(got) == list(state) and got["s"] == ["a", 1.5]
    for name in state.keys() - {"s"}:
        assert got[name].tolist() == state[name].tolist() and got[name].stride() == state[name].stride()
    got["x"][2] = 50.0
    assert got["part"][0] == 50.0 and got["weight"].requires_grad


def test_formats_that_are_not_read():
    assert jaxflow.load(saved(torch, torch.eye(2).to_sparse())).to_dense().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("wrote, reads", [(torch, jaxflow), (jaxflow, torch)])
@pytest.mark.parametrize("view", [
    lambda x: x.conj(), lambda x: x.mH[0], lambda x: x.conj().imag, lambda x: x.conj()._neg_view(),
    lambda x: x.real._neg_view(),
])
def test_conjugates_and_negatives_are_read_as_such(wrote, reads, view, executor):
    def about(t):
        return t.tolist(), t.is_conj(), t.is_neg(), tuple(t.stride()), t._is_view()

    t = view(wrote.tensor([[1 + 2j, 3 - 1j], [0.5j, -2 + 1j]]))
    loaded = reads.load(saved(wrote, t))
    assert about(loaded) == about(t.detach())


def test_a_conjugate_shares_memory_when_it_is_read(executor):
    x = torch.tensor([1 + 2j, 3 - 1j])
    whole, conjugate = jaxflow.load(saved(torch, [x, x.conj()]))
    conjugate[0] = 5j
    assert whole.tolist() == [-5j, 3 - 1j]


@pytest.mark.parametrize("wrote, reads", [(torch, jaxflow), (jaxflow, torch), (jaxflow, jaxflow)])
def test_views_of_one_storage_stay_views(wrote, reads):
    base = wrote.arange(6.0)
    value = [
        base[1].expand(1 << 40), base.unfold(0, 3, 1), base.as_strided((2, 2, 2), (1, 0, 2), 1), base[::2],
        base.view(2, 3).t(), base, base[2:2], base.as_strided((2, 3), (2, 1)), base[4],
    ]
    got = reads.load(saved(wrote, value))
    for a, b in zip(value, got):
        assert (tuple(a.shape), tuple(a.stride()), a.storage_offset()) == (
            tuple(b.shape), tuple(b.stride()), b.storage_offset())
    got[5].mul_(10)
    got[1][0, 2] = -1
    got[8].fill_(7)
    base.mul_(10)
    value[1][0, 2] = -1
    value[8].fill_(7)
    assert [t.tolist() for t in got[1:]] == [t.tolist() for t in value[1:]]
    assert got[0][:2].tolist() == [10, 10]
    assert len(saved(reads, got).getvalue()) < 6000
