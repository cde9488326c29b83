"""Primitives without a rule: what their kernels give, and that they are shared, and let go."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import jaxflow as torch
from jaxflow._core import cache_pressure
from jaxflow._interpreter import fallback, lower


def interpreted(function, *arrays):
    return lower(jax.make_jaxpr(function)(*arrays))(*arrays)


def spd(n):
    a = np.random.default_rng(n).standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


@pytest.mark.parametrize("n", [1, 3, 4])
def test_a_kernel_is_made_for_each_shape(n):
    found, = interpreted(jnp.linalg.cholesky, spd(n))
    np.testing.assert_allclose(found, np.linalg.cholesky(spd(n)), rtol=1e-12)


def test_schedules_share_kernels_until_room_is_needed():
    fallback.forget()
    for _ in range(3):
        interpreted(jnp.linalg.cholesky, spd(5))
    before = fallback._shared.cache_info()
    assert before.currsize > 0 and before.hits >= 2 * before.currsize
    cache_pressure.forget()
    assert fallback._shared.cache_info().currsize == 0
    assert len(interpreted(jnp.linalg.cholesky, spd(5))) == 1


def test_sizes_between_two_powers_share_an_elementwise_kernel():
    def function(x):
        return jax.lax.igamma(x, x)

    fallback.forget()
    for n in (65, 90, 128):
        x = np.linspace(0.5, 3, n)
        np.testing.assert_allclose(interpreted(function, x)[0], function(x), rtol=1e-12)
    assert fallback._shared.cache_info().currsize == 1


def test_nothing_that_was_lowered_is_kept():
    """jax notes every trace that it keeps; a kernel's goes when it is compiled."""
    import gc

    from jax.extend.core import ClosedJaxpr

    def kept():
        gc.collect()
        return sum(isinstance(x, ClosedJaxpr) for x in gc.get_objects())

    closed = [jax.make_jaxpr(jnp.linalg.cholesky)(spd(n)) for n in range(10, 20)]
    runs = [lower(each) for each in closed]
    before = kept()
    for n, run in zip(range(10, 20), runs):
        run(spd(n))
    assert kept() - before < 5


def counting():
    """A function whose effects are counted, and which reads how often it was called."""
    seen = []

    def function(x):
        jax.debug.callback(lambda v: seen.append(float(v[0])), x)
        times = io_callback(lambda: np.float32(len(calls)), jax.ShapeDtypeStruct((), np.float32))
        return x + times

    calls = []
    return function, seen, calls


def test_effects_happen_each_time():
    function, seen, calls = counting()
    run = lower(jax.make_jaxpr(function)(np.ones(3, np.float32)))
    for i in range(3):
        calls.append(i)
        np.testing.assert_array_equal(run(np.full(3, i, np.float32))[0], [2 * i + 1] * 3)
    jax.effects_barrier()
    assert sorted(seen) == [0, 1, 2]


def test_effects_in_a_branch_happen_each_time():
    seen = []

    def function(x):
        def noted(v):
            jax.debug.callback(lambda v: seen.append(float(v)), v)
            return v

        return jax.lax.cond(x > 1, noted, lambda v: v, x)

    run = lower(jax.make_jaxpr(function)(np.float32(0)))
    for i in range(4):
        assert run(np.float32(i))[0] == i
    jax.effects_barrier()
    assert sorted(seen) == [2, 3]


def test_effects_of_a_wrapped_function_happen_in_every_executor(executor):
    function, seen, calls = counting()
    wrapped = torch.wrap_jax(function)
    for i in range(3):
        calls.append(i)
        assert wrapped(torch.full((3,), float(i))).tolist() == [2 * i + 1] * 3
    jax.effects_barrier()
    assert sorted(seen) == [0, 1, 2]
