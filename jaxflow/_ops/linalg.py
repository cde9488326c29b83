"""Matrix decompositions."""

from __future__ import annotations

import jax.numpy as jnp

from jaxflow._dispatch.op import op

from ._support import refuse


@op(namespace="linalg", variants="function", grad_name="LinalgQrBackward0", returns=("Q", "R"),
    saves="result")
def qr(A, /, mode="reduced"):
    """``A = Q R`` with orthonormal columns in Q and an upper triangular R; batches of matrices.

    ``mode`` is "reduced", "complete" (a square Q) or "r" (Q is empty).
    """
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.qr: The input tensor A must have at least 2 dimensions."
        )
    refuse("linalg_qr", A, 0, 1)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    if mode == "r":
        return jnp.zeros((0,), A.dtype), jnp.linalg.qr(A, mode="r")
    return tuple(jnp.linalg.qr(A, mode=mode))
