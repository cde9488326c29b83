"""`to_jax` and `load_jax_params`: modules as pure functions, and random draws from a key."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")
nn = torch.nn


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def test_a_module_as_a_pure_function():
    model, x = net(), torch.randn(5, 3)
    apply, params = torch.to_jax(model)
    assert list(params) == [name for name, _ in model.named_parameters()]
    assert all(type(p) is type(jnp.ones(1)) for p in params.values())
    expected = model(x).detach()
    for given in (x, x.jax(), np.asarray(x)):
        out = jax.jit(apply)(params, given)
        assert isinstance(out, jax.Array)
        np.testing.assert_allclose(out, expected, rtol=1e-5)
    zeros = jax.tree.map(jnp.zeros_like, params)
    assert not np.any(apply(zeros, x)) and model[0].weight.any()
    model(x).square().mean().backward()
    grads = jax.grad(lambda p: (apply(p, x.jax()) ** 2).mean())(params)
    for name, p in model.named_parameters():
        np.testing.assert_allclose(grads[name], p.grad, rtol=1.3e-6, atol=1e-5)


def test_a_training_step_under_scan_and_vmap():
    apply, params = torch.to_jax(net())
    x, y = torch.randn(8, 3).jax(), torch.randn(8, 2).jax()

    def step(p, _):
        loss, g = jax.value_and_grad(lambda p: ((apply(p, x) - y) ** 2).mean())(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), loss

    trained, losses = jax.jit(lambda p: jax.lax.scan(step, p, length=20))(params)
    assert losses[-1] < losses[0]
    model = net()
    torch.load_jax_params(model, trained)
    np.testing.assert_allclose(model(torch.from_jax(x)).detach(), apply(trained, x), rtol=1e-5)
    both = jax.tree.map(lambda a, b: jnp.stack([a, b]), params, trained)
    ensemble = jax.vmap(apply, in_axes=(0, None))(both, x)
    np.testing.assert_allclose(ensemble[1], apply(trained, x), rtol=1e-5)


def test_params_may_be_donated():
    model, x = net(), torch.ones(1, 3)
    apply, params = torch.to_jax(model)
    jax.jit(lambda p: jax.tree.map(lambda a: a * 2, p), donate_argnums=0)(params)
    assert model(x).shape == (1, 2)
    _, params = torch.to_jax(model)
    torch.load_jax_params(model, params)
    jax.jit(lambda p: jax.tree.map(lambda a: a * 2, p), donate_argnums=0)(params)
    assert model(x).shape == (1, 2)


def test_tied_parameters_stay_tied():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(5, 3)
            self.out = nn.Linear(3, 5, bias=False)
            self.out.weight = self.embed.weight

        def forward(self, x):
            return self.out(self.embed(x))

    model = Tied()
    apply, params = torch.to_jax(model)
    assert list(params) == ["embed.weight"]
    tokens = torch.tensor([1, 2])
    grads = jax.grad(lambda p: apply(p, tokens).sum())(params)
    model(tokens).sum().backward()
    np.testing.assert_allclose(grads["embed.weight"], model.embed.weight.grad, rtol=1e-5)
    torch.load_jax_params(model, {"embed.weight": jnp.ones((5, 3))})
    assert model.out.weight is model.embed.weight and model(tokens).tolist() == [[3.0] * 5] * 2


def test_buffers_go_in_and_out():
    x = torch.randn(6, 2)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    apply, params, buffers = torch.to_jax(model, buffers=True)
    out, after = jax.jit(apply)(params, buffers, x)
    assert buffers["1.num_batches_tracked"] == 0 == model[1].num_batches_tracked
    assert after["1.num_batches_tracked"] == 1
    np.testing.assert_allclose(out, model(x).detach(), rtol=1.3e-6, atol=1e-5)
    np.testing.assert_allclose(after["1.running_mean"], model[1].running_mean, rtol=1e-5)
    torch.load_jax_params(model, params, {k: jnp.zeros_like(b) for k, b in buffers.items()})
    assert not model[1].running_var.any()
    alone, params = torch.to_jax(model)
    with pytest.raises(RuntimeError, match=r"writes to the buffer '1\.running_mean'.*buffers=True"):
        alone(params, x)
    evaluate, params = torch.to_jax(model.eval())
    model.train()
    assert np.isfinite(evaluate(params, x)).all() and model.training and model[1].training


def test_randomness_is_an_argument():
    model = nn.Sequential(nn.Linear(2, 16), nn.Dropout(0.5))
    apply, params = torch.to_jax(model)
    x, key = torch.ones(4, 2), jax.random.key(0)
    step = jax.jit(lambda key: apply(params, x, rng=key))
    assert step(key).tolist() == step(key).tolist() == apply(params, x, rng=key).tolist()
    assert step(key).tolist() != step(jax.random.key(1)).tolist()
    assert apply(params, x, rng=7).shape == (4, 16)
    for f in (apply, jax.jit(apply)):
        with pytest.raises(RuntimeError, match="pass rng="):
            f(params, x)
    state = torch.get_rng_state()
    step(key)
    assert torch.equal(state, torch.get_rng_state())


def test_drawing_from_a_key():
    def two(key):
        with torch.random.drawing_from(key):
            a = torch.rand(3)
            return a, torch.rand(3), torch.rand(3, generator=torch.Generator.from_key(key))

    key = jax.random.key(3)
    a, b, again = jax.jit(two)(key)
    assert a.tolist() != b.tolist() and a.tolist() == again.tolist() == two(key)[0].tolist()
    rows, _, _ = jax.vmap(two)(jax.random.split(key, 2))
    assert rows[0].tolist() != rows[1].tolist()
    assert two(jax.random.key_data(key))[0].tolist() == a.tolist()  # a key of the old style
    with torch.random.drawing_from(5) as generator, torch.random.fork_rng():
        first = torch.rand(3)
        assert torch.manual_seed(5) and first.tolist() == torch.rand(3, generator=torch.Generator(
            stream="counter").manual_seed(5)).tolist() and generator.get_offset() == 1
    for wrong in ("key", jax.random.split(key, 2), jnp.ones(2, "float32")):
        with pytest.raises(TypeError, match="expected"):
            torch.Generator.from_key(wrong)
    with pytest.raises(RuntimeError, match="keep the key"):
        torch.Generator.from_key(key).get_state()


def test_frozen_parameters_and_trees_of_arguments():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, batch, *, scale=1.0):
            return {"out": self.b(self.a(batch["x"])) * scale, "n": len(batch), "none": None}

    model = Model()
    model.a.requires_grad_(False)
    apply, params = torch.to_jax(model)
    batch = {"x": jnp.ones((1, 2), "float32")}
    out = apply(params, batch, scale=2.0)
    assert out["n"] == 1 and out["none"] is None and isinstance(out["out"], jax.Array)
    grads = jax.grad(lambda p: apply(p, batch)["out"].sum())(params)
    assert not grads["a.weight"].any() and grads["b.weight"].any()


def test_wrong_arguments():
    model = net()
    apply, params = torch.to_jax(model)
    with pytest.raises(TypeError, match="takes a module, not int"):
        torch.to_jax(3)
    wrong = {**params, "extra": params["0.bias"]}
    del wrong["2.bias"]
    for call in (lambda p: apply(p, torch.ones(1, 3)), lambda p: torch.load_jax_params(model, p)):
        with pytest.raises(RuntimeError, match="missing '2.bias'; unknown 'extra'"):
            call(wrong)
        with pytest.raises(RuntimeError, match=r"params\['0.bias'\] has shape \[2\], the module's \[4\]"):
            call({**params, "0.bias": params["2.bias"]})
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        apply(params, torch.ones(1, 4))
    assert isinstance(model[0].weight, nn.Parameter)


@pytest.mark.parametrize("build, shape", [
    (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2)), (2, 2, 6, 6)),
    (lambda: nn.LSTM(3, 4), (5, 2, 3)),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (3, 2, 4)),
], ids=["convolution", "recurrent", "attention"])
def test_gradients_and_buffers_are_those_of_backward(build, shape):
    model, x = build().double(), torch.randn(*shape, dtype=torch.float64)
    apply, params, buffers = torch.to_jax(model, buffers=True)

    def loss(params, buffers):
        result, buffers = apply(params, buffers, x)
        return sum((leaf**2).sum() for leaf in jax.tree.leaves(result)), buffers

    (_, after), grads = jax.jit(jax.value_and_grad(loss, has_aux=True))(params, buffers)
    sum((leaf**2).sum() for leaf in jax.tree.leaves(model(x), is_leaf=torch.is_tensor)).backward()
    for name, p in model.named_parameters():
        np.testing.assert_allclose(grads[name], p.grad, rtol=1e-9, atol=1e-12)
    for name, b in model.named_buffers():
        np.testing.assert_allclose(after[name], b, rtol=1e-9, atol=1e-12)
