"""What `jaxflow.as_torch` says of PyTorch's names, held against PyTorch."""

import importlib
import os
import pathlib
import subprocess
import sys

import pytest
import torch

import jaxflow
from jaxflow._as_torch.advice import DIFFERENT, METHODS
from jaxflow._as_torch.checking import about
from jaxflow._as_torch.names import is_pytorchs

from .names import look_up

#: Not looked for in programs: other classes have methods of these names.
OFTEN_OTHERS = {"index", "ipu", "module_load", "mtia", "reinforce", "storage_type", "volatile", "xpu"}


def _imports(name):
    try:
        importlib.import_module(f"torch.{name}")
    except ModuleNotFoundError:
        return False
    return True


def test_modules_that_are_pytorchs_too():
    folder = pathlib.Path(jaxflow.__file__).parent
    own = {p.stem for p in folder.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    theirs = {n for n in own if n == "__init__" or _imports(n)}
    assert {n for n in own if is_pytorchs(n)} == theirs - {"_ops", "_dispatch"}  # something else


def test_methods_that_are_lacking():
    lacking = {n for n in dir(torch.Tensor) if not n.startswith("_") and not hasattr(jaxflow.Tensor, n)}
    assert METHODS == lacking - OFTEN_OTHERS


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_what_is_different_is_there_in_both(name):
    assert about(name) == DIFFERENT[name]
    assert look_up(torch, name.removeprefix("torch.")) and look_up(jaxflow, name.removeprefix("torch."))


def test_whole_modules_go_both_ways(tmp_path):
    """Saved under the launcher and loaded by PyTorch, and the other way round."""
    theirs = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 1), torch.nn.BatchNorm2d(2)).eval()
    torch.save(theirs, tmp_path / "theirs.pt")
    program = f"""
import torch
net = torch.load({str(tmp_path / "theirs.pt")!r}, weights_only=False)
torch.save((net(torch.ones(1, 3, 2, 2)), torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False))), "ours.pt")
"""
    root = str(pathlib.Path(jaxflow.__file__).parent.parent)
    subprocess.run([sys.executable, "-m", "jaxflow", "-c", program], check=True, cwd=tmp_path,
                   env={**os.environ, "PYTHONPATH": root})
    out, net = torch.load(tmp_path / "ours.pt", weights_only=False)
    torch.testing.assert_close(out, theirs(torch.ones(1, 3, 2, 2)))
    assert type(net[0]) is torch.nn.Linear and net(torch.ones(2)).shape == (2,)
