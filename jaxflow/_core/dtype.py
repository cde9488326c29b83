"""The element types of tensors, with PyTorch's names, and the default floating type."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

BOOL, INTEGER, FLOATING, COMPLEX = range(4)


class dtype:
    """An element type; every instance is a singleton such as ``jaxflow.float32``."""

    __slots__ = (
        "name",
        "np",
        "itemsize",
        "is_floating_point",
        "is_complex",
        "is_signed",
        "category",
        "scalar_name",
        "c_name",
    )

    def __new__(cls, *args, **kwargs):
        raise TypeError("cannot create 'torch.dtype' instances")

    def __init_subclass__(cls, **kwargs):
        raise TypeError("type 'torch.dtype' is not an acceptable base type")

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'torch.dtype' objects is not writable")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        # A plain string makes pickle and copy look the singleton up in this module by name.
        return self.name

    def __getattr__(self, name):
        # Quantized types have no NumPy type and no sign, so no other operation takes them by mistake.
        if name == "np":
            raise RuntimeError(
                f"torch.{self.name} is a type of quantized tensors alone: they are made by "
                "torch.quantize_per_tensor and its like, and their integers by int_repr()"
            )
        if name == "is_signed":
            raise RuntimeError("isSignedType not supported for quantized types")
        raise AttributeError(f"'torch.dtype' object has no attribute {name!r}")

    def to_complex(self):
        """Return the complex type with parts of this precision; RuntimeError if there is none."""
        if self is float16:
            raise RuntimeError(
                "torch.float16 has no complex counterpart here: torch.complex32 is not a type that "
                "XLA has; convert to torch.float32 and use torch.complex64"
            )
        try:
            return _TO_COMPLEX[self]
        except KeyError:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}") from None

    def to_real(self):
        """Return the type of the real part: this type itself unless it is complex."""
        return _TO_REAL.get(self, self)


_C_NAMES = {
    "Float": "float", "Double": "double", "Long": "long int", "Int": "int", "Short": "short int",
    "Char": "signed char", "Byte": "unsigned char", "Bool": "bool", "UInt16": "short unsigned int",
    "UInt32": "unsigned int", "UInt64": "long unsigned int", "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
}


def _declare(name, scalar_name, np_type, category, signed=True):
    self = object.__new__(dtype)
    values = {
        "name": name,
        "np": np.dtype(np_type),
        "itemsize": np.dtype(np_type).itemsize,
        "is_floating_point": category == FLOATING,
        "is_complex": category == COMPLEX,
        "is_signed": signed,
        "category": category,
        # The word by which PyTorch's error messages call the type ("Float", "Long").
        "scalar_name": scalar_name,
        # And the C++ type by which others call it ("float", "long int").
        "c_name": _C_NAMES.get(scalar_name, f"c10::{scalar_name}"),
    }
    for key, value in values.items():
        object.__setattr__(self, key, value)
    return self


bool = _declare("bool", "Bool", np.bool_, BOOL, signed=False)
uint8 = _declare("uint8", "Byte", np.uint8, INTEGER, signed=False)
uint16 = _declare("uint16", "UInt16", np.uint16, INTEGER, signed=False)
uint32 = _declare("uint32", "UInt32", np.uint32, INTEGER, signed=False)
uint64 = _declare("uint64", "UInt64", np.uint64, INTEGER, signed=False)
int8 = _declare("int8", "Char", np.int8, INTEGER)
int16 = short = _declare("int16", "Short", np.int16, INTEGER)
int32 = int = _declare("int32", "Int", np.int32, INTEGER)
int64 = long = _declare("int64", "Long", np.int64, INTEGER)
float16 = half = _declare("float16", "Half", np.float16, FLOATING)
bfloat16 = _declare("bfloat16", "BFloat16", ml_dtypes.bfloat16, FLOATING)
float32 = float = _declare("float32", "Float", np.float32, FLOATING)
float64 = double = _declare("float64", "Double", np.float64, FLOATING)
complex64 = cfloat = _declare("complex64", "ComplexFloat", np.complex64, COMPLEX)
complex128 = cdouble = _declare("complex128", "ComplexDouble", np.complex128, COMPLEX)
float8_e4m3fn = _declare("float8_e4m3fn", "Float8_e4m3fn", ml_dtypes.float8_e4m3fn, FLOATING)
float8_e4m3fnuz = _declare(
    "float8_e4m3fnuz", "Float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, FLOATING
)
float8_e5m2 = _declare("float8_e5m2", "Float8_e5m2", ml_dtypes.float8_e5m2, FLOATING)
float8_e5m2fnuz = _declare(
    "float8_e5m2fnuz", "Float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, FLOATING
)
float8_e8m0fnu = _declare(
    "float8_e8m0fnu", "Float8_e8m0fnu", ml_dtypes.float8_e8m0fnu, FLOATING, signed=False
)

#: Every public name of a type, aliases included.
ALL = {name: value for name, value in globals().items() if type(value) is dtype}



def _declare_quantized(name, scalar_name, ints):
    self = object.__new__(dtype)
    values = {
        "name": name, "itemsize": ints.itemsize, "is_floating_point": False, "is_complex": False,
        "category": INTEGER, "scalar_name": scalar_name, "c_name": f"c10::{name}",
    }
    for key, value in values.items():
        object.__setattr__(self, key, value)
    return self


quint8 = _declare_quantized("quint8", "QUInt8", uint8)
qint8 = _declare_quantized("qint8", "QInt8", int8)
qint32 = _declare_quantized("qint32", "QInt32", int32)

#: The types of quantized tensors, each with that of its integers. They are not in `ALL`.
QUANTIZED = {quint8: uint8, qint8: int8, qint32: int32}

_TO_COMPLEX = {
    bfloat16: complex64,
    float32: complex64,
    float64: complex128,
    complex64: complex64,
    complex128: complex128,
}
_TO_REAL = {complex64: float32, complex128: float64}
_FROM_NUMPY = {value.np: value for value in ALL.values()}


def from_numpy_dtype(np_dtype) -> dtype:
    """Return the dtype of a NumPy (or ml_dtypes) element type; TypeError if there is none."""
    found = _FROM_NUMPY.get(np_dtype)
    if found is not None:
        return found
    np_dtype = np.dtype(np_dtype)
    found = _FROM_NUMPY.get(np_dtype.newbyteorder("="))
    if found is not None:
        return found
    raise TypeError(
        f"can't convert np.ndarray of type numpy.{np_dtype.type.__name__}. The only supported "
        "types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
        "uint64, uint32, uint16, uint8, and bool."
    )


#: Python's number types are accepted where a dtype is expected.
PYTHON_DTYPES = {
    builtins.float: float64, builtins.int: int64, builtins.bool: bool, builtins.complex: complex128
}


def given_dtype(x: Any) -> Any:
    """A ``dtype=`` argument: one of Python's number types as a dtype, anything else as it is."""
    return PYTHON_DTYPES.get(x, x) if x.__class__ is type else x


