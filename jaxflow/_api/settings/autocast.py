"""This thread's autocasting, by PyTorch's functions that read and set it directly."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow._api.forms import invalid_combination
from jaxflow._core import autocast
from jaxflow._core.dtype import dtype as Dtype  # noqa: N812
from jaxflow._core.state import state
from jaxflow._publish.composite import composite

_NO_KEY = "unknown device type for autocast in get_autocast_dispatch_key_from_device_type"
_NO_DTYPE = "unsupported scalarType"


def _type(device_type: str, otherwise: str) -> str:
    """The type of device. RuntimeError for what is none, and with these words for one without autocasting."""
    found = autocast.type_of(device_type)
    if found not in autocast.LOWER:
        raise RuntimeError(otherwise)
    return found


@composite("function")
def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether operations on a type of device are cast in this thread: inside `autocast`.

    Args:
        device_type: ``"cpu"``, ``"cuda"`` or another type's name.

    Returns:
        A bool.

    Raises:
        RuntimeError: for a name that is no type of device, or one that has no autocasting.

    Example:
        >>> with torch.autocast("cpu"):
        ...     torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled()
        (True, False)
    """
    return _type(device_type, _NO_KEY) in autocast.settings().enabled


@composite("function", checks=False)
def set_autocast_enabled(*args: Any, **kwargs: Any) -> None:
    """``set_autocast_enabled(device_type, enabled)``: switch autocasting of a type of device on or off.

    `autocast` does it for the length of a block, which is nearly always what is meant.

    Args:
        device_type: ``"cpu"``, ``"cuda"`` or another type's name; left out it is ``"cuda"``.
        enabled: a bool.

    Returns:
        None.

    Raises:
        RuntimeError: for a name that is no type of device, or one that has no autocasting.
        TypeError: for other arguments.

    Example:
        >>> torch.set_autocast_enabled("cpu", True)
        >>> torch.mm(torch.ones(1, 1), torch.ones(1, 1)).dtype
        torch.bfloat16
        >>> torch.set_autocast_enabled("cpu", False)
    """
    names = ("device_type", "enabled") if len(args) + len(kwargs) > 1 else ("enabled",)
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if set(given) != set(names) or len(args) > len(names) or set(names[:len(args)]) & set(kwargs):
        raise invalid_combination("set_autocast_enabled", args, kwargs)
    device_type, enabled = given.get("device_type", "cuda"), given["enabled"]
    for name, value, kind in (("device_type", device_type, str), ("enabled", enabled, bool)):
        if not isinstance(value, kind):
            where = f" (position {names.index(name) + 1})"
            raise TypeError(f"set_autocast_enabled(): argument '{name}'{where} must be {kind.__name__}, not "
                            f"{_named(value)}")
    autocast.put(autocast.settings().with_enabled(_type(device_type, _NO_KEY), enabled))


def _named(value: Any) -> str:
    return "torch.dtype" if isinstance(value, Dtype) else type(value).__name__


@composite("function")
def get_autocast_dtype(device_type: str) -> Dtype:
    """The dtype that autocasting of a type of device casts to: at first bfloat16 on the CPU, float16 on CUDA.

    Args:
        device_type: ``"cpu"``, ``"cuda"`` or another type's name.

    Returns:
        A dtype.

    Raises:
        RuntimeError: for a name that is no type of device, or one that has no autocasting.

    Example:
        >>> torch.get_autocast_dtype("cpu"), torch.get_autocast_dtype("cuda")
        (torch.bfloat16, torch.float16)
    """
    return autocast.settings().lower(_type(device_type, _NO_DTYPE))


@composite("function")
def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the dtype that autocasting of a type of device casts to in this thread.

    Args:
        device_type: ``"cpu"``, ``"cuda"`` or another type's name.
        dtype: a dtype.

    Returns:
        None.

    Raises:
        RuntimeError: for a name that is no type of device, or one that has no autocasting.
        TypeError: for what is no dtype.

    Example:
        >>> torch.set_autocast_dtype("cpu", torch.float16)
        >>> torch.get_autocast_dtype("cpu")
        torch.float16
        >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    if not isinstance(dtype, Dtype):
        raise TypeError("set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
                        f"{_named(dtype)}")
    autocast.put(autocast.settings().with_dtype(_type(device_type, _NO_DTYPE), dtype))


# ------------------------------------------------------------------------------ one name for each device


def _deprecated(name: str, shown: str, instead: str, fn: Any, *, takes: bool = False) -> None:
    def warn() -> None:
        warnings.warn(f"torch.{name}({shown}) is deprecated. Please use torch.{instead} instead.",
                      DeprecationWarning, stacklevel=3)

    def read() -> Any:
        warn()
        return fn()

    def change(value: Any) -> None:
        warn()
        fn(value)

    made = change if takes else read
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"Deprecated in favour of ``{instead}``."
    composite("function")(made)


def _enable(device_type: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"enabled must be a bool (got {type(value).__name__})")
    set_autocast_enabled(device_type, value)


def _take(device_type: str, value: Any) -> None:
    if not isinstance(value, Dtype):
        raise TypeError(f"dtype must be a torch.dtype (got {type(value).__name__})")
    set_autocast_dtype(device_type, value)


def _of_device(of: str, device: str) -> None:
    """The four functions of one type of device, ``device``, that has ``of`` in their names."""
    if of != "gpu":  # those are `is_autocast_enabled` and `set_autocast_enabled`
        _deprecated(f"is_autocast_{of}_enabled", "", f"is_autocast_enabled('{device}')",
                    lambda: is_autocast_enabled(device))
        _deprecated(f"set_autocast_{of}_enabled", "enabled", f"set_autocast_enabled('{device}', enabled)",
                    lambda value: _enable(device, value), takes=True)
    _deprecated(f"get_autocast_{of}_dtype", "", f"get_autocast_dtype('{device}')",
                lambda: get_autocast_dtype(device))
    _deprecated(f"set_autocast_{of}_dtype", "dtype", f"set_autocast_dtype('{device}', dtype)",
                lambda value: _take(device, value), takes=True)


for _of, _device in (("cpu", "cpu"), ("gpu", "cuda"), ("ipu", "ipu"), ("xla", "xla")):
    _of_device(_of, _device)


# ------------------------------------------------------------------------------- kept casts, and nesting


@composite("function")
def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are kept within an autocast region of this thread, as they are by default."""
    return autocast.settings().cache


@composite("function")
def set_autocast_cache_enabled(enabled: Any) -> None:
    """Set whether casts of weights are kept within an autocast region of this thread.

    Raises:
        TypeError: for what is no bool.
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    autocast.put(autocast.settings()._replace(cache=enabled))


@composite("function")
def autocast_increment_nesting() -> int:
    """Count one more autocast region of this thread as open; how many there are now."""
    now = autocast.settings()
    autocast.put(now._replace(nesting=now.nesting + 1))
    return now.nesting + 1


@composite("function")
def autocast_decrement_nesting() -> int:
    """Count one autocast region of this thread as closed; how many are open now."""
    now = autocast.settings()
    autocast.put(now._replace(nesting=now.nesting - 1))
    return now.nesting - 1


@composite("function")
def clear_autocast_cache() -> None:
    """Let go of the casts of weights that this thread kept."""
    state.casts = None
