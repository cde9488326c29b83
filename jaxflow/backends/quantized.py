"""Engines for quantized tensors, of which there are none."""

from __future__ import annotations

import sys
from types import ModuleType as _ModuleType
from typing import Any

engine = "none"


class _Module(_ModuleType):
    """The module, whose ``engine`` can be set only to one that there is."""

    @property
    def supported_engines(self) -> list[str]:
        """The names of the engines."""
        return []

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "engine" and value != "none":
            known = ("fbgemm", "qnnpack", "onednn", "x86")
            raise RuntimeError(f"quantized engine {value} is not supported" if value in known else
                               f"{value} is not a valid value for quantized engine")
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Module
