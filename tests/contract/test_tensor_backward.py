"""``Tensor.backward`` as the OneFlow page says it, on jaxflow's tensors and on OneFlow's."""

import inspect

import numpy as np
import pytest

import jaxflow
from contract.programs import ONES, A, B, every_warning, leaf, same

FREED = "Trying to backward through the graph a second time"


def test_gradient_with_respect_to_leaves(run):
    def program(T, a, b):
        x, w = leaf(a), leaf(b)
        y = x * w
        assert (y * x).sum().backward() is None
        assert not y.is_leaf
        return x.grad, w.grad

    same(run(program, A, B), 2 * A * B, A * A)


def test_chain_rule(run):
    def program(T, a):
        x = leaf(a)
        (x.sin().exp() * 2).sum().backward()
        return x.grad

    same(run(program, A), 2 * np.exp(np.sin(A)) * np.cos(A))


def test_several_elements_need_a_gradient(run):
    def program(T, a, v):
        x = leaf(a)
        with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
            (x * x).backward()
        (x * x).backward(v)
        (x * 3).backward(gradient=v)
        return x.grad

    same(run(program, A, B), 2 * A * B + 3 * B)


def test_gradient_of_matching_type_and_location(run):
    def program(T, a):
        x = leaf(a)
        for wrong, text in (
            (T.ones(2), "Mismatch in shape"), (T.ones(3, 1), "Mismatch in shape"),
            (T.ones(3, dtype=T.complex64), "both grad_output and output are required to have the same"),
        ):
            with pytest.raises(RuntimeError, match=text):
                (x * 2).backward(wrong)
        with pytest.raises(RuntimeError, match="expected device cpu but got meta"):
            (x * 2).backward(jaxflow.ones(3, device="meta"))
        (x * 2).backward(T.ones(3, dtype=T.float64))  # real dtypes are converted
        return x.grad

    same(run(program, A), 2 * ONES)


def test_gradient_is_of_this_tensor(run):
    def program(T, a, v):
        x = leaf(a)
        y = x * x
        y.retain_grad()
        y.backward(v)
        return y.grad, x.grad

    same(run(program, A, B), B, 2 * A * B)


def test_accumulates_until_zeroed_or_none(run):
    def program(T, a):
        x = leaf(a)
        seen = []
        for clear in ("not", "zero", "none", "end"):
            (x * x).sum().backward()
            seen.append(x.grad.clone())
            if clear == "zero":
                x.grad.zero_()
            elif clear == "none":
                x.grad = None
        return seen

    same(run(program, A), 2 * A, 4 * A, 2 * A, 2 * A)


def test_layout_of_accumulated_gradients(run):
    def program(T, a):
        shapes = []
        base = T.ones(2, 3)
        for made in (base, base.t()):
            x = made.detach().requires_grad_()
            (x * 2).sum().backward()
            shapes.append((x.stride(), x.grad.stride()))
        row, column = shapes
        assert row == ((3, 1), (3, 1)) and column == ((1, 3), (1, 3))  # that of the leaf
        gaps = T.ones(4, 3)[::2].detach().requires_grad_()
        gaps.sum().backward()
        assert gaps.stride() == (6, 1) and gaps.grad.stride() == (3, 1)  # without gaps
        x = leaf(a)
        (x * 2).sum().backward()
        kept = x.grad
        (x * 2).sum().backward()
        assert x.grad is kept  # added in place
        with every_warning(), pytest.warns(UserWarning, match="reference cycle"):
            (x * 2).sum().backward(create_graph=True)
        assert x.grad is not kept  # out of place
        grad, x.grad = x.grad, None
        return grad

    same(run(program, A), 6 * ONES)


@pytest.mark.parametrize("T", [jaxflow])
def test_inputs_that_are_no_leaves(run):
    def program(T, a, b):
        x, w = leaf(a), leaf(b)
        y = x * w
        calls = []
        y.register_hook(lambda g: calls.append(g.shape))
        (y * y).sum().backward(inputs=[y], retain_graph=True)
        assert len(calls) == 1 and x.grad is None and w.grad is None
        return y.grad

    same(run(program, A, B), 2 * A * B)


def test_gradient_is_a_constant_unless_create_graph(run):
    def program(T, a, v):
        x, w = leaf(a), leaf(v)
        (x * x).backward(w)
        assert not x.grad.requires_grad and w.requires_grad
        first, x.grad = x.grad, None
        with every_warning(), pytest.warns(UserWarning, match="reference cycle"):
            (x * x).backward(w, create_graph=True)
        second, x.grad = x.grad, None
        assert second.requires_grad
        return first, second, *T.autograd.grad(second.sum(), w)

    same(run(program, A, B), 2 * A * B, 2 * A * B, 2 * A)


def test_none_where_it_is_acceptable(run):
    def program(T, a, b):
        x = leaf(a)
        x.sum().backward(None)
        x.prod().backward()
        (x[:1] * 2).backward(gradient=None)
        with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
            b.backward(None)
        return x.grad

    same(run(program, A, B), 1 + np.prod(A) / A + np.array([2.0, 0.0, 0.0]))


def test_retain_graph(run):
    def program(T, a):
        x = leaf(a)
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward(None, False)
        with pytest.raises(RuntimeError, match=FREED):
            y.backward()
        for _ in range(2):  # steps do without it
            (x * x).sum().backward()
        return x.grad

    same(run(program, A), 8 * A)


def test_retain_graph_follows_create_graph(run):
    def program(T, a):
        x = leaf(a)
        y = (x * x).sum()
        with every_warning(), pytest.warns(UserWarning, match="reference cycle"):
            y.backward(create_graph=True)
        x.grad = None
        y.backward()
        return x.grad

    same(run(program, A), 2 * A)


def test_create_graph_allows_derivatives_of_higher_order(run):
    def program(T, a, v):
        x = leaf(a)
        with every_warning(), pytest.warns(UserWarning, match="reference cycle"):
            (x**3).sum().backward(create_graph=True)
        first, x.grad = x.grad, None
        first.backward(v)
        return first, x.grad

    same(run(program, A, B), 3 * A**2, 6 * A * B)


def test_forward_ops_gradient_and_backward_are_one_stream(run):
    # there is one order of work to a user: a value written after backward is not seen by it
    def program(T, a, v):
        x = leaf(a)
        y = x * x
        vector = v * 1
        y.backward(vector)
        with T.no_grad():
            vector.zero_()
            x.mul_(0)
        return x.grad

    same(run(program, A, B), 2 * A * B)


def test_signatures():
    given = inspect.signature(jaxflow.oneflow.Tensor.backward).parameters
    found = {n: p.default for n, p in given.items() if n != "self"}
    assert list(found)[:3] == ["gradient", "retain_graph", "create_graph"]
    assert [found[n] for n in list(found)[:3]] == [None, False, False]
    own = inspect.signature(jaxflow.Tensor.backward).parameters
    assert list(own)[:5] == ["self", "gradient", "retain_graph", "create_graph", "inputs"]
    assert own["gradient"].default is None and own["create_graph"].default is False
