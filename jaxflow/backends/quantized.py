"""Engines for quantized models, by PyTorch's names: XLA and NumPy compute, rounding as the engine."""

from __future__ import annotations

import sys
from types import ModuleType as _ModuleType
from typing import Any

#: What stands for PyTorch's engine: ``x86`` and ``fbgemm`` round activations to 7 bits in dynamic
#: quantization, ``qnnpack`` to 8.
engine = "x86"


class _Module(_ModuleType):
    """The module, whose ``engine`` can be set only to one that there is."""

    @property
    def supported_engines(self) -> list[str]:
        """The names of the engines."""
        return ["qnnpack", "onednn", "x86", "fbgemm"]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "engine" and value not in (*self.supported_engines, "none"):
            raise RuntimeError(f"{value} is not a valid value for quantized engine")
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Module
