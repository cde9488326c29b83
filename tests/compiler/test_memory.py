"""What a compiled step keeps alive: the state, and nothing of the calls before."""

import gc

import jax
import numpy as np

import jaxflow

F = jaxflow.nn.functional


def test_arrays_of_the_first_call_are_let_go():
    # The check of the targets' range is part of the program, and refers to the recording it was made in.
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

    for _ in range(4):
        step().item()
    gc.collect()
    matrices = sum(array.shape == (203, 201) for array in jax.live_arrays())
    assert matrices == 4  # the weight, its gradient, and Adam's two averages
