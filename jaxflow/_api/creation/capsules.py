"""DLPack's capsules: what lies in one as a NumPy array, and a NumPy array in one.

NumPy makes and takes the capsules, and so holds what the memory belongs to, calls the deleter when it is done
with it, and frees what nobody took. Its arrays can have elements that its capsules cannot (bfloat16, float8);
those travel as integers of as many bits, under their own code.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import contiguous_strides


class _Tensor(ctypes.Structure):
    """``DLTensor``."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64))


class _Versioned(ctypes.Structure):
    """``DLManagedTensorVersioned``; the older ``DLManagedTensor`` begins with its tensor."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor))


#: What begins where the capsules point to, by their names.
_CAPSULES = {b"dltensor_versioned": _Versioned, b"dltensor": _Tensor}

_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))

_INVALID = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
    "you might have already constructed a tensor from it once."
)

#: DLPack's code of elements that NumPy has, how PyTorch's errors call it, and the numbers of bits there are.
_NUMPYS = {
    0: ("kInt", (8, 16, 32, 64)), 1: ("kUInt", (8, 16, 32, 64)), 2: ("kFloat", (16, 32, 64)),
    5: ("kFloat", (64, 128)), 6: ("kDLBool", (8,)),
}
_UNSIGNED = 1
#: And of those that NumPy's capsules cannot have.
_CODES = {
    dtypes.bfloat16: 4, dtypes.float8_e4m3fn: 10, dtypes.float8_e4m3fnuz: 11, dtypes.float8_e5m2: 12,
    dtypes.float8_e5m2fnuz: 13, dtypes.float8_e8m0fnu: 14,
}
_BY_CODE = {(code, 8 * dtype.itemsize): dtype for dtype, code in _CODES.items()}
_NAMES = {
    code: "kFloat" if dtype is dtypes.bfloat16 else f"kDL{dtype.scalar_name}"
    for dtype, code in _CODES.items()}
_UNSIGNED_OF = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}

#: The version of the protocol that is spoken.
VERSION = 1, 0


def capsule_of(array: np.ndarray, versioned: bool) -> Any:
    """A capsule of the memory of an array that may be written to; versioned, or of the older kind."""
    dtype = dtypes.from_numpy_dtype(array.dtype)
    code = _CODES.get(dtype)
    if code is not None:
        array = array.view(_UNSIGNED_OF[dtype.itemsize])
    capsule = array.__dlpack__(max_version=VERSION) if versioned else array.__dlpack__()
    if code is not None:
        _tensor_in(capsule).code = code
    return capsule


def array_of(capsule: Any) -> np.ndarray:
    """What lies in a capsule on the host, in the same memory; the capsule is used then.

    Raises:
        RuntimeError: for a capsule that was used before or is too new, or anything else that is none.
        BufferError: for elements that tensors do not have.
    """
    tensor = _tensor_in(capsule)
    code, bits = tensor.code, tensor.bits
    _check_elements(code, bits, tensor.lanes)
    dtype = _BY_CODE.get((code, bits))
    strides = tuple((ctypes.c_int64 * tensor.ndim).from_address(tensor.strides)) if tensor.strides else None
    if dtype is None:
        return laid_out(np.from_dlpack(Holder(capsule)), strides)
    # The capsule is ours to use up, and nobody else reads the code any more; unless NumPy refuses it.
    tensor.code = _UNSIGNED
    try:
        array = np.from_dlpack(Holder(capsule))
    except BaseException:
        if _name_of(capsule) is not None:  # or it is used, and what was in it perhaps gone
            tensor.code = code
        raise
    return laid_out(array.view(dtype.np), strides)


def laid_out(array: np.ndarray, stride: tuple | None) -> np.ndarray:
    """``array``; one without elements with that ``stride`` (None: contiguous), which NumPy forgets then."""
    if array.size:
        return array
    stride = contiguous_strides(array.shape) if stride is None else stride
    return np.lib.stride_tricks.as_strided(array, strides=[s * array.itemsize for s in stride])


def device_of(capsule: Any) -> tuple[int, int]:
    """Kind and number of the device that the elements in a capsule are on. RuntimeError as `array_of`."""
    return tuple(_tensor_in(capsule).device)


def _name_of(capsule: Any) -> bytes | None:
    """The kind of an unused capsule; None for anything else."""
    return next((name for name in _CAPSULES if _is_valid(capsule, name)), None)


def _tensor_in(capsule: Any) -> _Tensor:
    name = _name_of(capsule)
    if name is None:
        raise RuntimeError(_INVALID)
    whole = _CAPSULES[name].from_address(_pointer_of(capsule, name))
    if whole.__class__ is _Tensor:
        return whole
    if whole.major > VERSION[0]:
        raise RuntimeError(
            f"unsupported DLPack capsule major version: {whole.major}. Maximum supported version: "
            f"{VERSION[0]}")
    return whole.tensor


def _check_elements(code: int, bits: int, lanes: int) -> None:
    if lanes != 1:
        raise BufferError(f"ATen does not support lanes != 1 for dtype code{code}")
    if (code, bits) in _BY_CODE:
        return
    name, widths = _NUMPYS.get(code, (_NAMES.get(code), ()))
    if name is None:
        raise BufferError(f"Unsupported code {code}")
    if bits not in widths:
        raise BufferError(f"Unsupported {name} bits {bits}")


class Holder:
    """A bare capsule as an object of the protocol."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return device_of(self.capsule)

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule
