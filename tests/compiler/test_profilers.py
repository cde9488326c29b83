"""Compiled functions under a profiler: both do what they do alone."""

import cProfile
import pstats
import sys

import jaxflow as torch


def after():
    return 1


def stepping():
    """A compiled step, and the tensor that it changes."""
    total = torch.zeros(3)

    @torch.compile
    def step(x):
        total.add_(x)
        return total.sum()

    return step, total


def test_a_profile_goes_on_after_a_capture():
    step, total = stepping()
    profile = cProfile.Profile()
    profile.enable()
    try:
        seen = [step(torch.ones(3)).item() for _ in range(4)]
        after()
    finally:
        profile.disable()
    assert seen == [3.0, 6.0, 9.0, 12.0] and total.tolist() == [4.0] * 3
    assert any(name == "after" for _, _, name in pstats.Stats(profile).stats)
    assert step.explain()["hits"] >= 2


def test_a_number_is_read_under_a_profile():
    step = torch.compile(lambda x: x * (2.0 if x.sum().item() > 0 else 3.0))
    with cProfile.Profile():
        seen = [step(torch.full((2,), n)).tolist() for n in (1.0, -1.0, 2.0)]
    assert seen == [[2.0] * 2, [-3.0] * 2, [4.0] * 2]
    assert sys.getprofile() is None


def test_a_function_that_profiles_is_called_again_after_a_capture():
    step, total = stepping()
    called = []
    sys.setprofile(lambda frame, event, arg: called.append(frame.f_code.co_name))
    try:
        for _ in range(3):
            step(torch.ones(3))
        after()
    finally:
        sys.setprofile(None)
    assert total.tolist() == [3.0] * 3 and "after" in called


class Foreign:
    """What ``sys.getprofile()`` gives for a profiler written in C."""


def test_a_profiler_that_nobody_knows_keeps_the_thread(monkeypatch):
    step, total = stepping()
    foreign, given = Foreign(), []
    monkeypatch.setattr(sys, "getprofile", lambda: foreign)
    monkeypatch.setattr(sys, "setprofile", given.append)
    for _ in range(3):
        step(torch.ones(3))
    assert total.tolist() == [3.0] * 3 and given == []
