"""The format that PyTorch wrote before version 1.6: read, and written where it is asked for."""

import io
import pickle

import pytest

import jaxflow as torch


def saved(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file, _use_new_zipfile_serialization=False, **options)
    file.seek(0)
    return file


def state():
    x = torch.arange(6.0)
    return {"x": x, "part": x[2:4], "turned": x.view(2, 3).t(), "half": torch.ones(2, dtype=torch.bfloat16),
            "small": torch.tensor([1.0, 0.5]).to(torch.float8_e4m3fn), "flag": torch.tensor([True]),
            "complex": torch.tensor([1 + 2j]), "none": torch.empty(0), "weight": torch.nn.Parameter(x * 2)}


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("protocol", [2, 4])
def test_what_is_written_is_read(protocol, weights_only):
    written = state()
    read = torch.load(saved(written, pickle_protocol=protocol), weights_only=weights_only)
    assert list(read) == list(written)
    for name, t in read.items():
        assert t.dtype is written[name].dtype and str(t.tolist()) == str(written[name].tolist())
        assert t.stride() == written[name].stride() and t.requires_grad == written[name].requires_grad
    read["x"][2] = 50.0
    assert read["part"][0] == 50.0 and read["turned"][2, 0] == 50.0


#: ``torch.save(torch.tensor([1.5, -2.0]), file, _use_new_zipfile_serialization=False)`` of PyTorch 2.13.
BY_TORCH = bytes.fromhex("""
80028a0a6cfc9c46f9206aa850192e80024de9032e80027d710028581000000070726f746f636f6c5f76657273696f6e71014de9
03580d0000006c6974746c655f656e6469616e710288580a000000747970655f73697a657371037d710428580500000073686f72
7471054b025803000000696e7471064b0458040000006c6f6e6771074b0475752e800263746f7263682e5f7574696c730a5f7265
6275696c645f74656e736f725f76320a71002828580700000073746f72616765710163746f7263680a466c6f617453746f726167
650a7102580e00000039343035333932313233363238387103580300000063707571044b024e747105514b004b028571064b0185
71078963636f6c6c656374696f6e730a4f726465726564446963740a71082952710974710a52710b2e80025d7100580e00000039
343035333932313233363238387101612e02000000000000000000c03f000000c0
""")


def test_what_pytorch_has_written():
    assert torch.load(io.BytesIO(BY_TORCH)).tolist() == [1.5, -2.0]
    assert torch.load(io.BytesIO(BY_TORCH), map_location="meta").device.type == "meta"


def test_several_in_one_file():
    file = io.BytesIO()
    for n in range(3):
        torch.save([torch.full((n + 1,), float(n))], file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert [torch.load(file)[0].tolist() for _ in range(3)] == [[0.0], [1.0, 1.0], [2.0, 2.0, 2.0]]
    assert file.read() == b""


def test_damage_is_refused():
    for end in range(1, len(BY_TORCH)):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            torch.load(io.BytesIO(BY_TORCH[:end]))
    with pytest.raises(RuntimeError, match="unexpected EOF, expected 3 more bytes"):
        torch.load(io.BytesIO(BY_TORCH[:-3]))
    longer = BY_TORCH[:-16] + (1 << 40).to_bytes(8, "little") + BY_TORCH[-8:]
    with pytest.raises(RuntimeError, match="has 4398046511104 bytes where 8 are needed"):
        torch.load(io.BytesIO(longer))


def test_nothing_is_run_that_is_not_allowed(tmp_path):
    class Hostile:
        def __reduce__(self):
            return open, (str(tmp_path / "made"), "w")

    with pytest.raises(pickle.UnpicklingError, match="open was not an allowed global"):
        torch.load(saved([Hostile()]))
    assert not (tmp_path / "made").exists()


def test_a_stream_is_not_mapped(tmp_path):
    path = tmp_path / "old.pt"
    torch.save([torch.ones(2)], path, _use_new_zipfile_serialization=False)
    assert torch.load(path)[0].tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        torch.load(path, mmap=True)
