"""Random functions, modules and samplers after the same seed: PyTorch's bits, and the same state after."""

import numpy as np
import pytest
import torch

import jaxflow


def strided(T, dtype="float32"):
    return T.empty(7, 6, dtype=getattr(T, dtype)).t()[1:, ::2]


def channels_last(T):
    return T.arange(120.0).reshape(2, 3, 4, 5).div(128).to(memory_format=T.channels_last)


def filled(method, *numbers):
    return lambda T: [getattr(make(T), method)(*numbers) for make in (
        lambda T: T.empty(40), strided, channels_last, lambda T: T.empty(3, 5, dtype=T.float64).t(),
        lambda T: strided(T, "bfloat16"))]


def parameters(make):
    return lambda T: list(make(T).parameters())


def initialized(name, *numbers, shape=(5, 7)):
    def program(T):
        t = T.empty(*shape)
        getattr(T.nn.init, name)(t, *numbers)
        return [t]
    return program


def loader(T):
    data = T.utils.data.TensorDataset(T.arange(11))
    batches = T.utils.data.DataLoader(data, batch_size=3, shuffle=True)
    return [b[0] for _ in range(2) for b in batches]


def samplers(T):
    data = T.utils.data
    found = [list(data.WeightedRandomSampler([0.1, 0.2, 0.7], 5)),
             list(data.WeightedRandomSampler([0.1, 0.2, 0.7], 2, replacement=False)),
             list(data.RandomSampler(range(5), replacement=True, num_samples=40)),
             list(data.SubsetRandomSampler(range(6))), *map(list, data.random_split(range(9), [4, 5]))]
    return [T.tensor(x) for x in found]


def checkpointed(T):
    def f(w):
        return T.nn.functional.dropout(w * T.rand(6), 0.5)

    w = T.ones(6, requires_grad=True)
    y = T.utils.checkpoint.checkpoint(f, w, use_reentrant=False)
    y.sum().backward()
    return [y, w.grad]


def forked(T):
    with T.random.fork_rng():
        inside = T.rand(3)
    state = T.get_rng_state()
    after = T.randn(3)
    T.set_rng_state(state)
    return [inside, after, T.randn(3)]


def mapped(T):
    def of_one(x):
        return x + T.rand(2) + T.randn(20)[:2] + T.randint(5, (2,)) + T.randperm(2)

    zeros = T.zeros(3, 2)
    return [T.vmap(of_one, randomness="same")(zeros),
            T.vmap(lambda x: x + T.rand(2), randomness="different")(zeros),
            T.vmap(T.vmap(lambda x: x + T.rand(()), randomness="different"), randomness="different")(zeros)]


def mapped_by_tensors(T):
    x = T.arange(1.0, 13.0).reshape(3, 4)
    return [T.vmap(f, randomness="different")(x) for f in (
        T.poisson, T._standard_gamma, lambda x: T.bernoulli(x / 16),
        lambda x: T.multinomial(x, 2), lambda x: T.multinomial(T.ones(3), 2, True) + 0 * x[:2].long(),
        lambda x: T.binomial(x, x / 16), lambda x: T.randperm(4) + x, lambda x: T.normal(x, x),
        lambda x: T.nn.functional.dropout(x, 0.5), lambda x: x.clone().normal_())]


