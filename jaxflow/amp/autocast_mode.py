"""Regions in which operations are cast, and functions with a backward of their own inside them."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from typing import Any

from jaxflow import cuda
from jaxflow._core import autocast as settings
from jaxflow._core import dtype as dtypes
from jaxflow._dispatch.autocasting import cast_within
from jaxflow._dispatch.dispatch import apply

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

#: What regions of other devices than CUDA can cast to.
_SUPPORTED = (dtypes.bfloat16, dtypes.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocasting for a type of device.

    Args:
        device_type: ``"cpu"``, ``"cuda"`` or another type's name.

    Returns:
        A bool. It does not say whether there is such a device.

    Raises:
        RuntimeError: for a name that is no type of device.

    Example:
        >>> torch.amp.is_autocast_available("cpu"), torch.amp.is_autocast_available("meta")
        (True, False)
    """
    if not isinstance(device_type, str):
        raise TypeError("_is_autocast_available(): argument 'device_type' (position 1) must be str, not "
                        f"{type(device_type).__name__}")
    return settings.type_of(device_type) in settings.LOWER


def _check_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def autocast_decorator(autocast_instance: autocast, func: Callable) -> Callable:
    """``func``, which runs in the region of ``autocast_instance`` whenever it is called."""
    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        # A copy: threads may call it at once.
        return copy.copy(autocast_instance).run(func, *args, **kwargs)

    return decorated


class autocast(settings.Region):  # noqa: N801 - PyTorch's name
    """A region (a ``with`` block or a decorated function) in which operations choose their dtype.

    Products and convolutions are computed in a lower precision, operations that need the range or the
    precision in float32, some in the widest dtype of their operands, by PyTorch's lists for the device; all
    others in the dtypes that they are given. Micikevicius et al., 2018, "Mixed Precision Training". The
    casts are part of the graph, so a float32 weight gets a float32 gradient. Backward passes belong outside.

    Args:
        device_type: ``"cpu"`` or ``"cuda"``, or another type of device; tensors on others are left alone.
        dtype: the lower precision: bfloat16 or float16; by default what ``get_autocast_dtype`` says.
        enabled: False for a region in which nothing is cast, inside of another one.
        cache_enabled: whether the cast of a weight is kept until the outermost region ends.

    Raises:
        ValueError: when ``device_type`` is no string.
        RuntimeError: for a type of device without autocasting.

    Example:
        >>> layer = torch.nn.Linear(2, 2)
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     y = layer(torch.ones(1, 2))
        ...     loss = torch.nn.functional.mse_loss(y, torch.zeros(1, 2))
        >>> loss.backward()
        >>> y.dtype, loss.dtype, layer.weight.grad.dtype
        (torch.bfloat16, torch.float32, torch.float32)
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        _check_type(device_type)
        now = settings.settings()
        self.device = settings.type_of(device_type)
        if self.device not in settings.LOWER:
            raise RuntimeError("unsupported scalarType" if dtype is None else
                               f"User specified an unsupported autocast device_type '{self.device}'")
        if self.device == "privateuseone":
            raise NotImplementedError("autocast for the `privateuseone` backend is not supported: jaxflow "
                                      "has no backends of one's own")
        self.fast_dtype = now.lower(self.device) if dtype is None else dtype
        self._cache_enabled = now.cache if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled) and self._is_possible()
        super().__init__(self)

    def _is_possible(self) -> bool:
        """Whether a region can be switched on; warns where it cannot."""
        if self.device == "cuda":
            if not cuda.is_available():
                warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.",
                              stacklevel=3)
                return False
            return True
        if self.fast_dtype not in _SUPPORTED:
            name = self.device.upper()
            warnings.warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of {', '.join(map(str, _SUPPORTED))} currently.",
                stacklevel=3)
            return False
        return True

    def change(self) -> None:
        """Begin the region."""
        if not isinstance(self.fast_dtype, dtypes.dtype):
            raise TypeError("set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
                            f"{type(self.fast_dtype).__name__}")
        if not isinstance(self._cache_enabled, bool):
            raise TypeError(f"enabled must be a bool (got {type(self._cache_enabled).__name__})")
        now = settings.settings()
        new = now.with_enabled(self.device, self._enabled).with_dtype(self.device, self.fast_dtype)
        settings.put(new._replace(cache=self._cache_enabled, nesting=now.nesting + 1))

    def __call__(self, func: Callable) -> Callable:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. A region is entered "
                "by `with torch.autocast(device_type=...):`.")
        return autocast_decorator(self, func)


class _UnmanagedAutocast(autocast):
    """A region that `_enter_autocast` opens and `_exit_autocast` closes."""


def _enter_autocast(*vals: Any) -> _UnmanagedAutocast:
    """Open a region with the arguments of `autocast`; what `_exit_autocast` takes."""
    mode = _UnmanagedAutocast(*vals)
    mode.__enter__()
    return mode


def _exit_autocast(mode: _UnmanagedAutocast) -> None:
    """Close a region that `_enter_autocast` opened."""
    mode.__exit__(None, None, None)


# ------------------------------------------------------------------------- functions with their own backward


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """The value with all tensors in it on the device, of floating point but float64, in a dtype."""
    return cast_within(value, device_type, dtype, apply)


def custom_fwd(fwd: Callable | None = None, *, device_type: str, cast_inputs: Any = None) -> Callable:
    """Decorate the ``forward`` of an `autograd.Function` for autocast regions; with `custom_bwd`.

    Args:
        fwd: the forward; without it a decorator is returned.
        device_type: the type of device of the regions.
        cast_inputs: a dtype that tensors of floating point are cast to inside a region, where the forward
            then runs as if there were none; None runs it as part of the region.

    Returns:
        The forward.

    Raises:
        ValueError: when ``device_type`` is no string.

    Example:
        >>> class Product(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        ...     def forward(ctx, a, b):
        ...         ctx.save_for_backward(a, b)
        ...         return a.mm(b)
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, grad):
        ...         a, b = ctx.saved_tensors
        ...         return grad.mm(b.t()), a.t().mm(grad)
        >>> with torch.autocast("cpu"):
        ...     Product.apply(torch.ones(1, 1, dtype=torch.bfloat16), torch.ones(1, 1)).dtype
        torch.float32
    """
    _check_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        now, kind = settings.settings(), settings.type_of(device_type)
        args[0]._dtype = now.lower(kind)
        inside = kind in now.enabled
        if cast_inputs is None:
            args[0]._fwd_used_autocast = inside
            return fwd(*args, **kwargs)
        args[0]._fwd_used_autocast = False
        if not inside:
            return fwd(*args, **kwargs)
        args = _cast(args, kind, cast_inputs)
        kwargs = _cast(kwargs, kind, cast_inputs)
        return autocast(kind, enabled=False).run(fwd, *args, **kwargs)

    return decorate_fwd


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """Decorate the ``backward`` that belongs to `custom_fwd`: it runs in the region of the forward.

    Args:
        bwd: the backward; without it a decorator is returned.
        device_type: the type of device of the regions.

    Returns:
        The backward.

    Raises:
        ValueError: when ``device_type`` is no string.
    """
    _check_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        region = autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype)
        return region.run(bwd, *args, **kwargs)

    return decorate_bwd
