"""What operations on batches of matrices share: checks in PyTorch's words, and the conjugate transpose."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ._support import is_complex


def adjoint(x):
    """The conjugate transpose of matrices ``(..., m, n)``."""
    turned = jnp.swapaxes(x, -1, -2)
    return jnp.conj(turned) if is_complex(x) else turned


def diagonal(x):
    """The main diagonals ``(..., n)`` of matrices."""
    return jnp.diagonal(x, axis1=-2, axis2=-1)


def imaginary(x):
    """``x`` without its real part; complex."""
    return jax.lax.complex(jnp.zeros_like(x.imag), x.imag)


def check_matrix(name: str, x, what: str = "A") -> None:
    """Refuse what has fewer than two dimensions."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")


def check_square(name: str, x, what: str = "A") -> None:
    """Refuse what is no batch of square matrices."""
    check_matrix(name, x, what)
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: {what} must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
