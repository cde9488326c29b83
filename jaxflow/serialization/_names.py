"""The names by which a checkpoint speaks of dtypes, storages and functions: PyTorch's."""

from __future__ import annotations

from typing import Any

from jaxflow._api.storage.legacy import LegacyStorage
from jaxflow._api.storage.untyped import UntypedStorage
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts

# Dtypes that had a storage class of their own before storages became untyped.
STORAGE_CLASSES = {
    "uint8": "ByteStorage",
    "int8": "CharStorage",
    "int16": "ShortStorage",
    "int32": "IntStorage",
    "int64": "LongStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
    "bool": "BoolStorage",
    "quint8": "QUInt8Storage",
    "qint8": "QInt8Storage",
    "qint32": "QInt32Storage",
}
UNTYPED = ("torch.storage", "UntypedStorage")


class GlobalName:
    """Stands for ``module.name`` in a pickle; nothing of that name need exist here."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:
        """Refused: pickle requires the function of a reduction to be callable, and does not call it."""
        raise TypeError(f"{self.module}.{self.name} is only a name here")


class StorageType:
    """What the name of a storage class stands for while loading: the dtype, None if untyped."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    @classmethod
    def of(cls, kind: Any) -> StorageType | None:
        """The StorageType that ``kind`` is or that the class ``kind`` stands for; None for all else."""
        if isinstance(kind, cls):
            return kind
        if kind is UntypedStorage:
            return cls(None)
        dtype = getattr(kind, "dtype", None) if isinstance(kind, LegacyStorage) else None
        return None if dtype is None else cls(dtype)


def storage_type(name: str) -> StorageType | None:
    """The StorageType of a class name such as ``FloatStorage``; None if there is no such class."""
    for dtype_name, class_name in STORAGE_CLASSES.items():
        if class_name == name:
            return StorageType(getattr(dtypes, dtype_name))
    return None


def value_named(name: str) -> Any:
    """The dtype, layout, memory format or scheme that PyTorch calls ``torch.<name>``; None if none is."""
    if name in dtypes.ALL:
        return dtypes.ALL[name]
    found = next((d for d in dtypes.QUANTIZED if d.name == name), None)
    if found is not None:
        return found
    value = getattr(layouts, name, None)
    return value if isinstance(value, (layouts.layout, layouts.memory_format, layouts.qscheme)) else None
