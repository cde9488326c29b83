"""What `compat_tests.judge` accepts and what it refuses: NOTE [Judged by float64]."""

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests import judge
from compat_tests.both import check_both
from compat_tests.fuzz.compare import first_difference
from compat_tests.fuzz.interpret import Entry, Facts
from compat_tests.harness import Case, check
from compat_tests.ops.compare import compare

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.complex64]
EXACT = torch.tensor([128.0, -64.0, 96.0, 64.0, 96.0, -80.0], dtype=torch.float64)
#: PyTorch's errors, in relative tolerances of the largest element.
UNITS = torch.tensor([20.0, -15.0, 10.0, 0, 0, 0], dtype=torch.float64)


def off_by(dtype, units):
    """The exact numbers with errors, in a dtype of low precision."""
    rtol, _ = torch.testing._comparison.default_tolerances(dtype)
    return (EXACT + units * rtol * EXACT.max()).to(dtype)


def accepts(ours, theirs, exact):
    """Whether the judge accepts; the double precision is asked at most once."""
    asked = []
    try:
        judge.assert_close(ours, theirs, lambda: asked.append(1) or exact)
    except AssertionError:
        return False
    finally:
        assert len(asked) <= 1
    return True


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_errors_up_to_twice_those_of_pytorch(dtype):
    theirs = off_by(dtype, UNITS)
    wide = EXACT.to(torch.complex128) if dtype.is_complex else EXACT
    for factor, right in ((-1.9, True), (0, True), (-0.5, True), (-3, False), (4, False)):
        assert accepts(off_by(dtype, factor * UNITS), theirs, wide) is right, factor
    # At another element, where PyTorch happens to be right: by the worst of the tensor.
    for factor, right in ((1.9, True), (-1.9, True), (3, False), (-3, False)):
        assert accepts(off_by(dtype, factor * UNITS.flip(0)), theirs, wide) is right, factor
    with_ours_right = EXACT.to(dtype)
    assert accepts(with_ours_right, theirs, wide) and not accepts(theirs, with_ours_right, wide)


def test_better_than_pytorch_without_double_precision_is_refused():
    with pytest.raises(AssertionError, match="^here: Tensor-likes are not close"):
        judge.assert_close(EXACT.float(), off_by(torch.float32, UNITS), where="here")


def test_nothing_is_asked_within_the_tolerance():
    def never():
        raise ValueError("asked")

    judge.assert_close(off_by(torch.float32, 0.02 * UNITS), EXACT.float(), never)
    with pytest.raises(ValueError, match="asked"):
        judge.assert_close(off_by(torch.float32, 3 * UNITS), EXACT.float(), never)


def put(x, place, value):
    """A copy with one number replaced."""
    x = x.clone()
    x[place] = value
    return x


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_and_infinity(dtype, value):
    theirs = off_by(dtype, UNITS)
    wide = EXACT.to(torch.complex128) if dtype.is_complex else EXACT
    # In the place of a number, wherever PyTorch is off, and also if the double precision has it.
    for place in range(len(EXACT)):
        assert not accepts(put(theirs, place, value), theirs, wide)
        assert not accepts(put(theirs, place, value), theirs, put(wide, place, value))
    # The same in both, and the rest is judged.
    mine, other = put(off_by(dtype, -UNITS), 3, value), put(theirs, 3, value)
    assert accepts(mine, other, wide) and accepts(mine, other, put(wide, 3, value))
    assert not accepts(put(off_by(dtype, -3 * UNITS), 3, value), other, wide)
    # A number where PyTorch overflows on its way: by the tolerance alone.
    assert accepts(off_by(dtype, -UNITS), other, wide)
    assert not accepts(put(off_by(dtype, -UNITS), 3, 51.5), other, wide)
    if value == value:
        assert not accepts(put(theirs, 3, -value), other, wide)


def test_integers_bools_dtypes_and_shapes_are_exact():
    ints = torch.tensor([1, 2, 3])
    assert accepts(ints, ints, ints) and not accepts(put(ints, 1, 3), ints, put(ints, 1, 3))
    bools = torch.tensor([True, False])
    assert not accepts(bools, ~bools, bools)
    theirs = off_by(torch.float32, UNITS)
    assert not accepts(EXACT, theirs, EXACT)
    assert not accepts(EXACT.float()[None], theirs, EXACT)
    assert not accepts(EXACT.float(), theirs, EXACT[:1])


