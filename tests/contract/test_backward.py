"""``autograd.backward``: the C++ page of PyTorch and both OneFlow pages say the same of it."""

import gc
import inspect
import weakref

import numpy as np
import pytest

import jaxflow
from contract.programs import ONES, A, B, every_warning, leaf, same

FREED = "Trying to backward through the graph a second time"


# ----- what it computes -------------------------------------------------------------------------


def test_sum_over_the_roots_for_leaves_only(run):
    def program(T, a, b):
        x, w = leaf(a), leaf(b)
        middle = x * w
        T.autograd.backward([middle.sum(), (middle * x).sum()], [None, None])
        assert x.is_leaf and w.is_leaf and not middle.is_leaf
        return x.grad, w.grad

    same(run(program, A, B), B + 2 * A * B, A + A * A)


def test_chain_rule(run):
    def program(T, a):
        x = leaf(a)
        T.autograd.backward((x.sin().exp() * 2).sum(), None)
        return x.grad

    same(run(program, A), 2 * np.exp(np.sin(A)) * np.cos(A))


def test_several_elements_make_a_vector_jacobian_product(run):
    def program(T, a, v):
        x = leaf(a)
        y = T.stack([x.prod(), (x * x).sum()])
        T.autograd.backward(y, v)
        return x.grad

    same(run(program, A, [2.0, -1.0]), 2 * np.prod(A) / A - 2 * A)


def test_several_elements_need_a_vector(run):
    def program(T, a):
        x = leaf(a)
        for vectors in (None, [None]):
            with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
                T.autograd.backward(x * x, vectors)
        T.autograd.backward((x * x)[:1], None)  # one element is as good as a scalar
        return x.grad

    same(run(program, A), [2.0, 0.0, 0.0])


def test_one_vector_for_each_root_in_order(run):
    def program(T, a, v):
        x = leaf(a)
        T.autograd.backward([x * 2, x * x], [v, v * v])
        return x.grad

    same(run(program, A, B), 2 * B + 2 * A * B * B)


def test_lengths_must_match(run):
    def program(T, a):
        x = leaf(a)
        roots = [x * 2, x.sum(), x * x]
        ones = T.ones(3)
        for vectors in ([ones, None], [ones], []):
            with pytest.raises(RuntimeError, match=f"got 3 tensors and {len(vectors)} gradients"):
                T.autograd.backward(roots, vectors)
        T.autograd.backward(roots, [ones, None, ones])
        return x.grad

    same(run(program, A), 3 + 2 * A)


def test_vector_must_fit_its_root(run):
    def program(T, a):
        x = leaf(a)
        with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape of"):
            T.autograd.backward(x * 2, T.ones(2))
        with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
            T.autograd.backward([x * 2], [1.0])
        T.autograd.backward(x * 2, T.ones(3))
        return x.grad

    same(run(program, A), 2 * ONES)


def test_none_for_scalars_among_others(run):
    def program(T, a, v):
        x = leaf(a)
        T.autograd.backward([x.sum(), x * 2, x.prod()], [None, v, None])
        return x.grad

    same(run(program, A, B), 1 + 2 * B + np.prod(A) / A)


def test_none_for_all_may_be_left_out(run):
    def program(T, a):
        x = leaf(a)
        for vectors in ((), (None,), ([None, None],)):
            T.autograd.backward([x.sum(), (x * x).sum()], *vectors)
        return x.grad

    same(run(program, A), 3 * (1 + 2 * A))


def test_none_is_accepted_for_a_root_that_needs_no_gradient(run):
    # what is refused is that root, which no gradient can start from; not that it has no vector
    def program(T, a, b):
        x = leaf(a)
        with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
            T.autograd.backward([x.sum(), b], [None, None])
        T.autograd.backward(x.sum(), None)
        return x.grad

    same(run(program, A, B), ONES)


def test_one_tensor_or_a_sequence(run):
    def program(T, a, v):
        grads = []
        for root, vector in ((lambda y: y, v), (lambda y: [y], [v]), (lambda y: (y,), (v,))):
            x = leaf(a)
            T.autograd.backward(root(x * x), vector)
            grads.append(x.grad)
        return grads

    same(run(program, A, B), *[2 * A * B] * 3)


# ----- .grad --------------------------------------------------------------------------------------


