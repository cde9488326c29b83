"""The demo's GPT, its one import line changed: the same weights and data give PyTorch's losses."""

import pytest

from benchmarks import programs
from benchmarks.models import gpt
from benchmarks.models.example import example
from compat_tests.both import check_both


class Small(gpt.DemoWithoutDropout):
    layers, heads, width, block = 2, 2, 32, 16


def test_training_losses(executor):
    check_both(lambda T: T.tensor(programs.Training(T, Small).numbers(10)))


@pytest.mark.parametrize("name", ["mlp_digits", "cnn", "char_gpt"])
def test_example_runs_on_torch(name, tmp_path):
    flags = {
        "mlp_digits": "--epochs 1",
        "cnn": "--steps 2",
        "char_gpt": "--steps 2 --layers 1 --width 32 --block 16 --sample 5",
    }[name]
    module = example(name, "torch")
    module.main([*flags.split(), "--out", str(tmp_path)])
    module.main([*flags.split(), "--out", str(tmp_path), "--resume"])
    assert (tmp_path / "checkpoint.pt").exists()


def test_a_checkpoint_of_pytorchs_continues_the_same_text(tmp_path, capsys):
    flags = "--steps 2 --layers 1 --width 32 --block 16 --sample 40 --out".split()
    example("char_gpt", "torch").main([*flags, str(tmp_path)])
    texts = []
    for library in ("torch", "jaxflow"):
        capsys.readouterr()
        example("char_gpt", library).main([*flags, str(tmp_path), "--resume"])
        texts.append(capsys.readouterr().out.rpartition("- sample -")[2])
    assert len(texts[0]) > 40
    assert texts[0] == texts[1]
