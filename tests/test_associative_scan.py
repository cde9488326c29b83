"""`_higher_order_ops.associative_scan`: the scan with an associative function."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._higher_order_ops.associative_scan import associative_scan


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_it_is_what_combining_one_after_the_other_gives(count, reverse):
    a, b = np.linspace(0.5, 1.5, 2 * count).reshape(2, count), np.linspace(-1, 1, 2 * count).reshape(2, count)
    order = range(count)[::-1] if reverse else range(count)
    state, expected = np.zeros(2), np.zeros((2, count))
    for at in order:
        state = a[:, at] * state + b[:, at]
        expected[:, at] = state

    found = associative_scan(lambda before, after: {"a": before["a"] * after["a"],
                                                    "b": after["a"] * before["b"] + after["b"]},
                             {"a": torch.from_numpy(a), "b": torch.from_numpy(b)}, -1, reverse, "generic")
    assert list(found) == ["a", "b"]
    assert np.allclose(found["b"].numpy(), expected)


def test_the_function_is_given_single_slices():
    matrices = torch.tensor([[1.0, 1.0], [0.0, 1.0]]).repeat(4, 1, 1)
    found = associative_scan(lambda a, b: a @ b, matrices, 0, combine_mode="generic")
    assert found[:, 0, 1].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_gradients_flow_through_it():
    x = torch.tensor([2.0, 3.0, 5.0], requires_grad=True)
    associative_scan(lambda a, b: a * b, x, 0, combine_mode="generic")[2].backward()
    assert x.grad.tolist() == [15.0, 10.0, 6.0]


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ((max, torch.ones(2), 0), ValueError, "CUDA"),
    ((3, torch.ones(2), 0), ValueError, "Combine_fn must be a callable"),
    ((max, torch.ones(2), 0, "no"), RuntimeError, "Reverse must be a bool"),
    ((max, torch.ones(2), 0, False, "other"), ValueError, "Combine_mode"),
    ((max, torch.ones(2), 1, False, "generic"), IndexError, "Dimension out of range"),
    ((max, torch.ones(0), 0, False, "generic"), ValueError, "scan dimension > 0"),
    ((max, [], 0, False, "generic"), ValueError, "at least 1 xs leaf"),
    ((max, [1.0], 0, False, "generic"), ValueError, "must be a Tensor"),
    ((lambda a, b: (a, b), torch.ones(3), 0, False, "generic"), ValueError, "a tree like xs"),
])
def test_what_it_cannot_do_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        associative_scan(*arguments)
