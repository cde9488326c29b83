"""Matrix decompositions."""

from __future__ import annotations

import jax.numpy as jnp

from jaxflow._core.dtype import FLOATING
from jaxflow._dispatch.op import EXACT, op

from ._support import category, refuse, scalar_name


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


@op(namespace="linalg", variants="function out", grad_name="LinalgSvdBackward0", saves="result",
    out=EXACT)
def svdvals(A, /, *, driver=None):
    """The singular values of matrices, largest first; real.

    Raises:
        RuntimeError: for fewer than two dimensions, for integers, and for a ``driver``, which names a
            CUDA library's.
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.svd: The input tensor A must have at least 2 dimensions.")
    if category(A) < FLOATING:
        raise RuntimeError(
            f"linalg.svd: Expected a floating point or complex tensor as input. Got {scalar_name(A)}"
        )
    if A.dtype.itemsize == 2:
        raise NotImplementedError(f"\"linalg_svd_cpu\" not implemented for '{scalar_name(A)}'")
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
    if A.size == 0:
        real = A.real.dtype
        return jnp.zeros((*A.shape[:-2], min(A.shape[-2:])), real)
    return jnp.linalg.svd(A, full_matrices=False, compute_uv=False)
