"""What makes ``torch`` mean jaxflow in this process and its children."""

from __future__ import annotations

import importlib
import sys

import jaxflow
from jaxflow._operators.libraries import provide

from .children import let_children_have_it
from .distribution import DistributionFinder
from .finder import TorchFinder
from .names import give_names
from .version import VERSION


def _torchvision() -> None:
    """Register torchvision's operators."""
    importlib.import_module("jaxflow._as_torch.torchvision.library").register()


def install() -> None:
    """Let imports of torch give jaxflow. Twice is as good as once.

    Raises:
        ImportError: where PyTorch itself is imported already.
    """
    there = sys.modules.get("torch")
    if there is jaxflow:
        return
    if there is not None:
        raise ImportError(
            f"PyTorch is imported already, from {getattr(there, '__file__', 'nowhere')}; import "
            "jaxflow.as_torch before anything imports torch, or run the program by python -m jaxflow")
    sys.meta_path[:0] = [TorchFinder(), DistributionFinder()]
    jaxflow.__version__ = jaxflow.torch_version.__version__ = VERSION
    give_names()
    sys.modules["torch"] = jaxflow
    for stem in ("_C", "_C_stable"):
        provide("torchvision", stem, _torchvision)
    let_children_have_it()
