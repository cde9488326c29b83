"""Bitwise operations on integers and bools."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, FLOATING
from jaxflow._plans.op import FOUND, Integers, Out, op

from ._support import is_float, refuse, wrap_dim, wrap_dims

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
    op(promote="no_opmath", operators=operators, numbers="input other", differentiable=False,
       out=Out(tensors=True))(body)


for _row in _ROWS:
    _declare(*_row)


@op(promote="no_opmath", differentiable=False, out=FOUND)
def bitwise_not(input, /):
    """Every bit turned over; on bools, the logical not."""
    refuse("bitwise_not_cpu", input, FLOATING, COMPLEX)
    return ~input


def _bits(x):
    return jnp.iinfo(x.dtype).bits


@op(promote="no_opmath", operators="__lshift__ __rlshift__ __ilshift__", differentiable=False,
    numbers="input other", out=Out(tensors=True))
def bitwise_left_shift(input, other, /):
    """Integers shifted left by ``other`` bits; 0 where no bit is left."""
    refuse("lshift_cpu", input, BOOL, FLOATING, COMPLEX)
    inside = (other >= 0) & (other < _bits(input))
    return jnp.where(inside, input << jnp.where(inside, other, 0), 0)


@op(promote="no_opmath", operators="__rshift__ __rrshift__ __irshift__", differentiable=False,
    numbers="input other", out=Out(tensors=True))
def bitwise_right_shift(input, other, /):
    """Integers shifted right by ``other`` bits, keeping the sign; 0 where no bit is left."""
    refuse("rshift_cpu", input, BOOL, FLOATING, COMPLEX)
    most = _bits(input) - 1
    outside = (other < 0) | (other > most)
    shifted = input >> jnp.where(outside, most, other)
    return jnp.where(outside, 0, shifted) if jnp.iinfo(input.dtype).min == 0 else shifted


@op(differentiable=False, out="Expected result to be of dtype uint64, but got {out}")
def hash_tensor(input, /, dim: Integers = (), *, keepdim: bool = False, mode: int = 0):
    """The exclusive or of all elements, or of those along ``dim``, as 64 bits; uint64.

    Floating numbers count as the bits of their float64, integers as those of their int64.
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    refuse("xor_sum_cpu", input, COMPLEX)
    if input.size == 0 and dim == ():
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for at in (dim,) if isinstance(dim, int) else dim:
        if input.ndim and input.shape[wrap_dim(at, input.ndim)] == 0:
            raise IndexError(f"hash_tensor: Expected reduction dim {at} to have non-zero size.")
    axes = wrap_dims(dim, input.ndim)
    if is_float(input):
        bits = jax.lax.bitcast_convert_type(input.astype(np.float64), np.uint64)
    else:
        bits = input.astype(np.int64).astype(np.uint64)
    found = jax.lax.reduce(bits, np.uint64(0), jax.lax.bitwise_xor, axes)
    return jnp.expand_dims(found, axes) if keepdim else found
