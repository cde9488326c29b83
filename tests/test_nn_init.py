"""``nn.init`` and the layers' own first values, by their statistics; clipping of gradients."""

import math

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn

pytestmark = pytest.mark.usefixtures("executor")

init = nn.init
SHAPE = (80, 100)  # fan in 100, fan out 80; a mean over it is off by 0.011 standard deviations


def drawn(fill, *args, shape=SHAPE, **kwargs):
    t = torch.empty(shape)
    assert fill(t, *args, **kwargs) is t
    return t.numpy()


def uniform_within(x, bound):
    """All of a uniform draw within ``bound``: its ends, its mean and its spread."""
    assert np.abs(x).max() <= bound
    assert np.abs(x).max() > 0.99 * bound
    assert abs(x.mean()) < 0.05 * bound
    assert abs(x.std() - bound / math.sqrt(3)) < 0.03 * bound


def normal_of(x, std, mean=0.0):
    assert abs(x.mean() - mean) < 0.06 * std
    assert abs(x.std() / std - 1) < 0.05
    assert abs((np.abs(x - mean) < std).mean() - 0.6827) < 0.03


def test_constants():
    assert (drawn(init.constant_, 0.3) == np.float32(0.3)).all()
    assert (drawn(init.ones_) == 1).all() and (drawn(init.zeros_) == 0).all()
    np.testing.assert_array_equal(drawn(init.eye_, shape=(2, 3)), np.eye(2, 3))
    x = drawn(init.dirac_, shape=(2, 2, 3))
    assert x.sum() == 2 and x[0, 0, 1] == 1 and x[1, 1, 1] == 1


def test_plain_draws():
    uniform_within(drawn(init.uniform_, -2.0, 2.0), 2.0)
    normal_of(drawn(init.normal_, 1.5, 0.5), 0.5, 1.5)
    x = drawn(init.trunc_normal_, 0.0, 1.0, -1.0, 2.0)
    assert x.min() >= -1 and x.max() <= 2 and x.min() < -0.95 and x.max() > 1.9
    # mean of a standard normal cut to [-1, 2]: (phi(-1) - phi(2)) / (Phi(2) - Phi(-1))
    assert abs(x.mean() - 0.2296) < 0.03


def test_draws_by_fan():
    uniform_within(drawn(init.xavier_uniform_, gain=2.0), 2.0 * math.sqrt(6 / 180))
    normal_of(drawn(init.xavier_normal_), math.sqrt(2 / 180))
    uniform_within(drawn(init.kaiming_uniform_, nonlinearity="relu"), math.sqrt(2) * math.sqrt(3 / 100))
    normal_of(drawn(init.kaiming_normal_, mode="fan_out"), math.sqrt(2 / 80))
    # a window counts as often as it has places
    normal_of(drawn(init.kaiming_normal_, shape=(40, 20, 5)), math.sqrt(2 / 100))


def test_orthogonal_and_sparse():
    x = drawn(init.orthogonal_, gain=2.0, shape=(5, 8))
    np.testing.assert_allclose(x @ x.T, 4 * np.eye(5), atol=1e-5)
    x = drawn(init.sparse_, 0.25)
    assert ((x == 0).sum(0) == 20).all()
    assert len({tuple(column) for column in (x == 0).T}) == 100
    normal_of(x[x != 0], 0.01)


def test_gains():
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu", 0.5) == math.sqrt(2 / 1.25)
    assert init.calculate_gain("tanh") == 5 / 3
    with pytest.raises(ValueError, match="Unsupported nonlinearity other"):
        init.calculate_gain("other")


def test_init_keeps_the_parameter_a_leaf():
    p = nn.Parameter(torch.zeros(3, 3))
    init.xavier_uniform_(p)
    assert p.is_leaf and p.requires_grad and p.any()
    with pytest.raises(ValueError, match="Fan in and fan out can not be computed for tensor with fewer"):
        init.xavier_uniform_(torch.zeros(3))


