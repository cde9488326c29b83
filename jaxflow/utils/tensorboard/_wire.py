"""Protocol buffers by hand: messages given by a table of their fields, their bytes, and their text.

Wire format: Google, "Protocol Buffers: Encoding" (protobuf.dev/programming-guides/encoding). Text format:
"Text Format Language Specification" (protobuf.dev/reference/protobuf/textformat-spec).
"""

from __future__ import annotations

import numbers
import struct
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5


def varint(number: int) -> bytes:
    """An integer in groups of seven bits, the lowest first; negative ones as 64 bits of two's complement."""
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def _integer(low: int, high: int) -> Callable[[Any], bytes]:
    def encode(value: Any) -> bytes:
        if not isinstance(value, (numbers.Integral, np.bool_)):
            raise TypeError(f"expected an integer, got {value!r} of {type(value)}")
        if not low <= value <= high:
            raise ValueError(f"Value out of range: {value}")
        return varint(int(value))

    return encode


def _float(value: Any) -> bytes:
    with np.errstate(over="ignore"):  # what is too large is infinite, as protobuf has it
        return np.float32(value).astype("<f4").tobytes()


def _double(value: Any) -> bytes:
    return struct.pack("<d", value)


def _sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def _string(value: Any) -> bytes:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"expected text, got {value!r} of {type(value)}")
    return _sized(value.encode() if isinstance(value, str) else value)


def _bytes(value: Any) -> bytes:
    return _sized(bytes(value))


def _message(value: Any) -> bytes:
    return _sized(value.SerializeToString())


class _Kind(NamedTuple):
    wire: int
    encode: Callable[[Any], bytes]
    default: Any


_KINDS = {
    "int32": _Kind(_VARINT, _integer(-1 << 31, (1 << 31) - 1), 0),
    "uint32": _Kind(_VARINT, _integer(0, (1 << 32) - 1), 0),
    "int64": _Kind(_VARINT, _integer(-1 << 63, (1 << 63) - 1), 0),
    "bool": _Kind(_VARINT, _integer(0, 1), False),
    "float": _Kind(_FOUR, _float, 0.0),
    "double": _Kind(_EIGHT, _double, 0.0),
    "string": _Kind(_LENGTH, _string, ""),
    "bytes": _Kind(_LENGTH, _bytes, b""),
    "message": _Kind(_LENGTH, _message, None),
}
_NUMPY = {"float": "<f4", "double": "<f8"}


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        number: its number.
        kind: a name of protobuf's scalar types, or ``"message"``.
        repeated: whether it is a list; lists of numbers are packed.
        shown: whether it is written once it is set, also where it has its default: of a ``oneof``.
    """

    number: int
    kind: str
    repeated: bool = False
    shown: bool = False

    def encode(self, value: Any) -> bytes:
        """The field with its tag, as bytes; none where it has its default."""
        kind = _KINDS[self.kind]
        if not self.repeated:
            encoded = kind.encode(value)
            if not self.shown and kind.default is not None and encoded == kind.encode(kind.default):
                return b""
            return varint(self.number << 3 | kind.wire) + encoded
        if kind.wire == _LENGTH:
            tag = varint(self.number << 3 | _LENGTH)
            return b"".join(tag + kind.encode(item) for item in value)
        if len(value) == 0:
            return b""
        if self.kind in _NUMPY:
            with np.errstate(over="ignore"):
                packed = np.asarray(value, np.float64).astype(_NUMPY[self.kind]).tobytes()
        else:
            packed = b"".join(map(kind.encode, value))
        return varint(self.number << 3 | _LENGTH) + _sized(packed)


class Message:
    """A protocol buffer; its fields are attributes.

    Args:
        values: fields by name.

    Raises:
        ValueError: for a name that is no field's.
    """

    FIELDS: ClassVar[dict[str, Field]] = {}

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            if name not in self.FIELDS:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is not None:
                setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """A field that is not set: an empty list, which is kept, or the default."""
        field = type(self).FIELDS.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__.setdefault(name, []) if field.repeated else _KINDS[field.kind].default

    def SerializeToString(self) -> bytes:
        """The message as bytes, field by field in the order of their numbers."""
        return b"".join(field.encode(value) for _, field, value in self._set())

    def _set(self) -> Iterator[tuple[str, Field, Any]]:
        for name, field in sorted(self.FIELDS.items(), key=lambda item: item[1].number):
            if name in self.__dict__ and self.__dict__[name] is not None:
                yield name, field, self.__dict__[name]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.SerializeToString() == other.SerializeToString()

    __hash__ = None  # it can be changed

    def __str__(self) -> str:
        """The message in text format."""
        return "".join(line + "\n" for line in self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        for name, field, value in self._set():
            for item in value if field.repeated else [value]:
                if isinstance(item, Message):
                    yield f"{name} {{"
                    yield from (f"  {line}" for line in item._lines())
                    yield "}"
                elif field.repeated or field.encode(item):
                    yield f"{name}: {_text(item)}"


_ESCAPES = {ord(c): "\\" + e for c, e in {"\n": "n", "\r": "r", "\t": "t", '"': '"', "'": "'",
                                          "\\": "\\"}.items()}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, bytes)):
        return str(value)
    if isinstance(value, str):
        return '"' + value.translate(_ESCAPES) + '"'
    return '"' + "".join(_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in value) + '"'
