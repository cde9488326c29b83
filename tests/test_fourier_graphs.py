"""What backward through a Fourier transform of real numbers holds, and so frees."""

import pytest

import jaxflow as torch


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", ["rfftn", "ihfftn", "rfft2", "ihfft2"])
@pytest.mark.parametrize("options", [{}, {"s": (2, 3)}, {"s": (4, 5)}])
def test_a_second_backward_is_refused_filled_up_or_not(name, options):
    x = torch.ones(3, 4, dtype=torch.float64, requires_grad=True)
    spectrum = getattr(torch.fft, name)(x, **options)
    spectrum.abs().sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        spectrum.abs().sum().backward()


@pytest.mark.usefixtures("executor")
def test_a_second_backward_through_what_holds_nothing():
    x = torch.ones(3, 4, dtype=torch.float64, requires_grad=True)
    signal = torch.fft.irfftn(x, s=(2, 3))
    signal.sum().backward()
    once = x.grad.tolist()
    signal.sum().backward()
    assert once[0][0] == 1.0 and x.grad.tolist() == [[2 * g for g in row] for row in once]
