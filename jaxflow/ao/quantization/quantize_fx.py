"""Quantization of graphs, which is not there: each function refuses by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

_INSTEAD = ("graph mode is not supported. Use eager mode: torch.ao.quantization.prepare(), prepare_qat(), "
            "convert() and quantize_dynamic()")


def _refused(name: str) -> Callable:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch.ao.quantization.quantize_fx.{name}(): {_INSTEAD}")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Raises NotImplementedError: quantization of graphs is not supported."
    return call


prepare_fx, prepare_qat_fx, convert_fx, fuse_fx, convert_to_reference_fx = map(_refused, (
    "prepare_fx", "prepare_qat_fx", "convert_fx", "fuse_fx", "convert_to_reference_fx"))
