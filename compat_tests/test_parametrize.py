"""Parametrized modules do in jaxflow what they do in PyTorch: names, numbers, refusals."""

import copy
import pickle
import types

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests.both import check_both


def functions(T):
    """Parametrizations in terms of ``T``."""
    class Symmetric(T.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x):
            return x.triu()

    class Doubled(T.nn.Module):
        def forward(self, x):
            return x * 2

    class Product(T.nn.Module):
        def forward(self, a, b):
            return a * b

        def right_inverse(self, x):
            return x, T.ones_like(x)

    class Unlike(T.nn.Module):
        def __init__(self, change, back=None):
            super().__init__()
            self.change = change
            if back is not None:
                self.right_inverse = back

        def forward(self, x):
            return self.change(x)

    return types.SimpleNamespace(Symmetric=Symmetric, Doubled=Doubled, Product=Product, Unlike=Unlike)


def layer(T):
    m = T.nn.Linear(3, 3)
    with T.no_grad():
        for p in m.parameters():
            p.copy_(T.arange(p.numel()).reshape(p.shape) * 0.25 - 1)
    return m


def about(T, m):
    m(T.ones(2, 3)).square().sum().backward()
    state = dict(m.state_dict())
    grads = {k: p.grad for k, p in m.named_parameters()}
    P = T.nn.utils.parametrize
    return (type(m).__name__, state, grads, m.weight, P.is_parametrized(m, "weight"),
            P.type_before_parametrizations(m).__name__, repr(m))


def one(T, P, F, m):
    return P.register_parametrization(m, "weight", F.Symmetric())


def two(T, P, F, m):
    return P.register_parametrization(one(T, P, F, m), "weight", F.Doubled())


def removed(T, P, F, m):
    return P.remove_parametrizations(two(T, P, F, m), "weight")


def removed_as_original(T, P, F, m):
    return P.remove_parametrizations(two(T, P, F, m), "weight", leave_parametrized=False)


def of_several(T, P, F, m):
    return P.register_parametrization(m, "weight", F.Product())


def of_several_removed(T, P, F, m):
    return P.remove_parametrizations(of_several(T, P, F, m), "weight")


def assigned(T, P, F, m):
    one(T, P, F, m).weight = T.eye(3)
    return m


def copied(T, P, F, m):
    return copy.deepcopy(one(T, P, F, m))


def beside_the_bias(T, P, F, m):
    return P.register_parametrization(one(T, P, F, m), "bias", F.Doubled())


def with_unsafe(T, P, F, m):
    return P.register_parametrization(m, "weight", F.Unlike(lambda x: x[:2]), unsafe=True)


CASES = (one, two, removed, removed_as_original, of_several, of_several_removed, assigned, copied,
         beside_the_bias)

REFUSED = {
    "no such name": lambda T, P, F, m: P.register_parametrization(m, "nope", F.Symmetric()),
    "another shape": lambda T, P, F, m: P.register_parametrization(m, "weight", F.Unlike(lambda x: x[0])),
    "another dtype": lambda T, P, F, m: P.register_parametrization(
        m, "weight", F.Unlike(lambda x: x.double())),
    "no tensor": lambda T, P, F, m: P.register_parametrization(m, "weight", F.Unlike(lambda x: 3)),
    "no tensor back": lambda T, P, F, m: P.register_parametrization(
        m, "weight", F.Unlike(lambda x: x, lambda x: 3)),
    "another dtype back": lambda T, P, F, m: P.register_parametrization(
        m, "weight", F.Unlike(lambda x: x, lambda x: x.double())),
    "a further shape": lambda T, P, F, m: P.register_parametrization(
        one(T, P, F, m), "weight", F.Unlike(lambda x: x[0])),
    "a further shape back": lambda T, P, F, m: P.register_parametrization(
        one(T, P, F, m), "weight", F.Unlike(lambda x: x, lambda x: x[0])),
    "assigned without inverse": lambda T, P, F, m: setattr(two(T, P, F, m), "weight", T.eye(3)),
    "not parametrized": lambda T, P, F, m: P.remove_parametrizations(m, "bias"),
    "one of several": lambda T, P, F, m: P.remove_parametrizations(
        of_several(T, P, F, m), "weight", leave_parametrized=False),
}


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_modules_are_alike(case, executor):
    check_both(lambda T: about(T, case(T, T.nn.utils.parametrize, functions(T), layer(T))))


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_alike_and_leave_the_module(name):
    words = []
    for T in (torch, jaxflow):
        m = layer(T)
        before = {k: v.detach().clone() for k, v in m.state_dict().items()}
        with pytest.raises((ValueError, RuntimeError)) as caught:
            REFUSED[name](T, T.nn.utils.parametrize, functions(T), m)
        words.append((caught.type.__name__, str(caught.value)))
        if T is jaxflow and type(m) is T.nn.Linear:
            assert all(T.equal(v, before[k]) for k, v in m.state_dict().items())
    assert words[0] == words[1]


