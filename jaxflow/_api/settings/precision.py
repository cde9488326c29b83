"""How precise products and casts are to be: set and read as in PyTorch, without effect on XLA."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
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


# ---------------------------------------------------------------- autocasting, which is never switched on

_LOWER = {"cpu": dtypes.bfloat16}


@composite("function")
def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether operations are cast by themselves on a type of device: never.

    Args:
        device_type: ``"cpu"``, ``"cuda"`` or another type's name; None for the default.

    Returns:
        False.

    Raises:
        RuntimeError: for a name that is no type of device.

    Example:
        >>> torch.is_autocast_enabled(), torch.is_autocast_enabled("cpu")
        (False, False)
    """
    if device_type is not None:
        devices.device(device_type)  # refuses what is none
    return False


@composite("function")
def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """What dtype autocasting would have on a type of device: bfloat16 on the CPU, float16 elsewhere."""
    return _LOWER.get(devices.device(device_type).type, dtypes.float16)


def _deprecated(name: str, instead: str, found: Any) -> None:
    def ask() -> Any:
        warnings.warn(
            f"torch.{name}() is deprecated. Please use torch.{instead} instead.", DeprecationWarning,
            stacklevel=2,
        )
        return found

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"Deprecated in favour of ``{instead}``."
    composite("function")(ask)


_deprecated("get_autocast_gpu_dtype", "get_autocast_dtype('cuda')", dtypes.float16)
_deprecated("get_autocast_cpu_dtype", "get_autocast_dtype('cpu')", dtypes.bfloat16)
_deprecated("is_autocast_cpu_enabled", "is_autocast_enabled('cpu')", False)


@composite("function")
def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights would be kept within an autocast region, as they are by default: True."""
    return True