def test_double_precision_has_the_tolerance_alone():
    theirs = off_by(torch.float64, UNITS)
    assert not accepts(off_by(torch.float64, 3 * UNITS), theirs, theirs)


def test_one_element_far_off_covers_no_other():
    exact = torch.tensor([2000.0, 1.0, 0.5], dtype=torch.float64)
    theirs = torch.tensor([2100.0, 1.0, 0.5])  # as the gradient of asin is beside 1
    assert accepts(torch.tensor([1900.0, 1.0, 0.5]), theirs, exact)
    assert accepts(torch.tensor([1801.0, 1.0, 0.5]), theirs, exact)
    assert not accepts(torch.tensor([1799.0, 1.0, 0.5]), theirs, exact)
    assert not accepts(torch.tensor([2000.0, 2.0, 0.5]), theirs, exact)


def test_large_elements_cover_no_small_one():
    exact = torch.tensor([1e8, 1e-2], dtype=torch.float64)
    theirs = torch.tensor([1e8 + 104, 1e-2])  # within the tolerance of the large one, by far
    assert not accepts(torch.tensor([1e8, 1.1e-2]), theirs, exact)


def test_a_sum_that_cancels():
    """Little is left of large terms: both are off by the rounding of the terms, PyTorch by more."""
    exact = torch.tensor([100.0, 1e-3], dtype=torch.float64)
    assert accepts(torch.tensor([100.0, 1e-3 + 3e-5]), torch.tensor([100.0002, 1e-3]), exact)
    assert not accepts(torch.tensor([100.0, 1e-3 + 3e-5]), torch.tensor([100.00001, 1e-3]), exact)


# ------------------------------------------------------------------------------ where it is asked

#: By how many times PyTorch's own error each number is off, and whether that is right.
TIMES = pytest.mark.parametrize("times, right", [(0.5, True), (-1.9, True), (3, False), (-3, False)])


def refused(call, *args):
    """Whether a comparison raises."""
    try:
        call(*args)
    except AssertionError:
        return True
    return False


class Sums:
    """Sums whose terms cancel; jaxflow's are made to be off by so many times PyTorch's own error."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.terms = (rng.normal(size=(4, 4000)) * 1e3).astype(np.float32)
        self.factors = rng.normal(size=4000).astype(np.float32)
        self.factors[-1] = 1
        self.terms[:, -1] = -(self.terms[:, :-1].astype(np.float64) @ self.factors[:-1].astype(np.float64))
        self.exact = self.terms.astype(np.float64) @ self.factors.astype(np.float64)
        self.theirs = self.of(torch).numpy()
        assert np.abs(self.theirs - self.exact).max() > 1e-4

    def of(self, T):
        """The sums."""
        return T.tensor(self.terms) @ T.tensor(self.factors)

    def off(self, T, times):
        """What jaxflow is made to give."""
        errors = (self.theirs - self.exact) * times
        return T.tensor((self.exact + errors).astype(np.float32))


@pytest.fixture(scope="module")
def sums():
    return Sums()


@TIMES
def test_programs(sums, times, right):
    def program(T):
        return {"sums": [sums.of(T) if T is torch else sums.off(T, times), "a text"]}

    assert refused(check_both, program) is not right


@TIMES
def test_operators(sums, times, right):
    exact = torch.from_numpy(sums.exact)
    assert refused(compare, sums.off(jaxflow, times), sums.of(torch), "here", None,
                   lambda: exact) is not right


@TIMES
@pytest.mark.parametrize("read", [lambda x: x, lambda x: x[0].item()], ids=["tensor", "number"])
def test_cases(sums, times, right, read):
    case = Case("sums", lambda T: [read(sums.of(T) if T is torch else sums.off(T, times))])
    assert refused(check, case, jaxflow) is not right


@TIMES
def test_random_programs(sums, times, right):
    def log(values):
        return [Entry("pass", None, {"t": Facts(*["" for _ in range(12)], values=torch.as_tensor(values))})]

    found = first_difference(log(sums.theirs), log(sums.off(torch, times).numpy()),
                             lambda: log(sums.exact))
    assert (found is None) is right
