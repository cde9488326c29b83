"""``autograd.grad`` as the OneFlow module page says it."""

import inspect

import jax
import numpy as np
import pytest

import jaxflow
from contract.programs import ONES, A, B, leaf, same

FREED = "Trying to backward through the graph a second time"


def test_returns_a_tuple_and_leaves_grad_alone(run):
    def program(T, a, b):
        x, w = leaf(a), leaf(b)
        x.grad = T.ones(3)
        found = T.autograd.grad((x * w).sum(), [x, w])
        assert type(found) is tuple and w.grad is None
        return *found, x.grad

    same(run(program, A, B), B, A, ONES)


def test_one_gradient_for_each_input(run):
    def program(T, a, b):
        x, w = leaf(a), leaf(b)
        loss = (x * w).sum() + w.sum()
        both = T.autograd.grad(loss, (w, x), retain_graph=True)
        alone = T.autograd.grad(loss, x)
        assert len(both) == 2 and type(alone) is tuple and len(alone) == 1
        return *both, *alone

    same(run(program, A, B), A + 1, B, B)


def test_sum_over_the_outputs(run):
    def program(T, a, b):
        x, w = leaf(a), leaf(b)
        middle = x * w
        return T.autograd.grad([middle.sum(), (middle * x).sum()], [x, w, middle])

    same(run(program, A, B), B + 2 * A * B, A + A * A, 1 + A)


def test_chain_rule(run):
    def program(T, a):
        x = leaf(a)
        return T.autograd.grad((x.sin().exp() * 2).sum(), x)

    same(run(program, A), 2 * np.exp(np.sin(A)) * np.cos(A))


def test_vectors_of_matching_length(run):
    def program(T, a, v):
        x = leaf(a)
        outputs = [x * 2, x * x]
        for vectors in ([v], v):
            with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
                T.autograd.grad(outputs, x, vectors)
        with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
            T.autograd.grad(outputs, x)
        return T.autograd.grad(outputs, x, [v, v * v])

    same(run(program, A, B), 2 * B + 2 * A * B * B)


def test_none_among_the_vectors(run):
    def program(T, a, v):
        x = leaf(a)
        (first,) = T.autograd.grad([x.sum(), x * 2], x, [None, v])
        (second,) = T.autograd.grad(x.sum(), x, None)
        (third,) = T.autograd.grad(x.prod(), x)
        with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
            T.autograd.grad([x.sum(), v], x, [None, None])
        return first, second, third

    same(run(program, A, B), 1 + 2 * B, ONES, np.prod(A) / A)


def test_graph_is_freed_unless_retained(run):
    def program(T, a):
        x = leaf(a)
        y = (x * x).sum()
        (first,) = T.autograd.grad(y, x, retain_graph=True)
        (second,) = T.autograd.grad(y, x)
        with pytest.raises(RuntimeError, match=FREED):
            T.autograd.grad(y, x)
        return first, second

    same(run(program, A), 2 * A, 2 * A)


def test_retain_graph_follows_create_graph(run):
    def program(T, a):
        x = leaf(a)
        y = (x * x).sum()
        (first,) = T.autograd.grad(y, x, create_graph=True)
        (second,) = T.autograd.grad(y, x)
        assert first.requires_grad and not second.requires_grad
        return first, second

    same(run(program, A), 2 * A, 2 * A)


def test_create_graph_allows_derivatives_of_higher_order(run):
    def program(T, a, v):
        x = leaf(a)
        (first,) = T.autograd.grad((x**4).sum(), x, create_graph=True)
        (second,) = T.autograd.grad(first, x, v, create_graph=True)
        return first, second, *T.autograd.grad(second, x, v)

    same(run(program, A, B), 4 * A**3, 12 * A**2 * B, 24 * A * B**2)


def test_under_the_transformations_of_jax(form):
    # what "traced" means for derivatives: jax's own agrees
    def loss(a):
        return (a.sin() * a).sum()

    def program(a):
        x = leaf(a)
        return jaxflow.autograd.grad(loss(x), x)[0]

    a = jaxflow.tensor(A)
    mine = jax.jit(program)(a) if form == "traced" else program(a)
    same([mine.numpy(), jax.grad(lambda t: loss(t).jax())(a).numpy()], *[np.cos(A) * A + np.sin(A)] * 2)


def test_signature():
    given = inspect.signature(jaxflow.oneflow.autograd.grad).parameters
    names = ["outputs", "inputs", "grad_outputs", "retain_graph", "create_graph"]
    assert list(given)[:5] == names
    empty = inspect.Parameter.empty
    assert [given[n].default for n in names] == [empty, empty, None, False, False]
    own = inspect.signature(jaxflow.autograd.grad).parameters
    assert list(own)[:5] == names and own["grad_outputs"].default is None
    assert own["create_graph"].default is False
