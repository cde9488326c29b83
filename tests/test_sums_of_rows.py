"""Sums over a few long rows, which are products with ones inside."""

import numpy as np

import jaxflow as torch


def test_sums_and_means_of_long_rows_and_their_derivatives(executor):
    cases = ((10, 9000), 0), ((2, 5, 9000), (1, 0)), ((2, 5, 9000), 1), ((1, 9000), 0), ((4, 90), 0)
    for shape, dim in cases:
        x = torch.randn(*shape, dtype=torch.float64).requires_grad_()
        numbers = x.detach().numpy()
        for name, keep in (("sum", False), ("mean", True)):
            result = getattr(x, name)(dim, keepdim=keep)
            axes = tuple(np.atleast_1d(dim))
            expected = getattr(numbers, name)(axis=axes, keepdims=keep)
            assert result.shape == expected.shape
            np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12, atol=1e-12)
            (first,) = torch.autograd.grad((result**2).sum(), x, create_graph=True)
            share = 1 if name == "sum" else expected.size / numbers.size
            wide = getattr(numbers, name)(axis=axes, keepdims=True)
            np.testing.assert_allclose(
                first.detach().numpy(), np.broadcast_to(2 * share * wide, shape), rtol=1e-12, atol=1e-12)
            (second,) = torch.autograd.grad(first.sum(), x)
            np.testing.assert_allclose(
                second.numpy(), 2 * share**2 * numbers.size / expected.size, rtol=1e-12)


def test_a_long_row_may_hold_infinities(executor):
    rows = torch.ones(2, 9000)
    rows[0, ::2] = float("inf")
    total = rows.sum(0).numpy()
    assert np.isinf(total[::2]).all() and (total[1::2] == 2).all()
