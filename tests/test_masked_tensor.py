"""Tensors that carry a mask: NOTE [Tensors with a mask]."""

import copy
import io
import math
import pickle
import threading
import warnings

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow.masked import MaskedTensor, as_masked_tensor, is_masked_tensor

pytestmark = [pytest.mark.filterwarnings(f"ignore:{text}") for text in (
    "The PyTorch API of MaskedTensors", "It is not recommended to create a MaskedTensor with")]

MASK = [True, False, True]


def masked(data=(1.0, math.nan, 3.0), mask=MASK, grad=False):
    return torch.masked.masked_tensor(torch.tensor(data), torch.tensor(mask), requires_grad=grad)


@pytest.mark.usefixtures("executor")
def test_numbers_at_masked_places_reach_no_others():
    for name in ("sum", "mean", "prod", "amin", "amax", "var", "std", "norm"):
        t = masked(grad=True)
        out = getattr(torch, name)(t) if name != "norm" else torch.norm(t, dim=0)
        expected = torch.tensor([1.0, 3.0], requires_grad=True)
        whole = getattr(torch, name)(expected) if name != "norm" else torch.norm(expected)
        assert out.get_data().item() == pytest.approx(whole.item()) and out.get_mask().item()
        out.backward()
        (wanted,) = torch.autograd.grad(whole, expected)
        assert is_masked_tensor(t.grad) and t.grad.get_mask().tolist() == MASK
        assert t.grad.get_data()[::2].tolist() == pytest.approx(wanted.tolist())


@pytest.mark.usefixtures("executor")
def test_gradients_of_ordinary_tensors_are_masked():
    x = torch.tensor([1.0, 1.0], requires_grad=True)
    divisor = torch.tensor([0.0, 1.0])
    as_masked_tensor(x / divisor, divisor != 0).sum().backward()
    assert x.grad.get_mask().tolist() == [False, True] and x.grad.to_tensor(0.0).tolist() == [0.0, 1.0]
    w = torch.tensor(2.0, requires_grad=True)
    (masked() * w).sum().backward()
    assert w.grad.get_data().item() == 4.0
    x.grad = None
    (as_masked_tensor(x * 3, divisor != 0).sum() + 1).backward()
    x.data = x.detach() - 0.5 * x.grad.to_tensor(0.0)
    assert x.tolist() == [1.0, -0.5]


def test_second_derivatives():
    t = masked([0.5, 2.0, 1.5], grad=True)
    (first,) = torch.autograd.grad((t.exp() * t).sum(), t, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), t)
    x = np.array([0.5, 1.5])
    assert second.get_data()[::2].tolist() == pytest.approx(np.exp(x) * (x + 2), rel=1e-5)


def test_what_would_mix_masked_numbers_is_refused():
    x = torch.ones(2, 3, requires_grad=True)
    mask = torch.tensor([MASK, MASK])
    for y, words in ((x.softmax(1), "SoftmaxBackward0, which would mix"),
                     (x @ torch.ones(3, 3), "MmBackward0"),
                     (x * torch.ones(3, requires_grad=True), "expand its operands to one shape")):
        with pytest.raises(NotImplementedError, match=words):
            as_masked_tensor(y, mask).sum().backward()
    t = masked()
    for call in (lambda: t @ t, lambda: torch.relu(t), lambda: t.T, lambda: torch.nn.functional.dropout(t),
                 lambda: torch.linalg.norm(t), lambda: t.imag):
        with pytest.raises(TypeError, match="no implementation found for"):
            call()
    with pytest.raises(NotImplementedError, match="out= is not taken"):
        torch.sin(t, out=torch.ones(3))
    with pytest.raises(NotImplementedError, match="inside of vmap"):
        torch.vmap(lambda x: torch.masked.masked_tensor(x, x > 0).sum())(torch.ones(2, 3))
    with pytest.raises(NotImplementedError, match=r"inside of jax\.jit"):
        jax.jit(lambda x: torch.masked.masked_tensor(x, torch.tensor(MASK)))(torch.ones(3))
    with torch.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="no tangents"):
        x = torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3))
        torch.masked.masked_tensor(x, torch.tensor(MASK))


