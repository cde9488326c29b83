"""Views with one plan in common: each writes where it lies, and takes the numbers that its own plan takes."""

import random

import numpy as np
import pytest

import jaxflow as torch

E = np.lib.stride_tricks.as_strided


def expanded(x, n):
    """``n`` times the tensor along a new first dimension, and the same of an array, both in one memory."""
    if isinstance(x, np.ndarray):
        return E(x, (n, *x.shape), (0, *x.strides), writeable=True)
    return x.expand(n, *x.shape)


@pytest.fixture(params=["interpreted", "compiled", "eager", "at once"])
def way(request, monkeypatch):
    """Run the test once in each way in which an operation is run."""
    from jaxflow._core import flags
    from jaxflow._core.state import state

    if request.param == "compiled":
        monkeypatch.setattr(flags, "INTERPRET", False)
    with torch.execution("eager" if request.param == "eager" else "deferred"):
        torch.flush()
        if request.param == "at once":
            state.streak = 1 << 20
        yield request.param
        torch.flush()


def test_writes_of_one_geometry_take_numbers_of_their_own(way):
    """Two views that show the same elements, found by two numbers and by three."""
    t = torch.zeros(12).expand(3, 12)
    w = t.unsqueeze(0)
    t[0, 0] = 1
    assert t.sum().item() == 3
    w[0, 0, 0] = 5
    assert (torch.arange(4) + 7).tolist() == [7, 8, 9, 10]
    assert t.tolist() == [[5.0] + [0.0] * 11] * 3
    w[0, 0, 0] = 6
    t[0, 0] = 7
    assert (torch.arange(4) + 8).tolist() == [8, 9, 10, 11]
    assert w[0, :, :2].tolist() == [[7.0, 0.0]] * 3
    t.as_strided((), (), 0).fill_(2)
    w[0, 0, 0] += 1
    assert (torch.arange(4) + 9).tolist() == [9, 10, 11, 12]
    assert t[1, :2].tolist() == [3.0, 0.0]


def test_dtype_views_of_repeated_memory_write_where_they_lie(way):
    x = torch.zeros(6)
    e = x.expand(3, 6)
    for i in (2, 3, 5):
        e[0, i].view(torch.int32).fill_(i)
    assert x.view(torch.int32).tolist() == [0, 0, 2, 3, 0, 5]
    z = torch.zeros(4, dtype=torch.complex64)
    for i in range(4):
        z.expand(2, 4)[1, i].imag.fill_(i)
        torch.view_as_real(z.expand(2, 4)[:, i])[..., 0].fill_(-i)
    assert z.tolist() == [complex(-i, i) for i in range(4)]
    assert (torch.arange(3) + 4).tolist() == [4, 5, 6]


def _step(rng, view, array):
    """One more view of a tensor, and the same of an array."""
    kinds = ["unsqueeze"]
    if view.dim():
        kinds += ["select", "select", "slice", "slice", "transpose", "expand"]
    kind = rng.choice(kinds)
    if kind == "unsqueeze":
        d = rng.randrange(view.dim() + 1)
        return view.unsqueeze(d), np.expand_dims(array, d)
    d = rng.randrange(view.dim())
    n = array.shape[d]
    if kind == "select":
        i = rng.randrange(-n, n)
        return view.select(d, i), array[(*(slice(None),) * d, i, ...)]
    if kind == "slice":
        a = rng.randrange(n)
        cut = slice(rng.choice((None, a)), rng.randrange(a + 1, n + 1), rng.choice((1, 2)))
        at = (*(slice(None),) * d, cut)
        return view[at], array[at]
    if kind == "transpose":
        other = rng.randrange(view.dim())
        return view.transpose(d, other), array.swapaxes(d, other)
    return expanded(view, 2), expanded(array, 2)


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_over_repeated_memory_write_as_in_numpy(seed, way):
    rng = random.Random(seed)
    shape, dtype = rng.choice([((12,), "float32"), ((3, 4), "float64"), ((2, 1, 5), "complex64")])
    x, y = torch.zeros(shape, dtype=getattr(torch, dtype)), np.zeros(shape, dtype)
    parents = [(expanded(x, 3), expanded(y, 3))]
    for round in range(24 if way != "compiled" else 8):
        view, array = rng.choice(parents)
        for _ in range(rng.randrange(1, 4)):
            view, array = _step(rng, view, array)
        if not array.size:
            continue
        if dtype == "complex64" and rng.random() < 0.5:
            part = rng.choice(("real", "imag"))
            view, array = getattr(view, part), getattr(array, part)
        new = rng.randrange(1, 100)
        if round % 2 and _apart(array):
            values = np.arange(new, new + array.size, dtype=array.dtype).reshape(array.shape)
            array[...] = values
            view.copy_(torch.from_numpy(values))
        else:
            array[...] = new
            view.fill_(new)
        if rng.random() < 0.7:
            view.sum().item()
        assert (torch.arange(4) + new).tolist() == [new + i for i in range(4)]
        np.testing.assert_array_equal(x.numpy(), y)
        np.testing.assert_array_equal(view.numpy(), array)
        if len(parents) < 8 and view.dtype == x.dtype:
            parents.append((view, array))


def _apart(array):
    """Whether no two elements of an array lie in one place."""
    return not any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape))


def test_gradients_through_writes_of_one_geometry(way):
    for dims in (1, 2, 3):
        x = torch.zeros(4, dtype=torch.float64, requires_grad=True)
        base = x * 1
        view = base.expand(2, 4)
        for _ in range(dims):
            view = view.unsqueeze(0)
        v = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
        view[(0,) * (dims + 1) + (1,)].copy_(v)
        (base * torch.tensor([1.0, 2, 3, 4], dtype=torch.float64)).sum().backward()
        assert x.grad.tolist() == [1, 0, 3, 4]
        assert v.grad.item() == 2