@pytest.mark.parametrize("T", [torch, jaxflow], ids=lambda T: T.__name__)
def test_computed_once_while_cached_and_trained_on(T, executor):
    P, F = T.nn.utils.parametrize, functions(T)
    m = layer(T)
    optimizer = T.optim.SGD(m.parameters(), lr=0.1)  # it goes on with the parameter it holds
    weight = m.weight
    P.register_parametrization(m, "weight", F.Symmetric())
    assert m.parametrizations.weight.original is weight and m.weight is not m.weight
    with P.cached():
        assert m.weight is m.weight
    m.weight = T.eye(3)
    assert T.equal(m.weight, T.eye(3))
    m(T.ones(2, 3)).sum().backward()
    optimizer.step()
    assert not T.equal(m.weight, T.eye(3)) and T.equal(m.weight, m.weight.mT)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(m)


def wrapped(T, kind):
    P = T.nn.utils.parametrizations
    m = T.nn.Conv2d(2, 3, 2) if kind != "transposed" else T.nn.ConvTranspose2d(2, 3, 2)
    if kind == "weight_norm":
        return P.weight_norm(m)
    if kind == "whole":
        return P.weight_norm(m, dim=None)
    if kind == "bias":
        return P.spectral_norm(m, "bias")
    return P.spectral_norm(m, n_power_iterations=2)


@pytest.mark.parametrize("kind", ["weight_norm", "whole", "spectral_norm", "transposed", "bias"])
def test_norms_as_parametrizations(kind, executor):
    start = {k: v.numpy().copy() for k, v in wrapped(torch, kind).state_dict().items()}
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 2, 4, 4)

    def program(T):
        m = wrapped(T, kind)
        m.load_state_dict({k: T.tensor(v) for k, v in start.items()})
        found = []
        for training in (True, True, False):
            m.train(training).zero_grad()
            out = m(T.tensor(x))
            out.square().sum().backward()
            found.append([out, {k: p.grad for k, p in m.named_parameters()},
                          {k: v.clone() for k, v in m.state_dict().items()}])
        return found

    check_both(program)


def test_a_checkpoint_of_the_older_weight_norm_loads():
    with pytest.warns(FutureWarning, match="parametrizations.weight_norm"):
        old = jaxflow.nn.utils.weight_norm(layer(jaxflow))
    new = layer(jaxflow)
    jaxflow.nn.utils.parametrizations.weight_norm(new)
    with jaxflow.no_grad():
        old.weight_g.mul_(2)
    new.load_state_dict(old.state_dict())
    x = jaxflow.ones(1, 3)
    assert jaxflow.equal(new(x), old(x))


def test_spectral_norms_that_cannot_be(executor):
    for T in (torch, jaxflow):
        P = T.nn.utils.parametrizations
        with pytest.raises(ValueError, match="has no parameter or buffer with name 'nope'"):
            P.spectral_norm(layer(T), "nope")
        with pytest.raises(ValueError, match="Expected n_power_iterations to be positive"):
            P.spectral_norm(layer(T), n_power_iterations=0)
        with pytest.raises(IndexError, match="Dimension out of range"):
            P.spectral_norm(layer(T), dim=2)
