"""Python numbers from 2**63 on, which PyTorch takes as integers without a sign."""

import pytest

import jaxflow as torch

BIG = 2**63


@pytest.mark.usefixtures("executor")
def test_beside_floating_numbers_they_are_floating():
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([1.0, -2.0], dtype=dtype)
        assert (x - BIG).tolist() == (x - float(BIG)).tolist()
        assert (x * BIG).tolist() == [float(BIG), -2.0 * BIG]
        assert (BIG - x).dtype is dtype
        assert (x < BIG).tolist() == [True, True]
        y = x.clone()
        y += BIG
        assert y.tolist() == [float(BIG)] * 2
        assert torch.full((2,), BIG, dtype=dtype).tolist() == [float(BIG)] * 2
    assert (torch.tensor([2]) / BIG).tolist() == pytest.approx([2.0 / BIG])
    assert torch.ones(1, requires_grad=True).mul(BIG).requires_grad


@pytest.mark.usefixtures("executor")
def test_beside_integers_they_count_by_their_bits():
    x = torch.tensor([1, 2])
    assert (x + BIG).tolist() == [1 - BIG, 2 - BIG]
    assert (x * BIG).tolist() == [-BIG, 0]
    assert (x == BIG).tolist() == [False, False]
    assert (x % (BIG + 5)).tolist() == [6 - BIG, 7 - BIG]
    assert (x.to(torch.uint8) + BIG).tolist() == [1, 2]


@pytest.mark.usefixtures("executor")
def test_what_nothing_holds_is_refused():
    x, mask = torch.tensor([1, 2]), torch.tensor([True, False])
    for call in (lambda: x.fill_(BIG), lambda: x ** BIG, lambda: torch.where(mask, x, BIG)):
        with pytest.raises(RuntimeError, match="cannot be converted to type int64_t without overflow"):
            call()
    with pytest.raises(RuntimeError, match="attempted to promote Bool and UInt64"):
        mask + BIG
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.ones(2) + 2**64
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        torch.ones(2) + (-BIG - 1)
    pending = torch.ones(2) + 1
    with pytest.raises(OverflowError):
        pending * 2**64
    assert pending.tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("ignore:This overload of")
@pytest.mark.usefixtures("executor")
def test_a_factor_may_follow_a_number():
    x = torch.tensor([1.0, 2.0])
    assert torch.add(x, 1, 2).tolist() == x.add(1, 2).tolist() == [3.0, 4.0]
    assert x.sub(1, 2).tolist() == torch.subtract(x, 1, 2).tolist() == [-1.0, 0.0]
    assert torch.rsub(x, 1, 2).tolist() == [-1.0, -3.0]
    assert torch.add(torch.tensor([1]), 1, 2.5).tolist() == [3.5]
    assert x.clone().add_(1, 2).tolist() == [3.0, 4.0]
    with pytest.raises(TypeError):
        torch.add(x, x, 2)
    with pytest.raises(TypeError):
        torch.mul(x, 1, 2)