def test_in_place():
    t = masked([1.0, 2.0, 3.0])
    again = t
    t += 1
    assert t is again and t.mul_(2) is t and t.to_tensor(0.0).tolist() == [4.0, 0.0, 8.0] and t._version == 2
    with pytest.raises(RuntimeError, match="takes no in-place operation"):
        masked(grad=True).add_(1)
    with pytest.raises(TypeError, match="does not write a MaskedTensor into a tensor without a mask"):
        torch.ones(3).add_(t)
    before = t.to_tensor(0.0).tolist()
    with pytest.raises(ValueError, match="Input masks must match"):
        t.add_(masked(mask=[True, True, True]))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        t.add_(torch.ones(2, 3))
    assert t.to_tensor(0.0).tolist() == before


def test_the_tensors_that_it_was_made_of_stay_apart():
    data, mask = torch.ones(3), torch.tensor(MASK)
    t = torch.masked.masked_tensor(data, mask)
    data.zero_()
    mask.fill_(False)
    assert t.get_data().tolist() == [1.0] * 3 and t.get_mask().tolist() == MASK
    part = t[:2]
    t.mul_(0)
    assert part.get_data().tolist() == [1.0, 1.0]


def test_copies_and_subclasses():
    t = masked(grad=True)
    other = copy.deepcopy(t)
    assert repr(other) == repr(t) and other.requires_grad and other is not t
    assert isinstance(t, MaskedTensor) and isinstance(t, torch.Tensor)
    assert type(t.sin()) is MaskedTensor and type(t.get_data()) is torch.Tensor
    assert t.detach().requires_grad is False and t.data.grad_fn is None


def test_it_is_not_taken_for_another_tensor():
    t = masked([1.0, 2.0, 3.0])
    for error, call in (
        (NotImplementedError, lambda: torch.save(t, io.BytesIO())),
        (TypeError, lambda: pickle.dumps(t)),
        (TypeError, lambda: np.asarray(t)),
        (TypeError, lambda: torch.tensor([t.sum()])),
        (TypeError, lambda: t.__setitem__(0, 1.0)),
        (TypeError, lambda: torch.ones(3)[t > 1]),
        (RuntimeError, lambda: setattr(t, "data", torch.ones(3))),
        (RuntimeError, lambda: setattr(torch.ones(3).to_sparse(), "data", t)),
    ):
        with pytest.raises(error):
            call()
    t.data = masked([4.0, 5.0, 6.0])
    assert t.sum().item() == 10.0
    weight = torch.nn.Parameter(torch.ones(3))
    as_masked_tensor(weight * 2, torch.tensor(MASK)).sum().backward()
    with pytest.raises(NotImplementedError, match="MaskedTensor: call to_tensor"):
        torch.optim.SGD([weight], 0.1).step()
    weight.grad = weight.grad.to_tensor(0.0)
    torch.optim.SGD([weight], 0.5).step()
    assert weight.tolist() == [0.0, 1.0, 0.0]


def test_within_compiled_functions():
    def step(data, mask):
        return torch.masked.masked_tensor(data, mask).mean().get_data()

    compiled = torch.compile(step)
    for scale in (1.0, 2.0, 3.0, 4.0):
        data = torch.tensor([1.0, 5.0, 3.0]) * scale
        assert compiled(data, torch.tensor(MASK)).item() == 2 * scale
    t = masked([1.0, 2.0, 3.0])
    outer = torch.compile(lambda x: (t * x).sum().get_data())
    assert [outer(torch.full((3,), n)).item() for n in (1.0, 2.0, 3.0)] == [4.0, 8.0, 12.0]
    given = torch.compile(lambda t: t.sum().get_data())
    assert [given(t * n).item() for n in (1.0, 2.0, 3.0)] == [4.0, 8.0, 12.0]


def test_threads():
    found = []

    def work(n):
        with warnings.catch_warnings():
            found.append((masked([1.0, 2.0, 3.0]) * n).sum().get_data().item())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [4.0, 8.0, 12.0, 16.0]


def test_sparse_data_have_gradients():
    t = torch.masked.masked_tensor(torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
                                   torch.tensor([[True, False], [True, True]]), requires_grad=True)
    for convert in ("to_sparse", "to_sparse_csr"):
        t.grad = None
        getattr(t, convert)().square().sum().backward()
        assert t.grad.to_tensor(0.0).tolist() == [[2.0, 0.0], [6.0, 8.0]]
