"""In-place writes to tensors that show an element several times: which pass, and what they leave."""

import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")
DEPRECATED = "on expanded tensors is deprecated"


def rows():
    """Two rows that are one in memory, and that memory."""
    base = torch.zeros(1, 3)
    return base.expand(2, 3), base


@pytest.mark.parametrize("write, left", [
    (lambda x: x.__setitem__(torch.tensor([True, False]), 2.0), [2, 2, 2]),
    (lambda x: x.__setitem__(torch.tensor([1, 0]), torch.tensor([[1.0], [2.0]])), [2, 2, 2]),
    (lambda x: x.__setitem__((slice(None), torch.tensor([0, 2])), torch.arange(4.0).view(2, 2)), [2, 0, 3]),
    (lambda x: x.masked_fill_(torch.tensor([True, False, True]), 3.0), [3, 0, 3]),
    (lambda x: x.index_fill_(1, torch.tensor([1]), 3.0), [0, 3, 0]),
    (lambda x: x.index_put_((torch.tensor([0, 1]),), torch.ones(3), accumulate=True), [2, 2, 2]),
])
def test_by_index_and_mask_with_a_warning(write, left):
    x, base = rows()
    with pytest.warns(UserWarning, match=DEPRECATED):
        write(x)
    assert base.tolist() == [left] and x.tolist() == [left, left]
    assert x._version == base._version == 1


@pytest.mark.parametrize("write, left", [
    (lambda x: x.fill_diagonal_(2.0), [2, 2, 0]),
    (lambda x: (x[0].fill_(7.0), x.triu_()), [0, 7, 7]),
    (lambda x: (x[0].fill_(7.0), x.tril_()), [7, 0, 0]),
    (lambda x: x.zero_(), [0, 0, 0]),
])
def test_diagonals_and_numbers(write, left):
    x, base = rows()
    write(x)
    assert base.tolist() == [left] and x.tolist() == [left, left]


def test_what_would_depend_on_an_order_is_refused():
    x, base = rows()
    for write in (lambda: x.add_(1), lambda: x.copy_(torch.ones(2, 3)), lambda: x.put_(
            torch.tensor([0]), torch.ones(1)), lambda: x.index_add_(0, torch.tensor([0]), torch.ones(1, 3))):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write()
    assert base.tolist() == [[0, 0, 0]] and base._version == 0


def test_in_the_middle_of_a_storage():
    base = torch.arange(8.0)
    x = base.as_strided((2, 3), (0, 2), 1)  # elements 1, 3, 5
    with pytest.warns(UserWarning, match=DEPRECATED):
        x.masked_fill_(torch.tensor([[False, True, False], [False, False, True]]), -1.0)
    assert base.tolist() == [0, 1, 2, -1, 4, -1, 6, 7]


def test_gradients_that_are_parts_of_one_memory_are_all_added(executor):
    store = torch.zeros(2, 3)
    x, w = torch.ones(3, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)
    x.grad, w.grad = store[0], store[1]
    (x * w).sum().backward()
    (x * w).sum().backward()
    assert store.tolist() == [[4.0] * 3, [2.0] * 3] and x.grad.tolist() == [4.0] * 3
