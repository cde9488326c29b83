"""CRC-32C, the checksum of records.

Castagnoli, Brauer and Herrmann, "Optimization of cyclic redundancy-check codes with 24 and 32 parity bits",
1993: the polynomial 0x1EDC6F41, taken with its bits reversed. The register goes on from byte to byte by one
    table.

A register is a linear function of the bits of what it began with and of the bytes. So long data is cut into
rows, whose registers NumPy computes side by side from zero, and they are put together: the register after a
row is that of the row, xor the register before it carried over as many zero bytes.
"""

from __future__ import annotations

import functools

import numpy as np

_ROW = 1024
#: From how many bytes on rows are quicker than a loop over the bytes.
_LONG = 16 * _ROW


def _made() -> np.ndarray:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> np.uint32(1)) ^ (table & np.uint32(1)) * np.uint32(0x82F63B78)
    return table


_TABLE = _made()
_NUMBERS = tuple(_TABLE.tolist())


def crc32c(data: bytes) -> int:
    """The CRC-32C of bytes.

    Args:
        data: the bytes.

    Returns:
        A number of 32 bits.

    Example:
        >>> from jaxflow.utils.tensorboard._crc import crc32c
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
    """
    register, start = 0xFFFFFFFF, 0
    if len(data) >= _LONG:
        start = len(data) // _ROW * _ROW
        carry = _carry()
        for row in _rows(np.frombuffer(data, np.uint8, start).reshape(-1, _ROW)).tolist():
            register = row ^ (carry[0][register & 255] ^ carry[1][register >> 8 & 255]
                              ^ carry[2][register >> 16 & 255] ^ carry[3][register >> 24])
    for byte in data[start:]:
        register = _NUMBERS[(register ^ byte) & 255] ^ register >> 8
    return register ^ 0xFFFFFFFF


def _rows(data: np.ndarray) -> np.ndarray:
    """The register after each row, from zero."""
    registers = np.zeros(len(data), np.uint32)
    for column in np.ascontiguousarray(data.T):
        registers = _TABLE[(registers ^ column) & np.uint32(255)] ^ registers >> np.uint32(8)
    return registers


@functools.cache
def _carry() -> tuple[tuple[int, ...], ...]:
    """What becomes of each byte of a register over a row of zeros."""
    registers = (np.arange(256, dtype=np.uint32) << np.arange(0, 32, 8, dtype=np.uint32)[:, None]).ravel()
    for _ in range(_ROW):
        registers = _TABLE[registers & np.uint32(255)] ^ registers >> np.uint32(8)
    return tuple(map(tuple, registers.reshape(4, 256).tolist()))


def masked(crc: int) -> int:
    """A checksum as it is stored: turned by 15 bits, plus a constant, so that data may hold checksums.

    github.com/tensorflow/tensorflow, tensorflow/core/lib/hash/crc32c.h.
    """
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
