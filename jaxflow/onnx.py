"""ONNX, to which nothing is exported: queries say so, other uses are refused."""

from __future__ import annotations

from typing import Any, NoReturn


def is_in_onnx_export() -> bool:
    """False."""
    return False


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: there is no exporter.

    Export the program from JAX instead (``jaxflow.to_jax``, then ``jax.export`` or jax2onnx), or load the
    state dict in PyTorch and export the model there.

    Args:
        args: not looked at.
        kwargs: not looked at.

    Returns:
        Nothing: it always raises.

    Raises:
        NotImplementedError: always.

    Example:
        >>> try:
        ...     torch.onnx.export(nn.Linear(3, 2), (torch.zeros(1, 3),), "model.onnx")
        ... except NotImplementedError:
        ...     print("no exporter")
        no exporter
    """
    raise NotImplementedError(
        "torch.onnx.export() is not supported. Export the program from JAX (jaxflow.to_jax, then jax.export "
        "or jax2onnx), or load the state_dict in PyTorch and export it there."
    )
