"""Indices that name nothing, slices that do not fit, and what PyTorch says of them."""

import pytest

import jaxflow as torch

F = torch.nn.functional


def pending(numbers):
    """An index tensor that is pending."""
    return torch.tensor(numbers) * 1


def refused(kind, words, call):
    """Looking at what ``call`` gives raises ``kind``, where the index is known and where it is pending."""
    for index in (torch.tensor, pending):
        with pytest.raises(kind, match=words):
            call(index).tolist()


@pytest.mark.usefixtures("executor")
def test_take_along_dim_counts_modulo_the_size():
    x = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    for index in (torch.tensor, pending):
        assert x.take_along_dim(index([[2, -3, 5]]), 0).tolist() == [[0.0, 4.0, 5.0]]
        assert x.take_along_dim(index([[-1], [3]]), 1).tolist() == [[2.0], [3.0]]
    assert torch.ones(1, 3).take_along_dim(torch.ones(4, 5).long(), 1).shape == (4, 5)
    assert torch.ones(2, 0).take_along_dim(torch.ones(2, 0).long(), 1).shape == (2, 0)
    refused(RuntimeError, "ZeroDivisionError", lambda i: torch.ones(2, 0).take_along_dim(i([[1], [1]]), 1))
    refused(RuntimeError, "The size of tensor a .2. must match the size of tensor b .4.",
            lambda i: torch.ones(2, 3).take_along_dim(i([[1]] * 4), 1))
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    x.take_along_dim(torch.tensor([[4]]), 1).sum().backward()
    assert x.grad.tolist() == [[0, 1, 0], [0, 1, 0]]


@pytest.mark.usefixtures("executor")
def test_take_along_dim_of_all_elements():
    x = torch.tensor([5.0, 6.0])
    assert torch.take_along_dim(x, torch.tensor([1, 0, 1], dtype=torch.int32)).tolist() == [6.0, 5.0, 6.0]
    for wrong in (2, -1):
        refused(RuntimeError, f"index {wrong} is out of bounds for dimension 0 with size 2",
                lambda i, wrong=wrong: torch.take_along_dim(x, i([wrong])))
    with pytest.raises(RuntimeError, match="dtype of indices should be Long but got Int"):
        torch.take_along_dim(x, torch.tensor([1], dtype=torch.int32), 0)
    with pytest.raises(IndexError, match="tensor has no dimensions"):
        torch.take_along_dim(torch.ones(()), torch.tensor(0), 0)


@pytest.mark.parametrize("name", ["index_add", "index_reduce"])
def test_slices_that_do_not_fit(name):
    last = ("mean",) if name == "index_reduce" else ()
    x, i = torch.ones(2, 3), torch.tensor([0])
    for source in (torch.ones(1, 1), torch.ones(3, 1)):
        with pytest.raises(RuntimeError, match="source tensor shape must match self tensor shape"):
            getattr(x, name)(-1, i, source, *last)
    with pytest.raises(RuntimeError, match=rf"{name}_\(\): Number of indices \(1\) should be equal"):
        getattr(x, name)(1, i, torch.ones(2, 2), *last)
    with pytest.raises(RuntimeError, match=r"self \(Float\) and source \(Double\) must have the same"):
        getattr(x, name)(1, i, torch.ones(2, 1).double(), *last)
    with pytest.raises(RuntimeError, match="Indexing dim 1 is out of bounds of the source tensor with dim 1"):
        getattr(x, name)(1, i, torch.ones(1), *last)
    with pytest.raises(IndexError, match="Index is supposed to be a vector"):
        getattr(x, name)(1, torch.tensor([[0]]), torch.ones(2, 1), *last)


@pytest.mark.usefixtures("executor")
def test_no_index_of_empty_slices_is_looked_at():
    x = torch.ones(2, 0, 1)
    for index in (torch.tensor, pending):
        i = index([7])
        assert x.index_copy(2, i, x).shape == x.index_add(2, i, x).shape == x.index_fill(2, i, 3.0).shape
    refused(IndexError, "index out of range in self", lambda i: x.index_reduce(2, i([7]), x, "mean"))
    refused(IndexError, r"Number of indices \(2\) should be equal", lambda i: x.index_copy(2, i([7, 8]), x))
    refused(IndexError, "out of bounds for dimension 0", lambda i: torch.ones(2, 1).index_copy(
        0, i([2]), torch.ones(1, 1)))


