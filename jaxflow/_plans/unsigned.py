"""Python numbers from 2**63 on, which only integers without a sign hold."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from jaxflow._core.dtype import INTEGER, int64
from jaxflow._core.dtype import bool as bool_
from jaxflow._core.tensor import Tensor

from .op import Op

_HALF = 2**63
# What gives the same bits with and without a sign; and the same of as many bits as the number has.
_BY_BITS = frozenset("add sub rsub mul bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge".split())
_BY_WHOLE_BITS = frozenset(("remainder", "fmod", "floor_divide"))


def signed(op: Op, args: Sequence, static: tuple) -> tuple:
    """The arguments, numbers that only 64 bits without a sign hold as PyTorch's kernels take them.

    Beside integers they count by their bits, else as floating numbers. Called while the OverflowError that
    they led to is handled: raises it, or its like, if there are none.
    """
    fitting = [_fitting(op, a, args, static) if a.__class__ is int else a for a in args]
    if all(map(operator.is_, fitting, args)):
        raise  # noqa: PLE0704
    return tuple(fitting)


def _fitting(op: Op, number: int, args: Sequence, static: tuple) -> int | float:
    if number < -_HALF:
        raise OverflowError("can't convert negative int to unsigned")
    if not _HALF <= number < 2 * _HALF:
        return number
    promote = op.promote(**op.named(static)) if callable(op.promote) else op.promote
    found = {a._aval.dtype for a in args if isinstance(a, Tensor)}
    if not found or promote == "int_to_float" or any(d.category > INTEGER for d in found):
        return float(number)
    if found == {bool_}:
        if promote is None:
            return float(number)
        raise RuntimeError("Promotion for uint16, uint32, uint64 types is not supported, attempted to "
                           "promote Bool and UInt64")
    if op.name not in _BY_BITS and not (op.name in _BY_WHOLE_BITS and found == {int64}):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return number - 2 * _HALF
