"""DLPack: tensors exchanged with NumPy, jax, PyTorch and whoever else speaks the protocol.

NOTE [Memory that others may write to]
    On the CPU both sides are one memory, as in PyTorch: see NOTE [Host-shared storages]. Nobody says when the
    other side of an import is done with it, so its storage stays host-shared; an export's is an ordinary one
    again when its consumer is done. Arrays of XLA never change: a jax array that comes in is shared until the
    tensor is written to, and memory that turns out to be a jax array's is copied. On accelerators what
    comes from others is copied, and what goes out is a copy, unless the consumer passes ``copy=False``, and
    so promises to read only.
"""

from __future__ import annotations

import enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._api.shape.conjugates import is_conj, is_neg
from jaxflow._core.device import CPU
from jaxflow._core.device import device as device_type
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs
from jaxflow._dispatch.viewing import alias
from jaxflow._memory.lending import lend
from jaxflow._publish.composite import composite
from jaxflow._views.chain import is_marked
from jaxflow._views.history import refreshed

from .capsules import VERSION, Holder, array_of, capsule_of, device_of, laid_out
from .construct import from_array, from_torch, imported, one_memory
from .jax_memory import is_jaxs


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
    """A DLPack capsule of the tensor: on the CPU of its memory, which its consumer may write to.

    Args:
        stream: for accelerators; None or -1 on the CPU.
        max_version: the latest version that the consumer supports; by default one before 1.0.
        dl_device: where the elements shall be, in DLPack's numbers: where they are.
        copy: True for a copy, which nobody else has. On accelerators it is one by default too; False shares
            the memory there, and the consumer must not write to it.

    Raises:
        BufferError: for a tensor that requires grad, a conjugate, or another device.
        ValueError: for another device with ``copy=False``.
        TypeError: for a ``stream`` that is no number.
        AssertionError: for a ``stream`` on the CPU.
    """
    if refreshed(self)._requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    _refuse_marked(self)
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    where = self._aval.device
    if where.type == "cpu" and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    _check_target(self, dl_device, copy)
    return _capsule(self, copy, max_version is not None and max_version[0] >= 1)


def _refuse_marked(t: Tensor) -> None:
    """Refuse what DLPack has no word for. BufferError."""
    for marked, name in ((is_conj, "conjugate"), (is_neg, "negative")):
        if marked(t):
            raise BufferError(f"Can't export tensors with the {name} bit set")


def _check_target(t: Tensor, target: Any, copy: bool | None) -> None:
    """Refuse an export to another device than where a tensor is; Raises as `dlpack` does."""
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(f"_to_dlpack(): argument 'copy' must be bool, not {type(copy).__name__}")
    if target is None:
        return
    if not isinstance(target, tuple | list) or [isinstance(n, int) for n in target] != [True, True]:
        raise TypeError(
            f"_to_dlpack(): argument 'dl_device' must be tuple of ints, not {type(target).__name__}")
    kind, number = map(int, target)
    if kind not in DLDeviceType.__members__.values():
        raise BufferError(f"Unsupported device_type: {kind}")
    where = t._aval.device
    there = _KINDS.get(where.type)
    if kind == there and (kind == DLDeviceType.kDLCPU or number == (where.index or 0)):
        return
    if copy is False:
        raise ValueError(
            f"cannot move (i.e. copy=False) tensor from {where} to the DLPack device {(kind, number)} "
            "without copying.")
    raise BufferError(
        f"cannot export a tensor on {where} to the DLPack device {(kind, number)}: "
        "move it there with Tensor.to() first"
    )


def _capsule(t: Tensor, copy: bool | None, versioned: bool = False) -> Any:
    where = t._aval.device
    if where.type == "meta":
        raise BufferError("Cannot pack tensors on meta")
    if where is CPU and not is_marked(t):
        given = t.detach().clone() if copy else t
        lent = lend(given)
        if lent is not None:
            return capsule_of(laid_out(lent, given.stride()), versioned)
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