# Types whose old names PyTorch writes as ``torch.FloatTensor``; it has no such names for later ones.
_OLD_TYPES = frozenset(("Float", "Double", "Half", "Byte", "Char", "Short", "Int", "Long"))


def type_name(x: dtype, place: str = "cpu") -> str:
    """The type of a tensor as errors say it: ``torch.FloatTensor``, ``CPUBFloat16Type``."""
    if x.scalar_name in _OLD_TYPES:
        return f"torch.{'' if place == 'cpu' else place + '.'}{x.scalar_name}Tensor"
    return f"{place.upper()}{x.scalar_name}Type"


_default = float32

# Functions of the old and the new default dtype, called before it changes.
on_default_change: list[Callable[[dtype, dtype], None]] = []


def get_default_dtype() -> dtype:
    """Return the floating type that Python floats become.

    Factories such as ``zeros`` and ``rand`` use it too, when they are given no dtype.

    Returns:
        A floating point dtype: ``float32``, unless ``set_default_dtype`` set another.

    Example:
        >>> torch.get_default_dtype()
        torch.float32
        >>> torch.tensor(0.5).dtype == torch.get_default_dtype()
        True
    """
    return _default


def set_default_dtype(d, /) -> None:
    """Set the floating type that Python floats become; TypeError unless it has 16 bits or more.

    Complex numbers become complex64 with float32, and complex128 with float64.

    Args:
        d: ``torch.float16``, ``torch.bfloat16``, ``torch.float32`` (at first) or ``torch.float64``.

    Returns:
        None.

    Raises:
        TypeError: for what is no dtype, and for one that is not floating point or has fewer than 16 bits.

    Example:
        >>> before = torch.get_default_dtype()
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.tensor(0.5).dtype, torch.zeros(2).dtype, torch.tensor(1j).dtype
        (torch.float64, torch.float64, torch.complex128)
        >>> torch.set_default_dtype(before)
    """
    global _default
    if type(d) is not dtype:
        raise TypeError(
            "invalid dtype object: only floating-point types are supported as the default type"
        )
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if d.itemsize == 1:
        raise TypeError(f"couldn't find storage object {d.scalar_name}Storage")
    if d is not _default:
        for notify in on_default_change:
            notify(_default, d)
    _default = d


def default_complex_dtype() -> dtype:
    """Return the complex type that Python complex numbers become."""
    return _default.to_complex()
