"""What a compiled call draws by counters is found anew at each call; others draw meanwhile as they like."""

import threading

import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("counters")


def _dropped(x, g):
    return torch.nn.functional.dropout(x, 0.5), torch.rand(3, generator=g)


def _attention(x, g):
    q = x.reshape(1, 1, 2, 2).clone().requires_grad_()
    out = torch.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    return torch.autograd.grad(out.sum(), q)[0], out.detach()


def _forked(x, g):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        a = torch.rand(3)
    return a, torch.rand(3)


def _put_back(x, g):
    before = torch.get_rng_state()
    a = torch.rand(3)
    torch.set_rng_state(before)
    return a, torch.rand(3), torch.rand(3)


def _seeded(x, g):
    torch.manual_seed(7)
    return torch.rand(3), torch.rand(3)


def _written(x, g):
    return x.clone().normal_(), x.clone().uniform_(generator=g), torch.rand(3)


def _cloned(x, g):
    other = g.clone_state()
    return torch.rand(3, generator=other), torch.rand(3, generator=g)


def _checkpointed(x, g):
    w = x.clone().requires_grad_()
    y = torch.utils.checkpoint.checkpoint(
        lambda v: torch.nn.functional.dropout(v * v, 0.5), w, use_reentrant=False)
    return torch.autograd.grad(y.sum(), w)[0], torch.rand(3)


def _chunked(x, g):
    return torch.vmap(lambda v: torch.rand(3) + v, randomness="same", chunk_size=2)(x), torch.rand(3)


def _another_stream(x, g):
    g.set_state(torch.default_generator.get_state())
    return torch.rand(3, generator=g), torch.rand(3)


def _each_example(x, g):
    return torch.vmap(lambda v: torch.rand(3) + v, randomness="different")(x), torch.rand(3)


def _own_offset(x, g):
    g.set_offset(3)
    return torch.rand(3, generator=g), torch.rand(3)


COMPILED = (_dropped, _attention, _forked, _put_back, _seeded, _written, _cloned, _checkpointed, _chunked)
REFUSED = (_another_stream, _each_example, _own_offset)


def _drawn(fn, g, calls):
    torch.manual_seed(11)
    g.manual_seed(5)
    x = torch.ones(4)
    found = [[t.tolist() for t in fn(x, g)] for _ in range(calls)]
    return found, torch.default_generator.get_offset(), torch.initial_seed(), g.get_offset(), g.initial_seed()


@pytest.mark.parametrize("fn", COMPILED + REFUSED, ids=lambda f: f.__name__)
def test_a_compiled_call_draws_what_the_function_draws(fn):
    g = torch.Generator()
    compiled = torch.compile(fn)
    assert _drawn(compiled, g, 6) == _drawn(fn, g, 6)
    report = compiled.explain()  # other functions of this name may live
    assert (report["hits"] > 2) is (fn in COMPILED), str(report)


def test_a_rate_that_changes_is_followed():
    compiled = torch.compile(lambda x, p: torch.nn.functional.dropout(x, p) + 1)
    for p in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        state = torch.get_rng_state()
        found = compiled(torch.ones(8), p).tolist()
        torch.set_rng_state(state)
        assert found == (torch.nn.functional.dropout(torch.ones(8), p) + 1).tolist()
    assert compiled.explain()["hits"] == 4


def test_a_captured_call_leaves_a_generators_numbers_plain():
    torch.compile(lambda: torch.rand(3))()
    torch.manual_seed(1)
    assert type(torch.default_generator._seed) is type(torch.default_generator._offset) is int


def test_which_generator_draws_is_part_of_the_guards():
    a, b = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    compiled = torch.compile(lambda: torch.rand(3))
    for g in (a, b, a, b, a):
        expected = torch.rand(3, generator=g.clone_state()).tolist()
        with torch.random.drawing_from(g) if hasattr(torch.random, "drawing_from") else _drawing_from(g):
            assert compiled().tolist() == expected


def _drawing_from(g):
    from jaxflow._api.random.state import drawing_from

    return drawing_from(g)


def test_another_thread_draws_real_numbers_during_a_capture():
    """The numbers that it gets are the generator's own, and none comes twice."""
    torch.manual_seed(3)
    stream = [torch.rand(2).tolist() for _ in range(4)]
    torch.manual_seed(3)
    found = []

    def other():
        found.append(torch.rand(2).tolist())

    def step():
        a = torch.rand(2)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return a, torch.rand(2)

    a, b = torch.compile(step)()
    assert [a.tolist(), *found, b.tolist()] == stream[:3]
    assert torch.rand(2).tolist() == stream[3]
