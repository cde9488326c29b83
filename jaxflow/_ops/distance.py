"""Distances between vectors: of all pairs of two sets, and of all pairs of one."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._support import as_dtype, is_float, refuse, scalar_name, wide
from ._xla import largest
from .matmul import HIGHEST, c_name

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
#: More vectors than this in either set: Euclidean distances are made of products of matrices.
_MANY = 25


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _length(difference, p):
    """The norm of order ``p`` over the last dimension."""
    size = jnp.abs(difference)
    if p == 0:
        return jnp.sum(jnp.where(jnp.isnan(size), size, (size != 0).astype(size.dtype)), -1)
    if p == 1:
        return jnp.sum(size, -1)
    if p == 2:
        return jnp.sqrt(jnp.sum(size * size, -1))
    if p == math.inf:
        return jnp.maximum(largest(size, -1), 0)  # of no elements too
    return jnp.power(jnp.sum(jnp.power(size, p), -1), 1 / p)


@_length.defjvp
def _length_jvp(p, primals, tangents):
    # PyTorch's convention: no derivative where the length is 0, and the whole of it for each of several
    # largest elements.
    difference, = primals
    length = _length(difference, p)
    if p == 0:
        return length, jnp.zeros_like(length)
    sign = jnp.sign(difference)
    if p == 1:
        slope = sign
    elif p == math.inf:
        slope = jnp.where(jnp.abs(difference) == length[..., None], sign, 0)
    else:
        zero = length == 0
        inverse = jnp.where(zero, 0, 1 / jnp.where(zero, 1, length))[..., None]
        flat = difference == 0
        if p > 1:  # 0 times a power of a nan; below 1 the power of 0 is infinite, and 0 is meant
            flat = flat & ~jnp.isnan(inverse)
        share = jnp.where(flat, 1, jnp.abs(difference) * inverse)
        slope = difference * inverse if p == 2 else jnp.where(flat, 0, sign * jnp.power(share, p - 1))
        # PyTorch chooses 0 there, where it else multiplies by it: what arrives may be nan or infinite.
        along = slope * tangents[0]
        return length, jnp.where(zero, 0, jnp.sum(jnp.where(flat, 0, along) if p < 1 else along, -1))
    return length, jnp.sum(slope * tangents[0], -1)


def _product(a, b):
    return jnp.matmul(a, jnp.swapaxes(b, -1, -2), precision=HIGHEST)


@jax.custom_jvp
def _euclidean(a, b):
    """Euclidean distances of the vectors ``(..., p, m)`` and ``(..., r, m)``, by ``a a - 2 a b + b b``.

    One product makes all of it, of vectors two elements longer: as in PyTorch, what cancels is then added
    up term by term.
    """
    own, other = (jnp.sum(x * x, -1, keepdims=True) for x in (a, b))
    left = jnp.concatenate((-2 * a, own, jnp.ones_like(own)), -1)
    right = jnp.concatenate((b, jnp.ones_like(other), other), -1)
    return jnp.sqrt(jnp.maximum(_product(left, right), 0))


@_euclidean.defjvp
def _euclidean_jvp(primals, tangents):
    (a, b), (da, db) = primals, tangents
    distance = _euclidean(a, b)
    zero = distance == 0
    inverse = jnp.where(zero, 0, 1 / jnp.where(zero, 1, distance))
    own = jnp.sum(a * da, -1)[..., :, None] + jnp.sum(b * db, -1)[..., None, :]
    return distance, (own - _product(da, b) - _product(a, db)) * inverse


@op(variants="function", saves=("x1", "x2", "result"))
def cdist(x1, x2, /, p: float = 2.0, compute_mode=_MODES[0]):
    """The distance of each vector of ``x1`` to each of ``x2``.

    Shapes: ``(..., P, M)`` and ``(..., R, M)`` to ``(..., P, R)``; leading dimensions are broadcast.

    Args:
        x1: floating point, ``(..., P, M)``.
        x2: of the same dtype, ``(..., R, M)``.
        p: which norm the differences are measured by: 0 (how many elements differ) to infinity.
        compute_mode: whether Euclidean distances come from products of matrices, which is quicker and less
            exact: always (``"use_mm_for_euclid_dist"``), never (``"donot_use_mm_for_euclid_dist"``), or for
            more than 25 vectors (the default).

    Returns:
        A new tensor ``(..., P, R)`` of that dtype.

    Raises:
        RuntimeError: for integers, fewer than two dimensions, vectors of different lengths, and a negative
            ``p``.
        ValueError: for another ``compute_mode``.

    Example:
        >>> x1, x2 = torch.tensor([[0.0, 0.0], [3.0, 0.0]]), torch.tensor([[3.0, 4.0]])
        >>> torch.cdist(x1, x2)
        tensor([[5.],
                [4.]])
        >>> torch.cdist(x1, x2, p=1)
        tensor([[7.],
                [4.]])
    """
    if compute_mode is not None and compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    many = compute_mode in (None, _MODES[0]) and any(n > _MANY for x in (x1, x2) for n in x.shape[-2:-1])
    by_product = p == 2 and (many or compute_mode == _MODES[1])
    _check_cdist(x1, x2, p, by_product)
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    a, b = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (x1, x2))
    if a.dtype != b.dtype:  # of nothing, the distances have the dtype of the first
        return jnp.zeros((*batch, a.shape[-2], b.shape[-2]), a.dtype)
    if by_product:
        return as_dtype(_euclidean(wide(a), wide(b)), a.dtype)
    return _length(a[..., :, None, :] - b[..., None, :, :], float(p))


def _check_cdist(x1, x2, p, by_product):
    if not isinstance(p, (int, float)):
        raise TypeError(f"cdist(): argument 'p' (position 3) must be float, not {type(p).__name__}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    for name, x in (("X1", x1), ("X2", x2)):
        if not is_float(x):
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {scalar_name(x)}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if not x1.size or not x2.size:
        return
    if not by_product and x1.dtype.itemsize == 2:
        refuse("cdist", x1, 2)
    if x1.dtype != x2.dtype:
        if by_product and x1.ndim == x2.ndim == 2:
            raise RuntimeError(
                f"expected m1 and m2 to have the same dtype, but got: {c_name(x1)} != {c_name(x2)}")
        first, second = (x2, x1) if by_product else (x1, x2)
        raise RuntimeError(f"expected scalar type {scalar_name(first)} but found {scalar_name(second)}")


@op(variants="function", aliases=("nn.functional.pdist",), saves=("input", "result"))
def pdist(input, /, p: float = 2.0):
    """The distances of all pairs of rows ``i < j``, row by row: ``(N, M)`` to ``(N (N - 1) / 2,)``.

    Raises:
        RuntimeError: for integers, for other than two dimensions, and for a negative order.
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not is_float(input):
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if input.dtype.itemsize == 2:
        refuse("pdist", input, 2)
    first, second = np.triu_indices(int(input.shape[0]), 1)
    return _length(input[first] - input[second], float(p))
