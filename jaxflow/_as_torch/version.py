"""The version of PyTorch that jaxflow's interface is that of."""

from __future__ import annotations

from jaxflow.torch_version import TorchVersion

VERSION = TorchVersion("2.13.0+jaxflow")
