"""Programs and threads: each thread records its own, and values may go from one to another."""

import threading

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.state import state
from jaxflow._views import values as reading

TIMEOUT = 120


def in_threads(*jobs):
    """Run the jobs at once, each in its thread; their results in order, or the first error."""
    results, errors = [None] * len(jobs), []
    start = threading.Barrier(len(jobs))

    def run(i, job):
        try:
            start.wait(TIMEOUT)
            results[i] = job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    return results


def pending(t):
    return t._storage.value.producer is not None


def test_one_program_a_thread():
    torch.flush()

    def work():
        x = torch.ones(3) * 2
        return state.programs[x.device], x

    (first, a), (second, b) = in_threads(work, work)
    assert first is not second
    assert state.programs.get(a.device) not in (first, second)
    assert a.tolist() == b.tolist() == [2.0] * 3


def test_flush_concerns_ones_own_thread():
    other = in_threads(lambda: torch.ones(3) * 2)[0]
    mine = torch.ones(3) * 2
    torch.flush()
    assert not pending(mine) and pending(other)
    assert other.tolist() == [2.0] * 3


def test_a_thread_that_ended_before_its_values_are_read():
    made = in_threads(*[lambda k=k: (torch.arange(4) + k) * 2 for k in range(4)])
    assert all(map(pending, made))
    for k, t in enumerate(made):
        assert t.tolist() == [2 * (i + k) for i in range(4)]


def test_operations_on_what_an_ended_thread_still_owes():
    a, b = in_threads(lambda: torch.ones(3) * 2, lambda: torch.ones(3) * 3)
    both = a * b + a
    assert both.tolist() == [8.0] * 3


def test_a_value_read_while_its_owner_goes_on_recording():
    """The reader closes the owner's program; the owner finds that and opens another."""
    made, read = threading.Event(), threading.Event()
    shared = []

    def owner():
        x = torch.ones(3) * 2
        shared.append(x)
        made.set()
        assert read.wait(TIMEOUT)
        y = x + 1
        return y * x

    def reader():
        assert made.wait(TIMEOUT)
        got = shared[0].tolist()
        read.set()
        return got

    result, got = in_threads(owner, reader)
    assert got == [2.0] * 3 and result.tolist() == [6.0] * 3


def test_values_crossing_while_both_record():
    """Each thread uses what the other has just recorded: neither may wait for the other for ever."""
    rounds = 60
    boxes = [torch.zeros(2), torch.zeros(2)]
    turn = threading.Barrier(2)

    def work(me):
        for k in range(rounds):
            mine = boxes[me] + 1
            mine = mine + boxes[1 - me] * 0
            turn.wait(TIMEOUT)
            boxes[me] = mine
            turn.wait(TIMEOUT)
            # A value of each is pending in the other, and both are read at the same moment.
            both = mine + boxes[1 - me]
            if k % 7 == 0:
                assert both.tolist() == [2.0 * (k + 1)] * 2
        return boxes[me].tolist()

    assert in_threads(lambda: work(0), lambda: work(1)) == [[float(rounds)] * 2] * 2


def test_no_lock_is_held_while_waiting_for_another_program():
    """Else two threads that want each other's values at the same moment would wait for ever."""
    foreign = in_threads(lambda: torch.ones(3) * 2)[0]
    owner = foreign._storage.value.producer[0].program
    mine, sums, recorded = [], [], threading.Event()

    def work():
        x = torch.ones(3) * 3
        mine.append(state.programs[x.device])
        recorded.set()
        sums.append((x + foreign).tolist())

    thread = threading.Thread(target=work, daemon=True)
    with owner.lock:  # as if its thread were recording
        thread.start()
        assert recorded.wait(TIMEOUT)
        thread.join(0.3)
        assert thread.is_alive() and mine[0].lock.acquire(timeout=5)
        mine[0].lock.release()
    thread.join(TIMEOUT)
    assert sums == [[5.0] * 3]


def test_many_readers_of_one_value():
    x = (torch.arange(100.0) * 2).sum()
    assert in_threads(*[x.item] * 8) == [9900.0] * 8


def train(seed):
    """A small training loop, all of it this thread's own; the losses and the final weights."""
    generator = torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    x = torch.tensor(rng.normal(size=(8, 3)).astype("float32"))
    w = torch.tensor(rng.normal(size=(3, 2)).astype("float32"), requires_grad=True)
    b = torch.zeros(2, requires_grad=True)
    opt = torch.optim.Adam([w, b], lr=1e-2)
    losses = []
    for step in range(12):
        opt.zero_grad()
        noise = torch.rand(8, 2, generator=generator)
        loss = ((torch.tanh(x @ w + b) - noise) ** 2).mean()
        loss.backward()
        opt.step()
        if step % 5 == seed % 5:
            losses.append(loss.item())
    return losses, w.detach().numpy().copy(), b.detach().numpy().copy()


@pytest.mark.usefixtures("compiled")
def test_eight_threads_train_as_one_after_the_other():
    alone = [train(seed) for seed in range(8)]
    together = in_threads(*[lambda seed=seed: train(seed) for seed in range(8)])
    for (l1, w1, b1), (l2, w2, b2) in zip(alone, together, strict=True):
        assert l1 == l2
        np.testing.assert_array_equal(w1, w2)
        np.testing.assert_array_equal(b1, b2)


def test_what_another_thread_refers_to_is_not_donated():
    x = torch.arange(1000.0)
    x.add_(0)
    torch.flush()
    go, done = threading.Event(), threading.Event()

    def reader():
        mine = x * 1  # recorded, and refers to the present value
        go.set()
        assert done.wait(TIMEOUT)
        return mine.sum().item()

    def writer():
        assert go.wait(TIMEOUT)
        for _ in range(4):
            x.mul_(2.0)
            torch.flush()
        done.set()

    assert in_threads(reader, writer)[0] == 499500.0
    assert x[1].item() == 16.0


def test_an_error_in_one_thread_concerns_no_other():
    def good():
        return (torch.ones(3) * 2).tolist()

    def bad():
        with pytest.raises(RuntimeError):
            torch.ones(3) + torch.ones(4)
        return "raised"

    assert in_threads(good, bad, good) == [[2.0] * 3, "raised", [2.0] * 3]


def test_the_executor_of_one_thread_is_not_that_of_another():
    def eager():
        with torch.execution("eager"):
            return pending(torch.ones(3) * 2)

    assert in_threads(eager, lambda: pending(torch.ones(3) * 2)) == [False, True]


def test_a_view_read_while_its_base_is_written_is_read_again(executor, monkeypatch):
    base = torch.zeros(4)
    view, whole = base[1:3], base.detach()
    run = reading.run

    def beside(plan, values):
        """What a view's read computes, and the base written by somebody else before it is kept."""
        monkeypatch.setattr(reading, "run", run)
        results = run(plan, values)
        base.add_(1)
        return results

    monkeypatch.setattr(reading, "run", beside)
    assert reading.view_value(view) is not None
    assert view.tolist() == [1.0, 1.0] and base.tolist() == [1.0] * 4
    whole.add_(view.sum())
    assert view.tolist() == [3.0, 3.0]
