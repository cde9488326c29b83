"""Primitives without a rule: each runs through XLA, as one op.

Elementwise ones run on flat arrays padded to a power of two, so that changing shapes compile a few kernels
and not one for each shape.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import options
from jaxflow._core.device import CPU, placed

from .numbers import KNOWN

#: Elements of the smallest kernel of an elementwise primitive.
LEAST = 64

#: Elementwise primitives that may get here, with a rule for some dtypes or with none.
ELEMENTWISE = frozenset("""
    abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp clz
    complex conj cos cosh digamma div eq eq_to erf erf_inv erfc exp exp2 expm1 floor ge gt igamma
    igamma_grad_a
    igammac imag integer_pow is_finite le le_to lgamma log log1p logistic lt lt_to max min mul mulhi ne neg
    nextafter not or polygamma population_count pow real reduce_precision regularized_incomplete_beta rem
    round rsqrt shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square sub tan tanh
    xor zeta
""".split())


def is_key(aval) -> bool:
    """Whether it is an array of random keys."""
    return aval.dtype not in KNOWN and jax.dtypes.issubdtype(aval.dtype, jax.dtypes.extended)


def _frozen(params: dict) -> tuple | None:
    """Parameters as a key, or None where one cannot be hashed."""
    key = tuple(sorted(params.items(), key=lambda item: item[0]))
    try:
        hash(key)
    except TypeError:
        return None
    return key


@functools.lru_cache(maxsize=256)
def _shared(primitive, key: tuple, signature: tuple) -> Callable:
    return _compiled(_binding(primitive, dict(key)), signature)


def _binding(primitive, params: dict) -> Callable:
    """A function of arrays for jax to trace: ``primitive`` with these parameters."""

    def run(*arrays):
        return primitive.bind(*arrays, **primitive.get_bind_params(params))

    run.__name__ = run.__qualname__ = primitive.name.replace("-", "_")
    return run


def _compiled(run: Callable, signature: tuple) -> Callable:
    """``run`` compiled for the CPU and for arrays of these shapes and dtypes.

    Ahead of time: what ``jax.jit`` would keep of the trace takes three times the memory of the kernel.
    """
    with placed(CPU):
        lowered = jax.jit(run).lower(*[jax.ShapeDtypeStruct(*each) for each in signature])
        return options.compiled(lowered, CPU)


def _kernel(primitive, params: dict) -> Callable:
    key = _frozen(params)
    if key is None:
        return _called(_binding(primitive, params))
    return _run(functools.partial(_shared, primitive, key))


def _called(run: Callable) -> Callable:
    """A function of arrays that compiles ``run``, for itself, when it is called with new shapes."""
    return _run(functools.lru_cache(maxsize=16)(functools.partial(_compiled, run)))


def _run(compiled_for: Callable[[tuple], Callable]) -> Callable:
    """A function of arrays that runs what is compiled for their shapes and dtypes."""

    def kernel(*arrays):
        arrays = [np.asarray(x) for x in arrays]
        compiled = compiled_for(tuple([(x.shape, x.dtype) for x in arrays]))
        return (getattr(compiled, "_call", None) or compiled)(*arrays)

    return kernel


def forget() -> None:
    """Let go of the kernels that several schedules share."""
    _shared.cache_clear()


def through_xla(primitive, params: dict, ins: Sequence, outs: Sequence) -> Callable:
    """A function of arrays that runs ``primitive``, compiled."""
    if any(map(is_key, ins)) or any(map(is_key, outs)):
        return _with_keys(primitive, params, ins, outs)
    kernel = _kernel(primitive, params)
    if primitive.multiple_results:
        return lambda *arrays: [np.asarray(x) for x in kernel(*arrays)]
    if primitive.name in ELEMENTWISE and len(ins):
        return _padded(kernel, ins, outs[0])
    return lambda *arrays: np.asarray(kernel(*arrays))


def _padded(kernel: Callable, ins: Sequence, out) -> Callable:
    """An elementwise kernel on flat arrays of the next power of two; scalar operands stay scalars."""
    shape, size = out.shape, int(np.prod(out.shape))
    room = max(LEAST, 1 << max(size - 1, 0).bit_length())
    scalars = [aval.shape == () and shape != () for aval in ins]
    dtypes = [aval.dtype for aval in ins]

    def run(*arrays):
        flat = []
        for x, scalar, dtype in zip(arrays, scalars, dtypes):
            if not scalar:
                full = np.zeros(room, dtype)
                full[:size] = np.broadcast_to(x, shape).reshape(-1)
                x = full
            flat.append(x)
        return np.asarray(kernel(*flat))[:size].reshape(shape)

    return run


def _with_keys(primitive, params: dict, ins: Sequence, outs: Sequence) -> Callable:
    """Key arrays travel as their uint32 data, and are keys inside the kernel only."""
    impls = [jax.random.key_impl(jnp.empty((), a.dtype)) if is_key(a) else None for a in ins]
    keyed = [is_key(a) for a in outs]
    many = primitive.multiple_results

    def run(*arrays):
        arrays = [x if impl is None else jax.random.wrap_key_data(x, impl=impl)
                  for x, impl in zip(arrays, impls)]
        found = primitive.bind(*arrays, **primitive.get_bind_params(params))
        found = found if many else [found]
        return [jax.random.key_data(x) if key else x for x, key in zip(found, keyed)]

    kernel = _called(run)
    if many:
        return lambda *arrays: [np.asarray(x) for x in kernel(*arrays)]
    return lambda *arrays: np.asarray(kernel(*arrays)[0])
