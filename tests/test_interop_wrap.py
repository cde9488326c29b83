"""`wrap_jax`: JAX functions as operations of the recorded graph."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._exec import program_cache
from jaxflow.autograd import gradcheck, gradgradcheck

pytestmark = pytest.mark.usefixtures("executor")


@jax.custom_vjp
def passes_three(x):
    """Its rule is not its derivative, so that one sees which was used."""
    return x * x


passes_three.defvjp(lambda x: (x * x, x), lambda x, ct: (3 * x**2 * ct,))


@jax.custom_jvp
def clipped(x, low):
    return jnp.maximum(x, low)


@clipped.defjvp
def _clipped_jvp(primals, tangents):
    return clipped(*primals), 7 * tangents[0]


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_one_function():
    soft = torch.wrap_jax(lambda x, y: jnp.tanh(x) * y, name="soft_product")
    x, y = leaf(0.5, -1.0), leaf(2.0, 3.0)
    out = soft(x, y)
    assert type(out.grad_fn).__name__ == "SoftProductBackward0"
    assert [n.name() for n, _ in out.grad_fn.next_functions] == ["torch::autograd::AccumulateGrad"] * 2
    out.sum().backward()
    np.testing.assert_allclose(x.grad, y.detach() / np.cosh([0.5, -1.0]) ** 2)
    np.testing.assert_allclose(y.grad, np.tanh([0.5, -1.0]))
    assert gradcheck(soft, (x, y), fast_mode=True) and gradgradcheck(soft, (x, y), fast_mode=True)


def test_beside_other_operations_and_twice():
    cube = torch.wrap_jax(lambda x: x**3)
    x = leaf(1.0, 2.0)
    (first,) = torch.autograd.grad((cube(x * 2) + x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [25.0, 97.0] and second.tolist() == [48.0, 96.0]


def test_custom_rules_are_kept():
    x = leaf(2.0)
    f = torch.wrap_jax(passes_three)
    (first,) = torch.autograd.grad(f(x), x, create_graph=True)
    assert first.item() == 12.0 and torch.autograd.grad(first, x)[0].item() == 12.0
    (g,) = torch.autograd.grad(torch.wrap_jax(clipped)(x, 3.0), x)
    assert g.item() == 7.0


def test_trees_and_dtypes():
    @torch.wrap_jax
    def stats(data, *, scale):
        x, parts = data["x"], data["parts"]
        return {"sum": (x * scale).sum() + parts[0].sum(), "index": jnp.argmax(x), "n": 3, "none": None,
                "pair": (x > 1, [x * parts[1]])}

    x, p = leaf(1.0, 2.0, 3.0), torch.ones(2, dtype=torch.float64)
    out = stats({"x": x, "parts": [p, np.float64(2.0)]}, scale=0.5)
    assert out["sum"].item() == 5.0 and out["index"].item() == 2 and out["none"] is None
    assert out["n"].dtype is torch.int64 and not out["n"].requires_grad
    assert out["pair"][0].tolist() == [False, True, True] and not out["index"].requires_grad
    (out["sum"] + out["pair"][1][0].sum()).backward()
    assert x.grad.tolist() == [2.5, 2.5, 2.5] and p.grad is None


def test_numbers_are_data_and_weakly_typed():
    traces = []

    @torch.wrap_jax
    def scaled(x, factor):
        traces.append(factor)
        return x * factor

    x = torch.ones(2)
    assert [scaled(x, f)[0].item() for f in (0.5, 1.5, 2.0)] == [0.5, 1.5, 2.0]
    assert scaled(x, 0.5).dtype is torch.float32 and scaled(x.half(), 3).dtype is torch.float16
    assert len(traces) == 2
    with jax.numpy_dtype_promotion("standard"):
        assert scaled(x, jnp.float64(2)).dtype is torch.float64


def test_static_arguments():
    @functools.partial(torch.wrap_jax, static_argnums=1, static_argnames="how")
    def reduce(x, axis, how="sum"):
        return getattr(jnp, how)(x, axis)

    x = torch.arange(6.0).reshape(2, 3)
    assert reduce(x, 0).tolist() == [3.0, 5.0, 7.0]
    assert reduce(x, axis=1).tolist() == [3.0, 12.0]
    assert reduce(x, (0, 1), how="max").item() == reduce(x, (0, 1), "max").item() == 5.0
    with pytest.raises(ValueError, match=r"static argument of reduce is not hashable"):
        reduce(x, [0])
    with pytest.raises(TypeError, match=r"kwargs\['where'\] of reduce is a str"):
        reduce(x, 0, where="here")


def test_random_keys():
    noise = torch.wrap_jax(lambda key, x: x + jax.random.normal(key, x.shape, x.dtype))
    x = torch.zeros(3)
    key = jax.random.key(1)
    expected = jax.random.normal(key, (3,), jnp.float32)
    assert noise(key, x).tolist() == expected.tolist() != noise(jax.random.key(2), x).tolist()
    with pytest.raises(TypeError, match="returned a random key"):
        torch.wrap_jax(jax.random.key)(3)


def test_errors_are_raised_at_the_call():
    f = torch.wrap_jax(jnp.dot)
    with pytest.raises(TypeError, match="the same shape"):
        f(torch.ones(2), torch.ones(3))
    with pytest.raises(TypeError, match=r"args\[0\]\['a'\] of dot is a object"):
        f({"a": object()}, torch.ones(3))
    with pytest.raises(TypeError, match="returned a str"):
        torch.wrap_jax(lambda x: "text")(torch.ones(1))
    w = leaf(1.0)
    for read in (lambda x: jnp.multiply(x, w), lambda x: x * jnp.sin(w * 2), lambda x: x * (w + 1)):
        with pytest.raises(RuntimeError, match="pass it as an argument, or detach it"):
            torch.wrap_jax(read)(w.detach())
    assert torch.wrap_jax(lambda x: jnp.multiply(x, w.detach()))(w).requires_grad
    x = torch.ones(2, requires_grad=True) * 1
    y = torch.wrap_jax(lambda x: x * x, name="square")(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_modes():
    f = torch.wrap_jax(lambda x: (x * 2, x.sum()))
    x = leaf(1.0)
    with torch.no_grad():
        assert not f(x)[0].requires_grad
    with torch.inference_mode():
        assert f(x)[1].is_inference()
    doubled, total = f(x)
    doubled.register_hook(lambda g: g * 10)
    (doubled + total).sum().backward()
    assert x.grad.item() == 21.0


def test_inside_jax():
    f = torch.wrap_jax(passes_three, name="three")
    x = torch.tensor([1.0, 2.0])
    assert jax.jit(f)(x).tolist() == [1.0, 4.0]
    assert jax.grad(lambda a: f(a).sum().jax())(x).tolist() == [3.0, 12.0]
    assert jax.vmap(f)(x).tolist() == [1.0, 4.0]
    inside = jax.jit(lambda a: torch.autograd.grad(f(a.requires_grad_()).sum(), a)[0])
    assert inside(x).tolist() == [3.0, 12.0]
    with pytest.raises(RuntimeError, match="pass it as one"):
        jax.jit(lambda a: torch.wrap_jax(lambda b: b * a.jax())(torch.ones(2)))(x)


def test_methods_and_names():
    class Model:
        @functools.partial(torch.wrap_jax, static_argnums=0)
        def forward(self, x):
            return x + 1

    assert Model().forward(torch.ones(1)).item() == 2.0
    assert Model.forward.__name__ == "forward"
    named = torch.wrap_jax(functools.partial(jnp.sum, axis=0))
    assert type(named(leaf(1.0)).grad_fn).__name__ == "SumBackward0"


@pytest.mark.usefixtures("compiled")
def test_the_program_is_compiled_once(executor):
    f = torch.wrap_jax(lambda x, s: jnp.sin(x) * s)
    x = torch.ones(3, requires_grad=True)
    compiled = []  # explain() counts what is compiled for earlier tests, too
    for step in range(4):
        f(x * 1.5, 0.1 * step).sum().backward()
        x.grad.tolist()
        x.grad = None
        compiled.append(set(program_cache.executables()))
    assert executor == "eager" or compiled[3] <= compiled[1]


def test_under_our_own_transforms():
    """Its plan is batched and pushed forward like that of any operation."""
    f = torch.wrap_jax(lambda x, y: jnp.tanh(x) * y)
    x, rows = torch.tensor([1.0, 2.0]), torch.ones(3, 2)
    slope = 1 / np.cosh([1.0, 2.0]) ** 2
    np.testing.assert_allclose(torch.vmap(f, in_dims=(0, None))(rows, x)[2], np.tanh(1) * x, rtol=1e-6)
    each = torch.vmap(torch.func.grad(lambda a: f(a, x).sum()))(rows)
    np.testing.assert_allclose(each[1], x / np.cosh(1) ** 2, rtol=1e-5)
    _, tangent = torch.func.jvp(lambda a: f(a, 2.0), (x,), (torch.ones(2),))
    np.testing.assert_allclose(tangent, 2 * slope, rtol=1e-5)
    jacobian = torch.func.jacfwd(lambda a: f(a, x))(x)
    np.testing.assert_allclose(jacobian, np.diag(slope * [1, 2]), rtol=1e-5, atol=1e-7)
    with torch.autograd.forward_ad.dual_level():
        dual = f(torch.autograd.forward_ad.make_dual(x, torch.ones(2)), x)
        np.testing.assert_allclose(torch.autograd.forward_ad.unpack_dual(dual).tangent, slope * [1, 2],
                                   rtol=1e-5)
    custom = torch.wrap_jax(passes_three)
    assert torch.vmap(torch.func.grad(lambda a: custom(a).sum()))(rows).tolist() == [[3.0, 3.0]] * 3
    with pytest.raises(TypeError, match="custom_vjp"):
        torch.func.jvp(custom, (x,), (x,))
