"""Writes that reach a part of a large memory shared with NumPy: NOTE [Written in part]."""

import tracemalloc

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.shared import HostValue
from jaxflow._exec import background

LARGE = 300, 200
LAYOUTS = {
    "in a row": lambda a: a,
    "by columns": lambda a: a.T,
    "with gaps": lambda a: a[10:, ::2],
}


def at(*indices):
    return torch.tensor(indices)


def some(t, *shape):
    n = int(np.prod(shape))
    return (torch.arange(n) % 7 - 2).to(t.dtype).reshape(shape)


WRITES = {
    "rows": lambda t: t.__setitem__(at(3, 9, 3), some(t, 3, t.size(1))),
    "rows by one": lambda t: t.__setitem__(at(3, -9), 5),
    "rows by one row": lambda t: t.__setitem__(at(3, -9), some(t, t.size(1))),
    "rows by more dimensions": lambda t: t.__setitem__(at(3, -9), some(t, 1, 1, 2, 1)),
    "rows of a view": lambda t: t[2:, 3].__setitem__(at(3, -9), 4),
    "columns": lambda t: t.__setitem__((..., at(3, 4)), some(t, t.size(0), 2)),
    "elements": lambda t: t.__setitem__((at(3, 4, 3), at(5, -1, 5)), some(t, 3)),
    "a table of elements": lambda t: t.__setitem__((at(3, 4)[:, None], at(5, 5, 6)), some(t, 2, 3)),
    "apart": lambda t: t[:, None].expand(-1, 1, -1).__setitem__((at(3, 4), slice(None), at(5, -1)), 3),
    "a slice, then rows": lambda t: t.__setitem__((slice(1, 90, 3), at(7, 7, 1)), some(t, 30, 3)),
    "none": lambda t: t.__setitem__(torch.zeros(0, dtype=torch.long), 3),
    "added": lambda t: t.index_put_((at(3, 9, 3),), some(t, 3, t.size(1)), accumulate=True),
    "elements added": lambda t: t.index_put_((at(3, 4, 3), at(5, 0, 5)), some(t, 3), accumulate=True),
    "columns added": lambda t: t[..., None].index_put_(
        (torch.tensor(3), at(3, 4, 3)), some(t, 3, 1), accumulate=True),
    "index_fill_": lambda t: t.index_fill_(1, at(3, -9), 6),
    "index_copy_": lambda t: t.index_copy_(0, at(5, 5, 0), some(t, 3, t.size(1))),
    "index_copy_ of columns": lambda t: t.index_copy_(-1, at(5), some(t, t.size(0), 1)),
    "index_add_": lambda t: t.index_add_(0, at(5, 5, 0), some(t, 3, t.size(1))),
    "index_add_ of columns": lambda t: t.index_add_(1, at(5, 5).int(), some(t, t.size(0), 2), alpha=3),
    "index_reduce_": lambda t: t.index_reduce_(0, at(5, 5, 0), some(t, 3, t.size(1)), "amax"),
    "index_reduce_ alone": lambda t: t.index_reduce_(
        1, at(5, 5, 0), some(t, t.size(0), 3), "prod", include_self=False),
    "scatter_": lambda t: t.scatter_(0, at([3, 0], [3, 9]), some(t, 4, 4)),
    "scatter_ of one": lambda t: t.scatter_(1, at([3, 0], [3, 9]), 4),
    "scatter_ adds": lambda t: t.scatter_(1, at([3, 0], [3, 9]), 4, reduce="add"),
    "scatter_add_": lambda t: t.scatter_add_(1, at([3, 0, 3], [3, 9, 9]), some(t, 2, 3)),
    "scatter_reduce_": lambda t: t.scatter_reduce_(0, at([3, 0], [3, 9]), some(t, 2, 2), "mean"),
    "scatter_reduce_ alone": lambda t: t.scatter_reduce_(
        0, at([3, 0], [3, 9]), some(t, 2, 2), "amin", include_self=False),
    "put_": lambda t: t.put_(at([3, -1], [3, 900]), some(t, 2, 2)),
    "put_ adds": lambda t: t.put_(at([3, -1], [3, 900]), some(t, 2, 2), accumulate=True),
    "a mask": lambda t: t.__setitem__(t > 100, 3),
    "a mask of rows": lambda t: t.__setitem__(t[:, 0] > 100, 3),
    "a mask of rows, many numbers": lambda t: t.__setitem__(t[:, 0] == t[3, 0], some(t, 1, t.size(1))),
    "a mask of columns": lambda t: t.__setitem__((..., t[0] == t[0, 3]), 3),
    "masked_fill_": lambda t: t.masked_fill_((t[0] == t[0, 3])[None], 3),
    "masked_fill_ by a tensor": lambda t: t.masked_fill_(t[:, :1] == 7, torch.tensor(5, dtype=t.dtype)),
    "masked_scatter_": lambda t: t.masked_scatter_(t[:, :1] == t[4, 0], some(t, 900)),
    "fill_": lambda t: t.fill_(3),
    "zero_": lambda t: t[1:].zero_(),
    "everything": lambda t: t.__setitem__(..., torch.tensor(2.5, dtype=torch.float64).to(t.dtype)),
    "copy_": lambda t: t.copy_(some(t, *t.shape)),
    "copy_ of itself": lambda t: t[1:].copy_(t[:-1].clone()),
    "copy_ of a row": lambda t: t.copy_(some(t, t.size(1))),
    "fill_diagonal_": lambda t: t.fill_diagonal_(4),
}
OTHER_DTYPES = np.int64, np.uint8, np.float16, np.complex64, np.bool_


