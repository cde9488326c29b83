"""The interpreter's machinery: inlining, slots, constants, aliases, calls from several threads."""

import contextvars
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import threadpoolctl

from jaxflow._interpreter import interpreting, lower, surroundings


def lowered(function, *args):
    """The function interpreted, and its results on the arguments."""
    run = lower(jax.make_jaxpr(function)(*args))
    return run, run(*map(np.asarray, args))


def test_calls_are_inlined_and_dead_code_is_dropped():
    x = np.ones((3, 4), np.float32)

    def function(x):
        jnp.sin(x)  # nobody reads it
        return jax.jit(lambda y: y * y)(x), jax.nn.relu(x)

    run, results = lowered(function, x)
    assert run.steps == 2 and run.fallbacks == ()
    assert [r.shape for r in results] == [(3, 4), (3, 4)]


def test_rows_are_not_spread_out_for_what_is_elementwise():
    """A row broadcast, scaled and added: three steps, none of which copies it."""
    x, row = np.ones((3, 4), np.float32), np.arange(4, dtype=np.float32)
    run, (result,) = lowered(lambda x, row: x + jnp.broadcast_to(row, (3, 4)) * 2.0, x, row)
    assert run.steps == 2
    np.testing.assert_array_equal(result, x + row * 2)


def test_a_number_is_computed_once_and_arrays_as_often_as_the_program_says():
    """An update of parameters by the same coefficients; a checkpoint, which computes twice on purpose."""
    rate, params = np.float64(0.5), [np.full(3, i, np.float32) for i in range(4)]
    scaled = jax.jit(lambda rate, p: p * jnp.exp(-rate).astype(np.float32))
    run, results = lowered(lambda rate, *ps: [scaled(rate, p) for p in ps], rate, *params)
    assert run.steps == 3 + len(params)
    for p, result in zip(params, results):
        np.testing.assert_array_equal(result, p * np.exp(-rate).astype(np.float32))
    run, (first, second) = lowered(lambda x: (jnp.exp(x), jnp.exp(x)), params[1])
    assert run.steps == 2 and not np.shares_memory(first, second)


def test_zeros_of_either_sign_are_different_numbers():
    _, (positive, negative) = lowered(lambda x: (x * 0.0, x * -0.0), np.float32(2))
    assert not np.signbit(positive) and np.signbit(negative)


def test_results_are_arrays_of_the_avals():
    x = np.float32(3)
    _, results = lowered(
        lambda x: (x, x * 2, jnp.zeros(()), jnp.broadcast_to(x, (2, 3)), jnp.arange(3)), x
    )
    assert [type(r) for r in results] == [np.ndarray] * 5
    assert [(r.shape, r.dtype.name) for r in results] == [
        ((), "float32"),
        ((), "float32"),
        ((), "float64"),
        ((2, 3), "float32"),
        ((3,), "int64"),
    ]


def test_inputs_are_not_written():
    x = np.arange(6.0).reshape(2, 3)
    kept = x.copy()
    run, _ = lowered(
        lambda x: (
            x.at[0].set(0),
            x.at[:, 1].add(5),
            jax.lax.dynamic_update_slice(x, jnp.ones((1, 1)), (1, 1)),
            jnp.sort(x[:, ::-1], axis=0),
        ),
        x,
    )
    run(x)
    np.testing.assert_array_equal(x, kept)


def test_threads_do_not_meet():
    run, _ = lowered(lambda x: jnp.cumsum(jnp.tanh(x) * x + 1), np.ones(1000))
    inputs = [np.full(1000, float(i)) for i in range(32)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, inputs))
    for x, (result,) in zip(inputs, results):
        np.testing.assert_allclose(result, np.cumsum(np.tanh(x) * x + 1))


def test_a_primitive_without_a_rule_runs_through_xla_and_is_reported():
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    run, (result,) = lowered(lambda x: jnp.linalg.cholesky(x) + 1, x)
    assert run.fallbacks == ("cholesky",)
    np.testing.assert_allclose(result, np.linalg.cholesky(x) + 1)


def test_products_use_one_thread_and_leave_the_number_as_it_was():
    """While any run is under way, in whatever order they end."""
    # SciPy's BLAS may have been loaded since, by XLA, and come first: the interpreter uses NumPy's.
    loaded = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
    known = {library.filepath for library in surroundings._threads.libraries}
    library = next(library for library in loaded if library.filepath in known)
    get, put = library.get_num_threads, library.set_num_threads
    before = get()
    put(2)
    usual = get()  # fewer than two where the machine has one

    def overlapping():
        outer, inner = interpreting(), interpreting()
        outer.__enter__()
        inner.__enter__()
        assert get() == 1
        outer.__exit__()
        assert get() == 1
        inner.__exit__()
        assert get() == usual and not surroundings._threads.runs

    try:
        contextvars.copy_context().run(overlapping)  # they end as in two threads, each with its own settings
    finally:
        put(before)


def test_without_threadpoolctl_products_are_left_alone(monkeypatch):
    monkeypatch.setattr(surroundings, "threadpoolctl", None)
    threads = surroundings._Threads()
    assert threads.libraries == []
    monkeypatch.setattr(surroundings, "_threads", threads)
    with interpreting():
        assert len(threads.runs) == 1
    assert not threads.runs
