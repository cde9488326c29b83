"""Handing arguments over to XLA: whatever comes in between, what was given away has been replaced."""

from contextlib import nullcontext

import jax
import numpy as np

from jaxflow._core.device import CPU
from jaxflow._exec.handover import Entrance


def entrance():
    """The way into a program that writes over its only argument."""
    jitted = jax.jit(lambda donated, kept, *numbers: [donated[0] + 1], donate_argnums=0)
    struct = jax.ShapeDtypeStruct((4,), np.float64)
    return Entrance(jitted.lower([struct], [], None, None, None).compile(), CPU)


def interrupted_after(call):
    """jax's Python part of a call, with an interrupt when XLA has the arguments."""
    def interrupted(*args, **kwargs):
        call(*args, **kwargs)
        raise KeyboardInterrupt
    return staticmethod(interrupted)


def call_all(way, count, setting=nullcontext):
    """Call so often, interrupted or not: how often an interrupt came in between. No array may be lost."""
    came = 0
    for _ in range(count):
        array, answers = jax.numpy.zeros(4), []
        with setting():
            try:
                way.run([array], [], (None, None, None), None, answers)
            except KeyboardInterrupt:
                came += 1
        if answers:
            assert answers[1][0].tolist() == [1] * 4
        else:
            assert not array.is_deleted() and array.tolist() == [0] * 4
    return came


def test_interrupts_of_the_first_calls_lose_nothing_then_or_later(monkeypatch):
    way, call = entrance(), jax.stages.Compiled.call
    with monkeypatch.context() as patch:
        patch.setattr(jax.stages.Compiled, "call", interrupted_after(call))
        assert call_all(way, 3) == 3
    assert call_all(way, 3) == 0
    # jax goes through Python for good where a first call was interrupted: this has to be another function
    monkeypatch.setattr(jax.stages.Compiled, "call", interrupted_after(call))
    assert call_all(way, 3) == 0


def test_a_setting_of_jax_that_was_changed_loses_nothing(monkeypatch):
    way = entrance()
    assert call_all(way, 3) == 0
    monkeypatch.setattr(jax.stages.Compiled, "call", interrupted_after(jax.stages.Compiled.call))
    assert call_all(way, 3) == 0
    assert call_all(way, 3, lambda: jax.default_matmul_precision("highest")) == 3
    assert call_all(way, 3) == 0
