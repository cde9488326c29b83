"""Gradients beside nan and infinity, the sign of zeros, what nodes say: where PyTorch's formulas decide."""

import math

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.nn import functional as F

NAN, INF = math.nan, math.inf


def gradient(call, data):
    x = torch.tensor(data, requires_grad=True)
    call(x).sum().backward()
    return x.grad.tolist()


def same(found, expected):
    return np.allclose(found, expected, rtol=1e-5, equal_nan=True)


@pytest.mark.usefixtures("executor")
def test_a_nan_has_no_sign():
    assert gradient(torch.abs, [1.0, NAN, -2.0]) == [1, 0, -1]
    assert gradient(lambda x: x.norm(1), [1.0, NAN, -2.0]) == [1, 0, -1]
    for order in (INF, -INF):
        assert gradient(lambda x, order=order: torch.linalg.vector_norm(x, order), [1.0, NAN]) == [0, 0]
    assert gradient(lambda x: x.norm(INF), [3.0, -3.0, 1.0]) == [0.5, -0.5, 0]
    assert gradient(lambda x: x.norm(INF, 0), [[3.0, NAN], [-3.0, 1.0]]) == [[0.5, 0], [-0.5, 0]]
    assert gradient(lambda x: x.norm(-INF), [3.0, -1.0]) == [0, -1]


@pytest.mark.usefixtures("executor")
def test_activations_of_nan_and_infinity():
    data = [1.0, NAN, INF, -INF]
    assert gradient(F.elu, data) == [1, 1, 1, 0]
    assert same(gradient(F.selu, data), [1.0507, 1.0507, 1.0507, 0.0])
    assert same(gradient(F.hardsigmoid, data), [1 / 6, 0, 0, 0])
    assert same(gradient(F.hardswish, data), [5 / 6, 1, 1, 0])
    assert same(F.hardswish(torch.tensor(data)).tolist(), [2 / 3, NAN, INF, NAN])
    assert same(F.hardsigmoid(torch.tensor(data)).tolist(), [2 / 3, NAN, 1, 0])
    for edge in (-3.0, 3.0):
        assert gradient(F.hardsigmoid, [edge]) == [0]
    assert gradient(F.hardswish, [-3.0, 3.0]) == [0, 1]


@pytest.mark.usefixtures("executor")
def test_losses_of_infinite_distances():
    for loss in (F.smooth_l1_loss, F.huber_loss):
        def summed(x, loss=loss):
            return loss(x, torch.zeros(len(x)), reduction="none")

        assert same(gradient(summed, [INF, -INF, 2.0, 0.5, NAN]), [1, -1, 1, 0.5, NAN])


@pytest.mark.usefixtures("executor")
def test_reductions_of_nan():
    assert gradient(torch.nanmean, [NAN, 2.0]) == [0, 1]
    assert gradient(torch.nansum, [NAN, 2.0]) == [0, 1]

    def into(x):
        return torch.ones(2).scatter_reduce(0, torch.zeros(len(x), dtype=torch.int64), x, "amax")

    assert same(gradient(into, [1.0, NAN]), [NAN, NAN])
    assert gradient(into, [2.0, 3.0]) == [0, 1]
    assert gradient(lambda x: x.renorm(2, 0, 1.0), [[1.0, NAN, 3.0]]) == [[1, 1, 1]]
    assert np.isnan(gradient(lambda x: x.logcumsumexp(0), [1.0, INF, INF])[1:]).all()
    assert same(gradient(lambda x: x.logcumsumexp(0), [2.0, 2.0, 2.0]), [1 + 0.5 + 1 / 3, 0.5 + 1 / 3, 1 / 3])


@pytest.mark.usefixtures("executor")
def test_adaptive_pooling_takes_the_last_of_several_nan():
    x = torch.tensor([[[1.0, NAN, NAN, 2.0]]], requires_grad=True)
    values, where = F.adaptive_max_pool1d(x, 1, return_indices=True)
    assert where.tolist() == [[[2]]] and np.isnan(values.tolist()).all()
    values.sum().backward()
    assert x.grad.tolist() == [[[0, 0, 1, 0]]]
    assert F.adaptive_max_pool1d(torch.ones(1, 1, 4), 1, return_indices=True)[1].tolist() == [[[0]]]


def test_the_error_function_ends_at_one():
    """Far off ``1 + erf`` is 0, which no number makes large."""
    x = torch.tensor([-1e6, -20.0, -6.0, 6.0, INF, -INF]) * 1
    assert torch.erf(x).tolist() == [-1, -1, -1, 1, 1, -1]
    assert F.gelu(x[:3]).tolist() == [0, 0, 0]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("how", ["interpreted", "compiled"])
def test_a_sum_begins_at_zero(how, request):
    """So that no sum is minus zero, one of a single element neither."""
    if how == "compiled":
        request.getfixturevalue("compiled")

    def signs(t):
        return np.signbit(t.numpy()).reshape(-1).tolist()

    for dtype in (torch.float32, torch.float64, torch.float16):
        x = torch.full((3, 1), -1.0, dtype=dtype) * 0
        assert signs(x) == [True] * 3
        for made in (x.sum(1), x.sum(), x.sum(0), x[0].sum(), x[0, 0].sum(), x.mean(1), x.cumsum(0),
                     x.cumsum(1), x.sum(1, keepdim=True)):
            assert not any(signs(made))
    x = torch.zeros(2, 1, requires_grad=True)
    (x.sum(1) + x.cumsum(1).sum(1)).sum().backward()
    assert x.grad.tolist() == [[2.0], [2.0]]


def test_what_a_view_says_of_its_node_is_its_own():
    """Views that begin elsewhere share a plan; where each begins and ends is its own."""
    x = torch.ones(3, 4, 5, requires_grad=True) * 1
    pieces = [x[:, 0:2], x[:, 1:3], x[:, 1:4:2], x[:, :3]]
    nodes = [t.grad_fn for t in pieces]
    assert [(n._saved_dim, n._saved_start, n._saved_end, n._saved_step) for n in nodes] == [
        (1, 0, 2, 1), (1, 1, 3, 1), (1, 1, 4, 2), (1, 0, 3, 1)]
    assert [x.narrow(1, k, 2).grad_fn._saved_end for k in (0, 2, 1)] == [2, 4, 3]
    assert [x[k].grad_fn._saved_index for k in range(3)] == [0, 1, 2]


def test_a_view_of_the_same_dtype_has_no_base():
    x = torch.ones(2)
    y = x.view(torch.float32)
    assert y is not x and y._base is None
    y.add_(1)
    assert x.tolist() == [2, 2] and x._version == y._version == 1
    z = torch.ones(2, requires_grad=True).view(torch.float32)
    assert not z.requires_grad and z._base is None


def test_a_function_that_returns_its_input_has_new_strides_for_single_elements():
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.arange(3.0).reshape(3, 1).t().detach().requires_grad_()
    y = Same.apply(x)
    assert x.stride() == (1, 1) and y.stride() == (3, 1)
    y.sum().backward()
    assert x.grad.tolist() == [[2, 2, 2]]