@composite("function", checks=False)
def to_dlpack(tensor: Tensor, *, dl_device: Any = None, copy: bool | None = None) -> Any:
    """A DLPack capsule of a tensor, that can be consumed once; see ``Tensor.__dlpack__``.

    It takes tensors that require grad: what is written to the memory is not seen by autograd.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"_to_dlpack(): argument 'data' (position 1) must be Tensor, not {type(tensor).__name__}")
    refreshed(tensor)
    _refuse_marked(tensor)
    _check_target(tensor, dl_device, copy)
    return _capsule(tensor, copy)


@composite("function")
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of what any object with ``__dlpack__``, or a DLPack capsule, holds.

    On the CPU it is one memory with that: what is written to either shows in the other. A tensor of ours
    shares its storage. A jax array, which never changes, is shared until the tensor is written to. What
    others have on an accelerator is copied.

    Args:
        ext_tensor: a NumPy array, a jax array, a tensor of another framework, or a capsule.
        device: where the result shall be; by default where the elements are.
        copy: True for a copy in any case, False to refuse where sharing is not possible.

    Raises:
        BufferError: when ``copy=False`` cannot be granted, the producer refuses, or for elements or a layout
            that tensors do not have.
        ValueError: for ``copy=False`` with another device, or negative strides.
        RuntimeError: for a capsule that was consumed before, or anything else that is none.
        AssertionError: for a ``device`` that is none, and for options given with a capsule.
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError(
                "device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        if device_of(ext_tensor)[0] == DLDeviceType.kDLCPU:
            return _of_host(array_of(ext_tensor), None)
        return from_array(_copy(_of_jax(Holder(ext_tensor))))
    target = None if device is None else _target(device)
    if isinstance(ext_tensor, Tensor):
        _refuse_marked(ext_tensor)
        if refreshed(ext_tensor)._requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        _check_move(ext_tensor._aval.device, target, copy)
        t = ext_tensor.clone() if copy else alias(ext_tensor, own_version=True)
    elif isinstance(ext_tensor, jax.Array):
        t = from_array(ext_tensor, shared=True)
        _check_move(t._aval.device, target, copy)
    else:
        t = _of_others(ext_tensor, target, copy)
    return t if target is None else t.to(device=target)


def _target(device: Any) -> device_type:
    where = device_type(device) if isinstance(device, str) else device
    if not isinstance(where, device_type):
        raise AssertionError(f"from_dlpack: unsupported device type: {type(device)}")
    if where.type == "meta":
        raise BufferError("Cannot pack tensors on meta")
    return where


def _check_move(where: Any, target: Any, copy: bool | None) -> None:
    """Refuse what cannot be done without the copy that is not wanted. ValueError."""
    if copy is False and target is not None and target.type != getattr(where, "type", where):
        raise ValueError(
            f"cannot move DLPack tensor from device {where} to {target} without copying. Set copy=None or "
            "copy=True.")


def _of_others(source: Any, target: Any, copy: bool | None) -> Tensor:
    """A tensor of what an object of another library holds."""
    if is_torchs(source):
        if source.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        for marked, name in ((source.is_conj(), "conjugate"), (source.is_neg(), "negative")):
            if marked:
                raise BufferError(f"Can't export tensors with the {name} bit set")
    kind = source.__dlpack_device__()[0]
    _check_move("cpu" if kind == DLDeviceType.kDLCPU else f"{kind}", target, copy)
    if kind != DLDeviceType.kDLCPU:
        if copy is False:
            raise BufferError(
                "from_dlpack(copy=False) can share memory on the CPU, with jax arrays and with tensors only: "
                "arrays of XLA never change, and others may write to theirs. Leave copy out to get a copy"
            )
        return from_torch(source) if is_torchs(source) else from_array(_copy(_of_jax(source)))
    capsule = _asked(source, copy, target is not None and target.type == "cpu")
    if type(source) is np.ndarray and source.size:  # whose references say who else has it
        del capsule
        return _of_host(source, copy, watched=True)
    return _of_host(array_of(capsule), copy)


def _asked(source: Any, copy: bool | None, to_cpu: bool) -> Any:
    """The capsule of an object, whose ``__dlpack__`` may not take all of the arguments."""
    options: dict[str, Any] = {"max_version": VERSION}
    if copy is False:  # and a copy is made here
        options["copy"] = False
    if to_cpu:
        options["dl_device"] = DLDeviceType.kDLCPU, 0
    for option in ("max_version", "copy", "dl_device"):
        try:
            return source.__dlpack__(**options)
        except TypeError:
            options.pop(option, None)
    return source.__dlpack__(**options)


def _of_host(array: np.ndarray, copy: bool | None, watched: bool = False) -> Tensor:
    """A tensor that is one memory with an array, or a copy; who is not ``watched`` may always write to it."""
    if not copy and is_jaxs(array):
        if copy is False:
            raise BufferError("from_dlpack(copy=False) cannot share the memory of a jax array, which never "
                              "changes, with a tensor, which may. Leave copy out to get a copy")
        copy = True
    return imported(array.copy(order="K")) if copy else one_memory(array, watched)


def _of_jax(source: Any) -> jax.Array:
    try:
        return jax.dlpack.from_dlpack(source)
    except jax.errors.JaxRuntimeError as error:
        raise BufferError(
            "from_dlpack cannot read this memory layout; make the tensor contiguous before exporting it "
            f"({error})"
        ) from error
