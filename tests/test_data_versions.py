"""``x.data = y``: each of the two goes on counting its own writes, as what is saved for a backward asks."""

import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")


def counts(*tensors):
    return [t._version for t in tensors]


def test_each_counts_its_own_writes():
    x, y = torch.ones(2), torch.zeros(2)
    x.add_(1)
    y.mul_(2).mul_(2)
    x.data = y
    assert counts(x, y) == [1, 2]
    x.add_(1)
    assert counts(x, y) == [2, 2] and y.tolist() == [1.0, 1.0]
    y.add_(1)
    assert counts(x, y) == [2, 3] and x.tolist() == [2.0, 2.0]


def test_views_of_the_other_go_on_counting_with_it():
    x, y, w = torch.ones(3), torch.zeros(3), torch.ones(1, requires_grad=True)
    v = y[:1]
    x.data = y
    v.add_(w * 2)
    assert counts(x, y, v) == [0, 1, 1] and v._base is y and y._base is None
    assert x.tolist() == y.tolist() == [2.0, 0.0, 0.0] and x.grad_fn is None
    y.sum().backward()
    assert w.grad.tolist() == [2.0]


def test_exchanged_data():
    a, b = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    with torch.no_grad():
        a.add_(1)
        b.add_(1).add_(1)
    a.data, b.data = b.data, a.data
    assert counts(a, b) == [1, 2] and a.tolist() == b.tolist() == [2.0, 2.0]
    with torch.no_grad():
        a.add_(1)
    assert counts(a, b) == [2, 2] and a.tolist() == [3.0, 3.0] and b.tolist() == [2.0, 2.0]


def test_a_write_after_it_is_found_by_the_backward():
    a = torch.ones(2, requires_grad=True)
    a.data = torch.full((2,), 3.0)
    loss = (a * a).sum()
    with torch.no_grad():
        a.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_its_own_data_changes_nothing():
    a = torch.ones(2)
    a.add_(1)
    a.data = a.data
    a.data = a
    assert counts(a) == [1] and a.tolist() == [2.0, 2.0]
    a.add_(1)
    assert counts(a) == [2]
