"""What XLA is kept from: computing a thing again, taking one for another, losing a nan; and where."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.cast import cast
from jaxflow._core.extremes import larger, smaller
from jaxflow._core.jax_compat import set_xla_metadata


def _same(x):
    return x.reshape(-1).reshape(x.shape)  # jax forwards a plain argument past the call


def materialized(x):
    """``x``, as an array that XLA does not compute again inside the operations that read it.

    An optimization barrier is gone before the CPU's compiler fuses operations; a call that may not be inlined
    is not.
    """
    with set_xla_metadata(inlineable="false"):
        return jax.jit(_same)(x)


def not_before(x, other):
    """``x``, which XLA must take for another value: one that is not known before ``other`` is there.

    An ``optimization_barrier`` alone is gone on the CPU before XLA looks for what is computed twice. A
    predicate behind one stays unknown, and so does which of the two it selects. The gradient is ``x``'s.
    """
    if not other.size:
        return x
    never = jax.lax.optimization_barrier(jnp.zeros((), bool))
    return jnp.where(never, jax.lax.stop_gradient(cast(other.reshape(-1)[0], x.dtype)), x)


def held_back(inputs: tuple, late: tuple[int, ...]) -> tuple:
    """``inputs``, those of the numbers in ``late`` as values that are known only when the last one is.

    On the CPU what was computed from them before cannot stand for what is computed from these, and
    nothing is computed before the last input is there.
    """
    held = list(inputs)
    if on_cpu():
        for i in late:
            x = inputs[i]
            if getattr(x, "ndim", 0) and jnp.issubdtype(x.dtype, np.inexact):
                held[i] = not_before(x, inputs[-1])
    else:
        which = (*late, len(inputs) - 1)
        for i, x in zip(which, jax.lax.optimization_barrier(tuple(inputs[i] for i in which))):
            held[i] = x
    return tuple(held)


def largest(x, axes=None, keepdims=False):
    """The maxima of floating ``x`` over ``axes`` (None: all), nan where there is one; no derivative is meant.

    The library that XLA's CPU compiler hands reductions to drops nan from what it recognizes as a maximum.
    It does not recognize this one, which is quicker than that compiler's own.
    """
    return _extremum(x, larger, -np.inf, axes, keepdims)


def smallest(x, axes=None, keepdims=False):
    """The minima in the same way."""
    return _extremum(x, smaller, np.inf, axes, keepdims)


def _extremum(x, combine, first, axes, keepdims):
    axes = range(x.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    axes = tuple(axis % x.ndim for axis in axes)
    found = jax.lax.reduce(x, np.array(first, x.dtype), combine, axes)
    return jnp.expand_dims(found, axes) if keepdims else found


def on_cpu() -> bool:
    """Whether to use what was measured on the CPU; elsewhere XLA has kernels for everything."""
    return jax.default_backend() == "cpu"
