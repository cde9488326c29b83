"""Event files, read back; summaries byte by byte as PyTorch's; images, folders, errors."""

import io
import pathlib
import struct
import zlib

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.utils.tensorboard import FileWriter, RecordWriter, SummaryWriter, summary
from jaxflow.utils.tensorboard._crc import crc32c, masked
from jaxflow.utils.tensorboard._image import convert_to_HWC, make_grid, png

HERE = pathlib.Path(__file__).resolve().parent
CALLS = (HERE / "tensorboard_calls.txt").read_text(encoding="utf-8").splitlines()
BYTES = (HERE / "tensorboard_bytes.txt").read_text(encoding="utf-8").splitlines()

EVENT = {1: "wall_time", 2: "step", 3: "file_version", 5: "summary", 7: "session_log", 10: "source"}


def fields(data):
    """The fields of a message, as (number, value) in their order: a reader of its own."""
    at = 0

    def varint():
        nonlocal at
        found = shift = 0
        while True:
            byte = data[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    while at < len(data):
        tag = varint()
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value = varint()
            value -= (value >> 63) << 64
        elif wire == 1:
            value = struct.unpack("<d", data[at:at + 8])[0]
            at += 8
        elif wire == 5:
            value = struct.unpack("<f", data[at:at + 4])[0]
            at += 4
        else:
            assert wire == 2
            length = varint()
            value = data[at:at + length]
            assert len(value) == length
            at += length
        yield number, value


def bitwise_crc32c(data):
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def records(path):
    data = path.read_bytes()
    while data:
        length = struct.unpack("<Q", data[:8])[0]
        body = data[12:12 + length]
        for part, at in ((data[:8], 8), (body, 12 + length)):
            crc = bitwise_crc32c(part)
            turned = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
            assert struct.unpack("<I", data[at:at + 4])[0] == turned
        yield body
        data = data[16 + length:]


def events(folder):
    """The events of the files in a folder, the headers left out."""
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        first, *rest = [{EVENT[number]: value for number, value in fields(body)} for body in records(path)]
        assert first["file_version"] == b"brain.Event:2"
        found += rest
    return found


def value_of(event):
    """The fields of the only value of an event's summary."""
    (_, value), = fields(event["summary"])
    return dict(fields(value))


def test_checksums():
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32/ISCSI
    assert masked(0) == 0xA282EAD8
    numbers = np.random.default_rng(0).integers(0, 256, 40_003, np.uint8).tobytes()
    assert crc32c(numbers) == bitwise_crc32c(numbers)
    assert crc32c(numbers[:16_384]) == bitwise_crc32c(numbers[:16_384])
    assert crc32c(b"") == 0


@pytest.mark.usefixtures("executor")
def test_summaries_are_pytorchs_byte_by_byte(tmp_path):
    assert len(CALLS) == len(BYTES)
    writer = SummaryWriter(tmp_path)
    for call in CALLS:
        eval(f"writer.{call}", {"writer": writer, "t": torch.tensor, "np": np, "torch": torch})
    writer.close()
    found = events(tmp_path)
    wrong = [call for call, event, expected in zip(CALLS, found, BYTES, strict=True)
             if f"{event.get('step', 0)} {event['summary'].hex()}" != expected]
    assert not wrong


def test_an_event_is_in_the_file_when_the_call_returns(tmp_path):
    writer = SummaryWriter(tmp_path, filename_suffix=".end")
    for step in range(30):
        writer.add_scalar("loss", torch.tensor(1.0) / (step + 1), step, walltime=100.0 + step)
        assert len(events(tmp_path)) == step + 1
    last = events(tmp_path)[-1]
    assert last["wall_time"] == 129.0 and value_of(last) == {1: b"loss", 2: pytest.approx(1 / 30)}
    path, = tmp_path.iterdir()
    assert path.name.endswith(".end")
    writer.flush()
    writer.close()
    writer.close()


def test_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr") as writer:
        folder = pathlib.Path(writer.get_logdir())
    assert folder.parent.name == "runs" and folder.name.endswith("_lr") and events(folder) == []
    with SummaryWriter("run") as writer:
        writer.add_scalars("train/loss", {"a": 1, "b": torch.tensor(2.0)}, 4)
        writer.add_scalars("train/loss", {"a": 3}, 5)
        assert len(writer.all_writers) == 3
    assert [e["step"] for e in events(tmp_path / "run" / "train_loss_a")] == [4, 5]
    assert value_of(events(tmp_path / "run" / "train_loss_b")[0]) == {1: b"train/loss", 2: 2.0}
    writer.add_scalar("later", 1, 1)  # a closed writer goes on in a new file
    writer.close()
    assert len(list((tmp_path / "run").glob("events*"))) == 2 and len(events(tmp_path / "run")) == 1


def test_purge_step(tmp_path):
    with SummaryWriter(tmp_path, purge_step=12):
        pass
    first, second = events(tmp_path)
    assert first["step"] == second["step"] == 12 and first["file_version"] == b"brain.Event:2"
    assert dict(fields(second["session_log"])) == {1: 1}


def test_hparams(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"lr": torch.tensor([0.5]), "name": "x", "flag": True, "none": None, "layers": 2},
                           {"accuracy": 0.75}, {"layers": [1, 2]}, run_name="trial", global_step=3)
    *plugin, figure = events(tmp_path / "trial")
    assert value_of(figure) == {1: b"accuracy", 2: 0.75} and figure["step"] == 3
    content = {}
    for event in plugin:
        value = value_of(event)
        data = dict(fields(dict(fields(value[9]))[1]))
        assert data[1] == b"hparams"
        content[value[1].decode().removeprefix("_hparams_/")] = dict(fields(data[2]))
    session = [dict(fields(entry)) for _, entry in fields(content["session_start_info"][3])]
    assert {e[1].decode(): dict(fields(e[2])) for e in session} == {
        "lr": {2: 0.5}, "name": {3: b"x"}, "flag": {2: 1.0}, "layers": {2: 2.0}}
    infos = [dict(fields(info)) for number, info in fields(content["experiment"][2]) if number == 4]
    assert {info[1].decode(): info[4] for info in infos} == {"lr": 3, "name": 1, "flag": 3, "layers": 3}
    assert [dict(fields(value)) for _, value in fields(infos[-1][5])] == [{2: 1.0}, {2: 2.0}]
    assert dict(fields(content["session_end_info"][4])) == {1: 1}


