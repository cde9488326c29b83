"""Converting arrays between dtypes, PyTorch's way.

NOTE [Floats as integers]
    What becomes of nan and of what is out of an integer's range C leaves open; it is what x86-64 makes of
    it, as in PyTorch there. A float is cut off to an int32 (an int64 where the target is as wide, or where a
    double becomes a uint8), which is the lowest of all if it does not fit; of that the lower bits are taken.
    Only the upper half of uint32 and uint64 is reached by itself; beyond it is 0 (a half becomes a uint32
    by way of an int64).
    Where PyTorch's vectorised loops and its others differ (uint32 of what does not fit), this is what the
    former do. XLA and NumPy, on any hardware, do the same here.

NOTE [Truth values as floats]
    XLA takes a product with a converted truth value for a selection, which gives 0 where the product of nan
    or infinity and 0 is nan. It multiplies by what was a small integer in between.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

_E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
_E8M0 = np.dtype(ml_dtypes.float8_e8m0fnu)
_E4M3_MAX = float(ml_dtypes.finfo(ml_dtypes.float8_e4m3fn).max)


def cast(x, np_dtype):
    """``x`` as ``np_dtype``; the one way a dtype changes. Complex to real keeps the real part."""
    if x.dtype == np_dtype:
        return x
    if jnp.issubdtype(x.dtype, np.complexfloating) and not (
        jnp.issubdtype(np_dtype, np.complexfloating)
    ):
        x = x != 0 if np_dtype == np.bool_ else x.real
    if np_dtype in (_E4M3, _E8M0):
        x = _into_float8(x.astype(np.float32), np_dtype)
    if np.dtype(np_dtype).kind in "iu" and jnp.issubdtype(x.dtype, np.floating):
        if x.dtype == np.float16 and np_dtype == np.uint32:
            return cast(x, np.int64).astype(np.uint32)
        return float_to_integer(x.astype(np.float32) if x.dtype.itemsize < 4 else x, np.dtype(np_dtype))
    if x.dtype == np.bool_ and np.dtype(np_dtype).kind not in "iu":
        x = jax.lax.convert_element_type(x, np.uint8)  # NOTE [Truth values as floats]
    return jax.lax.convert_element_type(x, np_dtype)


def _word_of(source, target):
    """The signed integer that a float of these dtypes is cut off to first."""
    long = target.itemsize == 8 or target == np.uint8 and source == np.float64
    return np.dtype(np.int64 if long else np.int32)


@functools.partial(jax.jit, static_argnums=1)  # a call of this name: the interpreter has a rule for it
def float_to_integer(x, target):
    """An array of floats or doubles as one of the integer dtype ``target``; NOTE [Floats as integers]."""
    word = _word_of(x.dtype, target)
    limit = x.dtype.type(2.0 ** (8 * word.itemsize - 1))
    # XLA's own conversion saturates, and takes nan for 0.
    cut = jnp.where(x < limit, jax.lax.convert_element_type(x, word), np.iinfo(word).min)
    found = jax.lax.convert_element_type(cut, target)
    if target.kind == "i" or target.itemsize < 4:
        return found
    upper = jnp.where(x < 2 * limit, jax.lax.convert_element_type(x, target), target.type(0))
    return jnp.where(x >= limit, upper, found)


def float_to_integer_numpy(x, target: np.dtype):
    """The same of a host array."""
    word = _word_of(x.dtype, target)
    limit = x.dtype.type(2.0 ** (8 * word.itemsize - 1))
    if not x.size or np.minimum.reduce(x, None) >= -limit and np.maximum.reduce(x, None) < limit:
        return x.astype(word).astype(target, copy=False)
    found = np.where((x >= -limit) & (x < limit), x, -limit).astype(word).astype(target, copy=False)
    if target.kind == "i" or target.itemsize < 4:
        return found
    inside = (x >= limit) & (x < 2 * limit)
    upper = np.where(inside, x - limit, x.dtype.type(0)).astype(word).astype(target) + target.type(limit)
    return np.where(inside, upper, np.where(x >= limit, target.type(0), found))


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _into_float8(x, np_dtype):
    """What PyTorch does where XLA would give nan: e4m3fn saturates, e8m0fnu forgets the sign."""
    return jnp.clip(x, -_E4M3_MAX, _E4M3_MAX) if np_dtype == _E4M3 else jnp.abs(x)


@_into_float8.defjvp
def _into_float8_jvp(np_dtype, primals, tangents):
    return _into_float8(primals[0], np_dtype), tangents[0]  # a cast's gradient is a cast


def cast_numpy(array: np.ndarray, np_dtype) -> np.ndarray:
    """`cast` of a host array; integers wrap around without a warning."""
    with np.errstate(all="ignore"):
        if np_dtype == _E4M3:
            array = np.clip(array.astype(np.float32), -_E4M3_MAX, _E4M3_MAX)
        elif np_dtype == _E8M0:
            array = np.abs(array.astype(np.float32))
        elif np.dtype(np_dtype).kind in "iu":
            if array.dtype.kind == "c":
                array = array.real
            if jnp.issubdtype(array.dtype, np.floating):
                if array.dtype == np.float16 and np_dtype == np.uint32:
                    return cast_numpy(array, np.int64).astype(np.uint32)
                wide = array.astype(np.float32) if array.dtype.itemsize < 4 else array
                return float_to_integer_numpy(wide, np.dtype(np_dtype))
        return array.astype(np_dtype)
