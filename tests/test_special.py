"""Special functions, against values with sixteen digits (from an arbitrary-precision library)."""

import numpy as np
import pytest

import jaxflow as torch

S = torch.special
AT = (0.5, 3.0, 25.0)

VALUES = {
    "airy_ai": ((-6.0, -2.0, 1.0, 7.0),
                (-0.3291451736298231, 0.2274074282016856, 0.1352924163128814, 7.492128863997167e-7)),
    "bessel_j0": (AT, (0.9384698072408129, -0.2600519549019334, 0.09626678327595812)),
    "bessel_j1": (AT, (0.2422684576748739, 0.3390589585259365, -0.1253502495802899)),
    "bessel_y0": (AT, (-0.4445187335067066, 0.3768500100127904, -0.1272494322680061)),
    "bessel_y1": (AT, (-1.471472392670243, 0.3246744247918, -0.09882996478323741)),
    "modified_bessel_k0": (AT, (0.9244190712276659, 0.03473950438627925, 3.464161562213114e-12)),
    "modified_bessel_k1": (AT, (1.656441120003301, 0.04015643112819418, 3.532778073199934e-12)),
    "spherical_bessel_j0": ((0.0, 0.25, 3.0), (1.0, np.sin(0.25) / 0.25, np.sin(3) / 3)),
    "erfcx": ((-1.0, 0.5, 30.0), (5.008980080762283, 0.6156903441929259, 0.01879588886141675)),
}

POLYNOMIALS = {  # of degree 9 at 0.3
    "chebyshev_polynomial_t": 0.388827648,
    "chebyshev_polynomial_u": 0.099088896,
    "legendre_polynomial_p": 0.0637003817578125,
    "laguerre_polynomial_l": -0.4179429975520089,
    "hermite_polynomial_h": 7010.287658496,
}


def _double(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def test_values(executor):
    for name, (at, expected) in VALUES.items():
        assert np.allclose(getattr(S, name)(_double(*at)).numpy(), expected, rtol=1e-13, atol=1e-15), name
    for name, expected in POLYNOMIALS.items():
        found = getattr(S, name)(_double(0.3), torch.tensor([9, 0, -1]))
        assert np.allclose(found.numpy(), [expected, 1, 0], rtol=1e-13), name


def test_far_off_and_at_the_edges():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([-inf, -1.0, 0.0, inf, nan])
    expected = {
        "bessel_y0": [nan, nan, -inf, nan, nan], "modified_bessel_k0": [nan, nan, inf, 0.0, nan],
        "erfcx": [inf, 5.00898, 1.0, 0.0, nan], "spherical_bessel_j0": [0.0, 0.841471, 1.0, 0.0, nan],
    }
    for name, values in expected.items():
        assert np.allclose(getattr(S, name)(x).numpy(), values, equal_nan=True), name
    # a degree that would take long to step through
    high = S.chebyshev_polynomial_t(_double(-1.0, 0.5, 1.0), 10**9 + 1)
    assert np.allclose(high.numpy(), [-1.0, np.cos((10**9 + 1) * np.arccos(0.5)), 1.0], atol=1e-6)
    assert np.isnan(S.legendre_polynomial_p(_double(10.0), 10**9).numpy()).all()  # it stops


def test_polynomials_overflow_as_in_steps_of_their_own_precision(executor):
    """A step from two infinities of one sign is nan, in float32 long before float64 would overflow."""
    inf, nan = float("inf"), float("nan")
    ends = torch.tensor([inf, -inf])
    for name, second in (("chebyshev_polynomial_w", [inf, inf]), ("laguerre_polynomial_l", [inf, inf]),
                         ("legendre_polynomial_p", [inf, inf])):
        assert getattr(S, name)(ends, 2).tolist() == second, name
        assert np.isnan(getattr(S, name)(ends, 3).numpy()).all(), name
    for name in ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "laguerre_polynomial_l"):
        found = getattr(S, name)(torch.tensor([300.0, -300.0]), 100).numpy()
        assert np.isnan(found).all(), name
    assert np.isfinite(S.chebyshev_polynomial_t(_double(300.0), 100).numpy()).all()
    assert S.hermite_polynomial_h(torch.tensor([1e30]), 2).tolist() == [inf]
    assert np.array_equal(S.hermite_polynomial_he(torch.tensor([-2.0, 1.0]), 100).numpy(), [nan, nan],
                          equal_nan=True)


