"""NOTE [A quick call publishes first]: what others see of a tensor while a compiled call runs."""

import _thread
import contextlib
import dis
import sys
import threading
import time

import jax
import numpy as np
import pytest
from running import in_threads

import jaxflow as torch
from jaxflow._core.commit import commit_parts, commit_results
from jaxflow._exec import background, handover
from jaxflow.compiler import _specialisation, _steady, _turns
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


def trainer(rows, clone):
    """The weight of a layer, and a compiled step of its training; ``clone``: one is held at each call."""
    torch.manual_seed(0)
    weight = torch.zeros(rows, 300, requires_grad=True)
    update = torch.optim.SGD([weight], lr=1.0, momentum=0.5)
    held = []

    @torch.compile
    def step():
        update.zero_grad()
        (-weight).sum().backward()
        update.step()

    def run():
        if clone:
            held[:] = [weight.detach().clone()]
            held[0].tolist()
        step()

    for _ in range(4):
        run()
    return weight, run


def during(monkeypatch, act):
    """In the next compiled call ``act`` is done when its arrays have been given away, before it delivers."""
    hand_over, waiting = handover.hand_over, [act]

    def watched(function, *rest):
        def run(*given):
            results = function(*given)
            if waiting:
                waiting.pop()()
            return results

        return hand_over(run, *rest)

    monkeypatch.setattr(handover, "hand_over", watched)
    return waiting


def before(monkeypatch, moment, act):
    """In the next compiled call ``act`` is done right before it publishes, or hands over."""
    waiting = [act]

    def after(function):
        def watched(*arguments):
            if waiting:
                waiting.pop()()
            return function(*arguments)

        return watched

    if moment == "hand-over":
        monkeypatch.setattr(handover.Entrance, "run", after(handover.Entrance.run))
    else:
        monkeypatch.setattr(_specialisation, "commit_parts", after(commit_parts))
        monkeypatch.setattr(_steady, "commit_results", after(commit_results))
    return waiting


def looking(monkeypatch, look):
    """Threads in which ``look`` is called during the next compiled call, and what they have seen."""
    seen, threads = [], []

    def start():
        thread = threading.Thread(target=lambda: seen.append(look()))
        thread.start()
        threads.append(thread)
        thread.join(0.05)
        assert not seen  # it cannot know

    return during(monkeypatch, start), threads, seen


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
    waiting, threads, seen = looking(monkeypatch, lambda: look(c))
    count()
    assert not waiting
    for thread in threads:
        thread.join(60)
    assert seen == [[6.0] * 300] and c.tolist() == [6.0] * 300 and c._version == 6


@pytest.mark.parametrize("rows", [1, 100])
@pytest.mark.parametrize("clone", [False, True])
@pytest.mark.parametrize("look", [lambda w: w, lambda w: w.grad, lambda w: w.grad.detach()])
def test_who_only_reads_meanwhile_waits(look, clone, rows, company, monkeypatch):
    """Large gradients take over the memory of the old ones; a clone that is held is not given away."""
    weight, step = trainer(rows, clone)
    waiting, threads, seen = looking(monkeypatch, lambda: np.array(look(weight).tolist()))
    step()
    assert not waiting
    for thread in threads:
        thread.join(60)
    np.testing.assert_array_equal(seen[0], np.array(look(weight).tolist()))


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("moment", ["publishing", "hand-over"])
@pytest.mark.parametrize("hold", [
    lambda c: c.clone(),
    lambda c: c * 2.0 - c,
    lambda c: c.jax(),
    lambda c: torch.stack([c, c])[0],
])
def test_who_gets_hold_of_it_before_keeps_it(hold, moment, alone, request, monkeypatch):
    c, count = counter()
    if not alone:
        request.getfixturevalue("company")
    elif moment == "hand-over":
        held_on_to = c.clone()  # or it would publish and hand over at once
    held = []
    waiting = before(monkeypatch, moment, lambda: held.append(hold(c)))
    count()
    assert not waiting
    count()
    if alone and moment == "hand-over":
        assert held_on_to.tolist() == [5.0] * 300
    assert held[0].tolist() == [5.0 if moment == "publishing" else 6.0] * 300
    assert c.tolist() == [7.0] * 300 and c._version == 7


