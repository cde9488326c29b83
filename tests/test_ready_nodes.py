"""Which node's refusal a backward pass meets first, where several have no derivative."""

import pytest

import jaxflow as torch


@pytest.mark.parametrize("other", [lambda x: 1 // x, lambda x: torch.heaviside(x, x),
                                   lambda x: torch.bincount(torch.tensor([0, 1]), x)])
def test_what_has_no_derivative_at_all_is_met_before_older_nodes_and_newer_ones(other):
    x = torch.ones(2, requires_grad=True)
    y = other(x)
    z = x.unique_consecutive()
    assert y.grad_fn._sequence_nr() == 2**64 - 1 > z.grad_fn._sequence_nr()
    for first, second in ((y, z), (z, y)):
        with pytest.raises(RuntimeError, match="derivative for aten::.* is not implemented"):
            (first.sum() + second.sum()).backward()