PROGRAMS = {
    "rand": lambda T: [T.rand(3), T.rand(2, 9, dtype=T.float64), T.rand(4, dtype=T.complex64), T.rand(0)],
    "randn": lambda T: [T.randn(3), T.randn(5, 9), T.randn(17, dtype=T.bfloat16)],
    "randn of complex numbers": lambda T: [T.randn(4, dtype=T.complex128), T.randn(40, dtype=T.complex64)],
    "randint": lambda T: [T.randint(10, (9,)), T.randint(-5, 2**40, (3,)), T.randint(3, (4,), dtype=T.uint8)],
    "randperm": lambda T: [T.randperm(12), T.randperm(900, dtype=T.int32), T.randperm(1), T.randperm(0)],
    "like": lambda T: [f(channels_last(T), *a) for f, a in (
        (T.rand_like, ()), (T.randn_like, ()), (T.randint_like, (5,)), (T.bernoulli, ()))],
    "out": lambda T: [T.rand(3, 2, out=T.empty(2, 3).t()), T.randn(4, out=T.empty(0)), T.randperm(
        3, out=T.empty(3, dtype=T.int64)), T.randint(9, (2, 2), out=T.empty(2, 2, dtype=T.int64).t())],
    "uniform_": filled("uniform_", -1, 3),
    "normal_": filled("normal_", 0.5, 2),
    "exponential_": filled("exponential_", 0.5),
    "geometric_": filled("geometric_", 0.2),
    "cauchy_": filled("cauchy_"),
    "log_normal_": filled("log_normal_", 0.1, 0.5),
    "bernoulli_": filled("bernoulli_", 0.3),
    "random_": filled("random_"),
    "random_ of a range": filled("random_", -3, 9),
    "bernoulli_ of a tensor": lambda T: [
        T.empty(3, 4).t().bernoulli_(T.tensor([0.1, 0.5, 0.9])),
        T.empty(4, dtype=T.int64).bernoulli_(T.full((4,), 0.5, dtype=T.float64))],
    "bernoulli": lambda T: [T.bernoulli(T.arange(30.0) / 32), T.bernoulli(T.ones(9), 0.4)],
    "normal": lambda T: [T.normal(T.zeros(20), T.ones(20)), T.normal(0.5, T.ones(2, 1)), T.normal(
        T.ones(3), 2.0), T.normal(1.0, 2.0, (3,)), T.normal(T.zeros(2, 1), T.arange(3.0))],
    "multinomial": lambda T: [T.multinomial(T.arange(9.0), 1), T.multinomial(T.arange(9.0), 4), T.multinomial(
        T.rand(3, 5), 9, True)],
    "multinomial of chances": lambda T: [
        T.multinomial(T.linspace(0, 1, 147).view(3, 49).to(getattr(T, kind)), n)
        for n in (1, 1, 5) for kind in ("float32", "float64", "bfloat16", "float16")[:2 if n > 1 else 4]],
    "multinomial of weights that are turned round": lambda T: [
        T.multinomial(T.arange(1.0, 13.0).reshape(3, 4).t(), n) for n in (1, 2, 3)],
    "poisson": lambda T: [T.poisson(T.arange(25.0) * 2.5)],
    "binomial": lambda T: [T.binomial(T.full((20,), 30.0), T.arange(20.0) / 16 % 1)],
    "_standard_gamma": lambda T: [T._standard_gamma(T.arange(1.0, 40.0) / 4)],
    "dropout": lambda T: [T.nn.functional.dropout(x, p) for p in (0.1, 0.15, 0.5) for x in (
        T.ones(40), channels_last(T), T.ones(40, dtype=T.float64), T.ones(9, dtype=T.bfloat16))],
    "dropout in place": lambda T: [T.nn.functional.dropout(T.ones(40), 0.3, inplace=True)],
    "kinds of dropout": lambda T: [getattr(T.nn.functional, f)(T.ones(2, 3, 4, 4), 0.4) for f in (
        "dropout2d", "alpha_dropout", "feature_alpha_dropout")],
    "rrelu": lambda T: [T.nn.functional.rrelu(T.arange(30.0) / 8 - 2, training=True)],
    "vmap": mapped,
    "vmap by tensors": mapped_by_tensors,
    "checkpoint": checkpointed,
    "fork_rng": forked,
    "loader": loader,
    "samplers": samplers,
    "Linear": parameters(lambda T: T.nn.Linear(4, 5)),
    "Conv2d": parameters(lambda T: T.nn.Conv2d(3, 6, 3)),
    "Embedding": parameters(lambda T: T.nn.Embedding(5, 7)),
    "LSTM": parameters(lambda T: T.nn.LSTM(3, 4, 2)),
    "GRUCell": parameters(lambda T: T.nn.GRUCell(3, 4)),
    "Bilinear": parameters(lambda T: T.nn.Bilinear(2, 3, 4)),
    "MultiheadAttention": parameters(lambda T: T.nn.MultiheadAttention(4, 2, kdim=3, vdim=5)),
    "TransformerEncoderLayer": parameters(lambda T: T.nn.TransformerEncoderLayer(8, 2, 16)),
    "xavier_uniform_": initialized("xavier_uniform_"),
    "xavier_normal_": initialized("xavier_normal_"),
    "kaiming_uniform_": initialized("kaiming_uniform_"),
    "kaiming_normal_": initialized("kaiming_normal_"),
    "trunc_normal_": initialized("trunc_normal_", 0.0, 0.02, -0.03, 0.03),
    "trunc_normal_ far out": initialized("trunc_normal_", 0.0, 1.0, 2.0, 3.0),
    "sparse_": initialized("sparse_", 0.3),
}


def bits_of(t):
    t = t.detach()
    if "bfloat16" in str(t.dtype):
        t = t.contiguous().view(torch.int16 if isinstance(t, torch.Tensor) else jaxflow.int16)
    return t.numpy()


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
def test_the_same_bits(name):
    program = PROGRAMS[name]
    for seed in (0, 1337):
        results, states = [], []
        for T in (torch, jaxflow):
            T.manual_seed(seed)
            results.append([(str(t.dtype).split(".")[1], tuple(t.stride()), bits_of(t)) for t in program(T)])
            states.append(np.array(T.get_rng_state().tolist()))
        for k, (expected, found) in enumerate(zip(*results, strict=True)):
            assert found[:2] == expected[:2], f"result {k}"
            assert np.array_equal(found[2], expected[2]), f"result {k}"
        assert np.array_equal(*states)


def test_results_that_are_computed_from_the_same_draws():
    """Softmax, QR and sums round in other ways; what was drawn is the same, as the state after it is."""
    def program(T):
        q = T.arange(-40.0, 40.0).div(64).reshape(2, 2, 5, 4)
        return [T.nn.functional.gumbel_softmax(T.arange(5.0)), T._sample_dirichlet(T.arange(1.0, 5.0)),
                T.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.2),
                T.nn.init.orthogonal_(T.empty(4, 3))]

    results, states = [], []
    for T in (torch, jaxflow):
        T.manual_seed(3)
        results.append([t.numpy() for t in program(T)])
        states.append(T.get_rng_state().tolist())
    for expected, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert states[0] == states[1]


def test_states_are_exchanged():
    torch.manual_seed(5)
    torch.randn(3)
    jaxflow.set_rng_state(jaxflow.tensor(torch.get_rng_state().tolist(), dtype=jaxflow.uint8))
    assert torch.randn(7).tolist() == jaxflow.randn(7).tolist()
    torch.set_rng_state(torch.tensor(jaxflow.get_rng_state().tolist(), dtype=torch.uint8))
    assert torch.rand(700).tolist() == jaxflow.rand(700).tolist()
    assert jaxflow.initial_seed() == 5
