"""``ReduceOp``: how the processes' numbers become one. Of one process they are what they were."""

from __future__ import annotations

import enum

from jaxflow._core.tensor import Tensor


class RedOpType(enum.Enum):
    """The reductions, with PyTorch's numbers."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


class _Reductions(type):
    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, RedOpType)


class ReduceOp(metaclass=_Reductions):
    """The reductions, as attributes; each is also an instance of this class."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType


_BITWISE = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)
_OF_ORDER = (RedOpType.MIN, RedOpType.MAX)


def check_reduction(name: str, op: object, x: Tensor) -> None:
    """Refuse what does not reduce numbers of this dtype."""
    if not isinstance(op, RedOpType):
        raise TypeError(f"{name}(): argument 'op' must be a ReduceOp, not {type(op).__name__}")
    if op in _BITWISE and (x.dtype.is_floating_point or x.dtype.is_complex):
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if x.dtype.is_complex and op in (*_OF_ORDER, *_BITWISE, RedOpType.PRODUCT):
        raise ValueError(f"{name} does not support RedOpType.{op.name} on complex tensors")
