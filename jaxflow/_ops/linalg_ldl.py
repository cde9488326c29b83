"""LDL factors of symmetric and Hermitian matrices (Bunch and Kaufman), which XLA has no algorithm for.

They run on the host, by LAPACK: on the CPU within a program, elsewhere with copies to it and back.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._matrices import check_inexact, check_kernel, check_square, spread
from ._support import scalar_name


def _routine(name: str, hermitian: bool, array):
    """LAPACK's ``sytrf`` or ``sytrs`` for these numbers; of complex Hermitian ones ``hetrf`` or ``hetrs``."""
    from scipy.linalg import get_lapack_funcs  # scipy is what jax takes LAPACK from

    kind = "he" if hermitian and np.iscomplexobj(array) else "sy"
    return get_lapack_funcs((kind + name,), (array,))[0]


def _factor_on_host(hermitian, A):
    A = np.asarray(A)
    LD, pivots = np.zeros_like(A), np.zeros(A.shape[:-1], np.int32)
    info = np.zeros(A.shape[:-2], np.int32)
    run = _routine("trf", hermitian, A)
    for at in np.ndindex(*A.shape[:-2]):
        factors, pivots[at], info[at] = run(A[at], lower=1)
        LD[at] = np.tril(factors)
    return LD, pivots, info


def _solve_on_host(hermitian, LD, pivots, B):
    LD, pivots, B = map(np.asarray, (LD, pivots, B))
    X = np.zeros_like(B)
    run = _routine("trs", hermitian, LD)
    for at in np.ndindex(*LD.shape[:-2]):
        X[at], _ = run(LD[at], pivots[at], B[at], lower=1)
    return X


def _on_host(call, results, *operands):
    return jax.pure_callback(call, results, *operands, vmap_method="broadcast_all")


@op(name="_linalg_ldl_factor_ex", variants="", differentiable=False, columns=(0,))
def linalg_ldl_factor_ex(A, /, hermitian=False):
    """L and D in one matrix, the pivots, and the numbers of the first zero pivots; runs on the host.

    Only the lower triangle is read. A negative pair of pivots marks a block of D of two rows.
    """
    name = "torch.linalg.ldl_factor_ex"
    check_square(name, A)
    check_inexact(name, A)
    check_kernel("ldl_factor_kernel_cpu", A)
    shapes = A.shape, A.shape[:-1], A.shape[:-2]
    if not A.size:
        return A, jnp.zeros(shapes[1], np.int32), jnp.zeros(shapes[2], np.int32)
    results = [jax.ShapeDtypeStruct(s, d) for s, d in zip(shapes, (A.dtype, np.int32, np.int32))]
    return tuple(_on_host(functools.partial(_factor_on_host, hermitian), results, A))


@op(name="linalg_ldl_solve", variants="", differentiable=False, columns=(0,))
def linalg_ldl_solve(LD, pivots, B, /, hermitian: bool = False):
    """``X`` with ``A X = B``, given the LDL factors of ``A``; batches broadcast; runs on the host."""
    name = "torch.linalg.ldl_solve"
    check_inexact(name, LD)
    check_square(name, LD)
    if B.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)")
    if LD.dtype != B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {scalar_name(B)} and A of type "
            f"{scalar_name(LD)} instead."
        )
    n = LD.shape[-1]
    if n != B.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is "
            f"{B.shape[-2]} by {B.shape[-1]}"
        )
    if not jnp.issubdtype(pivots.dtype, np.integer):
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {scalar_name(pivots)}")
    if LD.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    check_kernel("ldl_solve_kernel_cpu", LD)
    LD, B = spread(LD, B)
    if not B.size:
        return B
    pivots = jnp.broadcast_to(pivots.astype(np.int32), LD.shape[:-1])
    result = jax.ShapeDtypeStruct(B.shape, B.dtype)
    return _on_host(functools.partial(_solve_on_host, hermitian), result, LD, pivots, B)
