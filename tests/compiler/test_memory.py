"""What a compiled step keeps alive: the state, and nothing of the calls before."""

import gc

import jax
import numpy as np

import jaxflow
from jaxflow._exec import handover

F = jaxflow.nn.functional


def training():
    """A compiled step of a layer whose weight has a shape that nothing else has."""
    layer = jaxflow.nn.Linear(201, 203)
    optimizer = jaxflow.optim.Adam(layer.parameters())
    inputs = jaxflow.from_numpy(np.ones((4, 201), np.float32))
    targets = jaxflow.tensor([0, 1, 2, 3])

    @jaxflow.compile
    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(layer(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def test_arrays_of_the_first_call_are_let_go():
    # The check of the targets' range is part of the program, and refers to the recording it was made in.
    step = training()
    for _ in range(4):
        step().item()
    gc.collect()
    assert matrices() == 4  # the weight, its gradient, and Adam's two averages


def matrices():
    return sum(array.shape == (203, 201) for array in jax.live_arrays())


def test_a_step_keeps_no_second_copy_while_it_runs(deferred, compiled, monkeypatch):
    before, hand_over = [], handover.hand_over

    def watched(*arguments):
        before.append(matrices())
        return hand_over(*arguments)

    step = training()
    monkeypatch.setattr(handover, "hand_over", watched)
    for _ in range(6):
        gc.collect()
        step().item()
    # The first call makes the averages; nothing of its forward and backward outlives it either. The gradient
    # is the old one, or in the first call empty memory, which the new one takes over: NOTE [Spare arrays].
    # The first calls with arrays of a kind keep copies of what they give away: NOTE [One hand-over].
    assert before[-3:] == [4] * 3
    assert matrices() == 4


def test_a_model_that_is_dropped_is_gone_at_once():
    step = training()
    for _ in range(4):
        step().item()
    gc.collect()
    gc.disable()
    try:
        step = training()
        for _ in range(4):
            step().item()
        assert matrices() == 4
        del step
        assert matrices() == 0
    finally:
        gc.enable()