@pytest.mark.usefixtures("executor")
def test_looking_up_where_there_is_nothing():
    words = r"index_select\(\): self indexing axis dim should be positive"
    refused(RuntimeError, words, lambda i: torch.ones(0, 1).index_select(0, i([1])))
    refused(RuntimeError, words, lambda i: F.embedding(i([0]), torch.ones(0, 3)))
    refused(RuntimeError, "INDICES element is out of DATA bounds, id=3",
            lambda i: F.embedding(i([3]), torch.ones(2, 0)))
    refused(IndexError, "index out of range in self", lambda i: torch.ones(0).index_select(0, i([0])))
    refused(IndexError, r"put_\(\): Tried to put elements into an empty tensor",
            lambda i: torch.ones(0).put(i([0]), torch.ones(1)))
    refused(RuntimeError, "takes value 5 which is not in the valid range",
            lambda i: F.embedding_bag(i([5]), torch.ones(2, 3), torch.tensor([0])))
    assert torch.ones(0, 1).index_select(0, pending([0])[:0]).shape == (0, 1)


def test_pieces_of_another_dtype():
    x = torch.tensor([1.0, 4.0])
    assert torch.diff(x, append=torch.tensor([9])).tolist() == [3.0, 5.0]
    assert torch.diff(torch.tensor([1, 4]), prepend=x).dtype is torch.float32


def test_pieces_that_do_not_fit():
    with pytest.raises(RuntimeError, match="expects prepend or append to be the same dimension as input"):
        torch.diff(torch.ones(2, 1), dim=-2, append=torch.ones(3))
    with pytest.raises(RuntimeError, match="except along the differencing dimension; input.size.1. = 1, but"):
        torch.diff(torch.ones(2, 1), dim=-2, prepend=torch.ones(3, 3))
    with pytest.raises(RuntimeError, match="The size of tensor a .3. must match the size of tensor b .5."):
        torch.cross(torch.ones(2, 3, 3), torch.ones(2, 3, 5), dim=1)


@pytest.mark.parametrize("shape,dim,layout", [
    ((0,), 0, r"sizes \[1\], strides \[0\], storage offset 0, and itemsize 4 requiring a storage size of 4 "),
    ((3, 0), -1, r"sizes \[3, 1\], strides \[1, 0\], storage offset 0, and itemsize 4 requiring a storage "),
    ((2, 0, 3), 1, r"sizes \[2, 1, 3\], strides \[3, 0, 1\], storage offset 0, and itemsize 4 requiring a "),
])
def test_slices_written_where_there_are_none(shape, dim, layout):
    index = torch.tensor([0])
    source = torch.ones([s or 1 for s in shape])
    for call in (lambda: torch.ones(shape).index_copy(dim, index, source),
                 lambda: torch.ones(shape).index_copy_(dim, index, source),
                 lambda: torch.ones(shape).index_fill(dim, index, 2),
                 lambda: torch.ones(shape).index_fill_(dim, index, torch.tensor(2.0))):
        with pytest.raises(RuntimeError, match="setStorage: " + layout):
            call()
    none = torch.ones(shape)
    assert none.index_fill(dim, index[:0], 2).shape == shape
    # There are none in the other dimensions: nothing is written.
    assert torch.ones(2, 0, 0).index_fill(1, index, 2).shape == (2, 0, 0)
    # A view's memory has the room.
    with pytest.raises(IndexError, match="index 0 is out of bounds for dimension 0 with size 0"):
        torch.ones(4, 3)[:0].index_fill_(0, index, 1)


def test_index_fill_counts_from_the_end(executor):
    x = torch.zeros(5, 2)
    assert x.index_fill(0, torch.tensor([-1, 3]), 2).sum(1).tolist() == [0, 0, 0, 4, 4]
    x.index_fill_(1, torch.tensor([-2]), 3)
    assert x.tolist() == [[3, 0]] * 5
    with pytest.raises(IndexError, match="index -3 is out of bounds for dimension 1 with size 2"):
        x.index_fill_(1, torch.tensor([-3]), 3)
    with pytest.raises(IndexError, match="index -1 is out of bounds"):
        x.index_copy_(1, torch.tensor([-1]), torch.ones(5, 1))


@pytest.mark.parametrize("reduce, kernel", [("amin", "minimum_cpu"), ("amax", "maximum_cpu")])
def test_complex_numbers_are_compared_when_the_first_slice_is_reached(reduce, kernel):
    x = torch.ones(3, 2, dtype=torch.complex64)

    def reduced(*index, of=x, source=None):
        source = torch.ones(len(index), 2, dtype=torch.complex64) if source is None else source
        return of.index_reduce(0, torch.tensor(index, dtype=torch.int64), source, reduce)

    for index in ([5], [5, 1], [-1]):
        with pytest.raises(IndexError, match="index out of range in self"):
            reduced(*index)
    for index in ([1], [1, 5]):
        with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for 'ComplexFloat'"):
            reduced(*index)
    assert (reduced() == x).all()
    with pytest.raises(IndexError, match=r"select\(\): index 0 out of range for tensor"):
        reduced(3, of=x[:0])
    with pytest.raises(RuntimeError, match="source tensor shape must match self tensor shape"):
        reduced(5, 1, source=torch.ones(2, 3, dtype=torch.complex64))
    with pytest.raises(RuntimeError, match="does not support automatic differentiation for"):
        reduced(of=x.clone().requires_grad_())
