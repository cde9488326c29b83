"""Values and gradients at the edges: nan among what is selected, nothing to compute from, bytes seen anew."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.nn import functional as F

NAN, INF = float("nan"), float("inf")


def gradient(call, data, dtype=torch.float32):
    x = torch.tensor(data, dtype=dtype, requires_grad=True)
    call(x).sum().backward()
    return x.grad.tolist()


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", ["max", "min", "median"])
def test_the_gradient_of_a_nan_goes_to_the_nans(name):
    select = getattr(torch, name)
    assert gradient(select, [1.0, NAN, 3.0]) == [0, 1, 0]
    assert gradient(select, [NAN, 2.0, NAN]) == [0.5, 0, 0.5]
    assert gradient(select, [[1.0, NAN], [NAN, 2.0]], torch.float16) == [[0, 0.5], [0.5, 0]]
    assert gradient(lambda x: select(x, 0)[0], [1.0, NAN, NAN]) == [0, 1, 0]
    assert gradient(select, [2.0, 2.0]) == [0.5, 0.5] or name == "median"


#: Function, where, and the slopes there that PyTorch's formulas have.
SLOPES = {
    "logsigmoid": (F.logsigmoid, [0.0, -0.0, -INF, INF], [0.5, 0.5, 1.0, 0.0]),
    "logit": (torch.logit, [-0.5, 0.0, 1.0, 1.5], [NAN, INF, INF, NAN]),
    "limited logit": (lambda x: torch.logit(x, 0.25), [-0.5, 0.0, 0.5, 1.5], [0.0, 0.0, 4.0, 0.0]),
    "inverse square": (lambda x: x ** -2, [0.0, -0.0, INF, 2.0], [-INF, INF, 0.0, -0.25]),
    "remainder": (lambda x: torch.remainder(torch.tensor(INF), x), [1.0, -2.0], [NAN, NAN]),
    "log_ndtr": (torch.special.log_ndtr, [-1e5, -INF], [1e5, INF]),
    "cross entropy": (lambda x: F.binary_cross_entropy(x, torch.zeros(2), reduction="sum"),
                      [0.0, 0.5], [0.0, 2.0]),
    "division": (lambda x: torch.tensor(1e-25) / x, [1e-25, 1e25], [-1e25, 0.0]),
}


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call, data, slopes", SLOPES.values(), ids=SLOPES)
def test_slopes_where_functions_bend_or_end(call, data, slopes):
    np.testing.assert_allclose(gradient(call, data), slopes, rtol=1e-4)


@pytest.mark.usefixtures("executor")
def test_hinges_and_bounds_have_no_slope_where_they_begin():
    scores = torch.tensor([[1.0, 0.0, 2.0]], requires_grad=True)
    F.multi_margin_loss(scores, torch.tensor([0]), reduction="sum").backward()
    np.testing.assert_allclose(scores.grad, [[-1 / 3, 0.0, 1 / 3]], rtol=1e-6)
    bounds = [torch.tensor([1.0], requires_grad=True) for _ in range(2)]
    torch.clamp(torch.zeros(1), *bounds).sum().backward()
    assert [bound.grad.item() for bound in bounds] == [0.0, 0.0]
    table = torch.tensor([[1.0], [3.0], [3.0]], requires_grad=True)
    F.embedding_bag(torch.tensor([[0, 1, 2]]), table, mode="max").sum().backward()
    assert table.grad.tolist() == [[0.0], [1.0], [0.0]]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("op, wins", [(torch.maximum, [0, 1]), (torch.minimum, [1, 0])])
def test_a_nan_passes_a_gradient_through_the_larger_of_two(op, wins):
    other = torch.tensor([NAN, 1.0, NAN, 4.0, 1.0])
    assert gradient(lambda x: op(x, other), [1.0, NAN, NAN, 3.0, 2.0]) == [1, 1, 1, *wins]
    assert gradient(lambda x: op(torch.tensor([3.0, NAN]), x), [3.0, 3.0]) == [0.5, 1]


@pytest.mark.usefixtures("executor")
def test_a_nan_passes_no_gradient_through_clamp():
    data = [1.0, NAN, 3.0, 0.0]
    assert gradient(lambda x: x.clamp(0, 2), data) == [1, 0, 0, 1]
    assert gradient(lambda x: x.clamp_min(1), data) == [1, 0, 1, 0]
    assert gradient(lambda x: torch.tensor([1.0, NAN, 3.0, 0.0]).clamp(max=x), [1.0] * 4) == [0, 0, 1, 0]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_no_channels_go_into_a_convolution_and_none_come_out(dims):
    conv, size = getattr(F, f"conv{dims}d"), (4,) * dims
    x = torch.ones(2, 0, *size, requires_grad=True)
    w = torch.ones(3, 0, *(2,) * dims, requires_grad=True)
    b = torch.ones(3, requires_grad=True)
    out = conv(x, w, b)
    assert out.shape == (2, 0, *(3,) * dims)
    out.sum().backward()
    assert x.grad.shape == x.shape and w.grad.shape == w.shape and b.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="expected weight to be at least 1 at dimension 0"):
        getattr(F, f"conv_transpose{dims}d")(x, torch.ones(0, 3, *(2,) * dims))


@pytest.mark.usefixtures("executor")
def test_take_from_nothing():
    nowhere = torch.empty(0, 2, dtype=torch.int64)
    assert torch.take(torch.ones(2, 0), nowhere).shape == (0, 2)
    assert gradient(lambda x: torch.take(x, nowhere), [1.0, 2.0]) == [0, 0]
    with pytest.raises(IndexError, match="tried to take from an empty tensor"):
        torch.take(torch.ones(0), torch.tensor([0]))


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_number_divides_halves_as_a_half(dtype):
    x = torch.tensor([5.0, 7.3, -7.3, 100.0], dtype=dtype)
    number = torch.full((4,), 2.3, dtype=dtype)
    assert torch.fmod(x, 2.3).tolist() == torch.fmod(x, number).tolist()
    assert (x % 2.3).tolist() == (x % number).tolist()
    assert (17.3 % x).tolist() == (torch.full((4,), 17.3, dtype=dtype) % x).tolist()
    if dtype is torch.float16:
        assert torch.fmod(x, 2.3).tolist() == [0.3984375, 0.3984375, -0.3984375, 1.06640625]


# ------------------------------------------------------------------------------- bytes as other numbers

_PAIRS = [(torch.complex128, torch.complex64), (torch.complex64, torch.complex128),
          (torch.float32, torch.float64), (torch.float64, torch.float16),
          (torch.complex64, torch.int64), (torch.int64, torch.complex64)]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("source, target", _PAIRS, ids=str)
def test_bytes_of_a_part_are_seen_and_written_as_another_dtype(source, target):
    base = (torch.arange(1, 9).reshape(2, 4).to(source) * 1)
    plain = base.numpy().copy()
    for part in (lambda t: t, lambda t: t[1:], lambda t: t[:, 2:]):
        seen = np.ascontiguousarray(part(plain)).view(target.np)
        view = part(base).view(target)
        assert view.shape == seen.shape
        assert view.contiguous().view(torch.uint8).tolist() == seen.view(np.uint8).tolist()
    base[1:].view(target)[0, 0] = 3
    plain[1:].view(target.np)[0, 0] = 3
    assert base.tolist() == plain.tolist()


@pytest.mark.usefixtures("executor")
def test_bytes_that_do_not_lie_so_are_refused():
    with pytest.raises(RuntimeError, match=r"self.storage_offset\(\) must be divisible by 4 to view"):
        torch.arange(16, dtype=torch.uint8)[3:11].view(torch.int32)
    with pytest.raises(RuntimeError, match=r"self.stride\(0\) must be divisible by 2 to view"):
        torch.arange(20.0).view(4, 5)[:, :4].view(torch.float64)
    assert torch.arange(16, dtype=torch.uint8)[4:12].view(torch.int32).tolist() == [117835012, 185207048]


@pytest.mark.usefixtures("executor")
def test_other_bytes_have_no_gradient():
    x = torch.ones(4, requires_grad=True)
    for target in (torch.float32, torch.float64, torch.int32, torch.complex64):
        view = x.view(target)
        assert not view.requires_grad and view.data_ptr() == x.data_ptr()
        view.fill_(0)
        assert not view.requires_grad
    assert x.tolist() == [0, 0, 0, 0] and x.requires_grad and x._version == 4


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call, what, node", [
    (torch.unique, "_unique2", "Unique2Backward0"),
    (lambda x: torch.unique(x, return_counts=True)[0], "_unique2", "Unique2Backward0"),
    (lambda x: x.unique(dim=0), "unique_dim", "UniqueDimBackward0"),
    (torch.unique_consecutive, "unique_consecutive", "UniqueConsecutiveBackward0"),
    (lambda x: torch.unique_consecutive(x, dim=0), "unique_consecutive", "UniqueConsecutiveBackward0"),
])
def test_distinct_elements_have_a_history_without_a_derivative(call, what, node):
    x = torch.tensor([1.0, 2.0, 2.0], requires_grad=True)
    found = call(x)
    assert found.tolist() == [1, 2] and found.requires_grad and found.grad_fn.name() == node
    assert type(found.grad_fn).__name__ == node
    with pytest.raises(NotImplementedError, match=f"the derivative for '{what}' is not implemented."):
        found.sum().backward()
    assert not call(x.detach()).requires_grad


@pytest.mark.usefixtures("executor")
def test_a_tensor_of_a_storage_has_its_bytes():
    storage = torch.tensor([1.0, 2.0]).untyped_storage()
    for make in (torch.tensor, torch.as_tensor):
        assert make(storage, dtype=torch.float32).tolist() == [1, 2]
        assert make(storage, dtype=torch.int32).tolist() == [1065353216, 1073741824]
        assert make(storage).tolist() == [4611686019492741120]
        assert make(storage, dtype=torch.uint8).tolist() == [0, 0, 128, 63, 0, 0, 0, 64]
    typed = torch.tensor([1.0, 2.0])._typed_storage()
    assert torch.tensor(typed).tolist() == torch.tensor(typed, dtype=torch.float32).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="Storage of type Long or an UntypedStorage, but got Float"):
        torch.tensor(typed, dtype=torch.int64)


@pytest.fixture(params=["eager", "deferred", "compiled"])
def everywhere(request):
    """Run the test eagerly, by the interpreter and compiled."""
    if request.param == "compiled":
        request.getfixturevalue("compiled")
    with torch.execution("eager" if request.param == "eager" else "deferred"):
        yield


@pytest.mark.usefixtures("everywhere")
def test_high_powers_of_integers_wrap():
    x = torch.tensor([3, 2, 7])
    assert (x ** torch.tensor([64, 64, 100])).tolist() == [8733086111712066817, 0, 3728452490685454945]
    assert (x ** 100).tolist() == [-2984622845537545263, 0, 3728452490685454945]
    assert (3 ** torch.tensor(100)).item() == -2984622845537545263
    assert (x ** torch.tensor(2**62 + 1)).tolist() == [3, 0, 7]
    byte, signed = (torch.tensor([3, -7 if dtype is torch.int8 else 7, 1, 0], dtype=dtype)
                    for dtype in (torch.uint8, torch.int8))
    assert (byte ** 200).tolist() == [161, 193, 1, 0]
    assert (signed ** torch.tensor([100, 127, 99, 0], dtype=torch.int8)).tolist() == [-47, 73, 1, 1]
    inverse = torch.tensor([-1, -1, 1, 2, 0]) ** torch.tensor([-65, -66, -70, -1, -1])
    assert inverse.tolist() == [-1, 1, 1, 0, 0]
    assert torch.func.vmap(torch.pow)(x, torch.tensor([64, 0, 3])).tolist() == [8733086111712066817, 1, 343]


@pytest.mark.usefixtures("everywhere")
def test_trapezoids_of_integers_add_up_in_int64():
    y = torch.tensor([255, 1, 2, 128], dtype=torch.uint8)
    assert torch.trapezoid(y).item() == 322.5 and torch.trapezoid(y, dx=300).item() == 96750
    assert torch.trapezoid(y, y).item() == 127.5  # products of bytes are bytes
    assert torch.trapezoid(y, y.float()).item() == 8191.5
    assert torch.cumulative_trapezoid(y, dx=-2).tolist() == [0, -3, -133]
    assert torch.cumulative_trapezoid(y, y).tolist() == [0, 1.5, 127.5]
    assert gradient(lambda x: torch.trapezoid(x, dx=2), [1.0, 4.0, 9.0]) == [1, 2, 1]
    assert gradient(lambda x: torch.cumulative_trapezoid(x, x), [1.0, 4.0, 9.0]) == [-2, 4, 9]


def test_trapezoids_refuse_what_pytorch_refuses():
    ones, truth = torch.ones(2, 3), torch.tensor([True, False])
    for call, error, message in (
        (lambda: torch.trapezoid(torch.tensor(1.0)), IndexError, "specified as -1 but tensor has no"),
        (lambda: torch.cumulative_trapezoid(torch.tensor(1.0)), IndexError, "cannot be applied to a 0-dim"),
        (lambda: torch.trapezoid(ones, dim=2), IndexError, "Dimension out of range"),
        (lambda: torch.trapezoid(ones, torch.ones(2)), RuntimeError, "one `x` value for each sample point"),
        (lambda: torch.trapezoid(ones, dx=2j), RuntimeError, "only support dx as a real number"),
        (lambda: torch.trapezoid(truth), RuntimeError, "received a bool input for `y`"),
        (lambda: torch.cumulative_trapezoid(truth, truth), RuntimeError, "a bool input for `x` or `y`"),
    ):
        with pytest.raises(error, match=message):
            call()
    assert torch.cumulative_trapezoid(torch.ones(2, 0)).shape == (2, 0)
    assert torch.trapezoid(torch.ones(2, 3, 4), torch.ones(3, 1), dim=1).shape == (2, 4)


@pytest.mark.usefixtures("everywhere")
def test_the_upper_bound_of_hardtanh_wins():
    x = torch.tensor([1.0, 200.0, 2.0, NAN])
    assert F.hardtanh_(x, 100, 2.0)[:3].tolist() == [2, 2, 2] and x[3].isnan()
    assert gradient(lambda x: F.hardtanh_(x * 1, 100, 2.0), [1.0, 200.0]) == [0, 0]


@pytest.mark.usefixtures("everywhere")
def test_the_derivative_of_entr():
    found = gradient(torch.special.entr, [-1.0, 0.0, 1.0])
    assert np.isnan(found[0]) and found[1:] == [float("inf"), -1]


@pytest.mark.usefixtures("everywhere")
def test_no_elements_have_no_variance():
    assert torch.zeros(0).var(correction=-1).isnan() and torch.zeros(0, 2).std(0, correction=-2).isnan().all()
    assert torch.std_mean(torch.zeros(0), correction=-1)[0].isnan()


@pytest.mark.usefixtures("everywhere")
def test_complex_powers_at_zero_and_beside_the_branch_cut():
    below = torch.complex(torch.tensor([-0.5, 4.0]), torch.tensor([-0.0, -0.0]))
    half = torch.tensor([0.5 + 0j, 0.5 + 0j])
    for root in (below ** 0.5, below ** (0.5 + 0j), below.sqrt()):
        np.testing.assert_allclose(root.numpy(), [-0.5**0.5 * 1j, 2], rtol=1e-6)
        assert np.signbit(root.imag.numpy()).all()
    np.testing.assert_allclose((below ** half).numpy(), [-0.5**0.5 * 1j, 2], rtol=1e-6)
    np.testing.assert_allclose(below.rsqrt().numpy(), [2**0.5 * 1j, 0.5], rtol=1e-6)
    zero = torch.zeros(3, dtype=torch.complex64)
    exponents = torch.tensor([0.5 + 1j, 2 + 0j, 0j])
    for found in (zero ** exponents, 0 ** exponents, torch.tensor(0) ** exponents):
        assert found[:2].tolist() == [0, 0] and found[2].isnan()
    assert (zero ** 0).tolist() == (zero ** 0j).tolist() == [1, 1, 1]
    assert torch.isinf((zero ** torch.tensor(-1 + 0j)).real).all()


@pytest.mark.usefixtures("everywhere")
def test_complex_powers_of_infinite_numbers_without_an_angle():
    inf, nan = float("inf"), float("nan")
    bases = torch.complex(torch.tensor([nan, inf, nan, -inf]), torch.tensor([-inf, nan, inf, nan]))
    assert (bases ** torch.tensor(-1.75 + 1.8j)).tolist() == [0j] * 4
    assert not torch.isfinite((bases ** torch.tensor(1.25 - 0.5j)).real).any()


@pytest.mark.usefixtures("everywhere")
def test_derivatives_of_complex_powers():
    x = torch.tensor([1j, -2 + 1j], requires_grad=True)
    y = torch.tensor([1j, -1.5 + 2j], requires_grad=True)
    found = torch.autograd.grad((x ** y).abs().sum(), (x, y), create_graph=True)
    np.testing.assert_allclose(found[0].detach().numpy()[0], 0.2078796, atol=1e-5)
    np.testing.assert_allclose(found[1].detach().numpy(), [-0.3265365j, 0.0011305 - 0.0037659j], atol=1e-4)
    twice = torch.autograd.grad(found[0].abs().sum() + found[1].abs().sum(), (x, y))
    np.testing.assert_allclose(twice[0].numpy()[0], 0.3265365 - 0.2078796j, atol=1e-5)


@pytest.mark.usefixtures("executor")
def test_numbers_that_do_not_fit_are_refused():
    mask, first = torch.tensor([True, False]), torch.tensor([0])
    bytes_, singles = torch.ones(2, dtype=torch.uint8), torch.ones(2)
    refused = "value cannot be converted to type {} without overflow"
    for call in (
        lambda x, value: x.masked_fill(mask, value),
        lambda x, value: x.clone().masked_fill_(mask, value=value),
        lambda x, value: x.scatter(0, first, value),
        lambda x, value: x.clone().scatter_(0, first, value, reduce="add"),
        lambda x, value: x.index_fill(0, first, value),
        lambda x, value: x.expand(2, 2).clone().fill_diagonal_(value),
    ):
        for value in (-0.5, 300, -256, NAN):
            with pytest.raises(RuntimeError, match=refused.format("uint8_t")):
                call(bytes_, value)
        with pytest.raises(RuntimeError, match=refused.format("float")):
            call(singles, 1e300)
        assert call(bytes_, 254.5).dtype is torch.uint8 and call(singles, float("inf")).dtype is torch.float32
    assert bytes_.masked_fill(mask, -1).tolist() == [255, 1]
    assert bytes_.scatter(0, torch.zeros(0, dtype=torch.int64), 300).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Converting complex Scalar to non-complex type"):
        bytes_.index_fill(0, first, 2j)


@pytest.mark.usefixtures("executor")
def test_bounds_that_do_not_fit_are_refused():
    x = torch.ones(2, dtype=torch.uint8)
    for call in (x.clamp, x.clamp_min, x.clamp_max, lambda value: x.clamp(0, value)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
            call(300)
        with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
            call(1e300)
    assert x.clamp(300, 2.5).tolist() == [2.5, 2.5] and x.clamp(-1, 7).dtype is torch.uint8
    with pytest.raises(RuntimeError, match="value cannot be converted to type c10::Half without overflow"):
        x.half().clamp(1e6)


@pytest.mark.usefixtures("everywhere")
def test_the_value_of_addcmul_is_converted():
    ones, whole = torch.ones(2), torch.tensor([2, 3])
    assert torch.addcmul(ones, ones, ones, value=False).tolist() == [1, 1]
    assert torch.addcdiv(ones, ones, ones, value=True).tolist() == [2, 2]
    assert torch.addcmul(whole, whole, whole, value=2.5).tolist() == [10, 21]
    with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
        torch.addcmul(ones, ones, ones, value=2j)
    with pytest.raises(NotImplementedError, match="\"addcmul_cpu_out\" not implemented for 'Bool'"):
        torch.addcmul(*[torch.tensor([True])] * 3)


def test_unique_refuses_dimensions_that_there_are_not_and_complex_numbers():
    with pytest.raises(IndexError, match=r"expected to be in range of \[-1, 0\], but got 3"):
        torch.tensor([1, 1]).unique(dim=3)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.tensor(1).unique_consecutive(dim=0)
    with pytest.raises(NotImplementedError, match="\"unique\" not implemented for 'ComplexFloat'"):
        torch.tensor([1j]).unique()
    with pytest.raises(NotImplementedError, match="\"unique_dim\" not implemented for 'ComplexFloat'"):
        torch.tensor([1j]).unique(dim=0)


def test_the_node_of_deg2rad():
    assert torch.deg2rad(torch.ones(1, requires_grad=True)).grad_fn.name() == "Deg2RadBackward0"


@pytest.mark.usefixtures("everywhere")
def test_the_mean_beside_a_variance_is_nan_after_an_infinity():
    for call in (torch.std_mean, torch.var_mean):
        assert call(torch.tensor([-INF, 1.0, 2.0]))[1].isnan() and call(torch.tensor([INF, INF]))[1].isnan()
        assert call(torch.tensor([1.0, INF]))[1].item() == INF  # nothing comes after it
        spread, mean = call(torch.tensor([[INF, 1.0], [1.0, 2.0]]), 0, keepdim=True)
        assert spread.isnan().tolist() == mean.isnan().tolist() == [[True, False]] and mean[0, 1] == 1.5
        mean = call(torch.tensor([complex(INF, 1), 1 + 3j]))[1]
        assert mean.real.isnan() and mean.imag == 2
    assert gradient(lambda x: torch.var_mean(x)[1], [1.0, 3.0]) == [0.5, 0.5]


def test_divisors_of_the_least_number_end(executor):
    least = torch.tensor([-2 ** 63])
    assert torch.gcd(torch.tensor([3, 6, 0, -2 ** 63 + 1]), least).tolist() == [1, -2, -2 ** 63, -1]
    assert torch.lcm(torch.tensor([3, 0]), least).tolist() == [-2 ** 63, 0]
    small = torch.tensor([127, 3, -128], dtype=torch.int8)
    assert torch.lcm(small, torch.tensor([6, 127, 0], dtype=torch.int8)).tolist() == [-6, 125, 0]


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("function, shift", [(torch.xlogy, 0), (torch.special.xlog1py, 1)])
def test_a_gradient_of_zero_stays_zero_beside_a_bad_logarithm(function, shift):
    inf, nan = float("inf"), float("nan")
    x = torch.full((5,), 2.0, requires_grad=True)
    y = torch.tensor([0.0, inf, -3.0, nan, 1.0]) - shift
    found, = torch.autograd.grad(function(x, y), x, torch.zeros(5), retain_graph=True)
    np.testing.assert_array_equal(found.numpy(), [0, 0, 0, nan, 0])
    found, = torch.autograd.grad(function(x, y), x, torch.ones(5))
    np.testing.assert_array_equal(found.numpy(), [-inf, inf, nan, nan, 0])
    masked = torch.where(torch.tensor([False, True]), function(x[:2], y[[0, 4]]), 0.0)
    assert torch.autograd.grad(masked.sum(), x)[0].tolist() == [0.0] * 5
    again = torch.tensor([2.0, 3.0], requires_grad=True)
    other = torch.tensor([4.0, 0.5], requires_grad=True)
    first, = torch.autograd.grad(function(again, other).sum(), again, create_graph=True)
    second, = torch.autograd.grad(first.sum(), other)
    np.testing.assert_allclose(second.numpy(), [1 / (4 + shift), 1 / (0.5 + shift)], rtol=1e-6)
    each = torch.func.vmap(torch.func.grad(lambda a, b: function(a, b) * 0.0), (0, None))(again, -shift * 1.0)
    assert each.tolist() == [0.0, 0.0]
    each = torch.func.vmap(torch.func.grad(lambda a, b: function(a, b) * 0.0), (None, 0))(
        again[0], torch.tensor([-shift * 1.0, 2.0, float("inf")]))
    assert each.tolist() == [0.0] * 3


@pytest.mark.usefixtures("executor")
def test_infinities_lie_as_a_comparison_does():
    # PyTorch compares the absolute value with a number, which takes no size of 0 for a column's.
    assert torch.isinf(torch.ones(0, 1)).stride() == torch.ones(0, 1).eq(1).stride() == (1, 0)
    assert torch.isinf(torch.ones(0, 1, dtype=torch.int64)).stride() == (1, 1)
    assert torch.isnan(torch.ones(0, 1)).stride() == (1, 1)
    assert torch.isinf(torch.ones(4, 6)[:, ::2].t()).stride() == (1, 3)


@pytest.mark.usefixtures("executor")
def test_images_of_nothing_are_copied_as_they_are():
    for x in (torch.ones(0, 1, 2, 2), torch.ones(0, 4, 2, 2).transpose(1, 3), torch.ones(1, 4, 0, 2)):
        assert F.pixel_unshuffle(x, 2).shape == x.shape
        assert F.pixel_unshuffle(x, 2).stride() == F.pixel_unshuffle(x, 1).stride() == x.clone().stride()
    x = torch.ones(0, 4, 2, 2).to(memory_format=torch.channels_last)
    assert F.channel_shuffle(x, 2).stride() == x.stride() == (16, 1, 8, 4)
    assert F.pixel_shuffle(x, 2).shape == (0, 1, 4, 4)
    assert F.pixel_unshuffle(torch.ones(1, 1, 2, 2), 2).shape == (1, 4, 1, 1)
    images = torch.ones(2, 4, 2, 2).to(memory_format=torch.channels_last)
    assert F.pixel_unshuffle(images, 2).stride() == (16, 1, 16, 16)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("value", [2.0, torch.tensor(2.0)])
def test_what_is_filled_lies_as_a_clone(value):
    for x in (torch.ones(2, 3, 4)[..., ::2].transpose(0, 2), torch.ones(0, 1, 2).transpose(0, 2),
              torch.ones(2, 3).t().requires_grad_(), torch.ones(2, 1).expand(2, 3)):
        filled = torch.fill(x, value)
        assert filled.stride() == x.clone().stride()
        assert (filled == 2).all()
        assert filled.shape == x.shape


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_zeros_of_lgamma_are_zeros(dtype):
    assert torch.tensor([1.0, 2.0, 1.0, 2.0, 2.0], dtype=dtype).lgamma().unique().tolist() == [0]
    assert gradient(torch.lgamma, [1.0, 2.0]) == pytest.approx([-0.5772157, 0.4227843])


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("exponent", [0, 0.0, 1, 1.0, 2, 0.5])
def test_a_power_holds_its_base_whatever_the_exponent(exponent):
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    base = x * 1
    power = base ** exponent
    base.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        power.sum().backward()


@pytest.mark.usefixtures("executor")
def test_numbers_that_are_complex_at_their_edges():
    """Against the values that C's library has."""
    below = torch.complex(torch.tensor(-2.0), torch.tensor(-0.0))
    assert below.asin().imag.item() == pytest.approx(-1.3169579)
    assert below.acosh().imag.item() == pytest.approx(-np.pi)
    infinite = torch.tensor([complex(-INF, NAN), complex(INF, INF)])
    assert torch.exp(infinite)[0].abs().item() == 0 and infinite.abs().tolist() == [INF, INF]
    assert infinite.log().real.tolist() == [INF, INF] and infinite.tanh().real.tolist() == [-1, 1]
    assert (1 ** infinite).tolist() == [1, 1]
    assert torch.isnan((1 / infinite).real).all()
    np.testing.assert_allclose(torch.tensor([1e30 + 1e30j]) / torch.tensor([1e30 - 1e30j]), [1j])


def test_powers_of_one_save_their_exponent_as_those_of_any_number():
    for base in (1, 1.0, 2):
        y = torch.ones(2, requires_grad=True) * 1
        z = base**y
        y.add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
