"""Sorting and running totals: every dtype's order, ties, nan and -0, and each way a CPU takes."""

import numpy as np
import pytest

import jaxflow as torch

SHAPE = (4, 64)
NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


def drawn(name):
    """Numbers with many ties; of floating dtypes both zeros, infinities, nan of both signs, tiny numbers."""
    r = np.random.RandomState(5)
    if name == "bool":
        return torch.tensor(r.rand(*SHAPE) < 0.5)
    if "float" not in name:
        bounds = np.iinfo(name)
        values = r.choice([bounds.min, bounds.max, bounds.min + 1, 0, 1, 7, bounds.max // 2], SHAPE)
        return torch.tensor(values.astype(name))
    tiny = 1e-310 if name == "float64" else 1e-40 if "32" in name else 6e-8
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, tiny, -tiny, 0.5, 0.5, -0.5, 3.0]
    return torch.tensor(r.choice(special, SHAPE), dtype=getattr(torch, name))


def expected(x, descending):
    """The stable order along the last dimension, nan last or, descending, first."""
    values = (x.float() if x.dtype == torch.bfloat16 else x).numpy()
    if values.dtype.kind == "f":
        ranks = np.unique(np.where(np.isnan(values), np.nan, values + 0.0), return_inverse=True)[1]
    else:
        ranks = np.unique(values, return_inverse=True)[1]
    ranks = ranks.reshape(SHAPE)
    return np.argsort(-ranks if descending else ranks, -1, kind="stable")


@pytest.mark.parametrize("name", NAMES)
def test_orders(name, executor):
    x = drawn(name)
    for descending in (False, True):
        order = expected(x, descending)
        values, indices = torch.sort(x, descending=descending)
        np.testing.assert_array_equal(indices.numpy(), order)
        assert repr(values.tolist()) == repr(x.gather(-1, torch.tensor(order)).tolist())
        turned = torch.argsort(x.t(), 0, descending)
        np.testing.assert_array_equal(turned.numpy(), order.T)
        if name != "bool":
            for k in (3, 40):  # by XLA's kernel and by sorting everything
                np.testing.assert_array_equal(torch.topk(x, k, largest=descending)[1].numpy(), order[:, :k])
                few = torch.topk(x.t(), k, 0, largest=descending)[1]
                np.testing.assert_array_equal(few.numpy(), order[:, :k].T)


def test_few_of_many_under_vmap_and_gradients(executor):
    x = torch.tensor(np.random.RandomState(0).permutation(4 * 64).reshape(SHAPE) / 7.0).float()
    top = torch.vmap(lambda row: torch.topk(row, 4))(x)
    for got, want in zip(top, torch.topk(x, 4), strict=True):
        assert got.tolist() == want.tolist()
    leaf = x.clone().requires_grad_()
    (torch.topk(leaf, 2)[0] * torch.tensor([2.0, 3.0])).sum().backward()
    assert leaf.grad.sum(1).tolist() == [5.0] * 4
    assert (leaf.grad != 0).sum().item() == 8
    assert torch.topk(torch.zeros(2, 16), 0)[1].shape == (2, 0)


ROWS = (20, 40, 32)  # large enough to be added up row by row along the first two dimensions


def test_running_totals_row_by_row(executor):
    r = np.random.RandomState(1)
    a = r.uniform(0.5, 1.5, ROWS)
    x = torch.tensor(a)
    for axis in (0, 1, 2):
        np.testing.assert_allclose(torch.cumsum(x, axis).numpy(), np.cumsum(a, axis), rtol=1e-12)
        np.testing.assert_allclose(torch.cumprod(x, axis).numpy(), np.cumprod(a, axis), rtol=1e-12)
    counts = torch.tensor(r.randint(0, 9, ROWS).astype(np.int16))
    assert torch.cumsum(counts, 0).dtype == torch.int64
    np.testing.assert_array_equal(torch.cumsum(counts, 0).numpy(), np.cumsum(counts.numpy(), 0, np.int64))
    half = torch.ones(2100, 16, dtype=torch.bfloat16)
    assert torch.cumsum(half, 0)[-1, 0].item() == 2096.0  # 2100 in float32, rounded once
    infinite = torch.zeros(ROWS)
    infinite[3] = float("inf")
    total = torch.cumsum(infinite, 0)
    assert total[2].max().item() == 0.0
    assert total[3:].min().item() == float("inf")


def test_running_extremes_row_by_row(executor):
    a = np.random.RandomState(2).randint(0, 5, ROWS).astype(np.float32)
    a[7, 3] = np.nan
    x = torch.tensor(a)
    values, indices = torch.cummax(x, 0)
    np.testing.assert_array_equal(values.numpy(), np.maximum.accumulate(a, 0))
    last = np.zeros(ROWS[1:], np.int64)
    for i in range(1, ROWS[0]):
        best = np.take_along_axis(a, last[None], 0)[0]
        last = np.where((a[i] >= best) & ~np.isnan(best) | np.isnan(a[i]), i, last)
        np.testing.assert_array_equal(indices[i].numpy(), last)
    assert torch.cummin(x, 0)[0][-1, 0].tolist() == a.min(0)[0].tolist()


def test_derivatives_of_running_totals_row_by_row(executor):
    r = np.random.RandomState(3)
    a, w = r.uniform(0.5, 1.5, ROWS), r.uniform(-1, 1, ROWS)
    a[4, 5, 6] = 0.0  # the product of the others, where dividing by it would be nan
    x, weight = torch.tensor(a).requires_grad_(), torch.tensor(w)
    (grad,) = torch.autograd.grad((torch.cumsum(x, 0) * weight).sum(), x)
    np.testing.assert_allclose(grad.numpy(), np.cumsum(w[::-1], 0)[::-1], rtol=1e-10, atol=1e-12)
    (grad,) = torch.autograd.grad((torch.cumprod(x, 0) * weight).sum(), x, create_graph=True)
    moved = a.copy()
    moved[4, 5, 6] = 1e-6
    slope = ((np.cumprod(moved, 0) - np.cumprod(a, 0)) * w).sum() / 1e-6
    np.testing.assert_allclose(grad[4, 5, 6].item(), slope, rtol=1e-6)
    (second,) = torch.autograd.grad(grad[4, 5, 6], x)
    assert second[5, 5, 6].item() != 0.0
    along = torch.tensor(r.uniform(-1, 1, ROWS))
    _, pushed = torch.func.jvp(lambda x: torch.cumprod(x, 0), (x.detach(),), (along,))
    np.testing.assert_allclose((pushed * weight).sum().item(), (grad * along).sum().item(), rtol=1e-10)
    one = torch.vmap(lambda x: torch.cumsum(x, 0))(torch.tensor(a[:2]))
    np.testing.assert_allclose(one.numpy(), np.cumsum(a[:2], 1), rtol=1e-12)


def test_stable_is_given_by_name_and_so_is_what_follows():
    x = torch.tensor([[3, 1, 2], [1, 3, 2]])
    for name, indices in (("sort", lambda found: found.indices), ("argsort", lambda found: found)):
        method, function = getattr(x, name), getattr(torch, name)
        for args, kwargs in (((1,), {"stable": True}), ((1, True), {"stable": False}), ((True,), {}),
                             ((None,), {}), ((True, 1, True), {})):
            for call in (method, lambda *a, function=function, **k: function(x, *a, **k)):
                with pytest.raises(TypeError, match=f"{name}\\(\\) received an invalid combination"):
                    call(*args, **kwargs)
        assert indices(method(1, True)).tolist() == [[0, 2, 1], [1, 2, 0]]
        assert indices(function(x, stable=True, dim=0, descending=True)).tolist() == [[0, 1, 0], [1, 0, 1]]
