"""``Tensor.backward`` as Paddle's page says it, on Paddle's tensors."""

import gc
import inspect
import weakref

import numpy as np
import pytest

from contract.programs import ONES, A, B, same
from jaxflow import paddle


@pytest.fixture
def T():
    """The dialect all tests here are written for."""
    return paddle


def leaf(t):
    """A fresh leaf with these numbers."""
    x = t.detach().clone()
    x.stop_gradient = False
    return x


def test_signature():
    given = inspect.signature(paddle.Tensor.backward).parameters
    assert list(given) == ["self", "grad_tensor", "retain_graph"]
    assert given["grad_tensor"].default is None and given["retain_graph"].default is False


def test_runs_backward_from_this_tensor(run):
    def program(T, a, b):
        x, w = leaf(a), leaf(b)
        found = (x * w * x).sum().backward()
        assert found is None and type(found) is type(None)
        return x.grad, w.grad

    same(run(program, A, B), 2 * A * B, A * A)


def test_gradients_accumulate(run):
    def program(T, a):
        x = leaf(a)
        seen = []
        for _ in range(3):
            (x * x).sum().backward()
            seen.append(x.grad.clone())
        return seen

    same(run(program, A), 2 * A, 4 * A, 6 * A)


def test_clear_grad(run):
    def program(T, a):
        x = leaf(a)
        (x * x).sum().backward()
        x.clear_grad()
        zero = x.grad.clone()
        (x * x).sum().backward()
        once = x.grad.clone()
        x.clear_gradient()
        return zero, once, x.grad

    same(run(program, A), 0 * A, 2 * A, 0 * A)


def test_the_initial_gradient(run):
    def program(T, a, v):
        x = leaf(a)
        (x * x).backward(v)
        (x * 3).backward(grad_tensor=v)
        return x.grad

    same(run(program, A, B), 2 * A * B + 3 * B)


def test_none_is_a_tensor_of_ones(run):
    def program(T, a):
        x = leaf(a)
        x.sum().backward()
        (x * x).backward()  # more than one element as well
        (x * x).backward(None)
        (x * x).backward(T.ones_like(x))
        return x.grad

    same(run(program, A), 1 + 6 * A)


def test_a_gradient_of_another_length_is_refused(run):
    def program(T, a):
        x = leaf(a)
        with pytest.raises(AssertionError):
            (x * x).backward(T.ones([2]))
        with pytest.raises(AssertionError):
            (x * x).backward(1.0)
        (x * 2).backward(T.ones([3]))
        return x.grad

    same(run(program, A), 2 * ONES)


def test_false_frees_the_graph(run):
    def program(T, a):
        x = leaf(a)
        for options in ({}, dict(retain_graph=False)):
            y = (x * x).sum()
            y.backward(**options)
            with pytest.raises(RuntimeError):
                y.backward()
        return x.grad

    same(run(program, A), 4 * A)


def test_true_allows_more_operations_on_the_graph(run):
    def program(T, a):
        x = leaf(a)
        y = x * x
        y.backward(retain_graph=True)
        first = x.grad.clone()
        (y * y).sum().backward()
        return first, x.grad

    same(run(program, A), 2 * A, 2 * A + 4 * A**3)


@pytest.mark.usefixtures("executor")
def test_false_lets_go_of_what_was_saved():
    def saved(retain):
        x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
        y = x * 2.0
        kept = weakref.ref(y._value_array())
        z = (y * y).sum()
        del y
        z.backward(retain_graph=retain)
        z.item()
        gc.collect()
        return kept() is not None, z

    assert saved(True)[0] and not saved(False)[0]


@pytest.mark.usefixtures("executor")
def test_the_example(capsys):
    def line(i, number):
        text = f"Tensor(shape=[], dtype=float32, place=Place(cpu), stop_gradient=False,\n       {number}.)"
        return text if i is None else f"{i}: {text}"

    x = paddle.to_tensor(5.0, stop_gradient=False)
    for i in range(5):
        y = paddle.pow(x, 4.0)
        y.backward()
        print(f"{i}: {x.grad}")
    x.clear_grad()
    print(f"{x.grad}")
    grad_tensor = paddle.to_tensor(2.0)
    for i in range(5):
        y = paddle.pow(x, 4.0)
        y.backward(grad_tensor)
        print(f"{i}: {x.grad}")
    slope = 4 * 5**3
    expected = [line(i, slope * (i + 1)) for i in range(5)] + [line(None, 0)]
    expected += [line(i, 2 * slope * (i + 1)) for i in range(5)]
    assert capsys.readouterr().out.split("\n") == "\n".join(expected).split("\n") + [""]
    np.testing.assert_allclose(x.gradient(), 10 * slope)
