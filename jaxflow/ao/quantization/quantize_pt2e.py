"""Quantization of exported programs, which is not there: each function refuses by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _refused(name: str) -> Callable:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"torch.ao.quantization.quantize_pt2e.{name}(): exported programs are not quantized. Use eager "
            "mode: torch.ao.quantization.prepare(), prepare_qat(), convert() and quantize_dynamic()")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Raises NotImplementedError: exported programs are not quantized."
    return call


prepare_pt2e, prepare_qat_pt2e, convert_pt2e = (_refused(name) for name in (
    "prepare_pt2e", "prepare_qat_pt2e", "convert_pt2e"))
