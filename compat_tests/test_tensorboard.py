"""Event files as TensorBoard reads them, and beside PyTorch's, where the package is installed."""

import functools
import io

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests import tensorboard_bytes
from jaxflow.utils.tensorboard import SummaryWriter
from jaxflow.utils.tensorboard import summary as ours

pytest.importorskip("tensorboard", reason="it reads what is written")
theirs = pytest.importorskip("torch.utils.tensorboard.summary")


@functools.cache
def rows(name):
    return (tensorboard_bytes.TESTS / f"tensorboard_{name}.txt").read_text(encoding="utf-8").splitlines()


def test_the_file_of_bytes_is_what_pytorch_writes():
    assert tensorboard_bytes.summaries() == rows("bytes")


def test_tensorboard_reads_what_is_written(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with SummaryWriter(tmp_path) as writer:
        for call in rows("calls"):
            eval(f"writer.{call}", {"writer": writer, "t": jaxflow.tensor, "np": np, "torch": jaxflow})
        for step in range(100):
            writer.add_scalar("curve", step / 8, step)
        writer.add_image("image", jaxflow.ones(3, 2, 4))
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert [(e.step, e.value) for e in read.Scalars("curve")] == [(step, step / 8) for step in range(100)]
    image, = read.Images("image")
    assert (image.width, image.height) == (4, 2)
    assert read.Histograms("raw")[0].histogram_value.num == 4
    words = read.Tensors("words/text_summary")[0].tensor_proto
    assert words.string_val[0].decode() == "grün **bold**\n\tend"


def parsed(message):
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Summary.FromString(message.SerializeToString())


def test_parameters_of_runs():
    """As messages: the order of a map's entries is not fixed."""
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    given = ({"lr": 0.1, "name": "x", "flag": True, "none": None, "n": 3}, {"loss": 1.0},
             {"n": [1, 3], "name": ["x", "y"], "flag": [True, False]})
    for mine, expected in zip(ours.hparams(*given), theirs.hparams(*given), strict=True):
        (a,), (b,) = parsed(mine).value, expected.value
        assert a.tag == b.tag and a.metadata.plugin_data.plugin_name == b.metadata.plugin_data.plugin_name
        assert HParamsPluginData.FromString(a.metadata.plugin_data.content) == HParamsPluginData.FromString(
            b.metadata.plugin_data.content)


@pytest.mark.parametrize(("function", "numbers", "options"), [
    ("image", (3, 5, 7), {"dataformats": "CHW"}), ("image", (5, 7), {"dataformats": "HW"}),
    ("image", (7, 5, 1), {"dataformats": "WHC"}), ("image", (9, 1, 4, 3), {}),
    ("image", (3, 8, 8), {"dataformats": "CHW", "rescale": 0.5}),
])
def test_pixels(function, numbers, options):
    from PIL import Image

    array = np.random.default_rng(0).uniform(-0.2, 1.2, numbers).astype(np.float32)
    mine = getattr(ours, function)("x", jaxflow.tensor(array), **options).value[0].image
    expected = getattr(theirs, function)("x", torch.tensor(array), **options).value[0].image
    assert [mine.height, mine.width, mine.colorspace] == [expected.height, expected.width,
                                                          expected.colorspace]
    pixels = [np.asarray(Image.open(io.BytesIO(m.encoded_image_string))) for m in (mine, expected)]
    assert (pixels[0] == pixels[1]).all()


def test_boxes():
    from PIL import Image

    array, boxes = np.zeros((3, 30, 40), np.float32), np.array([[2, 3, 30, 25], [5, 5, 20, 20]])
    pixels = []
    for side, library in ((ours, jaxflow), (theirs, torch)):
        image = side.image_boxes("x", library.tensor(array), library.tensor(boxes), labels=["one",
                                                                                            "two"]).value[0].image
        pixels.append(np.asarray(Image.open(io.BytesIO(image.encoded_image_string))))
    assert (pixels[0] == pixels[1]).all()


def test_embeddings(tmp_path):
    from torch.utils.tensorboard import SummaryWriter as Theirs

    for side, library, name in ((SummaryWriter, jaxflow, "ours"), (Theirs, torch, "theirs")):
        with side(tmp_path / name) as writer:
            images = library.linspace(0, 1, 3 * 2 * 4).reshape(3, 1, 2, 4)
            points = library.tensor([[1.0, 2.5], [0.1, 1e-9], [3e20, 4.0]])
            writer.add_embedding(points, ["a", "ü\t", 'c"'], images, 7, "l\\1/ü%")
            writer.add_embedding(library.eye(2), [["a", 1], ["b", 2]], metadata_header=["name", "n"])
    files = {name: {path.relative_to(tmp_path / name): path.read_bytes()
                    for path in (tmp_path / name).rglob("*") if path.suffix in (".tsv", ".pbtxt")}
             for name in ("ours", "theirs")}
    assert len(files["ours"]) == 5 and files["ours"] == files["theirs"]