def test_first_values_of_layers():
    linear = nn.Linear(100, 80)
    uniform_within(linear.weight.detach().numpy(), 1 / 10)
    assert np.abs(linear.bias.detach().numpy()).max() <= 1 / 10
    conv = nn.Conv2d(4, 60, 5)
    uniform_within(conv.weight.detach().numpy(), 1 / 10)
    normal_of(nn.Embedding(100, 80).weight.detach().numpy(), 1.0)
    norm = nn.BatchNorm2d(3)
    assert norm.weight.tolist() == [1] * 3 and norm.bias.tolist() == [0] * 3


def test_a_seed_repeats_a_model():
    torch.manual_seed(5)
    first = nn.Linear(3, 3)
    torch.manual_seed(5)
    assert torch.equal(nn.Linear(3, 3).weight, first.weight)
    assert not torch.equal(nn.Linear(3, 3).weight, first.weight)


# ----- gradients of many parameters -----------------------------------------------------------------


def parameters():
    ps = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1, 2)), nn.Parameter(torch.zeros(1))]
    ps[0].grad, ps[1].grad = torch.tensor([3.0, -4.0]), torch.tensor([[0.0, 12.0]])
    return ps


@pytest.mark.parametrize(
    ("kind", "norm"), [(2.0, 13.0), (1.0, 19.0), (math.inf, 12.0), (3.0, (27 + 64 + 1728) ** (1 / 3))]
)
def test_clip_grad_norm(kind, norm):
    ps = parameters()
    total = nn.utils.clip_grad_norm_(ps, 6.5, kind)
    assert total.item() == pytest.approx(norm, rel=1e-6)
    factor = 6.5 / (norm + 1e-6)
    np.testing.assert_allclose(ps[0].grad.numpy(), np.array([3, -4]) * factor, rtol=1e-6)
    np.testing.assert_allclose(ps[1].grad.numpy(), np.array([[0, 12]]) * factor, rtol=1e-6)
    assert ps[2].grad is None


def test_clip_grad_norm_leaves_small_ones():
    ps = parameters()
    nn.utils.clip_grad_norm_(ps, 100.0)
    assert ps[0].grad.tolist() == [3, -4] and ps[1].grad.tolist() == [[0, 12]]
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0


def test_gradients_in_one_buffer_are_all_scaled():
    buffer = torch.ones(4)
    ps = [nn.Parameter(torch.zeros(2)) for _ in range(2)]
    for p, part in zip(ps, buffer.split(2)):
        p.grad = part
    nn.utils.clip_grad_norm_(ps, 1.0)
    assert torch.allclose(buffer, torch.full((4,), 0.5)) and torch.allclose(ps[0].grad, ps[1].grad)
    nn.utils.clip_grad_value_(ps, 0.25)
    assert buffer.tolist() == [0.25] * 4


def test_parameters_in_one_buffer_are_all_stepped():
    buffer = torch.ones(4)
    ps = [nn.Parameter(part) for part in buffer.split(2)]
    (ps[0] * 2 + ps[1]).sum().backward()
    torch.optim.SGD(ps, lr=0.25).step()
    assert buffer.tolist() == [0.5, 0.5, 0.75, 0.75]


def test_clip_grad_norm_can_refuse_what_is_not_finite():
    ps = parameters()
    ps[0].grad[0] = math.nan
    with pytest.raises(RuntimeError, match="total norm of order 2.0 for gradients .* is non-finite"):
        nn.utils.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)
    assert ps[1].grad.tolist() == [[0, 12]]


def test_clip_grad_value():
    ps = parameters()
    nn.utils.clip_grad_value_(ps, 3.5)
    assert ps[0].grad.tolist() == [3, -3.5] and ps[1].grad.tolist() == [[0, 3.5]]


def test_parameters_as_one_vector():
    net = nn.Linear(2, 1)
    flat = nn.utils.parameters_to_vector(net.parameters())
    assert flat.tolist() == [*net.weight.view(-1).tolist(), net.bias.item()]
    nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), net.parameters())
    assert net.weight.tolist() == [[1, 2]] and net.bias.tolist() == [3]
