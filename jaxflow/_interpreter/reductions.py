"""Reductions along axes, and running ones. Halves are summed in float32."""

from __future__ import annotations

import numpy as np

from jaxflow._core.extremes import larger, smaller

from .numbers import BOOL, COMPLEX, FLOATS, HALVES, wide_of
from .table import SAME, rule


def _axis(axes: tuple, ndim: int):
    """The axes as NumPy takes them quickest."""
    if len(axes) == ndim:
        return None
    return axes[0] if len(axes) == 1 else tuple(axes)


def _reducer(ufunc, site, **more):
    """``ufunc`` over the site's axes; a sum of small integers must not widen, hence the dtype."""
    dtype, axes = site.dtype, site.params["axes"]
    if not axes:
        return SAME
    if all(site.ins[0].shape[axis] == 1 for axis in axes) and not more and site.ins[0].dtype == dtype:
        shape = site.outs[0].shape
        return lambda x: x.reshape(shape)
    axis, wide, reduce = _axis(axes, len(site.ins[0].shape)), wide_of(dtype), ufunc.reduce
    if more:
        return lambda x: reduce(x, axis, wide, **more).astype(dtype)
    if wide != dtype:
        return lambda x: reduce(x.astype(wide), axis).astype(dtype)
    if dtype in FLOATS or dtype in COMPLEX or ufunc not in (np.add, np.multiply):
        return lambda x: reduce(x, axis)
    return lambda x: reduce(x, axis, dtype)


@rule("reduce_sum")
def _reduce_sum(site):
    return _reducer(np.add, site)


@rule("reduce_prod")
def _reduce_prod(site):
    return _reducer(np.multiply, site)


def least_of(dtype):
    if dtype == BOOL:
        return False
    return -np.inf if dtype in FLOATS else np.iinfo(dtype).min


def greatest_of(dtype):
    if dtype == BOOL:
        return True
    return np.inf if dtype in FLOATS else np.iinfo(dtype).max


def _is_empty(site) -> bool:
    return 0 in site.ins[0].shape


@rule("reduce_max")
def _reduce_max(site):
    if site.dtype in COMPLEX:
        return None
    return _reducer(np.maximum, site, **({"initial": least_of(site.dtype)} if _is_empty(site) else {}))


@rule("reduce_min")
def _reduce_min(site):
    if site.dtype in COMPLEX:
        return None
    return _reducer(np.minimum, site, **({"initial": greatest_of(site.dtype)} if _is_empty(site) else {}))


@rule("reduce")
def _reduce(site):
    """By a function of two numbers: those that NumPy has too."""
    ufunc = {larger: np.maximum, smaller: np.minimum}.get(site.params["computation"])
    if ufunc is None or len(site.ins) != 2 or _is_empty(site):
        return None
    axes = site.params["dimensions"]
    if not axes:
        return lambda x, first: [x]
    axis = _axis(axes, len(site.ins[0].shape))
    return lambda x, first: [ufunc.reduce(x, axis)]


@rule("reduce_and")
def _reduce_and(site):
    return _reducer(np.logical_and if site.dtype == BOOL else np.bitwise_and, site)


@rule("reduce_or")
def _reduce_or(site):
    return _reducer(np.logical_or if site.dtype == BOOL else np.bitwise_or, site)


@rule("reduce_xor")
def _reduce_xor(site):
    return _reducer(np.logical_xor if site.dtype == BOOL else np.bitwise_xor, site)


@rule("argmax", "argmin")
def _arg(site):
    """The first extreme, or the first NaN."""
    axis, dtype = site.params["axes"][0], site.params["index_dtype"]
    find = np.argmax if site.name == "argmax" else np.argmin
    if site.ins[0].dtype in COMPLEX or _is_empty(site):
        return None
    if site.ins[0].dtype in HALVES:
        return lambda x: find(x.astype(np.float32), axis).astype(dtype)
    return lambda x: find(x, axis).astype(dtype)


_RUNNING = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum,
            "cumlogsumexp": np.logaddexp}


@rule(*_RUNNING)
def _running(site):
    axis, reverse, dtype = site.params["axis"], site.params["reverse"], site.dtype
    ufunc = _RUNNING[site.name]
    if dtype in COMPLEX and ufunc not in (np.add, np.multiply):
        return None
    if dtype == BOOL and site.name not in ("cummax", "cummin"):
        return None
    wide, accumulate = wide_of(dtype), ufunc.accumulate
    back = (slice(None),) * axis + (slice(None, None, -1),)

    def run(x):
        if wide != dtype:
            x = x.astype(wide)
        if reverse:
            x = accumulate(x[back], axis, wide)[back]
        else:
            x = accumulate(x, axis, wide)
        return x.astype(dtype) if wide != dtype else x

    return run
