"""The harnesses themselves: what they see, where they come in, what they leave out."""

import threading

import pytest

import jaxflow as torch

from . import surroundings
from .bench import compare
from .scenario import operation
from .surroundings import Hung, in_thread
from .tracing import Interrupt, disturb, place_of, profile
from .windows import leaving_with, window_of
from .world import World, differences, snapshot


def test_a_change_of_any_fact_is_seen():
    p = torch.ones(2, requires_grad=True)
    world = World(p=p, opt=torch.optim.SGD([p], lr=0.5, momentum=0.5))

    def after(text):
        before = snapshot(world)
        operation(text).run(world)
        return {name.removeprefix("p.") for name in differences(snapshot(world), before, exact=True)}

    assert after("w.p.detach()") == set()
    assert after("with torch.no_grad(): w.p.mul_(1)") == {"_version"}
    assert after("w.p.grad = torch.zeros(2)") >= {"grad", "grad._version", "grad.shape"}
    assert after("w.p.grad.add_(1)") == {"grad", "grad._version"}
    assert after("w.opt.step()") >= {"p", "_version", "opt.0.0.momentum_buffer"}
    assert after("w.opt.param_groups[0]['lr'] = 1.0") == {"opt.0.lr"}
    assert after("torch.set_grad_enabled(False)") == {"mode:grad"}
    assert after("torch.set_grad_enabled(True)") == {"mode:grad"}
    assert after("torch.rand(1)") == {"rng"}


def test_a_state_between_two_cuts_is_wrong():
    world = World(a=torch.zeros(2), b=torch.zeros(2))
    cuts = [snapshot(world)]
    world.a.add_(1)
    torn = snapshot(world)
    world.b.add_(1)
    cuts.append(snapshot(world))
    kinds = [compare(state, cuts, True, "state")[0].kind for state in (*cuts, torn)]
    assert kinds == ["right", "right", "state"]


def test_each_instruction_that_is_listed_can_be_interrupted():
    x = torch.ones(2)

    def run():
        with torch.execution("eager"):
            x + 1

    run()
    counts = profile(run)
    assert len(counts) > 100
    # Where a block is left a lock would stay taken, for all tests that follow.
    listed = [place for place in counts if window_of(place[0], place_of(*place)) is None]
    for code, offset in listed[:: len(listed) // 20]:
        assert disturb(run, code, offset, counts[code, offset] - 1) == (True, Interrupt.__name__)
        assert disturb(run, code, offset, counts[code, offset] * 2) == (False, None)


def test_what_calls_exit_is_left_out():
    lock = threading.Lock()

    def guarded():
        with lock:
            return lock.locked()

    offsets = leaving_with(guarded.__code__)
    assert 4 <= len(offsets) <= 6
    assert {window_of(guarded.__code__, place_of(guarded.__code__, offset)) for offset in offsets} != {None}
    assert window_of(guarded.__code__, place_of(guarded.__code__, 0)) is None


def test_a_deadlock_is_told_from_a_loop(monkeypatch):
    monkeypatch.setattr(surroundings, "PATIENCE", 0.2)
    released = threading.Event()
    with pytest.raises(Hung, match="wait"):
        in_thread(released.wait)
    released.set()

    def loop():
        while not ended:
            pass

    ended = []
    monkeypatch.setattr(surroundings, "AT_WORK", 0.0)
    monkeypatch.setattr(surroundings, "ENDLESS", 0.5)
    with pytest.raises(Hung, match="loop"):
        in_thread(loop)
    ended.append(True)
    assert in_thread(lambda: 1) == 1
