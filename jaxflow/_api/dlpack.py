"""DLPack: tensors exchanged with NumPy, jax, PyTorch and whoever else speaks the protocol.

NOTE [Memory that others may write]
    An XLA array never changes, and what a Value holds must not either. DLPack cannot say so to everybody:
    PyTorch writes into whatever it is given. So what comes from outside is copied, unless it is a jax
    array or a tensor of ours; and what goes out is a copy, unless the consumer asks for ``copy=False``,
    and so promises to read only.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.history import refreshed
from jaxflow._dispatch.viewing import alias

from .conjugates import is_conj
from .construct import from_array, from_torch, imported


class DLDeviceType(enum.IntEnum):
    """The numbers DLPack has for kinds of devices."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


_KINDS = {"cpu": DLDeviceType.kDLCPU, "cuda": DLDeviceType.kDLCUDA}

_INVALID = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
    "you might have already constructed a tensor from it once."
)


@composite("method", name="__dlpack_device__")
def dlpack_device(self) -> tuple[DLDeviceType, int]:
    """Kind and number of the device the elements are on, in DLPack's numbers.

    Raises:
        ValueError: for a device DLPack has no number for.
    """
    where = self._aval.device
    if where.type not in _KINDS:
        raise ValueError(f"Unknown device type {where.type} for Dlpack")
    return _KINDS[where.type], where.index or 0


@composite("method", name="__dlpack__")
def dlpack(
    self, *, stream: Any = -1, max_version: tuple[int, int] | None = None,
    dl_device: tuple[enum.IntEnum, int] | None = None, copy: bool | None = None,
) -> Any:
    """A DLPack capsule of the elements, in row order.

    It is a copy, which the consumer may write to. ``copy=False`` shares the memory instead: whoever asks
    for it must not write (see NOTE [Memory that others may write]).

    Raises:
        BufferError: for a tensor that requires grad, or a copy to another device.
        TypeError: for a ``stream`` that is no number.
        AssertionError: for a ``stream`` on the CPU.
    """
    if refreshed(self)._requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    _refuse_conjugate(self)
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    device = self.__dlpack_device__()
    if device[0] == DLDeviceType.kDLCPU and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    if dl_device is not None and tuple(map(int, dl_device)) != tuple(map(int, device)):
        raise BufferError(
            f"cannot export a tensor on {self._aval.device} to the DLPack device {tuple(dl_device)}: "
            "move it there with Tensor.to() first"
        )
    return _capsule(self, copy)


def _refuse_conjugate(t: Tensor) -> None:
    """Refuse what DLPack has no word for. BufferError."""
    if is_conj(t):
        raise BufferError("Can't export tensors with the conjugate bit set")


def _capsule(t: Tensor, copy: bool | None) -> Any:
    array = t._value_array()
    if isinstance(array, jax.core.Tracer):
        raise BufferError(
            "a tensor inside jax.jit, jax.grad or jax.vmap has no memory yet to export with DLPack: return "
            "it from the function, and export what comes out"
        )
    return (array if copy is False else _copy(array)).__dlpack__()


def _copy(array: jax.Array) -> jax.Array:
    """A copy that is complete: the source may be written to as soon as this returns."""
    return jnp.array(array, copy=True).block_until_ready()


@composite("function")
def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor's elements (a copy), that can be consumed once."""
    return _capsule(tensor, None)


@composite("function")
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of what any object with ``__dlpack__``, or a DLPack capsule, holds.

    A tensor of ours shares its storage, a jax array its memory; of anything else the elements are
    copied, because others may write to it later.

    Args:
        ext_tensor: a NumPy array, a jax array, a tensor of another framework, or a capsule.
        device: where the result shall be; by default where the elements are.
        copy: True for a copy in any case. False is refused where sharing is not safe.

    Raises:
        BufferError: when ``copy=False`` cannot be granted, the producer refuses, or the layout is unknown.
        RuntimeError: for a capsule that was consumed before, or anything else that is none.
    """
    if isinstance(ext_tensor, Tensor):
        if refreshed(ext_tensor)._requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        _refuse_conjugate(ext_tensor)
        shared = ext_tensor.clone() if copy else alias(ext_tensor, own_version=True)
        return shared if device is None else shared.to(device=device)
    if isinstance(ext_tensor, jax.Array):
        t = from_array(ext_tensor, shared=True)
        return t if device is None else t.to(device=device)
    if copy is False:
        raise BufferError(
            "from_dlpack(copy=False) can share memory with jax arrays and with tensors only: arrays "
            "of XLA never change, and others may write to theirs. Leave copy out to get a copy"
        )
    if is_torchs(ext_tensor):
        if ext_tensor.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if ext_tensor.is_conj():
            raise BufferError("Can't export tensors with the conjugate bit set")
        return from_torch(ext_tensor, device)
    source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
    t = _copied(source)
    return t if device is None else t.to(device=device)


def _copied(source: Any) -> Tensor:
    if isinstance(source, np.ndarray):
        return imported(source)
    kind, _ = source.__dlpack_device__()
    if kind == DLDeviceType.kDLCPU and not isinstance(source, _Capsule):
        try:
            return imported(np.from_dlpack(source))
        except (RuntimeError, TypeError):
            return from_array(_copy(_of_jax(source)))  # NumPy has no bfloat16, jax has
    return from_array(_copy(_of_jax(source)))


def _of_jax(source: Any) -> jax.Array:
    try:
        return jax.dlpack.from_dlpack(source)
    except jax.errors.JaxRuntimeError as error:
        raise BufferError(
            "from_dlpack cannot read this memory layout; make the tensor contiguous before exporting it "
            f"({error})"
        ) from error


class _Capsule:
    """A bare capsule as an object of the protocol. RuntimeError for what is none, or was consumed."""

    def __init__(self, capsule: Any) -> None:
        api = ctypes.pythonapi
        is_valid = api.PyCapsule_IsValid
        is_valid.argtypes, is_valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
        if not is_valid(capsule, b"dltensor"):
            raise RuntimeError(_INVALID)
        pointer_of = api.PyCapsule_GetPointer
        pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
        pointer_of.restype = ctypes.c_void_p
        # A DLTensor begins with the pointer to its data; then come the device's kind and number.
        device = pointer_of(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
        self.device = tuple((ctypes.c_int32 * 2).from_address(device))
        self.capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.capsule