def test_hparams_errors(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match="should be dictionary"):
            writer.add_hparams([("a", 1)], {})
        with pytest.raises(ValueError, match="value should be one of int, float, str, bool, or torch.Tensor"):
            writer.add_hparams({"a": [1]}, {})
        with pytest.raises(TypeError, match="list of same type"):
            writer.add_hparams({"a": 1}, {}, {"a": ["x"]})
    assert len(list(tmp_path.iterdir())) == 1


def unpacked(data):
    """The pixels of a PNG of bytes whose lines have filter 2."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        parts[name] = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(
            data[at + 4:at + 8 + length])
        at += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert depth == 8 and parts[b"IEND"] == b""
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 2).all()
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[colour]
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, channels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png(channels):
    pixels = np.random.default_rng(1).integers(0, 256, (5, 7, channels), np.uint8)
    assert (unpacked(png(pixels)) == pixels).all()
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(png(pixels)))
    assert (np.asarray(image).reshape(pixels.shape) == pixels).all()


@pytest.mark.usefixtures("executor")
def test_images(tmp_path):
    grey = torch.arange(12.0).reshape(3, 4) / 11
    colours = np.random.default_rng(2).integers(0, 256, (5, 3, 2, 4), np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("a", grey, 1, dataformats="HW")
        writer.add_image("a", grey.T[..., None], 1, dataformats="WHC")
        writer.add_image("a", colours[0], 1)
        writer.add_images("a", colours, 1)
        writer.add_image("a", torch.tensor(2.0).expand(1, 2, 2))  # cut at 1
    found = []
    for event in events(tmp_path):
        image = dict(fields(value_of(event)[4]))
        found.append(unpacked(image[4]))
        assert (image[1], image[2], image[3]) == found[-1].shape
    expected = np.repeat((grey.numpy()[..., None] * np.float32(255)).astype(np.uint8), 3, 2)
    assert (found[0] == expected).all() and (found[1] == expected).all()
    assert (found[2] == colours[0].transpose(1, 2, 0)).all()
    assert (found[3] == np.concatenate(colours, 2).transpose(1, 2, 0)).all()
    assert (found[4] == 255).all()


def test_grids():
    images = np.arange(3 * 1 * 2 * 2).reshape(3, 1, 2, 2)
    grid = make_grid(images, ncols=2)
    assert grid.shape == (3, 4, 4)
    assert grid[2].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 0, 0], [10, 11, 0, 0]]
    with pytest.raises(AssertionError, match="same dimension shorthand twice"):
        convert_to_HWC(images, "NCHH")
    with pytest.raises(AssertionError, match="size of input tensor and input format are different"):
        convert_to_HWC(images, "CHW")


def test_figures_boxes_and_films(tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    pillow = pytest.importorskip("PIL.Image")
    from matplotlib import pyplot

    with SummaryWriter(tmp_path) as writer:
        for count in (1, 2):
            figures = [pyplot.figure(figsize=(1, 2), dpi=50, facecolor=(1, 0, 0)) for _ in range(count)]
            writer.add_figure("figure", figures if count == 2 else figures[0], 1)
            assert not pyplot.get_fignums()
        writer.add_image_with_boxes("boxes", torch.zeros(3, 20, 20), torch.tensor([[2, 2, 17, 17]]), 1,
                                    labels="x")
        writer.add_image_with_boxes("boxes", torch.zeros(3, 20, 20), torch.tensor([[2, 2, 17, 17]]), 1,
                                    rescale=2)
        film = np.zeros((3, 4, 3, 2, 2), np.uint8)
        film[0, 1], film[2, 2] = 255, 255
        writer.add_video("film", film, 1, fps=5)
    *pictures, film = [dict(fields(value_of(event)[4])) for event in events(tmp_path)]
    first, second, boxes, larger = [unpacked(picture[4]) for picture in pictures]
    assert first.shape == (100, 50, 3) and (first == [255, 0, 0]).all() and second.shape == (100, 100, 3)
    assert (boxes[2, 5:15] == [255, 0, 0]).all() and not boxes[5:8, 5:15].any() and larger.shape == (40, 40,
                                                                                                     3)
    frames = pillow.open(io.BytesIO(film[4]))
    assert frames.n_frames == 4 and (film[1], film[2], film[3]) == (2, 8,
                                                                    3) and frames.info["duration"] == 200
    bright = []
    for number in range(4):
        frames.seek(number)
        bright.append(np.asarray(frames.convert("L")) > 127)
    assert bright[1][:, :2].all() and bright[2][:, 4:6].all() and sum(b.sum() for b in bright) == 8


def test_embeddings(tmp_path, capsys):
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(torch.tensor([[1.0, 2.5], [0.1, 0.0], [3.0, 4.0]]), ["a", "b", 'c"ü'],
                             torch.ones(3, 1, 2, 4), 7, "layer/1")
        writer.add_embedding(np.eye(2, dtype=np.float32), [["a", 1], ["b", 2]], metadata_header=["name", "n"])
        writer.add_embedding(np.eye(2))
        with pytest.raises(AssertionError, match="#labels should equal"):
            writer.add_embedding(np.eye(2), ["a"], tag="other")
        with pytest.raises(AssertionError, match="mat should be 2D"):
            writer.add_embedding(np.ones(2), tag="other")
    folder = tmp_path / "00007" / "layer%2f1"
    assert (folder / "tensors.tsv").read_text() == f"1.0\t2.5\n{float(np.float32(0.1))}\t0.0\n3.0\t4.0\n"
    assert (folder / "metadata.tsv").read_text(encoding="utf-8") == 'a\nb\nc"ü\n'
    sprite = unpacked((folder / "sprite.png").read_bytes())
    assert sprite.shape == (8, 8, 3) and sprite[:2].all() and sprite[2:4, :4].all() and not sprite[4:].any()
    assert (tmp_path / "00000" / "default" / "metadata.tsv").read_text() == "name\tn\na\t1\nb\t2\n"
    assert (tmp_path / "projector_config.pbtxt").read_text() == """embeddings {
  tensor_name: "layer/1:00007"
  metadata_path: "00007/layer%2f1/metadata.tsv"
  sprite {
    image_path: "00007/layer%2f1/sprite.png"
    single_image_dim: 4
    single_image_dim: 2
  }
  tensor_path: "00007/layer%2f1/tensors.tsv"
}
embeddings {
  tensor_name: "default:00000"
  metadata_path: "00000/default/metadata.tsv"
  tensor_path: "00000/default/tensors.tsv"
}
embeddings {
  tensor_name: "default:00000"
  tensor_path: "00000/default/tensors.tsv"
}
"""
    assert capsys.readouterr().out.startswith("warning: Embedding dir exists")


@pytest.mark.usefixtures("executor")
def test_errors(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(AssertionError, match="Tensor should contain one element"):
            writer.add_scalar("x", torch.ones(2))
        with pytest.raises(NotImplementedError, match="but numpy array or torch tensor are expected"):
            writer.add_scalar("x", [1])
        with pytest.raises(TypeError, match="expected text"):
            writer.add_scalar(3, 1.0)
        with pytest.raises(ValueError, match="out of range"):
            writer.add_scalar("x", 1.0, 2**63)
        with pytest.raises(ValueError, match="The input has no element"):
            writer.add_histogram("x", torch.ones(0))
        with pytest.raises(ValueError, match="histogram is empty"):
            writer.add_histogram("x", torch.tensor([float("nan")]))
        with pytest.raises(ValueError, match="len\\(bucket_limits\\) != len\\(bucket_counts\\)"):
            writer.add_histogram_raw("x", 0, 1, 1, 1, 1, [1.0], [])
        with pytest.raises(AssertionError, match="1 dimensional"):
            writer.add_audio("x", torch.zeros(2, 3))
        with pytest.raises(ValueError, match="unsupported tensor dtype"):
            writer.add_tensor("x", torch.ones(2).to(torch.float8_e4m3fn))
        with pytest.raises(NotImplementedError, match="meta"):
            writer.add_histogram("x", torch.ones(2, device="meta"))
        with pytest.raises(NotImplementedError, match="SummaryWriter.add_graph is not supported"):
            writer.add_graph(torch.nn.Linear(1, 1), torch.ones(1, 1))
        with pytest.raises(AssertionError, match="Expected 3 tags"):
            writer.add_custom_scalars_marginchart(["a"])
        with pytest.raises(ValueError, match="BxNx3"):
            writer.add_mesh("x", torch.ones(2, 3))
    assert events(tmp_path) == []
    with pytest.raises(ValueError, match="no folder of this machine"):
        SummaryWriter("s3://bucket/run")


def test_sound_that_is_too_loud_is_cut(tmp_path, capsys):
    with SummaryWriter(tmp_path) as writer:
        writer.add_audio("loud", torch.tensor([2.0, -0.5]))
    assert "auto clipped" in capsys.readouterr().out
    sound = dict(fields(value_of(events(tmp_path)[0])[6]))
    assert np.frombuffer(sound[4][-4:], "<i2").tolist() == [32767, -16383] and sound[1] == 44100.0


class Theirs:
    """A message as protobuf has them."""

    def __init__(self, data):
        self.data = data

    def SerializeToString(self):
        return self.data


def test_file_writer(tmp_path):
    writer = FileWriter(tmp_path)
    writer.add_summary(Theirs(summary.scalar("loss", 1.5).SerializeToString()), 2)
    writer.close()
    with pytest.raises(OSError, match="Writer is closed"):
        writer.add_summary(summary.scalar("loss", 1.5), 3)
    writer.reopen()
    writer.add_summary(summary.scalar("loss", 2.5), 3)
    writer.close()
    assert [(e["step"], value_of(e)[2]) for e in events(tmp_path)] == [(2, 1.5), (3, 2.5)]
    file = io.BytesIO()
    RecordWriter(file).write(b"data")
    (tmp_path / "records").write_bytes(file.getvalue())
    assert list(records(tmp_path / "records")) == [b"data"]


def test_a_record_that_does_not_fit_leaves_no_part_of_it(tmp_path, monkeypatch):
    writer = FileWriter(tmp_path)
    file = writer.event_writer._file

    class Full:
        closed = False

        def write(self, data):
            return file.write(data[:10])

        def __getattr__(self, name):
            return getattr(file, name)

    monkeypatch.setattr(writer.event_writer, "_file", Full())
    with pytest.raises(OSError, match="No space left"):
        writer.add_summary(summary.scalar("loss", 1.5), 2)
    monkeypatch.undo()
    writer.add_summary(summary.scalar("loss", 2.5), 3)
    writer.close()
    assert [e["step"] for e in events(tmp_path)] == [3]


def test_a_message_as_text_and_attributes():
    found = summary.scalar("a\nb", 0.25)
    assert found.value[0].tag == "a\nb" and found.value[0].simple_value == 0.25
    assert str(found) == 'value {\n  tag: "a\\nb"\n  simple_value: 0.25\n}\n'
    assert found == summary.scalar("a\nb", 0.25) != summary.scalar("a\nb", 0.5)
    with pytest.raises(AttributeError, match="no_such"):
        found.no_such  # noqa: B018
    with pytest.raises(ValueError, match='no "no_such" field'):
        type(found)(no_such=1)
