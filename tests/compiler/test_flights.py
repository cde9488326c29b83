"""NOTE [In flight]: what other threads see of a tensor while a compiled call has given its array away."""

import threading

import pytest
from running import in_threads

import jaxflow as torch
from jaxflow._dispatch import handover
from jaxflow.compiler._specialisation import Specialisation

pytestmark = pytest.mark.usefixtures("deferred", "compiled")
COUNT = 200


@pytest.fixture
def company():
    """Another thread that is alive, and does nothing."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    yield
    done.set()
    thread.join()


def counter(size=300):
    """A tensor, and a compiled function that adds 1 to it; called so often that it is in its steady state."""
    c = torch.zeros(size)

    @torch.compile
    def count():
        c.add_(1.0)

    for _ in range(5):
        count()
    return c, count


def during(monkeypatch, act):
    """In the next compiled call ``act`` is done when its arrays have been given away, before it stores."""
    again, waiting = handover.Entrance.again, [act]

    def watched(self, *arguments):
        direct = self.direct

        def run(*given):
            results = direct(*given)
            if waiting:
                waiting.pop()()
            return results

        self.direct = run
        try:
            return again(self, *arguments)
        finally:
            self.direct = direct

    monkeypatch.setattr(handover.Entrance, "again", watched)
    return waiting


def before(monkeypatch, act):
    """In the next compiled call ``act`` is done right before its arrays are given away."""
    again, waiting = handover.Entrance.again, [act]

    def watched(*arguments):
        if waiting:
            waiting.pop()()
        return again(*arguments)

    monkeypatch.setattr(handover.Entrance, "again", watched)
    return waiting


@pytest.mark.parametrize("look", [
    lambda c: c.tolist(),
    lambda c: (c * 1.0).tolist(),
    lambda c: c.clone().tolist(),
    lambda c: c[None][0].numpy().tolist(),
    lambda c: c.jax().tolist(),
    lambda c: torch.compile(lambda: c * 1.0)().tolist(),
])
def test_who_looks_meanwhile_waits(look, company, monkeypatch):
    c, count = counter()
    seen, threads = [], []

    def start():
        thread = threading.Thread(target=lambda: seen.append(look(c)))
        thread.start()
        threads.append(thread)
        thread.join(0.05)
        assert not seen  # it cannot know

    waiting = during(monkeypatch, start)
    count()
    assert not waiting
    for thread in threads:
        thread.join(60)
    assert seen == [[6.0] * 300] and c.tolist() == [6.0] * 300 and c._version == 6


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("hold", [
    lambda c: c.clone(),
    lambda c: c * 2.0 - c,
    lambda c: c.jax(),
    lambda c: torch.stack([c, c])[0],
])
def test_who_gets_hold_of_it_before_keeps_it(hold, alone, request, monkeypatch):
    c, count = counter()
    if not alone:
        request.getfixturevalue("company")
    held = []
    waiting = before(monkeypatch, lambda: held.append(hold(c)))
    count()
    assert not waiting
    count()
    assert held[0].tolist() == [5.0] * 300 and c.tolist() == [7.0] * 300 and c._version == 7


@pytest.mark.parametrize("number", [2, 4])
def test_all_additions_arrive(number):
    c, count = counter(40_000)
    in_threads(lambda k: [count() for _ in range(COUNT)], number)
    assert c.unique().tolist() == [5.0 + number * COUNT] and c._version == 5 + number * COUNT


def test_functions_that_share_what_they_write_and_read():
    c, count = counter()
    total = torch.zeros(300)

    @torch.compile
    def collect():
        total.add_(c * 0.0 + 1.0)

    @torch.compile
    def show():
        with torch.no_grad():
            return c + 0.0

    for _ in range(5):
        collect(), show()
    shown = []
    jobs = [count, collect, lambda: shown.append(show().tolist()), lambda: shown.append(c.tolist())]
    in_threads(lambda k: [jobs[k]() for _ in range(COUNT)], 4)
    assert c.tolist() == [5.0 + COUNT] * 300 and total.tolist() == [5.0 + COUNT] * 300
    assert len(shown) == 2 * COUNT and all(len(set(values)) == 1 for values in shown)


def test_nothing_is_copied_for_a_thread_that_does_not_look(company, monkeypatch):
    copies = []
    c, count = counter()
    monkeypatch.setattr(handover, "_copied", copies.append)
    monkeypatch.setattr(type(c._storage.value.array), "copy", copies.append, raising=False)
    for _ in range(5):
        count()
    assert not copies and c.tolist() == [10.0] * 300


def test_nothing_is_copied_for_a_thread_that_loads_data(monkeypatch):
    c, count = counter()
    general = []
    monkeypatch.setattr(Specialisation, "_general", lambda *arguments: general.append(arguments))
    loader = torch.utils.data.DataLoader(torch.arange(60.0).reshape(20, 3), batch_size=2, num_workers=2)
    for _ in loader:
        count()
    assert not general and c.tolist() == [15.0] * 300


def test_a_call_that_fails_leaves_nothing_in_flight(company, monkeypatch):
    c, count = counter()

    def fail():
        raise KeyboardInterrupt

    waiting = before(monkeypatch, fail)
    with pytest.raises(KeyboardInterrupt):
        count()
    assert not waiting and c.tolist() == [5.0] * 300
    count()
    assert c.tolist() == [6.0] * 300
