"""Tensors of dialects in jaxflow's own code, which must not notice: models, losses, optimizers, grads."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow
from jaxflow import oneflow, paddle
from jaxflow.nn import functional as F

X = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(2, 3, 4)
MAKE = {"oneflow": oneflow.tensor, "paddle": paddle.to_tensor}

# Everything here is jaxflow's: a method called on the line itself would be the dialect's.
PROGRAMS = {
    "attention": lambda x: jaxflow.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)(x) + 0,
    "recurrent": lambda x: jaxflow.nn.LSTM(4, 5, batch_first=True, bidirectional=True)(x)[0],
    "image": lambda x: F.interpolate(F.avg_pool1d(F.pad(x, (1, 1)), 2), scale_factor=2.0),
    "statistics": lambda x: F.normalize(jaxflow.std(F.layer_norm(x, (4,)), 1)) + jaxflow.median(x, 1)[0],
    "products": lambda x: jaxflow.einsum("bij,bkj->ik", x, x) @ jaxflow.mean(x, 0) - jaxflow.amax(x, (0, 1)),
    "losses": lambda x: F.cross_entropy(jaxflow.flatten(x, 0, 1), jaxflow.arange(6) % 4)
    + F.huber_loss(x, x * 2) + F.triplet_margin_loss(x[:, 0], x[:, 1], x[:, 2]),
    "pieces": lambda x: jaxflow.cat(jaxflow.split(jaxflow.transpose(x, 0, 1), 2, 2)[::-1]),
}


@pytest.mark.parametrize("dialect", MAKE)
def test_jaxflows_code_sees_its_own_tensor(dialect, deferred):
    """The same numbers and gradients as with plain tensors, whatever the names mean in the dialect."""
    results = {}
    for name, program in PROGRAMS.items():
        for of_dialect in (False, True):
            jaxflow.manual_seed(0)
            x = MAKE[dialect](X) if of_dialect else jaxflow.tensor(X)
            jaxflow.Tensor.requires_grad_(x)
            out = program(x)
            jaxflow.Tensor.backward(jaxflow.sum(out * out))
            results[name, of_dialect] = (out, x._grad)
    for name in PROGRAMS:
        for plain, of_dialect in zip(results[name, False], results[name, True]):
            np.testing.assert_array_equal(plain.detach().numpy(), of_dialect.detach().numpy(), name)
        assert type(results[name, False][0]) is jaxflow.Tensor


@pytest.mark.parametrize("dialect", MAKE)
def test_copies_pickles_and_transformations(dialect):
    x = MAKE[dialect]([1.0, 2.0])
    cls = type(x)
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(twin) is cls and twin.tolist() == [1.0, 2.0]
    assert type(jax.jit(lambda t: t * t)(x)) is cls
    assert type(jax.tree.map(lambda leaf: leaf + 1, {"a": x})["a"]) is cls
    np.testing.assert_allclose(jnp.sin(x), np.sin([1.0, 2.0]), rtol=1e-6)
    assert jaxflow.func.vmap(lambda t: t * 2)(x).tolist() == [2.0, 4.0]
    optimizer = jaxflow.optim.SGD([jaxflow.nn.Parameter(x)], lr=0.5)
    (parameter,) = optimizer.param_groups[0]["params"]
    assert type(parameter) is jaxflow.nn.Parameter and parameter._storage is x._storage


def test_backward_inside_jit():
    def paddles(x):
        paddle.pow(x, 4.0).backward()
        return x.grad

    def oneflows(x):
        return oneflow.autograd.grad(x**4, x)[0]

    for step, x in ((paddles, paddle.to_tensor(5.0, stop_gradient=False)),
                    (oneflows, oneflow.tensor(5.0, requires_grad=True))):
        assert type(jax.jit(step)(x)) is type(x) and jax.jit(step)(x).item() == 500.0


def test_dialects_mix():
    x, y = paddle.to_tensor([1.0, 2.0], stop_gradient=False), oneflow.tensor([3.0, 4.0])
    z = paddle.add(x, y)
    z.sum().backward()
    assert type(z) is paddle.Tensor and type(y) is oneflow.Tensor and x.grad.tolist() == [1.0, 1.0]
    assert paddle.float32 == oneflow.float32 == jaxflow.float32
