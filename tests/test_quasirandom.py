"""Sobol' points: published ones, where they lie, going on, scrambling."""

import copy
import pickle

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.quasirandom import SobolEngine
from jaxflow.quasirandom.directions import BITS, COUNTS, FILE, MOST, directions, scrambled


def test_the_table():
    """As many dimensions as there are primitive polynomials: Euler's function of ``2**d - 1``, over ``d``."""
    for degree, count in enumerate(COUNTS, 1):
        order = phi = 2**degree - 1
        for p in range(2, order + 1):
            if p * p > order:
                break
            if order % p == 0:
                phi -= phi // p
                while order % p == 0:
                    order //= p
        phi -= phi // order if order > 1 else 0
        assert count == phi // degree
    bits = sum(count * (d - 1 + d * (d - 1) // 2) for d, count in enumerate(COUNTS, 1))
    assert FILE.stat().st_size == -(-bits // 8) and MOST == SobolEngine.MAXDIM == 21201
    numbers = directions(MOST)
    assert numbers.shape == (MOST, BITS)
    lowest = numbers & -numbers  # an odd number at its place, so that the matrix of bits is triangular
    assert (lowest == 1 << np.arange(BITS - 1, -1, -1)).all() and (numbers < 1 << BITS).all()
    assert (directions(100) == numbers[:100]).all()


def test_published_points():
    """The first points of Joe and Kuo's notes on generating Sobol' sequences, in three dimensions."""
    points = SobolEngine(3).draw(10)
    assert points.dtype == torch.float32
    assert points.tolist() == [
        [0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625],
        [0.875, 0.875, 0.125], [0.625, 0.125, 0.875], [0.125, 0.625, 0.375], [0.1875, 0.3125, 0.9375],
        [0.6875, 0.8125, 0.4375]]


@pytest.mark.parametrize("options", [{}, {"scramble": True, "seed": 3}, {"scramble": True}])
def test_each_interval_has_one_point(options):
    """Of ``2**k`` points, one in each of as many equal intervals of each dimension."""
    points = SobolEngine(50, **options).draw_base2(6, dtype=torch.float64).numpy()
    assert (np.sort(np.floor(points * 64), axis=0) == np.arange(64)[:, None]).all()
    pairs = np.floor(points[:, :2] * 8) @ [8, 1]  # the first two dimensions are a net
    assert sorted(pairs) == list(range(64))


@pytest.mark.usefixtures("executor")
def test_draws_go_on():
    for options in ({}, {"scramble": True, "seed": 5}):
        whole = SobolEngine(7, **options).draw(40)
        engine = SobolEngine(7, **options)
        parts = [engine.draw(), engine.draw(0), engine.draw(9)]
        engine.fast_forward(5)
        again = pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine)
        parts += [engine.draw(25)]
        assert engine.num_generated == 40 and (torch.cat(parts) == torch.cat((whole[:10], whole[15:]))).all()
        assert all((other.draw(25) == parts[-1]).all() for other in again)
        assert (engine.quasi / 2**30 == whole[-1]).all()
        assert engine.reset() is engine and (engine.draw(2) == whole[:2]).all()
        assert (SobolEngine(7, **options).fast_forward(15).draw(25) == whole[15:]).all()


@pytest.mark.usefixtures("executor")
def test_scrambling_uses_the_generator():
    seeded = SobolEngine(4, scramble=True, seed=1).draw(8)
    assert (SobolEngine(4, scramble=True, seed=1).draw(8) == seeded).all()
    assert (SobolEngine(4, scramble=True, seed=2).draw(8) != seeded).any()
    torch.manual_seed(7)
    first = SobolEngine(4, scramble=True).draw(8)
    second = SobolEngine(4, scramble=True).draw(8)
    torch.manual_seed(7)
    assert (SobolEngine(4, scramble=True).draw(8) == first).all() and (first != second).any()


def test_scrambling_is_a_product_of_bits():
    numbers = directions(3)
    matrices = np.random.default_rng(0).integers(0, 2, (3, BITS, BITS))
    found = scrambled(numbers, matrices)
    for d in range(3):
        for column in (0, 1, 29):
            bits = [int(b) for b in f"{numbers[d, column]:030b}"]
            new = [(bits[row] + sum(matrices[d, row,
                                             c] * bits[c] for c in range(row))) % 2 for row in range(BITS)]
            assert found[d, column] == int("".join(map(str, new)), 2)


def test_results():
    engine = SobolEngine(2)
    assert engine.draw(1, dtype=torch.float16).dtype == torch.float16
    out = torch.empty(0)
    assert engine.draw(3, out=out) is out and out.tolist() == [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    assert repr(engine) == "SobolEngine(dimension=2)"
    assert repr(SobolEngine(2, True, 5)) == "SobolEngine(dimension=2, scramble=True, seed=5)"
    assert torch.quasirandom.SobolEngine is SobolEngine


def test_errors():
    for dimension in (0, 21202):
        with pytest.raises(ValueError,
                           match="Supported range of dimensionality for SobolEngine is \\[1, 21201\\]"):
            SobolEngine(dimension)
    engine = SobolEngine(2)
    engine.draw(3)
    with pytest.raises(ValueError,
                       match="The balance properties of Sobol' points require n to be a power of 2. 3 "):
        engine.draw_base2(3)
    with pytest.raises(NotImplementedError, match="_sobol_engine_draw.*float16"):
        engine.draw(2, dtype=torch.float16)
    with pytest.raises(ValueError, match="from 0 to 2"):
        engine.draw(-1)
    with pytest.raises(ValueError, match="from 0 to 2"):
        engine.fast_forward(2**30 - 2)
    assert engine.num_generated == 3 and engine.draw_base2(0).tolist() == [[0.25, 0.75]]
