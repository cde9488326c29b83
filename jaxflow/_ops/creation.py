"""Ops without tensors: ranges, identity matrices. Sizes are static, end points are traced."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._plans.op import Scalar, op

from ._support import as_dtype, wide


def _working(dtype):
    """The dtype a range is computed in: double for integers, float32 for halves, else its own."""
    if dtype.category <= 1:
        return np.dtype(np.float64)
    return wide(jnp.zeros((), dtype.np)).dtype


@op(name="_arange", variants="", differentiable=False)
def arange(*, size, dtype, device, start: Scalar, step: Scalar):
    """``size`` numbers from ``start``, ``step`` apart."""
    exact = dtype.category <= 1 and start.dtype.kind in "bi" and step.dtype.kind in "bi"
    kind = np.dtype(np.int64 if exact else np.float64)
    count = jax.lax.iota(np.int64, size).astype(kind)
    return as_dtype(start.astype(kind) + step.astype(kind) * count, dtype)


def _line(start, end, steps, dtype, kind):
    """``steps`` numbers from ``start`` to ``end``, exact at both ends: each half counts from its own."""
    start, end = (as_dtype(as_dtype(x, dtype), kind) for x in (start, end))
    if steps == 1:
        return start.reshape(1)
    step = (end - start) / jnp.asarray(steps - 1 or 1, kind)
    count = jax.lax.iota(np.int64, steps)
    up = start + step * count.astype(kind)
    down = end - step * (steps - 1 - count).astype(kind)
    return jnp.where(count < steps // 2, up, down)


def _need_no_line(kernel, steps, dtype):
    """Refuse bools, but for one of them or none, for which there is no kernel to be missed."""
    if dtype is dtypes.bool and steps > 1:
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


@op(name="_linspace", variants="", differentiable=False)
def linspace(*, steps, dtype, device, start: Scalar, end: Scalar):
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
    _need_no_line("linspace_cpu", steps, dtype)
    return as_dtype(_line(start, end, steps, dtype, _working(dtype)), dtype)


@op(name="_logspace", variants="", differentiable=False)
def logspace(*, steps, base, dtype, device, start: Scalar, end: Scalar):
    """``base`` to the power of ``steps`` evenly spaced numbers."""
    _need_no_line("logspace_cpu", steps, dtype)
    kind = _working(dtype)
    # PyTorch converts the ends to the dtype of the result first, unless there is but one number.
    powers = start.astype(kind).reshape(1) if steps == 1 else _line(start, end, steps, dtype, kind)
    return as_dtype(jnp.power(jnp.asarray(base, kind), powers), dtype)


@op(name="_eye", variants="", differentiable=False)
def eye(*, n, m, dtype, device):
    """A matrix with ones on its diagonal."""
    return jnp.eye(n, m, dtype=dtype.np)
