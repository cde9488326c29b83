"""Operators that translations to ONNX call, which raise NotImplementedError: there is no exporter."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.onnx.symbolic_opset11.{name}() is not supported: there is no exporter to ONNX. Export the "
        "program from JAX (jaxflow.to_jax, then jax.export or jax2onnx).")


def unsqueeze(g: Any, self: Any, dim: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("unsqueeze")


def squeeze(g: Any, self: Any, dim: Any = None) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("squeeze")


def select(g: Any, self: Any, dim: Any, index: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("select")
