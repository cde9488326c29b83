"""`torch.cond`, `torch.while_loop` and the scans, beside PyTorch's."""

import pytest
import torch

import jaxflow
from compat_tests.both import check_both


def _branches(T, x, w, m):
    return T.cond(x.sum() > 4, lambda x: (x * w, x.sin()), lambda x: (x + w, x.cos()), (x,))


def _loop(T, x, w, m):
    start = T.zeros(()), {"x": x}
    return T.while_loop(lambda i, d: i < 3, lambda i, d: (i + 1, {"x": d["x"] * w}), start)[1]["x"],


def _scan(T, x, w, m):
    def combine(state, row):
        return state * row[0] + w.sum(), [state * row[1], row[0].clone()]

    state, (a, b) = T._higher_order_ops.scan(combine, T.ones(3), (m, x), reverse=True)
    return state, a, b


def _along_a_later_dimension(T, x, w, m):
    def combine(state, column):
        return state + column, (state + column).clone()

    return T._higher_order_ops.scan(combine, T.zeros(3), m, dim=1)


def _mapped(T, x, w, m):
    return T._higher_order_ops.map(lambda row, w: (row * w, row.sum()), m, w)


# PyTorch compiles its own scan, which warns of itself.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("form", [_branches, _loop, _scan, _along_a_later_dimension, _mapped])
def test_values_and_gradients(form, sign):
    def program(T):
        x = (T.tensor([1.0, 2.0, 3.0]) * sign).requires_grad_()
        w = T.tensor([2.0, 0.5, -1.5], requires_grad=True)
        m = T.arange(9.0).reshape(3, 3).requires_grad_()
        found = form(T, x, w, m)
        (sum(y.square().sum() for y in found) + 0 * (x.sum() + w.sum() + m.sum())).backward()
        return *found, x.grad, w.grad, m.grad

    check_both(program)


def test_errors_are_of_the_same_type():
    cases = [
        lambda T: T.cond(T.ones(3), T.sin, T.cos, (T.ones(3),)),
        lambda T: T.cond("a", T.sin, T.cos, (T.ones(3),)),
        lambda T: T.cond(T.tensor(True), 3, T.cos, (T.ones(3),)),
        lambda T: T.cond(T.tensor(True), T.sin, T.cos, T.ones(3)),
        lambda T: T.cond(T.tensor(True), lambda x: x, lambda x: x, (T.ones(3),)),
        lambda T: T.while_loop(3, T.cos, (T.ones(3),)),
        lambda T: T.while_loop(lambda x: x.sum() < 9, lambda x: (x[:2] + 1,), (T.ones(3),)),
        lambda T: T._higher_order_ops.scan(3, T.ones(3), T.ones(3)),
        lambda T: T._higher_order_ops.scan(max, T.ones(3), T.ones(3), dim=4),
        lambda T: T._higher_order_ops.scan(max, T.ones(3), T.ones(3), reverse=1),
        lambda T: T._higher_order_ops.scan(max, [], T.ones(3)),
        lambda T: T._higher_order_ops.map(T.sin, 3),
        lambda T: T._higher_order_ops.map(T.sin, T.ones(0, 2)),
    ]
    for case in cases:
        errors = []
        for T in (torch, jaxflow):
            with pytest.raises((RuntimeError, IndexError)) as caught:
                case(T)
            errors.append((caught.type.__name__, str(caught.value)[:20]))
        assert errors[0][0] == errors[1][0], errors
        if "Uncaptured" not in errors[0][0]:
            assert errors[0] == errors[1]
