"""Gamma and Dirichlet numbers: how they are spread, and the derivative by what they are drawn from."""

import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")


def seeded(number=5):
    return torch.Generator().manual_seed(number)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 7.5])
def test_gamma_numbers_have_the_mean_and_the_variance_of_their_parameter(alpha, dtype):
    sample = torch._standard_gamma(torch.full((40000,), alpha, dtype=dtype), seeded())
    assert sample.dtype is dtype and (sample > 0).all()
    # Six standard errors of the mean; of the variance as many of its own.
    assert abs(sample.mean().item() - alpha) < 6 * (alpha / 40000) ** 0.5
    assert abs(sample.var().item() - alpha) < 6 * ((6 * alpha + 2 * alpha * alpha) / 40000) ** 0.5


def test_one_seed_draws_the_same_numbers():
    alpha = torch.tensor([0.5, 1.0, 2.0])
    assert torch.equal(torch._standard_gamma(alpha, seeded()), torch._standard_gamma(alpha, seeded()))
    assert torch.equal(torch._sample_dirichlet(alpha, seeded()), torch._sample_dirichlet(alpha, seeded()))
    assert not torch.equal(torch._standard_gamma(alpha, seeded()), torch._standard_gamma(alpha, seeded(6)))


def test_the_derivative_is_that_of_the_number_at_its_level():
    """Where the parameter is 1, the numbers have the density exp(-x)."""
    alpha = torch.ones(64, dtype=torch.float64, requires_grad=True)
    sample = torch._standard_gamma(alpha, seeded())
    assert sample.grad_fn.name() == "StandardGammaBackward0"
    (slope,) = torch.autograd.grad(sample.sum(), alpha)
    x, step = sample.detach(), 1e-5
    levels = [torch.special.gammainc(torch.full_like(x, 1 + s), x) for s in (step, -step)]
    expected = -(levels[0] - levels[1]) / (2 * step) / torch.exp(-x)
    torch.testing.assert_close(slope, expected, rtol=1e-4, atol=1e-6)


def test_the_derivative_has_none():
    alpha = torch.ones(3, requires_grad=True)
    with pytest.raises(NotImplementedError, match="derivative for '_standard_gamma_grad' is not implemented"):
        (slope,) = torch.autograd.grad(torch._standard_gamma(alpha).sum(), alpha, create_graph=True)
        slope.sum().backward()


def test_rows_of_dirichlet_numbers_add_up_to_one():
    alpha = torch.tensor([2.0, 3.0, 5.0])
    sample = torch._sample_dirichlet(alpha.expand(40000, 3), seeded())
    torch.testing.assert_close(sample.sum(-1), torch.ones(40000))
    torch.testing.assert_close(sample.mean(0), alpha / 10, rtol=0, atol=6 * 0.15 / 200)
    small = torch._sample_dirichlet(torch.full((2000, 3), 1e-4), seeded())
    assert (small > 0).all() and (small < 1).all()
    assert torch._sample_dirichlet(torch.ones(0, 3)).shape == (0, 3)
    assert torch._sample_dirichlet(torch.ones(())).item() < 1


def test_dirichlet_numbers_have_no_derivative():
    sample = torch._sample_dirichlet(torch.ones(3, requires_grad=True))
    with pytest.raises(RuntimeError, match="derivative for aten::_sample_dirichlet is not implemented"):
        sample.sum().backward()


@pytest.mark.parametrize("name,kernel", [
    ("_standard_gamma", "gamma_cpu"), ("_sample_dirichlet", "dirichlet")])
def test_other_dtypes_are_refused(name, kernel):
    for dtype, word in ((torch.int64, "Long"), (torch.float16, "Half"), (torch.complex64, "ComplexFloat")):
        with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for '{word}'"):
            getattr(torch, name)(torch.ones(3, dtype=dtype))
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        getattr(torch, name)(3)