def test_polygamma_at_its_poles_and_at_infinity(executor):
    inf, nan = float("inf"), float("nan")
    at = torch.tensor([-2.0, -1.0, 0.0, -inf, inf, nan, 2.0])
    expected = {2: [-inf] * 4 + [nan, nan, -0.40411380], 3: [inf] * 4 + [nan, nan, 0.49393940]}
    for n, values in expected.items():
        assert np.allclose(torch.polygamma(n, at).numpy(), values, equal_nan=True), n
    first = torch.polygamma(1, at).numpy()
    assert np.allclose(first[2:], [inf, nan, 0.0, nan, 0.6449341], equal_nan=True)
    # the square of pi over the sine of a rounded multiple of it
    assert np.allclose(first[:2], [3.228424e14, 1.2913697e15], rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_has_no_kernel(dtype):
    x = torch.ones(2, dtype=dtype)
    for name in ("airy_ai", "bessel_j0", "bessel_y1", "modified_bessel_i0", "spherical_bessel_j0", "erfcx",
                 "ndtri", "log_ndtr"):
        with pytest.raises(NotImplementedError, match=f"_cpu\" not implemented for '{_CALLED[dtype]}'"):
            getattr(S, name)(x)
    for name in ("chebyshev_polynomial_v", "hermite_polynomial_h", "laguerre_polynomial_l", "zeta"):
        with pytest.raises(NotImplementedError, match=f'"{name}_cpu" not implemented for'):
            getattr(S, name)(x, 2)
    assert S.i0e(x).dtype is dtype
    assert S.zeta(torch.ones(2) * 2, x.sum()).dtype is torch.float32  # no dimensions: it promotes nothing


_CALLED = {torch.float16: "Half", torch.bfloat16: "BFloat16"}


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name, words, value", [
    ("gammainc", "igamma: input", 3 * np.exp(-3)), ("gammaincc", "igammac: input", -3 * np.exp(-3)),
    ("zeta", "zeta", -0.1541138)])
def test_the_first_operand_has_no_derivative_but_the_second_has(name, words, value):
    call = getattr(S, name)
    a, x = _double(2.0).requires_grad_(), _double(3.0).requires_grad_()
    y = call(a, x)
    by_x, = torch.autograd.grad(y, x, retain_graph=True)
    assert y.requires_grad and np.allclose(by_x.item(), value, 1e-3)
    for wanted in ((a,), (x, a)):
        with pytest.raises(NotImplementedError, match=f"the derivative for '{words}' is not implemented."):
            torch.autograd.grad(y, wanted, retain_graph=True)
    y.backward(inputs=[x], retain_graph=True)
    assert np.allclose(x.grad.item(), value, 1e-3)
    with pytest.raises(NotImplementedError, match="the derivative for"):
        y.backward()
    call(a.detach(), x).backward()
    assert np.allclose(x.grad.item(), 2 * value, 1e-3) and a.grad is None
    with torch.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward AD with"):
        call(a.detach(), torch.autograd.forward_ad.make_dual(x.detach(), _double(1.0)))


def test_the_namespace_shares_operations_with_the_top_level():
    same = {"exp2": "exp2", "expm1": "expm1", "log1p": "log1p", "xlogy": "xlogy",
            "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma", "psi": "digamma"}
    for name, other in same.items():
        assert getattr(S, name) is getattr(torch, other)


def test_round_takes_no_decimals_unless_asked():
    x = torch.tensor([1.25, 2.5, -0.75], requires_grad=True)
    assert S.round(x).tolist() == [1.0, 2.0, -1.0] and S.round(x).grad_fn.name() == "RoundBackward1"
    assert torch.round(x).grad_fn.name() == "RoundBackward0"
    assert torch.equal(S.round(x.detach(), decimals=1, out=torch.empty(3)), torch.round(x, decimals=1))
