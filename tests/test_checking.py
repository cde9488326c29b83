"""``python -m jaxflow --check``: what a program uses of torch that jaxflow lacks or treats differently."""

import textwrap

import pytest

from jaxflow._as_torch import checking
from jaxflow._as_torch.checking import check_source


def names(source):
    return [(f.line, f.name) for f in check_source(textwrap.dedent(source))]


@pytest.mark.parametrize("source", [
    "import torch.nn as nn, torch.nn.functional as F\nnn.Linear(2, 3), F.relu, nn.modules.linear.Linear",
    "from torch import nn, Tensor\nfrom torch.utils.data import DataLoader\nTensor.view, nn.init.eye_",
    "import torch\ntorch.backends.cudnn.benchmark = True\ntorch.cuda.is_available()\ntorch.float32.itemsize",
    "from torch.optim.lr_scheduler import *\nimport torch.utils.data\ntorch.utils.data.DataLoader",
    "import numpy as torchlike\ntorchlike.no_such_thing",
    "class torch:\n    x = 1\ntorch.x",  # not imported
])
def test_what_is_there_is_not_listed(source):
    assert names(source) == []


@pytest.mark.parametrize("line, name", [
    ("import torch.no_such", "torch.no_such"),
    ("from torch.no_such import a", "torch.no_such.a"),
    ("from torch import no_such", "torch.no_such"),
    ("import torch as T; T.nn.no_such", "torch.nn.no_such"),
    ("import torch.nn; torch.nn.functional.no_such", "torch.nn.functional.no_such"),
    ("from torch import nn as n; n.modules.no_such.Thing", "torch.nn.modules.no_such.Thing"),
    ("import torch._core", "torch._core"),
    ("import torch; torch.ones(3).to_mkldnn()", "Tensor.to_mkldnn"),
])
def test_what_is_missing_is_listed(line, name):
    assert names(f"\n\ndef f():\n    {line}\n") == [(4, name)]


def test_what_a_program_can_do_without_is_not_listed():
    assert names("""
        try:
            from torch import no_such
        except (ValueError, ImportError):
            from torch import also_missing
        try:
            import torch.no_such
        except ValueError:
            pass
    """) == [(5, "torch.also_missing"), (7, "torch.no_such")]


def test_what_is_different_is_listed_with_what_to_do():
    found = {f.name: f.what for f in check_source(
        "import torch\ntorch.jit.script\ntorch.nn.Lineer\ntorch.package.no_such")}
    assert "stays Python" in found["torch.jit.script"]
    assert found["torch.nn.Lineer"] == "jaxflow has no torch.nn.Lineer; is torch.nn.Linear what you need?"
    assert "state_dict" in found["torch.package.no_such"]


def test_files_and_folders(tmp_path, capsys):
    (tmp_path / "good.py").write_text("import torch\ntorch.ones")
    assert checking.main([str(tmp_path)]) == 0
    assert capsys.readouterr().err == "1 files: nothing that jaxflow lacks or treats differently\n"
    (tmp_path / "venv").mkdir()
    for name, text in (("bad.py", "import torch\ntorch.no_such"), ("broken.py", "x = ("),
                       ("latin.py", "\xe9 = 1"), ("notes.txt", "x = ("), ("venv/pyvenv.cfg", ""),
                       ("venv/inside.py", "x = (")):
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    assert checking.main([str(tmp_path)]) == 1
    bad, broken, latin = capsys.readouterr().out.splitlines()
    assert bad.startswith(f"{tmp_path / 'bad.py'}:2: torch.no_such: jaxflow has no torch.no_such; ")
    assert broken.startswith(f"{tmp_path / 'broken.py'}:1: -: cannot be read: ") and "latin.py:1: -:" in latin
    assert checking.main([str(tmp_path / "good.py")]) == 0
    assert checking.main([]) == checking.main([str(tmp_path / "nowhere")]) == 2
    assert "no such file or folder: " in capsys.readouterr().err
