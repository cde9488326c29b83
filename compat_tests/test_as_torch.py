"""What `jaxflow.as_torch` says of PyTorch's names, held against PyTorch."""

import importlib
import pathlib

import pytest
import torch

import jaxflow
from jaxflow._as_torch.advice import DIFFERENT, METHODS
from jaxflow._as_torch.checking import about
from jaxflow._as_torch.finder import is_pytorchs

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