def compare(write, layout, dtype):
    whole = (np.arange(60000) % 251).astype(dtype).reshape(LARGE)
    t = torch.from_numpy(LAYOUTS[layout](whole))
    other = t.clone()
    assert t._storage.value.__class__ is HostValue and other._storage.value.__class__ is not HostValue
    kept = t[..., 1:]
    WRITES[write](t)
    WRITES[write](other)
    assert torch.equal(t, other) and torch.equal(kept, other[..., 1:])
    assert np.array_equal(LAYOUTS[layout](whole), other.numpy())
    assert t._version == other._version


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_written_is_what_other_tensors_get(write, layout):
    compare(write, layout, np.float32)


@pytest.mark.parametrize("dtype", OTHER_DTYPES)
def test_dtypes(dtype):
    for write in ("rows", "added", "index_fill_", "index_add_", "index_copy_", "scatter_", "scatter_add_",
                  "put_ adds", "masked_fill_", "masked_scatter_", "fill_", "copy_"):
        if not (write == "masked_scatter_" and dtype == np.bool_):  # a mask of too many
            compare(write, "in a row", dtype)


def peak_of(write):
    """The most bytes that Python allocates while this is written."""
    background.submit(lambda: None).result()  # those of other threads count: earlier tests may still compile
    tracemalloc.start()
    try:
        write()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("write", [w for w in WRITES if "mask" not in w and "zero_" not in w])
def test_no_more_than_the_part_is_computed(write):
    if write in ("copy_", "copy_ of itself"):
        return  # whose operand is as large
    whole = np.zeros((4000, 500), np.float32)
    t = torch.from_numpy(whole)
    WRITES[write](t)
    assert peak_of(lambda: WRITES[write](t)) < whole.nbytes / 8


def test_a_mask_costs_no_copy_of_what_it_is_laid_over():
    whole = np.zeros((4000, 500), np.float32)
    t, rows = torch.from_numpy(whole), torch.arange(4000) % 900 == 3
    for write in (lambda: t.masked_fill_(rows[:, None], 2), lambda: t.__setitem__(rows, 3)):
        write()
        assert peak_of(write) < whole.nbytes / 8
    assert whole.sum() == 3 * 500 * 5


def test_an_index_that_is_pending_is_looked_at_before_the_write(executor):
    whole = np.zeros(LARGE)
    t = torch.from_numpy(whole)
    pending = torch.randint(0, 300, (4,)) * 0 + 3
    t[pending] = 2
    assert whole[3].all() and whole.sum() == 400
    with pytest.raises(IndexError, match="index 300 is out of bounds for dimension 0 with size 300"):
        t[pending + 297] = 5
    with pytest.raises(RuntimeError, match="index 300 is out of bounds for dimension 0 with size 300"):
        t.scatter_(0, (pending + 297)[None], 5.0)
    with pytest.raises(IndexError, match="index 300 is out of bounds for dimension 0 with size 300"):
        t.index_fill_(0, pending + 297, 5)
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        t[pending] = torch.zeros(3, 7, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="Index put requires the source and destination dtypes match"):
        t[pending] = torch.zeros(200)
    assert whole.sum() == 400 and t._version == 1


def test_gradients_and_inference_know_of_such_writes():
    whole = np.ones(LARGE, np.float32)
    t, w = torch.from_numpy(whole), torch.ones(LARGE[1], requires_grad=True)
    t[at(1, 2)] = (w * 3).expand(2, -1)
    assert t.requires_grad and whole[1, 0] == 3
    t.sum().backward()
    assert w.grad.tolist() == [6] * LARGE[1]
    t = torch.from_numpy(whole)
    loss = (t * w).sum()
    t[at(1)] = 5
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        loss.backward()
    loss = (t * w).sum()
    t.data[at(1)] = 7  # unseen
    w.grad = None
    loss.backward()
    assert w.grad[0].item() == 298 + 3 + 7
    leaf = torch.from_numpy(whole).requires_grad_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf[at(1)] = 2
    with torch.no_grad():
        leaf[at(1)] = 2
    assert whole[1, 0] == 2 and leaf.requires_grad and leaf.is_leaf


def test_what_lies_twice_in_memory_is_refused_as_ever():
    whole = np.zeros(LARGE)
    t = torch.from_numpy(whole).as_strided((400, 200), (0, 1), 0)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to"):
        t.copy_(torch.ones(400, 200, dtype=t.dtype))
    assert not whole.any()
    t.fill_(3)
    assert whole[0].all() and whole.sum() == 600


@pytest.mark.parametrize("shape", [(3, 4), LARGE])
def test_an_index_of_the_same_program_is_computed_first(shape, deferred, compiled):
    whole = np.zeros(shape)
    t = torch.from_numpy(whole)
    index = (torch.arange(2) * 0 + 1).to(torch.int64)
    t.scatter_add_(0, index[None] * 2, torch.ones(1, 2).double() * 3)
    t.index_fill_(1, index + 2, 5)
    t[index] = 7
    assert whole[2].tolist()[:4] == [3, 3, 0, 5] and (whole[1] == 7).all()
    with pytest.raises(IndexError, match="index 301 is out of bounds"):
        t[index + 300] = 7
