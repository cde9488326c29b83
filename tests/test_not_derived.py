"""Results that require grad although PyTorch has no derivative for them, and calls that it refuses for it."""

import pytest

import jaxflow as torch
import jaxflow.nn.functional as F

pytestmark = pytest.mark.usefixtures("executor")


def complexes(*values):
    return torch.tensor([complex(v) for v in values], requires_grad=True)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean"])
def test_a_complex_result_of_scatter_reduce_may_not_require_grad(reduce):
    x, index = complexes(1 + 1j, 2, 3), torch.tensor([0, 0, 1])
    for input, source in ((x, x.detach()), (x.detach(), x)):
        with pytest.raises(RuntimeError, match="scatter_reduce does not support automatic differentiation"):
            torch.scatter_reduce(input, 0, index, source, reduce)
    assert not torch.scatter_reduce(x.detach(), 0, index, x.detach(), reduce).requires_grad
    with torch.no_grad():
        assert not torch.scatter_reduce(x, 0, index, x, reduce).requires_grad


def test_in_place_it_may():
    x = complexes(1 + 1j, 2)
    result = x.clone().scatter_reduce_(0, torch.tensor([0]), torch.tensor([2j]), "sum")
    result.real.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_complex_result_of_silu_may_not_require_grad():
    x = complexes(1 + 1j)
    with pytest.raises(RuntimeError, match="silu does not support automatic differentiation"):
        F.silu(x)
    assert F.silu(x.clone(), inplace=True).requires_grad
    assert not F.silu(x.detach()).requires_grad


def _weights():
    return torch.ones(3, requires_grad=True)


@pytest.mark.parametrize("call,what", [
    (lambda: torch.bincount(torch.tensor([0, 1, 1]), _weights()), "bincount"),
    (lambda: torch.binomial(_weights(), torch.ones(3)), "binomial"),
    (lambda: torch.binomial(torch.ones(3), _weights()), "binomial"),
    (lambda: torch.histogram(_weights(), 2)[0], "histogram"),
    (lambda: torch.histogram(torch.ones(3), torch.tensor([0.0, 2.0], requires_grad=True))[1], "histogram"),
    (lambda: torch.histogramdd(_weights()[:, None], [2])[0], "_histogramdd_from_bin_cts"),
    (lambda: torch.histogramdd(_weights()[:, None], [2])[1][0], "_histogramdd_bin_edges"),
    (lambda: torch.detach_copy(_weights()), "detach_copy"),
])
def test_results_whose_backward_says_that_there_is_no_derivative(call, what):
    result = call()
    assert result.requires_grad and result.grad_fn.name() == "torch::autograd::NotImplemented"
    with pytest.raises(RuntimeError, match=f"derivative for aten::{what} is not implemented"):
        result.sum().backward()


def test_detach_copy_has_memory_of_its_own():
    x = torch.arange(6.0).reshape(2, 3).t()
    y = torch.detach_copy(x)
    y.zero_()
    assert x.sum() == 15 and y.is_contiguous() and not y.requires_grad


@pytest.mark.filterwarnings("error::DeprecationWarning", "ignore:Casting complex values to real")
def test_counts_by_complex_weights_are_those_of_their_real_parts():
    counts = torch.bincount(torch.tensor([0, 1, 1]), torch.tensor([1j, 2, 3]))
    assert counts.tolist() == [0, 5] and counts.dtype is torch.float64


_SUBTRACTED, _NEGATED = "Subtraction, the `-` operator, with a bool", "Negation, the `-` operator, on a bool"


@pytest.mark.parametrize("call,words", [
    (torch.logaddexp, _SUBTRACTED),
    (lambda x, b: torch.logaddexp(b, x), _SUBTRACTED),
    (lambda x, b: torch.logaddexp2(b, x), _SUBTRACTED),
    (lambda x, b: torch.atan2(b, x), _NEGATED),
    (lambda x, b: torch.igamma(b, x), _SUBTRACTED),
    (lambda x, b: torch.igammac(b, x), _SUBTRACTED),
    (lambda x, b: torch.special.zeta(b, x), _NEGATED),
    (torch.pow, _SUBTRACTED),
    (lambda x, b: x.clone().pow_(b), _SUBTRACTED),
    (lambda x, b: torch.pow(x, b[0]), _SUBTRACTED),
    (lambda x, b: torch.logaddexp(b[:0], x[:0]), _SUBTRACTED),
])
def test_formulas_that_would_subtract_or_negate_a_bool(call, words):
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    result = call(x, torch.tensor([True, False])).sum()
    with pytest.raises(RuntimeError, match=words):
        result.backward()


@pytest.mark.parametrize("p", [0, 1, 2])
def test_the_distance_of_bools_is_refused_at_the_call(p):
    x, b = torch.tensor([0.5, 2.0], requires_grad=True), torch.tensor([True, False])
    for operands in ((x, b), (b, x), (x, b[:1])):
        with pytest.raises(RuntimeError, match=_SUBTRACTED):
            torch.dist(*operands, p)
    with pytest.raises(RuntimeError, match="with two bool tensors"):
        torch.dist(b, b, p)


def test_a_formula_that_refuses_looks_first_at_what_was_saved():
    x, b = torch.tensor([0.5, 2.0], requires_grad=True), torch.tensor([True, False])
    result = x ** b
    with torch.no_grad():
        b.logical_not_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_of_bools_in_the_other_place_there_is_a_derivative():
    b = torch.tensor([True, False])
    for call, want in ((torch.atan2, [0.8, 0.0]), (lambda x, b: torch.pow(b, x), [0.0, 0.0]),
                       (lambda x, b: x ** True, [1.0, 1.0]), (torch.hypot, [0.4472136, 1.0])):
        x = torch.tensor([0.5, 2.0], requires_grad=True)
        call(x, b).sum().backward()
        assert x.grad.tolist() == pytest.approx(want, abs=1e-6)
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not implemented"):
        torch.igamma(torch.ones(2, requires_grad=True), b).sum().backward()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["i1", "i1e"])
def test_halves_of_bessel_functions_of_order_1(name, dtype):
    x = torch.tensor([0.5], dtype=dtype, requires_grad=True)
    result = getattr(torch.special, name)(x)
    with pytest.raises(NotImplementedError, match=f'"{name}_backward" not implemented for'):
        result.backward()
    torch.special.i0e(x).backward()
    assert x.grad.dtype is dtype


def test_what_is_not_derived_comes_first_of_what_is_ready():
    """Nothing is accumulated beside it by then, whatever was recorded later."""
    x, y = torch.ones(2, requires_grad=True), torch.tensor(0.5, requires_grad=True)
    whole = (x * 2) // torch.tensor(0.3)
    assert whole.grad_fn._sequence_nr() == 2**64 - 1
    for scaled in (lambda: whole * y, lambda: whole * (y * 2), lambda: whole.div_(y)):
        with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
            scaled().sum().backward()
        assert x.grad is None and y.grad is None


def test_what_is_not_derived_has_saved_nothing_that_could_be_overwritten():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    rest = torch.remainder(5.0, x)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="derivative for aten::remainder is not implemented"):
        rest.sum().backward()
