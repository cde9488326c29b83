"""Products of vectors and matrices that are not contractions: outer, Kronecker, cross, and renorm."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from jaxflow._core.dtype import BOOL
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._plans.op import EXACT, Number, Out, op

from ._layouts import products_of_elements, products_of_pairs
from ._support import refuse, scalar_name, wide, wrap_dim
from .matmul import size_at
from .reduce import refuse_empty_norm, refuse_norm_of, vector_norm


@op(promote="default", broadcast=False, grad_name="MulBackward0", wide="vec2",
    variants="function method out", out=Out(composed="mul"), layout=products_of_elements)
def outer(input, vec2, /):
    """The product of each element of one vector with each of another.

    ``y[i, j] = input[i] * vec2[j]``

    Args:
        input: a vector ``(n,)`` of any dtype; dtypes are promoted.
        vec2: a vector ``(m,)``.

    Returns:
        A new matrix ``(n, m)`` of the promoted dtype.

    Raises:
        RuntimeError: if one of them is no vector.

    Example:
        >>> torch.outer(torch.tensor([1, 2]), torch.tensor([3, 4, 5]))
        tensor([[ 3,  4,  5],
                [ 6,  8, 10]])
    """
    for name, x in (("self", input), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return input[:, None] * vec2[None, :]


@op(promote="reshaped", broadcast=False, grad_name="UnsafeViewBackward0",
    variants="function method out", saves="own", layout=products_of_pairs,
    out=Out(composed="mul", copied=True))
def kron(input, other, /):
    """The Kronecker product: each element of ``input`` times the whole of ``other``."""
    ndim = max(input.ndim, other.ndim)
    a = input.reshape((1,) * (ndim - input.ndim) + input.shape)
    b = other.reshape((1,) * (ndim - other.ndim) + other.shape)
    pairs = a.reshape([n for m in a.shape for n in (m, 1)]) * b.reshape(
        [n for m in b.shape for n in (1, m)]
    )
    return pairs.reshape([m * n for m, n in zip(a.shape, b.shape)])


def cross_shape(input, other, dim) -> tuple[int, ...]:
    """The shape of a cross product. RuntimeError for operands that have none."""
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if size_at(input, dim) != 3 or size_at(other, dim) != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {size_at(input, dim)} and "
            f"{size_at(other, dim)}"
        )
    return broadcast_shapes(input.shape, other.shape)


@op(variants="", name="linalg_cross", grad_name="LinalgCrossBackward0", out=EXACT, apart=True)
def cross(input, other, /, *, dim: int = -1):
    """The cross product of vectors of three along ``dim``; other dimensions are broadcast."""
    shape, axis = cross_shape(input, other, dim), wrap_dim(dim, input.ndim)
    refuse("cross", input, BOOL)
    if input.dtype != other.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(other)}")
    a, b = jnp.broadcast_to(input, shape), jnp.broadcast_to(other, shape)
    first, second = jnp.roll(a, -1, axis), jnp.roll(b, -2, axis)
    return first * second - jnp.roll(a, -2, axis) * jnp.roll(b, -1, axis)


@op(variants="function method inplace out", out=EXACT, apart="input")
def renorm(input, /, p: Number, dim: int, maxnorm: Number):
    """``input`` with every slice along ``dim`` scaled down to a norm of at most ``maxnorm``."""
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions"
        )
    axis, maxnorm = wrap_dim(dim, input.ndim), float(maxnorm)
    refuse_norm_of(input)
    if not input.size and p == math.inf:
        refuse_empty_norm(input, p, dim, tuple(d for d in range(input.ndim) if d != axis))
    rest = tuple(d for d in range(input.ndim) if d != axis)
    x = wide(input)
    long = vector_norm(jax.lax.stop_gradient(x), p, rest, True) > maxnorm
    # What stays as it is has nothing of its norm's slope, which may be nan.
    norm = vector_norm(jnp.where(long, x, 1), p, rest, True)
    # The small number is PyTorch's, so that the result stays below the bound.
    factor = jnp.where(long, maxnorm / (norm + 1e-7), 1)
    return (x * factor.astype(x.dtype)).astype(input.dtype)
