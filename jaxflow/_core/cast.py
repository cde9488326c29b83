"""Converting arrays between dtypes, PyTorch's way."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np


def cast(x, np_dtype):
    """``x`` as ``np_dtype``; the one way a dtype changes. Complex to real keeps the real part."""
    if x.dtype == np_dtype:
        return x
    if jnp.issubdtype(x.dtype, np.complexfloating) and not (
        jnp.issubdtype(np_dtype, np.complexfloating)
    ):
        x = x != 0 if np_dtype == np.bool_ else x.real
    return jax.lax.convert_element_type(x, np_dtype)
