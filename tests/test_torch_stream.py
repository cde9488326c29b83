"""Generators whose stream is PyTorch's: words, states, and what they do beside everything else."""

import copy
import gc
import pickle
import subprocess
import sys
from weakref import ref

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import generator as generator_file
from jaxflow._random.cursor import Cursor
from jaxflow._random.place import start_of


def generator(seed=0):
    return torch.Generator(stream="torch").manual_seed(seed)


def test_words_are_those_of_the_published_twister():
    """The C++ standard gives the 10,000th number of the default seed (``std::mt19937``)."""
    cursor = Cursor(start_of(5489))
    assert int(cursor.words(10_000)[-1]) == 4123659995
    apart = Cursor(start_of(5489))
    words = np.concatenate([apart.words(n) for n in (1, 623, 1, 0, 5000, 4375)])
    assert np.array_equal(words, Cursor(start_of(5489)).words(10_000))


def test_numbers_that_pytorch_users_know():
    assert torch.rand(3, generator=generator(0)).tolist() == pytest.approx([0.4963, 0.7682, 0.0885], abs=5e-5)
    assert torch.randn(2, generator=generator(42)).tolist() == pytest.approx([0.3367, 0.1288], abs=5e-5)
    assert torch.randperm(4, generator=generator(0)).tolist() == [0, 1, 3, 2]


def test_how_the_draws_are_cut_does_not_matter():
    whole = torch.rand(5000, generator=generator(7))
    g = generator(7)
    assert torch.equal(whole, torch.cat([torch.rand(n, generator=g) for n in (1, 700, 4299)]))


def test_a_place_does_not_hold_the_words_after_it():
    begin = generator(7)
    drawn = begin.clone_state()
    torch.rand(10, generator=drawn)
    span = ref(drawn._offset.span)
    for _ in range(30):
        torch.rand(10_000, generator=drawn)
    gc.collect()
    assert span() is None and begin._offset.span.words.size < 1000


def test_states():
    g = generator(3)
    torch.randn(5, generator=g)  # an odd number: one waits
    state, clone = g.get_state(), g.clone_state()
    assert state.shape == (5056,) and g.initial_seed() == 3
    drawn = torch.randn(3, generator=g)
    assert torch.equal(drawn, torch.randn(3, generator=clone))
    g.set_state(state)
    assert torch.equal(drawn, torch.randn(3, generator=g))
    other = generator(99)
    other.set_state(state)
    assert torch.equal(drawn, torch.randn(3, generator=other)) and other.initial_seed() == 3
    with pytest.raises(RuntimeError, match="size 5056 but found the input RNG state size to be 16"):
        g.set_state(state[:16])
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        g.get_offset()


def test_only_two_streams():
    for refused in (lambda: torch.Generator(stream="philox"), lambda: torch.random.set_stream("")):
        with pytest.raises(ValueError, match="stream must be one of 'counter', 'torch'"):
            refused()
    assert torch.Generator.from_key(3).stream == "counter"


def test_the_default_generator():
    assert torch.default_generator.stream == torch.Generator().stream == "torch"
    torch.manual_seed(0)
    first = [torch.rand(2), torch.nn.functional.dropout(torch.ones(4), 0.5), torch.nn.Linear(2, 2).weight]
    torch.manual_seed(0)
    again = [torch.rand(2), torch.nn.functional.dropout(torch.ones(4), 0.5), torch.nn.Linear(2, 2).weight]
    assert all(map(torch.equal, first, again))
    with torch.random.fork_rng():
        inside = torch.rand(2)
    assert torch.equal(inside, torch.rand(2))


def test_a_refused_draw_uses_no_words():
    state = torch.default_generator.get_state()
    for refused in (
        lambda: torch.rand(2, dtype=torch.int64), lambda: torch.randint(5, 5, (2,)),
        lambda: torch.bernoulli(torch.tensor([2.0])), lambda: torch.empty(2).normal_(0, -1),
        lambda: torch.empty(1).expand(3).uniform_(), lambda: torch.multinomial(torch.tensor([-1.0, 2.0]), 1),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)):
            refused()
    assert torch.equal(torch.default_generator.get_state(), state)


