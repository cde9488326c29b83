"""``jaxflow.func`` against JAX's own transforms, under both executors and inside ``jax.jit``."""

import concurrent.futures
import gc
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.levels import LEVELS
from jaxflow._exec import program_cache
from jaxflow.autograd import forward_ad as fa

X = np.array([0.3, -0.7, 1.1])


def both(torch_like, jax_like):
    """The same numbers twice, and the second shape by shape."""
    found, expected = jax.tree.leaves(torch_like), jax.tree.leaves(jax_like)
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(f), e, rtol=1e-9, atol=1e-12)
        assert f.shape == e.shape


def f(x):
    return x.sin() * x * x * x


def g(x):
    return jnp.sin(x) * x * x * x


PAIRS = {
    "grad grad": (lambda t: t.func.grad(lambda x: t.func.grad(lambda x: f(x).sum())(x).sum()),
                  jax.grad(lambda x: jax.grad(lambda x: g(x).sum())(x).sum())),
    "hessian": (lambda t: t.func.hessian(lambda x: f(x).prod()), jax.hessian(lambda x: g(x).prod())),
    "third": (lambda t: t.func.jacfwd(t.func.jacrev(t.func.jacfwd(f))),
              jax.jacfwd(jax.jacrev(jax.jacfwd(g)))),
    "jvp of grad": (lambda t: lambda x: t.func.jvp(t.func.grad(lambda x: f(x).prod()), (x,), (x,))[1],
                    lambda x: jax.jvp(jax.grad(lambda x: g(x).prod()), (x,), (x,))[1]),
    "vmap of hessian": (
        lambda t: lambda x: t.func.vmap(t.func.hessian(lambda x: f(x).prod()))(t.stack([x, 2 * x])),
        lambda x: jax.vmap(jax.hessian(lambda x: g(x).prod()))(jnp.stack([x, 2 * x])),
    ),
    "in place": (lambda t: t.func.jacfwd(lambda x: (x * 1).mul_(x).add_(x)), jax.jacfwd(lambda x: x * x + x)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_transforms(name, executor):
    ours, theirs = PAIRS[name]
    both(ours(torch)(torch.tensor(X)), theirs(X))
    assert not LEVELS


@pytest.mark.parametrize("name", ["hessian", "jvp of grad", "vmap of hessian"])
def test_inside_jit(name):
    ours, theirs = PAIRS[name]
    both(jax.jit(ours(torch))(torch.tensor(X)), theirs(X))


def test_jax_differentiates_ours():
    both(jax.jacfwd(lambda a: torch.func.grad(lambda x: f(x).prod())(torch.from_jax(a)).jax())(jnp.array(X)),
         jax.jacfwd(jax.grad(lambda x: g(x).prod()))(X))


@pytest.mark.usefixtures("compiled")
def test_programs_are_found_again():
    """The second call of a transform records the same program: nothing is traced or compiled anew."""
    hessian = torch.func.hessian(lambda x: f(x).prod())
    with torch.execution("deferred"):
        x = torch.tensor(X)
        hessian(x).numpy()
        before = set(program_cache.executables())  # explain() counts what is compiled for earlier tests, too
        hessian(x * 1.5).numpy()
        hessian(x * 2.5).numpy()
        assert len(set(program_cache.executables()) - before) <= 1


def test_tangents_die_with_their_level(executor):
    with fa.dual_level():
        d = fa.make_dual(torch.tensor(X), torch.ones(3, dtype=torch.float64))
        kept = [f(d)]
        tangent = weakref.ref(fa.unpack_dual(kept[0]).tangent)
        for _ in range(3):
            assert fa.unpack_dual(f(d)).tangent is not None
        assert tangent() is not None
    gc.collect()
    assert tangent() is None and kept[0]._tangents is None


def test_a_level_forgets_tensors_that_died():
    with torch.execution("eager"), fa.dual_level():
        d = fa.make_dual(torch.tensor(X), torch.tensor(X))
        for _ in range(1200):
            d = d * 1
        assert len(LEVELS[-1].holders) < 1100


def test_a_captured_tensor_may_be_written_what_does_not_depend_on_the_arguments(executor):
    """PyTorch refuses every write to a captured tensor, so batch norm cannot train under ``grad``."""
    norm = torch.nn.BatchNorm1d(2)
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    params = {name: p.detach() for name, p in norm.named_parameters()}
    torch.func.grad(lambda p: torch.func.functional_call(norm, p, (x,)).pow(2).sum())(params)
    assert norm.num_batches_tracked == 1
    assert not norm.running_mean.requires_grad
    np.testing.assert_allclose(norm.running_mean, [0.2, 0.35], rtol=1e-6)


def test_threads_do_not_see_each_others_levels():
    barrier = threading.Barrier(2)
    hessian = torch.func.hessian(lambda x: f(x).prod())

    def work(scale):
        barrier.wait()
        with torch.execution("eager"):
            return [hessian(torch.tensor(X * scale)).numpy() for _ in range(15)]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(work, (1.0, 2.0)))
    expected = jax.hessian(lambda x: g(x).prod())
    for scale, found in zip((1.0, 2.0), results, strict=True):
        for h in found:
            np.testing.assert_allclose(h, expected(X * scale), rtol=1e-9)
    assert not LEVELS
