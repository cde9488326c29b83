"""Matrices kept orthogonal."""

import copy
import math

import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.nn.utils import parametrize
from jaxflow.nn.utils.parametrizations import orthogonal

MAPS = ("matrix_exp", "cayley", "householder")


def distance(Q):
    """How far the columns, or the rows where those are fewer, are from orthonormal."""
    Q = Q.mT if Q.shape[-2] < Q.shape[-1] else Q
    return (Q.mH @ Q - torch.eye(Q.shape[-1], dtype=Q.dtype)).abs().max().item()


class Held(nn.Module):
    def __init__(self, *shape, dtype=torch.float64):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(*shape, dtype=dtype))


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (2, 5, 3), (1, 3)])
@pytest.mark.parametrize("name", MAPS)
def test_it_stays_orthogonal(name, shape):
    module = Held(*shape)
    orthogonal(module, orthogonal_map=name)
    first = module.weight
    assert first.shape == shape and distance(first) < 1e-12
    optimizer = torch.optim.SGD(module.parameters(), lr=0.3)
    target = torch.randn(*shape, dtype=torch.float64)
    for _ in range(3):
        optimizer.zero_grad()
        (module.weight * target).sum().backward()
        optimizer.step()
    assert distance(module.weight) < 1e-12
    if math.prod(shape[-2:]) > 3:
        assert not torch.allclose(module.weight, first)
    assert (module.weight * target).sum() <= (first * target).sum()


@pytest.mark.parametrize("name", MAPS)
def test_it_starts_as_the_matrix(name, executor):
    for shape in ((4, 4), (3, 5)) if executor == "deferred" else ((5, 3),):
        module = Held(*shape)
        wide = shape[0] < shape[1]
        Q, R = torch.linalg.qr(module.weight.detach().mT if wide else module.weight.detach())
        nearest = Q * R.diagonal().sign()
        nearest = nearest.mT if wide else nearest
        assert torch.allclose(orthogonal(module, orthogonal_map=name).weight, nearest)
        again = Held(*shape)
        again.weight = nn.Parameter(nearest.clone())
        assert torch.allclose(orthogonal(again, orthogonal_map=name).weight, nearest)
        other = torch.linalg.qr(torch.randn(5, 5, dtype=torch.float64))[0][:shape[0], :shape[1]]
        if shape == (4, 4):
            other = torch.linalg.qr(other)[0]
        module.weight = other
        assert distance(module.weight) < 1e-12
        if distance(other) < 1e-12:
            assert torch.allclose(module.weight, other)


@pytest.mark.parametrize("name", MAPS[:2])
def test_unitary(name):
    module = orthogonal(Held(4, 3, dtype=torch.complex128), orthogonal_map=name)
    assert distance(module.weight) < 1e-12
    (module.weight.real.sum()).backward()
    with torch.no_grad():
        original = module.parametrizations.weight.original
        original -= 0.5 * original.grad
    assert distance(module.weight) < 1e-12
    assert parametrize.is_parametrized(orthogonal(nn.Linear(3, 3, dtype=torch.complex64)), "weight")


def test_without_a_base():
    for shape in ((4, 4), (5, 3), (3, 5)):
        module = Held(*shape)
        orthogonal(module, orthogonal_map="householder", use_trivialization=False)
        assert distance(module.weight) < 1e-12 and not list(module.buffers())
        Q = torch.linalg.qr(torch.randn(5, 5, dtype=torch.float64))[0]
        Q = torch.linalg.qr(Q[:max(shape), :min(shape)])[0]
        Q = Q.mT if shape[0] < shape[1] else Q
        module.weight = Q
        assert torch.allclose(module.weight, Q)
        module.weight = torch.eye(*shape, dtype=torch.float64)
        assert torch.allclose(module.weight, torch.eye(*shape, dtype=torch.float64))
    module = orthogonal(Held(4, 4), orthogonal_map="cayley", use_trivialization=False)
    assert distance(module.weight) < 1e-12
    with pytest.raises(NotImplementedError, match="It is not possible to assign to the matrix exponential"):
        module.weight = torch.eye(4, dtype=torch.float64)


@pytest.mark.parametrize("name", MAPS)
def test_gradients(name):
    made = orthogonal(Held(4, 3), orthogonal_map=name).parametrizations.weight[0]
    lower = (0.3 * torch.randn(4, 3, dtype=torch.float64)).requires_grad_()
    assert torch.autograd.gradcheck(lambda L: made(L.tril(-1) - torch.eye(4, 3, dtype=torch.float64)),
                                    (lower,))


def test_copies_and_checkpoints():
    module = orthogonal(nn.Linear(3, 5))
    assert repr(module).startswith("ParametrizedLinear(") and "(0): _Orthogonal()" in repr(module)
    assert sorted(module.state_dict()) == [
        "bias", "parametrizations.weight.0.base", "parametrizations.weight.original"]
    copied = copy.deepcopy(module)
    assert (copied.weight == module.weight).all()
    other = orthogonal(nn.Linear(3, 5))
    other.load_state_dict(module.state_dict())
    assert (other.weight == module.weight).all()
    value = module.weight.detach().clone()
    parametrize.remove_parametrizations(module, "weight")
    assert (module.weight == value).all()


def test_errors():
    with pytest.raises(ValueError, match="has no parameter or buffer with name 'other'"):
        orthogonal(nn.Linear(2, 2), "other")
    with pytest.raises(ValueError,
                       match="Expected a matrix or batch of matrices. Got a tensor of 1 dimensions."):
        orthogonal(nn.Linear(2, 2), "bias")
    with pytest.raises(ValueError, match='orthogonal_map has to be one of "matrix_exp", "cayley"'):
        orthogonal(nn.Linear(2, 2), orthogonal_map="other")
    with pytest.raises(ValueError, match="does not support complex tensors"):
        orthogonal(Held(2, 3, dtype=torch.complex128), orthogonal_map="householder")
    module = orthogonal(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="Expected a matrix or batch of matrices of shape"):
        module.weight = torch.ones(3, 2)