@pytest.mark.parametrize("rows", [1, 100])
@pytest.mark.parametrize("clone", [False, True])
def test_a_reader_gets_old_numbers_or_new_ones(clone, rows):
    weight, step = trainer(rows, clone)
    done, seen, steps = threading.Event(), [], [None] * 40
    reading = threading.Barrier(1)  # broken when a reader fails

    def read():
        try:
            while not done.is_set():
                shown = np.array(weight.tolist()), np.array(weight.grad.tolist())
                seen.append([x for a in shown for x in (a.min(), a.max())])
        except BaseException:
            reading.abort()
            raise

    def write():
        try:
            while steps or (len(seen) < 3 and not reading.broken):
                step()
                steps[:1] = []
        finally:
            done.set()

    in_threads(lambda k: (read, write, read)[k](), 3)
    last = weight.max().item()
    assert all(0 < least == most <= last and grads == [-1.0, -1.0] for least, most, *grads in seen)


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


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("threads", ["none", "one", "loading data"])
def test_nothing_is_copied_for_other_threads(threads, request, monkeypatch):
    c, count = counter()
    count()  # which is right as well where this thread alone has come so far
    general, general_way = [], Specialisation._general
    copies, copied = [], handover.copied
    monkeypatch.setattr(Specialisation, "_general",
                        lambda *given: (general.append(given), general_way(*given))[1])
    monkeypatch.setattr(handover, "copied", lambda array: (copies.append(array.shape), copied(array))[1])
    if threads == "one":
        request.getfixturevalue("company")
    loader = torch.utils.data.DataLoader(torch.arange(60.0).reshape(20, 3), batch_size=2,
                                         num_workers=2 * (threads == "loading data"))
    for _ in loader:
        count()
    assert bool(general) == (threads != "none") and c.tolist() == [16.0] * 300
    assert (300,) not in copies


@pytest.mark.parametrize("moment", ["publishing", "hand-over"])
@pytest.mark.parametrize("alone", [True, False])
def test_an_interrupt_leaves_it_before_or_after(moment, alone, request, monkeypatch):
    c, count = counter()
    if not alone:
        request.getfixturevalue("company")

    def fail():
        raise KeyboardInterrupt

    waiting = before(monkeypatch, moment, fail)
    if alone and moment == "hand-over":
        held_on_to = c.clone()
        assert held_on_to.tolist() == [5.0] * 300
    with pytest.raises(KeyboardInterrupt):
        count()
    after = 5.0 + (moment == "hand-over")
    assert not waiting and c.tolist() == [after] * 300 and c._version == after
    count()
    assert c.tolist() == [after + 1.0] * 300


@pytest.mark.recovers
@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize("rows", [1, 100])
def test_a_run_that_fails_is_recovered_from(rows, taken, company, monkeypatch):
    """Operation by operation, as any program; ``taken``: the failed run had been given its arguments."""
    expected, expected_step = trainer(rows, False)
    expected_step()
    weight, step = trainer(rows, False)
    before_it = weight.tolist()
    hand_over = handover.hand_over

    def failing(function, *rest):
        def run(*given):
            if taken:
                function(*given)
            raise jax.errors.JaxRuntimeError("pretended")

        return hand_over(run, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(handover, "hand_over", failing)
        if taken:
            with pytest.raises(RuntimeError, match="pretended") as raised:
                step()
            assert "given to a run that failed afterwards, and is needed by sgd" in raised.value.__notes__[0]
            with pytest.raises(RuntimeError, match="could not be computed"):
                weight.tolist()
            assert weight.grad.tolist() == expected.grad.tolist()
            return
        step()
    assert weight.tolist() == expected.tolist() != before_it
    assert weight.grad.tolist() == expected.grad.tolist() and weight._version == expected._version
    step(), expected_step()
    assert weight.tolist() == expected.tolist()


@pytest.mark.parametrize("known", [False, True])
def test_a_captured_function_may_wait_for_another_thread(known, monkeypatch):
    """Which calls a compiled function meanwhile: it runs as Python, and both are right."""
    monkeypatch.setattr(_turns, "PATIENCE", 0.05)
    c, count = counter()
    if not known:
        torch.compiler.reset()
    total = torch.zeros(300)

    @torch.compile
    def collect():
        total.add_(1.0)
        in_threads(lambda k: count(), 1)
        return total * 2.0

    assert collect().tolist() == [2.0] * 300
    assert c.tolist() == [6.0] * 300 and total.tolist() == [1.0] * 300
    count()
    assert c.tolist() == [7.0] * 300 and c._version == 7


def test_a_thread_that_threading_did_not_start_is_company():
    begun, done = threading.Event(), threading.Event()

    def work():
        begun.set()
        done.wait()

    assert background.alone()
    _thread.start_new_thread(work, ())
    assert begun.wait(60) and not background.alone()
    done.set()
    assert any(background.alone() or time.sleep(0.01) for _ in range(6000))


class Cut(BaseException):
    """Stands for what a signal's handler raises."""


def interrupted(code, at, run):
    """Raise Cut where signals are handled in a code, the time number ``at``; whether it came so far."""
    count, last = [0], [""]

    def trace(frame, event, arg):
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return opcode

    def opcode(frame, event, arg):
        if event == "opcode":
            count[0] += last[0] in ("RESUME", "CALL", "JUMP_BACKWARD")
            last[0] = dis.opname[code.co_code[frame.f_lasti]]
            if count[0] == at:
                raise Cut
        return opcode

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
    return count[0] >= at


def test_no_signal_leaves_the_lock_of_captures_taken():
    """CPython looks for signals where a function begins, after a call, and where a loop begins again."""

    def run():
        with contextlib.suppress(Cut), _turns.capturing():
            pass

    at, came = 1, True
    while came:
        came = interrupted(_turns.capturing.__wrapped__.__code__, at, run)
        assert not _turns._lock._is_owned(), f"after the interrupt {at}"
        at += 1
    assert at > 2