def test_gradients_accumulate(run):
    def program(T, a):
        x = leaf(a)
        assert x.grad is None
        seen = []
        for _ in range(3):
            T.autograd.backward((x * x).sum(), None)
            seen.append(x.grad.clone())
        return seen

    same(run(program, A), 2 * A, 4 * A, 6 * A)


def test_zeroed_or_none_before_the_next_pass(run):
    def program(T, a):
        x = leaf(a)
        seen = []
        for clear in ("zero", "none", "end"):
            T.autograd.backward((x * x).sum(), None)
            seen.append(x.grad.clone())
            if clear == "zero":
                x.grad.zero_()
            else:
                x.grad = None
        return seen

    same(run(program, A), 2 * A, 2 * A, 2 * A)


def test_returns_none(run):
    def program(T, a):
        x = leaf(a)
        assert T.autograd.backward(x.sum(), None) is None
        return x.grad

    same(run(program, A), ONES)


# ----- retain_graph, create_graph -----------------------------------------------------------------


def test_false_frees_the_graph(run):
    def program(T, a):
        x = leaf(a)
        for options in ({}, dict(retain_graph=False)):
            y = x * x
            z = y.exp().sum()
            T.autograd.backward(z, None, **options)
            with pytest.raises(RuntimeError, match=FREED):
                T.autograd.backward(z, None)
            with pytest.raises(RuntimeError, match=FREED):
                T.autograd.backward(y.sum(), None)
        return x.grad

    same(run(program, A), 4 * A * np.exp(A * A))


def test_true_keeps_the_graph(run):
    def program(T, a):
        x = leaf(a)
        z = (x * x).sum()
        T.autograd.backward(z, None, retain_graph=True)
        T.autograd.backward(z, None, True)
        T.autograd.backward(z, None)
        return x.grad

    same(run(program, A), 6 * A)


def test_retain_graph_is_seldom_needed(run):
    # training steps and two losses of one model do without it
    def program(T, a, b):
        x = leaf(a)
        for _ in range(3):
            T.autograd.backward(((x - b) ** 2).sum(), None)
            with T.no_grad():
                x -= 0.25 * x.grad
            x.grad = None
        h = x * b
        T.autograd.backward([h.sum(), (h * h).sum()], [None, None])
        return x, x.grad

    moved = B + (A - B) * 0.125
    same(run(program, A, B), moved, B + 2 * moved * B * B)


def test_retain_graph_follows_create_graph(run):
    def program(T, a):
        x = leaf(a)
        with every_warning(), pytest.warns(UserWarning, match="reference cycle"):
            z = (x * x).sum()
            T.autograd.backward(z, None, create_graph=True)
            T.autograd.backward(z, None, None, True)
            T.autograd.backward(z, None)
            with pytest.raises(RuntimeError, match=FREED):
                T.autograd.backward(z, None)
        grad, x.grad = x.grad, None
        return grad

    same(run(program, A), 6 * A)


def test_create_graph_allows_derivatives_of_higher_order(run):
    def program(T, a, v):
        x = leaf(a)
        with every_warning(), pytest.warns(UserWarning, match="reference cycle"):
            T.autograd.backward((x**4).sum(), None, create_graph=True)
        first, x.grad = x.grad, None
        assert first.requires_grad
        (second,) = T.autograd.grad(first, x, v, create_graph=True)
        (third,) = T.autograd.grad(second, x, v)
        return first, second, third

    same(run(program, A, B), 4 * A**3, 12 * A**2 * B, 24 * A * B**2)


def test_without_create_graph_gradients_are_constants(run):
    def program(T, a):
        x = leaf(a)
        T.autograd.backward((x * x).sum(), None)
        assert not x.grad.requires_grad and x.grad.grad_fn is None
        with pytest.raises(RuntimeError, match="does not require grad"):
            T.autograd.backward(x.grad.sum(), None)
        return x.grad

    same(run(program, A), 2 * A)


def test_create_graph_warns_of_the_cycle_and_of_what_to_do(run):
    def program(T, a):
        x = leaf(a)
        with every_warning(), pytest.warns(UserWarning) as told:
            T.autograd.backward((x * x).sum(), None, create_graph=True)
        grad, x.grad = x.grad, None
        text = str(told[0].message)
        assert "reference cycle" in text and "autograd.grad" in text and ".grad fields" in text
        return grad

    same(run(program, A), 2 * A)


