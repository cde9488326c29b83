"""Moving and casting what a module holds, keeping every parameter the same object."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

from jaxflow import _functions as functions
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import given_dtype
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn.modules._tree import Tree

_TO_FORMS = """
 * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, \
bool copy = False, *, torch.memory_format memory_format = None)
 * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, \
torch.memory_format memory_format = None)
 * (Tensor tensor, bool non_blocking = False, bool copy = False, *, \
torch.memory_format memory_format = None)
"""


class Convert(Tree):
    """``to`` and its short forms."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the values of every parameter, gradient and buffer by ``fn`` of them."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                values = fn(parameter)
            # Through .data the optimizer that holds this parameter keeps holding the right one.
            parameter.data = values
            if parameter.grad is not None:
                with no_grad():
                    gradient = fn(parameter.grad)
                parameter.grad = gradient.requires_grad_(parameter.grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move and cast: ``to(device, dtype)``, ``to(dtype)`` or ``to(tensor)``; returns this
        module.

        Only floating point and complex parameters and buffers are cast; integers keep their dtype.

        Args:
            args: as above, then optionally ``non_blocking``.
            kwargs: ``device``, ``dtype``, ``non_blocking``, ``memory_format`` (for 4-d and 5-d
                tensors).

        Raises:
            TypeError: when the arguments fit none of the forms, or the dtype is integral.
        """
        device, dtype, non_blocking, memory_format = _parse_to(args, kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(_COMPLEX, stacklevel=2)

        def convert(tensor: Tensor) -> Tensor:
            casts = tensor.is_floating_point() or tensor.is_complex()
            wanted = dtype if casts else None
            if tensor.is_meta and device is not None and devices.device(device).type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() "
                    "instead of torch.nn.Module.to() when moving module from meta to a different device."
                )
            if memory_format is not None and tensor.dim() in (4, 5):
                return tensor.to(device, wanted, non_blocking, memory_format=memory_format)
            return tensor.to(device, wanted, non_blocking)

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Replace parameters and buffers by empty ones on ``device``; returns this module."""
        return self._apply(lambda t: functions.empty_like(t, device=device), recurse=recurse)

    def cuda(self, device: Any = None) -> Self:
        """Move to a CUDA device (default: the current one); returns this module."""
        return self._apply(lambda t: t.cuda(device))

    def cpu(self) -> Self:
        """Move to the CPU; returns this module."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type: Any) -> Self:
        """Cast every parameter and buffer to ``dst_type``; returns this module."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Cast floating point parameters and buffers to float32; returns this module."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Cast floating point parameters and buffers to float64; returns this module."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Cast floating point parameters and buffers to float16; returns this module."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Cast floating point parameters and buffers to bfloat16; returns this module."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def share_memory(self) -> Self:
        """Move parameters and buffers to memory that other processes may share with this one.

        See `Tensor.share_memory_`. Returns this module.
        """
        return self._apply(lambda t: t.share_memory_())


_COMPLEX = (
    "Complex modules are a new feature under active development whose design may change, and some "
    "modules might not work as expected when using complex tensors as parameters or buffers. "
    "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml "
    "if a complex module does not work as expected."
)


def _parse_to(args: tuple, kwargs: dict) -> tuple:
    """Device, dtype, non_blocking and memory format that the arguments of ``to`` give."""
    args = (given_dtype(args[0]), *args[1:]) if args else args
    options = dict(kwargs)
    if "dtype" in options:
        options["dtype"] = given_dtype(options["dtype"])
    memory_format = options.pop("memory_format", None)
    if (args and isinstance(args[0], Tensor)) or "tensor" in options:
        names = ("tensor", "non_blocking", "copy")
    elif args and isinstance(args[0], dtypes.dtype):
        names = ("dtype", "non_blocking", "copy")
    else:
        names = ("device", "dtype", "non_blocking", "copy")
    given = dict(zip(names, args))
    fits = len(args) <= len(names) and not (given.keys() & options.keys())
    given |= options
    fits &= given.keys() <= set(names)
    fits &= all(value is None or isinstance(value, _KINDS[name]) for name, value in given.items()
                if name in _KINDS)
    if not fits:
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({_describe(args, kwargs)}), "
            f"but expected one of:{_TO_FORMS}"
        )
    if "copy" in given:
        raise RuntimeError(".to() does not accept copy argument")
    device, dtype = given.get("device"), given.get("dtype")
    if "tensor" in given:
        device, dtype = given["tensor"].device, given["tensor"].dtype
    if device is not None:
        device = devices.device(device)
    return device, dtype, bool(given.get("non_blocking", False)), memory_format


_KINDS = {
    "tensor": Tensor,
    "device": (str, int, devices.device),
    "dtype": dtypes.dtype,
    "non_blocking": bool,
    "copy": bool,
}


def _describe(args: tuple, kwargs: dict) -> str:
    positional = ", ".join(_type_name(value) for value in args)
    if not kwargs:
        return positional
    named = "".join(f"{name}={_type_name(value)}, " for name, value in kwargs.items())
    return f"{positional}, {named}" if positional else named


def _type_name(value: Any) -> str:
    kind = type(value)
    if isinstance(value, Tensor):
        return kind.__name__
    return f"torch.{kind.__name__}" if isinstance(value, (dtypes.dtype, devices.device)) else (
        kind.__name__)
