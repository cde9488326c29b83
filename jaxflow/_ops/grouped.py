"""Products of matrices in groups: each group of rows with a matrix of its own, as experts have them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._support import wide
from .matmul import HIGHEST


@op(variants="", saves=("mat_a", "mat_b"))
def _grouped_mm(mat_a, mat_b, offs=None, /):
    """Products of the groups that end at ``offs``, of rows, columns or what is summed over.

    ``(G, M, K)`` and ``(G, K, N)`` need no ends; of ``(M, K)`` and ``(G, K, N)`` the rows are in groups, of
    ``(G, M, K)`` and ``(K, N)`` the columns (what is behind the last end is zero), of ``(M, K)`` and
    ``(K, N)`` the sums, each a matrix ``(M, N)`` of the result.
    """
    a, b = wide(mat_a), wide(mat_b)
    if offs is None:
        return jnp.matmul(a, b, precision=HIGHEST).astype(mat_a.dtype)
    along = 1 if a.ndim == 2 and b.ndim == 2 else 0 if a.ndim == 2 else 2
    at = jax.lax.iota(np.int32, b.shape[-1] if along == 2 else a.shape[along])
    first = jnp.concatenate([jnp.zeros(1, offs.dtype), offs[:-1]])
    there = (at < offs[:, None]) & (at >= first[:, None])
    # Zeros in place of other groups make it one product: a sum over groups is part of it.
    if along == 0:
        a = jnp.where(there[..., None], a, 0)
    else:
        b = jnp.where(there[..., None] if along == 1 else there[:, None], b, 0)
    form = "mk,gkn->gmn" if along == 1 else "gmk,gkn->mn"
    return jnp.einsum(form, a, b, precision=HIGHEST).astype(mat_a.dtype)
