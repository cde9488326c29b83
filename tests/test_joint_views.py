"""Pieces of one node (split, chunk, unbind): their gradients, whichever of them are used."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._transforms.vjp import vjp_of

CUTS = [
    (lambda x: x.split(2, dim=1), 3),
    (lambda x: x.chunk(3, dim=-1), 3),
    (lambda x: x.split([1, 0, 5], dim=1), 3),
    (lambda x: x.unbind(0), 4),
    (lambda x: x.split(1, dim=1), 6),
    (lambda x: torch.stack([x] * 3).unbind(), 3),
    (lambda x: x.repeat(1, 2).split(1, dim=1), 12),  # too many to be one concatenation
]


@pytest.mark.parametrize("cut, count", CUTS)
def test_gradients_of_pieces_used_never_once_and_twice(executor, cut, count):
    values = np.arange(24, dtype=np.float32).reshape(4, 6) / 7 - 1
    x = torch.tensor(values, requires_grad=True)
    for used in [(0,), (count - 1, 0), (count - 1, count - 1), range(count)]:
        parts = cut(x)
        assert len(parts) == count
        total = sum((parts[i] ** 3).sum() for i in used)
        (first,) = torch.autograd.grad(total, x, create_graph=True)
        (second,) = torch.autograd.grad((first ** 2).sum(), x)
        # How often an element is counted is the gradient of its sum.
        (times,) = torch.autograd.grad(sum(part.sum() for part in map(cut(x).__getitem__, used)), x)
        n = times.numpy()
        np.testing.assert_allclose(first.detach().numpy(), n * 3 * values**2, rtol=1e-5)
        np.testing.assert_allclose(second.numpy(), n**2 * 36 * values**3, rtol=1e-5)


def test_a_gradient_counts_the_pieces_that_were_used(executor):
    x = torch.ones(2, 6, requires_grad=True)
    a, b, c = x.split(2, dim=1)
    ((2 * a).sum() + c.sum() + (3 * c).sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[2, 2, 0, 0, 4, 4]] * 2)
    assert b.grad_fn is a.grad_fn


def test_few_pieces_have_one_concatenation_for_a_gradient():
    x = torch.ones(4, 6, requires_grad=True)
    for part in (x.chunk(3, dim=1)[0], x.unbind(0)[0]):
        jaxpr = str(vjp_of(part.grad_fn._plan, (True,)).plan.jaxpr)
        assert "concatenate" in jaxpr
        assert "pad[" not in jaxpr


def test_rows_of_one_shape_share_the_plan_of_their_pieces():
    x = torch.ones(5, 6, requires_grad=True)
    plans = [row.chunk(2)[0].grad_fn._plan for row in (*x, torch.ones(6, requires_grad=True))]
    assert len({*plans}) == 1
    row = x[0]
    others = row.chunk(3), row.split([2, 4]), row.unbind(), x.chunk(2)
    assert len({plans[0], *(pieces[0].grad_fn._plan for pieces in others)}) == 5


@pytest.mark.parametrize("view", [lambda t: t.split(1)[0], lambda t: t.unbind()[0], lambda t: t[:1]])
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_what_is_seen_of_a_view_made_in_inference_mode_is_refused_for_that(view, mode, executor):
    x = torch.ones(2, 2, requires_grad=True) * 1
    with torch.inference_mode():
        made = x[:]
    with mode():
        seen = view(made)
    with torch.no_grad():
        x.tanh_()
    with pytest.raises(RuntimeError, match="created in inference mode"):
        seen.grad_fn  # noqa: B018


def test_strides_over_another_dtype_leave_out_bytes_that_make_no_element(executor):
    t = torch.arange(7, dtype=torch.uint8)
    whole = t[:4].view(torch.int16)
    last = whole.as_strided((1,), (1,), 1)
    assert last.tolist() == [0x0302] and whole.as_strided((3,), (1,), 0).tolist() == [0x0100, 0x0302, 0x0504]
    last.fill_(0x0909)
    assert t.tolist() == [0, 1, 9, 9, 4, 5, 6]
