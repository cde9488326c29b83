"""``is_grads_batched``: every kind of node, hooks, functions, writes, history, and what is refused."""

from compat_tests.cases.gradient_rules import function
from compat_tests.harness import AnyStrides, attempt, case, leaf, raises, rand


def _batched(T, outputs, inputs, vectors, **options):
    return T.autograd.grad(outputs, inputs, vectors, is_grads_batched=True, **options)


@case
def batched_through_many_kinds_of_nodes(T):
    x, w = leaf(T, 2, 3), leaf(T, 3, 2)
    fns = (
        lambda: x.exp() * x, lambda: x @ w, lambda: x.softmax(1), lambda: x.sum(0), lambda: x[:, 1:] * 2,
        lambda: T.cat([x, x * 2]), lambda: x.t().reshape(-1), lambda: x.max(1).values, x.relu,
        lambda: x.unbind(1)[1] * 3, lambda: x.index_select(1, T.tensor([0, 2, 0])), lambda: x.cumsum(1),
        lambda: x.view(3, 2), x.mean, lambda: x.gather(1, T.tensor([[0], [2]])),
    )
    rows = []
    for fn in fns:
        y = fn()
        rows.append(_batched(T, y, [x, w], rand(T, 4, *y.shape), allow_unused=True))
    return AnyStrides(rows)


@case
def batched_with_history(T):
    x, g = leaf(T, 3), leaf(T, 4, 3)
    y = x**3
    (first,) = _batched(T, y, x, g, create_graph=True)
    second = T.autograd.grad(first.sum(), [x, g], retain_graph=True)
    (twice,) = _batched(T, first, x, rand(T, 2, 4, 3), create_graph=True)
    third = T.autograd.grad(twice.sum(), [x, g])
    return first.requires_grad, AnyStrides((first.detach(), second, twice.detach(), third))


@case
def batched_hessian(T):
    x = leaf(T, 3)
    y = (x**3).sum() + x.prod()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    return AnyStrides(_batched(T, g, x, T.eye(3)))


@case
def batched_unused_and_materialized(T):
    x, w = leaf(T, 3), leaf(T, 2)
    y = x * 2
    v = rand(T, 4, 3)
    return AnyStrides((
        _batched(T, y, [x, w], v, allow_unused=True, retain_graph=True),
        raises(lambda: _batched(T, y, [x, w], v, retain_graph=True)),
        attempt(lambda: _batched(T, y, [x, w], v, materialize_grads=True, retain_graph=True)),
        attempt(lambda: _batched(T, [y, x.sum()], x, [v, None], retain_graph=True)),
        attempt(lambda: _batched(T, y, [x, x, y], v, retain_graph=True)),
        attempt(lambda: _batched(T, x, x, v)),
        attempt(lambda: _batched(T, y, x, rand(T, 0, 3))),
    ))


@case
def batched_through_hooks_and_functions(T):
    seen = []
    x = leaf(T, 3)
    y = x * x

    def hook(g):
        seen.append(tuple(g.shape))
        return g * 2

    y.register_hook(hook)
    double = function(T, lambda ctx, g: (seen.append(tuple(g.shape)), g * 2)[1])
    return AnyStrides(attempt(lambda: _batched(T, double(y), x, rand(T, 4, 3)))), seen


@case
def batched_through_writes_and_views(T):
    x = leaf(T, 4)
    h = x * 1
    h[1:3].mul_(h[:2].clone())
    part = h[2:]
    part.exp_()
    return AnyStrides((
        _batched(T, h, x, rand(T, 3, 4), retain_graph=True),
        _batched(T, part, [x, h], rand(T, 3, 2), allow_unused=True),
    ))


@case
def batched_leaves_no_mode_behind(T):
    x = leaf(T, 3)
    y = x.exp()
    bad = function(T, lambda ctx, g: 1 / 0)(x)
    caught = raises(lambda: _batched(T, bad, x, rand(T, 2, 3)))
    return caught, AnyStrides(_batched(T, y, x, T.eye(3))), T.is_grad_enabled(), (x * 2).shape


@case
def batched_arguments_that_are_refused(T):
    x = leaf(T, 3)
    a, b, v = x * 2, x * 3, rand(T, 4, 3)

    def grad(*args, **options):
        return AnyStrides(attempt(lambda: _batched(T, *args, retain_graph=True, **options)))

    return [
        grad([a, b], x, [v]), grad([a], x, [v, v]), grad([a], x, [v, rand(T, 2, 3)]), grad(a, [], v),
        grad({"a": 1}, x, v), grad(a, x.detach(), v), grad(a, 1, v), grad(a, [x, None], v),
        grad(x.detach(), x, v), grad(a, x, v, allow_unused="yes"), grad(a, x, v, create_graph="yes"),
        grad(a, leaf(T, 2), v), grad(a, x, T.ones(2, 3, device="meta")), grad(a, {"k": x}, v),
        grad([a, rand(T, 3)], x, [v, None]), grad([a, b.sum()], x, [v, None]), grad(rand(T, 3), x, None),
        grad([rand(T, 3), a], x, [None, None]), grad([rand(T, 3), a.sum()], x, [None, None]),
    ]


@case
def batched_in_a_function_s_own_way(T):
    seen = []

    def rows(ctx, g):
        seen.append((tuple(g.shape), g.requires_grad))
        h = g.clone()
        h.mul_(2)
        h[0] = 0
        return h

    def inner_grad(ctx, g):
        with T.enable_grad():
            z = T.arange(3.0).requires_grad_()
            return g * T.autograd.grad((z**3).sum(), z)[0]

    x, w = leaf(T, 3), leaf(T, 3)
    v = leaf(T, 4, 3)

    class Product(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    found = _batched(T, Product.apply(x, w), [x, w], v, create_graph=True)
    none = function(T, lambda ctx, g: None)
    return seen, AnyStrides((
        _batched(T, function(T, rows)(x), x, v), _batched(T, function(T, inner_grad)(x), x, v.detach()),
        [g.detach() for g in found], [g.requires_grad for g in found],
        T.autograd.grad(found[0].sum() + (found[1] ** 2).sum(), [x, w, v]),
        _batched(T, none(x), x, v, allow_unused=True), _batched(T, none(x), x, v, materialize_grads=True),
        raises(lambda: _batched(T, none(x), x, v)),
    ))


@case
def complex_and_double(T):
    z, x = leaf(T, 2, dtype="complex64"), leaf(T, 2, dtype="float64")
    return AnyStrides((
        _batched(T, z * z, z, rand(T, 3, 2, dtype="complex64")),
        _batched(T, x.sin(), x, rand(T, 3, 2)), _batched(T, z.abs(), z, rand(T, 3, 2)),
    ))