@pytest.mark.usefixtures("executor")
def test_the_cycle_exists_and_resetting_grad_breaks_it(T):
    def step(reset):
        x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
        T.autograd.backward((x**3).sum(), None, create_graph=True)
        grad = weakref.ref(x.grad)
        if reset:
            x.grad = None
        del x
        return grad

    gc.collect()
    gc.disable()
    try:
        with every_warning(), pytest.warns(UserWarning, match="reference cycle"):
            kept, freed = step(reset=False), step(reset=True)
        assert freed() is None  # at once, without the collector
        assert kept() is not None  # parameter -> .grad -> graph -> parameter
        gc.collect()
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.usefixtures("executor")
def test_autograd_grad_makes_no_cycle(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        (g,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
        gone, node = weakref.ref(g), weakref.ref(g.grad_fn)
        assert x.grad is None
        del g
        assert gone() is None and node() is None
    finally:
        gc.enable()


# ----- inputs (PyTorch alone has them) ------------------------------------------------------------


def _leaves_and_middle(a, b):
    x, w = leaf(a), leaf(b)
    y = x * w
    return x, w, y, (y * y).sum()


@pytest.mark.parametrize("T", [jaxflow])
def test_inputs_alone_get_their_gradient(run):
    def program(T, a, b):
        x, w, y, z = _leaves_and_middle(a, b)
        T.autograd.backward(z, inputs=[w, y])
        assert x.grad is None  # all others are ignored
        first, w.grad = w.grad, None
        x2, w2, _, z2 = _leaves_and_middle(a, b)
        T.autograd.backward(z2, inputs=x2)
        assert w2.grad is None
        return first, y.grad, x2.grad

    same(run(program, A, B), 2 * A * A * B, 2 * A * B, 2 * A * B * B)


@pytest.mark.parametrize("T", [jaxflow])
def test_inputs_accumulate_into_grad(run):
    def program(T, a, b):
        x, _, _, z = _leaves_and_middle(a, b)
        x.grad = T.ones(3)
        T.autograd.backward(z, inputs=[x], retain_graph=True)
        T.autograd.backward(z, inputs=[x])
        return x.grad

    same(run(program, A, B), 1 + 4 * A * B * B)


@pytest.mark.parametrize("T", [jaxflow])
def test_without_inputs_all_leaves_that_were_used(run):
    def program(T, a, b):
        x, w, y, z = _leaves_and_middle(a, b)
        unused = leaf(a)
        for inputs in (dict(), dict(inputs=None)):
            T.autograd.backward(z, retain_graph=True, **inputs)
        assert unused.grad is None
        return x.grad, w.grad

    same(run(program, A, B), 4 * A * B * B, 4 * A * A * B)


@pytest.mark.parametrize("T", [jaxflow])
def test_empty_inputs_are_refused_in_python(run):
    # the C++ default of an empty list is Python's None; a list that is given names tensors
    def program(T, a):
        x = leaf(a)
        with pytest.raises(RuntimeError, match="`inputs` argument to `backward\\(\\)` cannot be empty"):
            T.autograd.backward(x.sum(), inputs=[])
        T.autograd.backward(x.sum())
        return x.grad

    same(run(program, A), ONES)


# ----- signatures ---------------------------------------------------------------------------------


def _defaults(function):
    return {n: p.default for n, p in inspect.signature(function).parameters.items()}


def test_signature_of_the_cpp_page():
    given = _defaults(jaxflow.autograd.backward)
    assert list(given)[:4] == ["tensors", "grad_tensors", "retain_graph", "create_graph"]
    assert given["tensors"] is inspect.Parameter.empty
    assert given["grad_tensors"] is None and given["retain_graph"] is None
    assert given["create_graph"] is False and given["inputs"] is None


def test_signature_of_the_oneflow_pages():
    given = _defaults(jaxflow.oneflow.autograd.backward)
    assert list(given)[:4] == ["tensors", "grad_tensors", "retain_graph", "create_graph"]
    assert given["tensors"] is inspect.Parameter.empty
    assert given["retain_graph"] is False and given["create_graph"] is False


@pytest.mark.parametrize("T", [jaxflow.oneflow])
def test_older_names(run):
    def program(T, a, v):
        x = leaf(a)
        T.autograd.backward(outputs=x * x, out_grads=v)
        T.autograd.backward(outputs=[x.sum()], out_grads=None, retain_graph=False, create_graph=False)
        T.autograd.backward([x * 2], [v], False, False)
        return x.grad

    same(run(program, A, B), 2 * A * B + 1 + 2 * B)
