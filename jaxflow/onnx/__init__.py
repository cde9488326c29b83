"""ONNX, to which nothing is exported: queries say so, other uses are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from ._enums import OperatorExportTypes as OperatorExportTypes
from ._enums import TensorProtoDataType as TensorProtoDataType
from ._enums import TrainingMode as TrainingMode

#: The translations that programs gave for operators of their own, by name and version. Nothing reads them.
_symbolic: dict[tuple[str, int], Callable] = {}


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable, opset_version: int) -> None:
    """Keep the translation of an operator of one's own. There is no exporter to use it: `export` raises.

    Raises:
        RuntimeError: for a name that is not ``namespace::name``.
    """
    if symbolic_name.startswith("::"):
        symbolic_name = f"aten{symbolic_name}"
    if not re.fullmatch(r"\w+::\w+", symbolic_name):
        raise RuntimeError(f"Failed to register operator {symbolic_name}. The symbolic name must match the "
                           "format "
                         "domain::name, and should start with a letter and contain only alphanumeric "
                         "characters")
    _symbolic[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget the translation that `register_custom_op_symbolic` kept."""
    _symbolic.pop((symbolic_name, opset_version), None)


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
