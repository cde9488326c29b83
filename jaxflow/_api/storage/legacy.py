"""Storage classes of one dtype, from before storages became untyped: ``FloatStorage`` and its like.

They are names: what they make, and what ``isinstance`` finds in them, are ``TypedStorage`` objects.
"""

from __future__ import annotations

from typing import Any

from jaxflow._api.legacy.types import of_each_dtype
from jaxflow._core import dtype as dtypes
from jaxflow._publish.composite import composite

from .typed import EXPECTED, TypedStorage
from .untyped import UntypedStorage


class LegacyStorage(type):
    """What ``FloatStorage`` is: a dtype on a type of device."""

    def __init__(self, name: str, bases: tuple = (), members: dict | None = None, *,
                 dtype: dtypes.dtype, place: str) -> None:
        super().__init__(name, bases or (TypedStorage,), members or {})
        self.__module__ = "jaxflow" if place == "cpu" else f"jaxflow.{place}"
        self.dtype, self._place = dtype, place

    def __new__(cls, name: str, bases: tuple = (), members: dict | None = None,
                **place: Any) -> LegacyStorage:
        return super().__new__(cls, name, bases or (TypedStorage,), members or {})

    def __call__(self, *args: Any, **kwargs: Any) -> TypedStorage:
        expected = (
            f"{self}.__new__ received an invalid combination of arguments. Expected one of:\n"
            " * no arguments\n * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\n")
        for name in ("device", "dtype"):
            if kwargs.get(name) is not None:
                raise RuntimeError(f"{expected}Keyword argument '{name}' cannot be specified")
        wrapped = kwargs.get("wrap_storage")
        if isinstance(wrapped, UntypedStorage) and wrapped.device.type != self._place:
            raise RuntimeError(f"{expected}Device of 'wrap_storage' must be {self._place}, but got "
                               f"{wrapped.device.type}")
        place = {} if wrapped is not None else {"device": self._place}
        try:
            return TypedStorage(*args, dtype=self.dtype, **{**place, **kwargs})
        except (RuntimeError, TypeError) as error:
            if not str(error).startswith(EXPECTED):
                raise
            raise type(error)(expected + str(error).removeprefix(EXPECTED)) from None

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
