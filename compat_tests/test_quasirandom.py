"""Sobol' points bit by bit beside PyTorch's."""

import pytest
import torch

import jaxflow
from jaxflow.quasirandom.directions import BITS, scrambled

DTYPES = (jaxflow.float32, torch.float32), (jaxflow.float64, torch.float64)


def test_all_direction_numbers():
    ours, theirs = jaxflow.quasirandom.SobolEngine(21201), torch.quasirandom.SobolEngine(21201)
    assert (ours.sobolstate.numpy() == theirs.sobolstate.numpy()).all()
    for mine, expected in DTYPES:
        assert (ours.draw(5, dtype=mine).numpy() == theirs.draw(5, dtype=expected).numpy()).all()


@pytest.mark.parametrize("dimension", [1, 2, 13])
def test_draws(dimension):
    ours, theirs = jaxflow.quasirandom.SobolEngine(dimension), torch.quasirandom.SobolEngine(dimension)
    for mine, expected in DTYPES:
        for step in ("draw(1, dtype=D)", "draw(3, dtype=D)", "draw_base2(2, dtype=D)", "fast_forward(1000)",
                     "draw(100, dtype=D)", "reset()", "fast_forward(2**20)", "draw(7, dtype=D)", "reset()",
                     "draw(64, dtype=D)", "reset()"):
            found = eval(f"engine.{step}", {"engine": ours, "D": mine})
            wanted = eval(f"engine.{step}", {"engine": theirs, "D": expected})
            if "draw" in step:
                assert (found.numpy() == wanted.numpy()).all() and str(found.dtype) == str(wanted.dtype)
            assert (ours.quasi.numpy() == theirs.quasi.numpy()).all()
            assert ours.num_generated == theirs.num_generated
    assert repr(ours) == repr(theirs)


def test_scrambling_by_the_same_bits():
    theirs = torch.quasirandom.SobolEngine(7)
    before = theirs.sobolstate.numpy().copy()
    matrices = torch.randint(2, (7, BITS, BITS)).tril()
    torch._sobol_engine_scramble_(theirs.sobolstate, matrices.clone(), 7)
    assert (scrambled(before, matrices.numpy()) == theirs.sobolstate.numpy()).all()


@pytest.fixture
def same_numbers():
    """Generators that are made, and the default one, draw PyTorch's numbers."""
    jaxflow.random.set_stream("torch")
    yield
    jaxflow.random.set_stream("counter")


@pytest.mark.usefixtures("same_numbers")
@pytest.mark.parametrize("dimension", [1, 5, 40])
def test_scrambled_draws(dimension):
    drawn = []
    for library in (jaxflow, torch):
        library.manual_seed(3)
        engine = library.quasirandom.SobolEngine
        engines = [engine(dimension, scramble=True, seed=seed) for seed in (None, 7)]
        points = [engine.draw(n).numpy() for engine in engines for n in (1, 9)]
        drawn.append([*points, library.rand(3).numpy()])
    assert all((mine == expected).all() for mine, expected in zip(*drawn, strict=True))


def test_messages():
    for dimension in (0, 30_000):
        with pytest.raises(ValueError) as expected:
            torch.quasirandom.SobolEngine(dimension)
        with pytest.raises(ValueError) as found:
            jaxflow.quasirandom.SobolEngine(dimension)
        assert str(found.value) == str(expected.value)
