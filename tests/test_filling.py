"""Draws that fill a tensor: interpreted until that would have paid for compiling them."""

import math

import pytest

import jaxflow as torch
from jaxflow._exec import eager
from jaxflow._exec.numpy import tiering

pytestmark = pytest.mark.usefixtures("counters")

FILLS = {
    "uniform": lambda x: x.uniform_(-1, 3),
    "normal": lambda x: x.normal_(1, 2),
    "log_normal": lambda x: x.log_normal_(),
    "cauchy": lambda x: x.cauchy_(),
}


@pytest.fixture
def compilations(monkeypatch, deferred):
    """The plans that were compiled by themselves."""
    found = []
    add = eager._add

    def noted(plan):
        found.append(plan)
        return add(plan)

    monkeypatch.setattr(eager, "_add", noted)
    return found


def test_the_first_fills_of_a_shape_compile_nothing(compilations):
    for size in ((3, 5), (16, 3, 3, 3), (129, 67), (40, 20, 11, 11)):
        assert torch.empty(size).uniform_().max() < 1
        torch.empty(size).normal_()
    assert compilations == []


@pytest.mark.parametrize("cost, most", [(0.03, 3), (0.2, 0)])
def test_a_fill_is_compiled_when_interpreting_it_would_have_paid(compilations, monkeypatch, cost, most):
    monkeypatch.setattr(tiering, "seconds_to_interpret", lambda trace: cost)
    monkeypatch.setattr(tiering, "seconds_to_compile", lambda trace: 0.1)
    x = torch.empty(31, 7 + most)
    for seen in range(1, 6):
        x.uniform_()
        assert len(compilations) == (seen > most)


def test_large_fills_of_as_many_numbers_share_a_kernel(compilations, monkeypatch):
    monkeypatch.setattr(tiering, "seconds_to_compile", lambda trace: 0.0)
    for size in ((64, 32, 5, 7), (32, 64, 7, 5), (64 * 32 * 35,)):
        torch.empty(size).uniform_()
    assert len(compilations) == 1


@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize("size", [(2, 3), (300, 5), (64, 32, 6, 6)], ids=str)
def test_interpreted_and_compiled_fills_agree(monkeypatch, deferred, name, size):
    def fill():
        generator_state = torch.manual_seed(11)
        assert generator_state is torch.default_generator
        return FILLS[name](torch.empty(size))

    interpreted = fill()
    monkeypatch.setattr(tiering, "alone_in_numpy", lambda plan: False)
    torch.testing.assert_close(fill(), interpreted, rtol=1e-4, atol=1e-5)
    assert interpreted.shape == size and interpreted.is_contiguous()
    assert interpreted.unique().numel() > 0.9 * math.prod(size)


def test_a_fill_under_deterministic_algorithms_is_compiled(compilations):
    torch.use_deterministic_algorithms(True)
    try:
        torch.empty(13, 17).uniform_()
    finally:
        torch.use_deterministic_algorithms(False)
    assert len(compilations) == 1
