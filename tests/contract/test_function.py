"""``autograd.Function`` as the OneFlow module page says it, on jaxflow's class and on OneFlow's."""

import inspect

import numpy as np
import pytest

import jaxflow
from contract.programs import A, B, leaf, same


def exp_of(T):
    """The page's own example in our words: an exponential that keeps its result."""

    class Exp(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    return Exp


def test_a_module_of_functions_and_classes(T):
    assert inspect.isclass(T.autograd.Function)
    assert callable(T.autograd.backward) and callable(T.autograd.grad)


def test_a_subclass_with_static_forward_and_backward(run):
    def program(T, a, b):
        calls = []

        class Product(T.autograd.Function):
            @staticmethod
            def forward(ctx, x, w):
                calls.append("forward")
                ctx.save_for_backward(x, w)
                return x * w

            @staticmethod
            def backward(ctx, g):
                calls.append("backward")
                x, w = ctx.saved_tensors
                return g * w * 10, g * x  # ten times: ours is what runs

        x, w = leaf(a), leaf(b)
        y = Product.apply(x, w)
        assert set(calls) == {"forward"}  # more than once inside jax.jit: jax traces it as well
        y.sum().backward()
        assert set(calls) == {"forward", "backward"}
        return y, x.grad, w.grad

    same(run(program, A, B), A * B, 10 * B, A)


def test_without_forward_or_backward_it_says_so(run):
    def program(T, a):
        class Empty(T.autograd.Function):
            pass

        class Half(T.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

        x = leaf(a)
        with pytest.raises(NotImplementedError, match="must implement the forward function"):
            Empty.apply(x)
        with pytest.raises(NotImplementedError, match="must implement either the backward or vjp"):
            Half.apply(x).sum().backward()
        return Half.apply(a)

    same(run(program, A), 2 * A)


def test_apply_computes_and_builds_the_graph(run):
    def program(T, a):
        Exp = exp_of(T)
        x = leaf(a)
        y = Exp.apply(x)
        assert y.requires_grad and not y.is_leaf and y.grad_fn.name() == "ExpBackward"
        assert inspect.ismethod(Exp.apply) and Exp.apply.__self__ is Exp
        (y * y).sum().backward()
        with T.no_grad():
            assert Exp.apply(x).grad_fn is None
        return y, x.grad

    same(run(program, A), np.exp(A), 2 * np.exp(2 * A))


def test_forward_called_directly_is_no_custom_op(run):
    def program(T, a):
        class Tenfold(T.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 10

        x = leaf(a)
        y = Tenfold.forward(None, x)
        assert y.grad_fn.name() == "MulBackward0"
        y.sum().backward()
        direct, x.grad = x.grad, None
        Tenfold.apply(x).sum().backward()
        return direct, x.grad

    same(run(program, A), 0 * A + 2, 0 * A + 10)


def test_the_example(run):
    def program(T, a):
        x = leaf(a)
        y = exp_of(T).apply(x)
        y.sum().backward()
        return y, x.grad

    same(run(program, A), np.exp(A), np.exp(A))


@pytest.mark.parametrize("T", [jaxflow.oneflow])
def test_an_instance_is_called_like_apply(run):
    def program(T, a):
        Exp = exp_of(T)
        x, w = leaf(a), leaf(a)
        y, z = Exp()(x), Exp.apply(w)
        assert y.grad_fn.name() == z.grad_fn.name()
        (y.sum() + z.sum()).backward()
        return y, z, x.grad, w.grad

    same(run(program, A), *[np.exp(A)] * 4)


@pytest.mark.parametrize("T", [jaxflow.oneflow])
def test_calling_an_instance_takes_several_inputs(run):
    def program(T, a, b):
        class Pair(T.autograd.Function):
            @staticmethod
            def forward(ctx, x, w, n):
                ctx.save_for_backward(x, w)
                ctx.n = n
                return x * w, x + n

            @staticmethod
            def backward(ctx, g, h):
                x, w = ctx.saved_tensors
                return g * w + h, g * x, None

        assert list(inspect.signature(T.autograd.Function.__call__).parameters)[1:] == ["inputs"]
        x, w = leaf(a), leaf(b)
        y, z = Pair()(x, w, 3)
        (y.sum() + z.sum()).backward()
        return y, z, x.grad, w.grad

    same(run(program, A, B), A * B, A + 3, B + 1, A)
