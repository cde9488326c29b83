"""Compiled calls that draw PyTorch's numbers: fresh ones at each call, as without compile."""

import threading

import pytest

import jaxflow as torch
import jaxflow.nn.functional as F


def in_place(x):
    x.normal_()
    x.mul_(2)
    return F.dropout(x, 0.5, inplace=True)


def forked(x):
    with torch.random.fork_rng():
        inside = torch.rand(4)
    return inside, torch.rand(4) + x


def sampled(x):
    return torch.multinomial(x.abs() + 1, 1), torch.multinomial(x.abs() + 1, 2)


def seeded(x):
    y = x + torch.rand(4)
    torch.manual_seed(3)
    return y + torch.rand(4)


def of_its_own(x):
    generator = torch.Generator(stream="torch").manual_seed(5)
    return x + torch.rand(4, generator=generator) + torch.rand(4)


FUNCTIONS = {
    "dropout": lambda x: F.dropout(x, 0.5) * torch.rand(4),
    "in place": in_place,
    "fork_rng": forked,
    "a seed of its own": seeded,
    "a generator of its own": of_its_own,
    "bernoulli": lambda x: torch.bernoulli(x / 2),
    "an unused draw": lambda x: (torch.rand(3), x + 1)[1],
    "a draw as it is": lambda x: (torch.randn(3), x + 1),
    "a number that is read": lambda x: x + (1 if torch.rand(()).item() < 2 else 0) + torch.rand(4),
    "vmap": lambda x: torch.vmap(lambda x: x + torch.rand(2), randomness="different")(x.reshape(2, 2)),
    "multinomial": sampled,
    "attention": lambda x: F.scaled_dot_product_attention(*[x.reshape(1, 2, 2)] * 3, dropout_p=0.5),
}
OUTSIDE = {
    "nothing else": lambda x: torch.rand(3),
    "multinomial with replacement": lambda x: torch.multinomial(x, 2, True) + 1,
    "numbers are read first": lambda x: torch.randperm(4)[torch.rand(3).tolist()[0] > 2:] + torch.rand(4),
    "state": lambda x: (torch.get_rng_state(), x + torch.rand(4)),
}


def of_calls(f, make, count=5):
    """What some calls give, and where they leave the generator."""
    torch.manual_seed(7)
    x = make()
    results = []
    for _ in range(count):
        out = f(x)
        results.append([t.tolist() for t in (out if isinstance(out, tuple) else (out,))])
    return results, x.tolist(), torch.get_rng_state().tolist()


@pytest.mark.parametrize("name", [*FUNCTIONS, *OUTSIDE])
def test_the_same_numbers_as_without_compile(name, deferred):
    f = {**FUNCTIONS, **OUTSIDE}[name]
    compiled = torch.compile(f)
    make = lambda: torch.ones(4)  # noqa: E731
    assert of_calls(compiled, make) == of_calls(f, make)
    assert (compiled.explain()["hits"] >= 3) is (name in FUNCTIONS), str(compiled.explain())


def test_a_training_step(deferred):
    def losses(compiled):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)

        def step():
            optimizer.zero_grad()
            loss = model(torch.randn(16, 4)).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        call = torch.compile(step) if compiled else step
        found = [call().item() for _ in range(8)]
        if compiled:
            assert call.explain()["hits"] >= 5
        return found, torch.get_rng_state().tolist()

    (plain, state), (quick, other) = losses(False), losses(True)
    assert quick == pytest.approx(plain, rel=1e-5) and state == other


def test_another_place_at_a_later_call(deferred):
    f = torch.compile(lambda x: x + torch.rand(2))
    for _ in range(3):
        f(torch.zeros(2))
    torch.manual_seed(9)
    state = torch.get_rng_state()
    first = f(torch.zeros(2))
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(2), first) and f.explain()["hits"] == 3


def test_two_threads_draw_different_numbers(deferred):
    f = torch.compile(lambda x: x + torch.rand(2))
    f(torch.zeros(2))
    torch.manual_seed(4)
    expected = sorted(torch.rand(2).tolist() for _ in range(40))
    torch.manual_seed(4)
    drawn = []
    threads = [threading.Thread(target=lambda: drawn.extend(f(torch.zeros(2)).tolist() for _ in range(20)))
               for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(drawn) == expected
