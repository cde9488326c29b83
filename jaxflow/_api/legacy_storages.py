"""Storage classes of one dtype, from before storages became untyped: ``FloatStorage`` and its like.

They are names: what they make, and what ``isinstance`` finds in them, are ``TypedStorage`` objects.
"""

from __future__ import annotations

from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._dispatch.composite import composite

from .legacy_types import of_each_dtype
from .storage import TypedStorage


class LegacyStorage(type):
    """What ``FloatStorage`` is: a dtype on a type of device."""

    def __init__(self, name: str, bases: tuple = (), members: dict | None = None, *,
                 dtype: dtypes.dtype, place: str) -> None:
        super().__init__(name, bases, members or {})
        self.__module__ = "jaxflow" if place == "cpu" else f"jaxflow.{place}"
        self.dtype, self._place = dtype, place

    def __new__(cls, name: str, bases: tuple = (), members: dict | None = None,
                **place: Any) -> LegacyStorage:
        return super().__new__(cls, name, bases, members or {})

    def __call__(self, *args: Any, **kwargs: Any) -> TypedStorage:
        if "dtype" in kwargs:
            raise RuntimeError(f"{self.__name__}.__new__: got unexpected keyword argument 'dtype'")
        return TypedStorage(*args, dtype=self.dtype, **{"device": self._place, **kwargs})

    def __instancecheck__(self, value: Any) -> bool:
        return type(value) is TypedStorage and (
            value.dtype is self.dtype and value.device.type == self._place)

    def __repr__(self) -> str:
        return f"<class 'torch.{'' if self._place == 'cpu' else self._place + '.'}{self.__name__}'>"


def _classes(place: str) -> dict[str, LegacyStorage]:
    words = "Byte Char Short Int Long Half BFloat16 Float Double ComplexFloat ComplexDouble Bool"
    return of_each_dtype(LegacyStorage, "Storage", place, words)


for _name, _class in _classes("cpu").items():
    composite("function", name=_name)(_class)

#: The classes published in ``jaxflow.cuda``.
CUDA_STORAGES = _classes("cuda")
