"""``vmap`` of every differentiable op, and of its gradient, against the op on each example."""

import numpy as np
import pytest
from gradient_rows import ROWS, VIEW_ROWS, optimizers
from gradient_rows.row import draw

import jaxflow as torch

# An optimizer's step writes into states that the row makes, which are the same for all examples.
ALL = {name: row for name, row in {**ROWS, **VIEW_ROWS}.items() if name not in optimizers.ROWS}
EXAMPLES = 2


def tuple_of(outputs):
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    return [t for t in outputs if isinstance(t, torch.Tensor)]


def examples(row):
    """For each example the row's inputs; all are drawn together, so that no two elements are equal."""
    drawn = [
        draw(row.low, row.high, seed, (EXAMPLES, *shape), row.dtype)
        for seed, shape in enumerate(row.shapes)
    ]
    return [t.detach() for t in drawn]


def gradients(outputs, inputs):
    """Gradients of the outputs that have any, for fixed cotangents."""
    outputs = [t for t in outputs if t.requires_grad]
    along = [draw(-1, 1, i, tuple(t.shape), t.dtype.name).detach() for i, t in enumerate(outputs)]
    return torch.autograd.grad(outputs, inputs, along, allow_unused=True)


def arrays(tensors):
    return [None if t is None else t.detach().numpy() for t in tensors]


@pytest.mark.parametrize("name", ALL)
def test_every_op_on_all_examples_at_once(name, deferred, counters):
    row = ALL[name]
    stacked = examples(row)
    mapped = max(1, len(stacked) - 1)  # of several inputs the last is the same for all examples
    one = [t if i < mapped else t[0] for i, t in enumerate(stacked)]
    results = []
    for run in (at_once, one_by_one):
        inputs = [t.clone().requires_grad_() for t in one]
        outputs = run(row, inputs, mapped)
        results.append(arrays([*outputs, *gradients(outputs, inputs)]))
    assert len(results[0]) == len(results[1])
    for got, expected in zip(*results, strict=True):
        assert (got is None) == (expected is None)
        if got is not None:
            np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-10)


def at_once(row, inputs, mapped):
    dims = tuple(0 if i < mapped else None for i in range(len(inputs)))
    return tuple_of(torch.vmap(row.call, dims, randomness="same")(*inputs))


def one_by_one(row, inputs, mapped):
    found = [
        tuple_of(row.call(*(t[k].clone() if i < mapped else t for i, t in enumerate(inputs))))
        for k in range(EXAMPLES)
    ]
    return [torch.stack(column) for column in zip(*found, strict=True)]
