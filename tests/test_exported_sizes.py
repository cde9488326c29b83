"""Programs for all sizes that are found from traces at a few."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxflow._exported import artifact
from jaxflow._exported.sizes import NoCommonProgram, common, trials


def generalized(function, sizes, inputs):
    """The artifact of ``function`` for all sizes; ``inputs(sizes)`` are the shapes."""
    points = trials(sizes)
    like = [[jax.ShapeDtypeStruct(shape, jnp.float32) for shape in inputs(*point)] for point in points]
    run = common([jax.make_jaxpr(function)(*avals) for avals in like], points)
    symbols = artifact.symbols([f"n{i}" for i in range(len(sizes))])
    avals = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in inputs(*symbols)]
    made = artifact.exported(lambda *arrays: tuple(run(symbols, *arrays)), avals)
    return artifact.from_data(*artifact.to_data(made))


def position_weights(x):
    n, m = x.shape
    x = x * (jnp.arange(m, dtype=jnp.float32) / n) + np.full((n, m), 0.5, np.float32)
    x = x + np.arange(3, 3 + 2 * n, 2, np.float32)[:, None]
    x = jnp.where(np.tri(n, m, 1, bool), x, np.where(np.tri(n, m, dtype=bool), np.float32(0), np.float32(-9)))
    return x[..., None] + np.broadcast_to(np.float32([1, 5, 2]), (n, 1, 3))


@pytest.mark.parametrize("function", [
    lambda x: x.sum(0) / x.shape[0],
    lambda x: x.reshape(-1) * x.shape[0] * x.shape[1],
    lambda x: x.var(1, ddof=1),
    lambda x: x / float(x.shape[0]) ** 0.5,
    position_weights,
    lambda x: jax.lax.scan(lambda c, row: (c + row, c * x.shape[1]), jnp.zeros(x.shape[1], x.dtype), x),
    lambda x: jax.lax.cond(x.sum() > 0, lambda x: x.T @ x, lambda x: x.T @ (2 * x), x),
    lambda x: jax.nn.relu(x)[1:, ::2],
    lambda x: jax.lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], jnp.zeros(x.shape[1], x.dtype)),
], ids=["mean", "product", "variance", "root", "arange", "scan", "cond", "slice", "loop"])
def test_all_sizes(function):
    made = generalized(lambda x: jax.tree.leaves(function(x)), (2, 4), lambda n, m: [(n, m)])
    for shape in ((3, 8), (5, 4)):
        x = jnp.asarray(np.random.default_rng(0).normal(size=shape), jnp.float32)
        for a, b in zip(made.call(x), jax.tree.leaves(function(x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("function", "words"), [
    (lambda x: x * 2 if len(x) < 4 else x * 3, r"a number is 2\.0"),
    (lambda x: x * 2 if len(x) < 4 else x + 3, "another size has"),
    (lambda x: x + np.random.default_rng(len(x)).normal(size=4).astype(np.float32), "constant array"),
    (lambda x: x * len(x) ** 3, "a number is"),
    (lambda x: jnp.sin(x) - x if len(x) < 4 else x - jnp.sin(x), "reads something else"),
], ids=["branch", "operation", "constant", "cube", "operand"])
def test_what_is_no_one_program(function, words):
    with pytest.raises(NoCommonProgram, match=words):
        generalized(function, (2,), lambda n: [(n, 4)])
