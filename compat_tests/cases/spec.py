"""The documents jaxflow started from, sentence by sentence, where no other topic says it.

Each case quotes no text; its comment names the statement it holds jaxflow to.
"""

import gc
import weakref

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


@case
def gradients_of_given_tensors_with_respect_to_leaves(T):
    # the sum over the given tensors, for graph leaves only
    x, w = leaf(T, 3), leaf(T, 3)
    middle = x * w
    a, b = middle.sum(), (middle * x).sum()
    T.autograd.backward([a, b])
    return x.grad, w.grad, middle.is_leaf


@case
def the_chain_rule(T):
    x = leaf(T, 3, dtype="float64")
    y = x.sin().exp() * 2
    y.sum().backward()
    by_hand = 2 * x.detach().sin().exp() * x.detach().cos()
    return x.grad, bool(T.allclose(x.grad, by_hand))


@case
def more_than_one_element_computes_a_vector_jacobian_product(T):
    x, v = leaf(T, 3, dtype="float64"), rand(T, 2, dtype="float64")
    y = T.stack([x.prod(), (x * x).sum()])
    rows = T.stack([T.autograd.grad(y[i], x, retain_graph=True)[0] for i in range(2)])
    y.backward(v)
    return x.grad, bool(T.allclose(x.grad, v @ rows))


@case
def a_sequence_of_matching_length(T):
    x = leaf(T, 3)
    outputs = [x * 2, x.sum(), x * x]
    return raises(lambda: T.autograd.backward(outputs, [T.ones(3), None])), attempt(
        lambda: T.autograd.backward(outputs, [T.ones(3), None, T.ones(3)])
    ), x.grad


@case
def none_for_scalars_among_others(T):
    x = leaf(T, 3)
    T.autograd.backward([x.sum(), x * 2, x.prod()], [None, T.ones(3), None])
    return x.grad


@case
def none_alone_where_all_may_be_none(T):
    x = leaf(T, 3)
    T.autograd.backward([x.sum(), x.prod()], None)
    T.autograd.backward([x.sum(), x.prod()])
    return x.grad


@case
def accumulates_so_zero_or_none_before(T):
    x = leaf(T, 3)
    results = []
    for clear in ("not at all", "zero", "none", "end"):
        (x * x).sum().backward()
        results.append(x.grad.clone())
        if clear == "zero":
            x.grad.zero_()
        elif clear == "none":
            x.grad = None
    return results


@case
def the_graph_is_reset_after_backward(T):
    x = leaf(T, 3)
    y = x * x
    z = y.exp().sum()
    z.backward()
    return raises(z.backward), raises(lambda: y.sum().backward()), attempt(lambda: y + 1)


@each(default=None, false=False, true=True)
def retain_graph(T, value):
    x = leaf(T, 3)
    options = {} if value is None else {"retain_graph": value}
    y = (x * x).sum()
    y.backward(**options)
    return attempt(lambda: y.backward(**options)), x.grad


@each(backward=lambda T, y, x: y.backward(create_graph=True),
      function=lambda T, y, x: T.autograd.backward(y, create_graph=True),
      grad=lambda T, y, x: T.autograd.grad(y, x, create_graph=True))
def retain_graph_defaults_to_the_value_of_create_graph(T, call):
    x = leaf(T, 3)
    y = (x * x).sum()
    call(T, y, x)
    x.grad = None
    again = attempt(y.backward)
    return again, None if x.grad is None else x.grad.detach()


@case
def create_graph_allows_higher_order_products(T):
    x, v, w = leaf(T, 3), rand(T, 3), rand(T, 3)
    y = (x**4).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    (hv,) = T.autograd.grad(g, x, v, create_graph=True)
    return T.autograd.grad(hv, x, w)


@case
def create_graph_defaults_to_false(T):
    x = leaf(T, 3)
    (x * x).sum().backward()
    return x.grad.requires_grad, T.autograd.grad((x * x).sum(), x)[0].requires_grad


@case
def resetting_grad_breaks_the_cycle(T):
    # the parameter refers to its gradient and, by the graph, the gradient to the parameter
    x = leaf(T, 3)
    (x * x).sum().backward(create_graph=True)
    gone = weakref.ref(x.grad)
    x.grad = None
    gc.collect()
    return gone() is None


@case
def grad_returns_and_leaves_grad_alone(T):
    x = leaf(T, 3)
    x.grad = T.ones(3)
    result = T.autograd.grad((x * x).sum(), x)
    return type(result).__name__, len(result), result, x.grad


@case
def one_gradient_for_each_input(T):
    x, w, b = leaf(T, 2, 3), leaf(T, 3), leaf(T)
    result = T.autograd.grad((x @ w + b).sum(), [x, w, b])
    return AnyStrides(result), [g.shape == t.shape for g, t in zip(result, (x, w, b))]


@case
def gradient_of_matching_type_and_location(T):
    x = leaf(T, 3)
    y = x * 2
    return (
        raises(lambda: y.backward(T.ones(3, device="meta"))),
        raises(lambda: y.backward(T.ones(3, dtype=T.complex64))),
        raises(lambda: y.backward(T.ones(2))),
        attempt(lambda: y.backward(T.ones(3, dtype=T.float64))),
        x.grad,
    )


@each(without=False, with_=True)
def a_gradient_is_a_constant_unless_create_graph(T, create):
    x, v = leaf(T, 3), leaf(T, 3)
    (x * x).backward(v, create_graph=create)
    result = x.grad
    x.grad = None
    return result.requires_grad, v.requires_grad, result.detach()


@case
def inputs_get_the_gradient_and_all_others_are_ignored(T):
    x, w, b = leaf(T, 3), leaf(T, 3), leaf(T, 3)
    y = x * w
    z = (y + b).sum()
    T.autograd.backward(z, inputs=[w, y])
    return x.grad, w.grad, b.grad, y.grad, y.is_leaf


@case
def without_inputs_all_leaves_used(T):
    leaves = [leaf(T, 2) for _ in range(4)]
    unused = leaf(T, 2)
    total = sum((t * (i + 1)).sum() for i, t in enumerate(leaves))
    total.backward()
    return [t.grad for t in leaves], unused.grad


@case
def a_power_in_a_loop(T):
    # clearing by zeroing leaves zeros behind, not None
    x = T.tensor(5.0, requires_grad=True)
    seen = []
    for _ in range(5):
        T.pow(x, 4.0).backward()
        seen.append(x.grad.item())
    x.grad.zero_()
    seen.append(x.grad.item())
    for _ in range(5):
        T.pow(x, 4.0).backward(T.tensor(2.0))
        seen.append(x.grad.item())
    return seen


@case
def backward_returns_none(T):
    x = leaf(T, 3)
    return x.sum().backward(), T.autograd.backward(x.sum())


@case
def gradient_none_means_ones(T):
    x, w = leaf(T), leaf(T)
    (x * x).backward()
    (w * w).backward(T.tensor(1.0))
    return x.grad, w.grad


@case
def adding_ops_after_a_backward_that_retained(T):
    x = leaf(T, 3)
    y = x * x
    y.sum().backward(retain_graph=True)
    (y.exp() + y).sum().backward()
    return x.grad


@case
def a_function_by_apply(T):
    class Exp(T.autograd.Function):
        @staticmethod
        def forward(ctx, i):
            result = i.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad_output):
            (result,) = ctx.saved_tensors
            return grad_output * result

    x = leaf(T, 3)
    output = Exp.apply(x)
    output.sum().backward()
    return output, x.grad
