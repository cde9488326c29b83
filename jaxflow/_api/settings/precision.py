"""How precise products and casts are to be: set and read as in PyTorch, without effect on XLA."""

from __future__ import annotations

import warnings

from jaxflow._publish.composite import composite

_precision = {"matmul": "highest"}


@composite("function")
def set_float32_matmul_precision(precision: str) -> None:
    """Remember how precise products of float32 are to be: ``"highest"``, ``"high"`` or ``"medium"``.

    It has no effect here: on the CPU all are of full precision, elsewhere they are what
    ``jax_default_matmul_precision`` says.

    Args:
        precision: one of the three words; another one gets a warning, and nothing changes.

    Returns:
        None.

    Example:
        >>> before = torch.get_float32_matmul_precision()
        >>> torch.set_float32_matmul_precision("high")
        >>> torch.get_float32_matmul_precision()
        'high'
        >>> torch.set_float32_matmul_precision(before)
    """
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.", stacklevel=2,
        )
        return
    _precision["matmul"] = precision


@composite("function")
def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given last, at first ``"highest"``."""
    return _precision["matmul"]


@composite("function", checks=False)
def set_flush_denormal(mode: bool) -> bool:
    """False: how XLA's kernels treat denormal numbers cannot be chosen."""
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False
