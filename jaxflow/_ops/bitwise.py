"""Bitwise operations on integers and bools."""

from __future__ import annotations

import jax.numpy as jnp

from jaxflow._core.dtype import BOOL, COMPLEX, FLOATING
from jaxflow._dispatch.op import op

from ._support import refuse

_ROWS = (
    ("bitwise_and", jnp.bitwise_and, "__and__ __rand__ __iand__", "The bits set in both elements."),
    ("bitwise_or", jnp.bitwise_or, "__or__ __ror__ __ior__", "The bits set in either element."),
    ("bitwise_xor", jnp.bitwise_xor, "__xor__ __rxor__ __ixor__",
     "The bits set in exactly one element."),
)


def _declare(name, fn, operators, doc):
    def body(input, other, /):
        refuse(f"{name}_cpu", input, FLOATING, COMPLEX)
        return fn(input, other)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc + " On bools, the logical operation."
    op(promote="default", operators=operators, numbers="input other",
       differentiable=False)(body)


for _row in _ROWS:
    _declare(*_row)


@op(promote="default", operators="__invert__", differentiable=False)
def bitwise_not(input, /):
    """Every bit turned over; on bools, the logical not."""
    refuse("bitwise_not_cpu", input, FLOATING, COMPLEX)
    return ~input


def _bits(x):
    return jnp.iinfo(x.dtype).bits


@op(promote="default", operators="__lshift__ __rlshift__ __ilshift__", differentiable=False,
    numbers="input other")
def bitwise_left_shift(input, other, /):
    """Integers shifted left by ``other`` bits; 0 where no bit is left."""
    refuse("lshift_cpu", input, BOOL, FLOATING, COMPLEX)
    inside = (other >= 0) & (other < _bits(input))
    return jnp.where(inside, input << jnp.where(inside, other, 0), 0)


@op(promote="default", operators="__rshift__ __rrshift__ __irshift__", differentiable=False,
    numbers="input other")
def bitwise_right_shift(input, other, /):
    """Integers shifted right by ``other`` bits, keeping the sign."""
    refuse("rshift_cpu", input, BOOL, FLOATING, COMPLEX)
    most = _bits(input) - 1
    return input >> jnp.where((other < 0) | (other > most), most, other)
