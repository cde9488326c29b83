"""Converting arrays between dtypes, PyTorch's way."""

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
    return jax.lax.convert_element_type(x, np_dtype)


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
        return array.astype(np_dtype)