def test_pending_chances():
    """Chances and rates that are still to be computed."""
    torch.manual_seed(1)
    found = [torch.bernoulli(torch.ones(3) / 2), torch.multinomial(torch.ones(5) + torch.arange(5), 3),
             torch.poisson(torch.ones(3) * 3)]
    torch.manual_seed(1)
    known = [torch.bernoulli(torch.tensor([0.5, 0.5, 0.5])),
             torch.multinomial(torch.tensor([1.0, 2, 3, 4, 5]), 3), torch.poisson(torch.tensor([3.0, 3, 3]))]
    assert all(map(torch.equal, found, known))


def test_compiled_calls_draw_fresh_numbers():
    f = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5) + torch.rand(3))
    torch.manual_seed(2)
    expected = [torch.nn.functional.dropout(torch.ones(3), 0.5) + torch.rand(3) for _ in range(4)]
    torch.manual_seed(2)
    assert all(torch.equal(f(torch.ones(3)), e) for e in expected)


def test_gradients_through_what_was_drawn():
    torch.manual_seed(0)
    x = torch.ones(50, requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.2)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()) and set(y.tolist()) == {0.0, 1.25}


def test_vmap():
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.vmap(lambda x: x + torch.rand(2))(torch.zeros(3))
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        torch.vmap(torch.poisson, randomness="same")(torch.ones(3, 2))
    orders = torch.vmap(lambda x: torch.randperm(4) + x, randomness="different")(torch.zeros(3))
    assert [sorted(row) for row in orders.tolist()] == [[0, 1, 2, 3]] * 3


def test_copies_go_their_own_way():
    g = generator(5)
    torch.rand(3, generator=g)
    for other in (copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert other.get_state().tolist() == g.get_state().tolist()
        torch.rand(1, generator=other)
        assert other.get_state().tolist() != g.get_state().tolist()


def test_each_device_has_a_generator_of_its_own(monkeypatch):
    """"xla" is whatever XLA runs on by default: on a CPU a second device beside it."""
    torch.manual_seed(3)
    here, there = torch.rand(3), torch.rand(3, device="xla")
    torch.manual_seed(3)
    assert torch.equal(torch.rand(3, device="xla"), there) and torch.equal(torch.rand(3), here)
    with torch.random.fork_rng():
        inside = torch.randn(3, device="xla")
    assert torch.equal(torch.randn(3, device="xla"), inside)
    monkeypatch.setattr(generator_file, "_elsewhere", {})
    with torch.random.fork_rng():
        first = torch.rand(3, device="xla")  # the first draw on the device
    assert torch.equal(torch.rand(3, device="xla"), first)
    monkeypatch.setattr(generator_file, "_elsewhere", {})
    x = torch.ones(64, device="xla", requires_grad=True)
    kept = torch.utils.checkpoint.checkpoint(
        lambda x: torch.nn.functional.dropout(x.exp(), 0.5), x, use_reentrant=False)
    assert torch.equal(torch.autograd.grad(kept.sum(), x)[0], kept)
    assert torch.Generator("xla").stream == "counter" and torch.Generator("xla", "torch").stream == "torch"
    with pytest.raises(RuntimeError, match="Expected a 'xla' device type for generator but found 'cpu'"):
        torch.rand(3, device="xla", generator=torch.Generator())
    assert torch.rand(3, device="xla", generator=torch.Generator(stream="counter")).shape == (3,)
    before = torch.get_rng_state()
    torch.rand(3, device="meta")
    torch.rand(3, device="meta", generator=torch.default_generator)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_script_that_does_not_seed_begins_somewhere_else_each_time():
    code = "import jaxflow as torch; print(torch.initial_seed(), torch.default_generator.stream)"
    run = [sys.executable, "-c", code]
    first, second = (subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
                     for _ in range(2))
    assert first[0] != second[0] and first[1] == "torch"
