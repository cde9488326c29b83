"""Custom functions in forward mode and inside ``torch.func``: ``jvp``, ``vmap``, ``generate_vmap_rule``."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


def _fw(T):
    if T.__name__ == "torch":
        import torch.autograd.forward_ad as fw
    else:
        import jaxflow.autograd.forward_ad as fw
    return fw


def _cube(T, **parts):
    """``x ** 3 * k``, whose derivatives are told by hand in every form."""

    def setup_context(ctx, inputs, output):
        x, k = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        ctx.k = k

    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x * x * ctx.k, None

    def jvp(ctx, t, _):
        x, = ctx.saved_tensors
        return 3 * x * x * ctx.k * t

    body = dict(forward=lambda x, k: x ** 3 * k, setup_context=setup_context, backward=backward, jvp=jvp)
    body.update(parts)
    return type("Cube", (T.autograd.Function,), {
        k: staticmethod(v) if callable(v) else v for k, v in body.items()
    })


@case
def jvp_of_a_dual(T):
    fw, cube = _fw(T), _cube(T)
    x, t = rand(T, 3), rand(T, 3)
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        y = cube.apply(dual, 2)
        z = cube.apply(y * 2, 1)
        primal, tangent = fw.unpack_dual(z)
        plain = cube.apply(x, 2)
        return primal, tangent, fw.unpack_dual(y).tangent, fw.unpack_dual(plain).tangent


@case
def forward_over_reverse_and_back(T):
    fw, cube = _fw(T), _cube(T)
    x, t = leaf(T, 3), rand(T, 3)
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        y = cube.apply(dual, 2)
        tangent = fw.unpack_dual(y).tangent
        over, = T.autograd.grad(tangent.sum(), x, retain_graph=True)  # reverse over forward
        g, = T.autograd.grad(y.sum(), x, create_graph=True)
        return over, g.detach(), fw.unpack_dual(g).tangent is None, tangent.requires_grad


@each(materialize=True, none=False)
def tangents_that_are_missing(T, materialize):
    fw, seen = _fw(T), []

    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, word, w):
            ctx.set_materialize_grads(materialize)
            seen.append((fw.unpack_dual(x).tangent is None, fw.unpack_dual(x * 2).tangent is None))
            return x * 2, w * 3, word

        @staticmethod
        def jvp(ctx, t, word, u):
            seen.append((t, word, u, T.is_grad_enabled()))
            return t * 2, t * 0 if u is None else u * 3, None

    with fw.dual_level():
        a, b, _ = Two.apply(fw.make_dual(rand(T, 2), rand(T, 2)), "word", rand(T, 2))
        return seen, fw.unpack_dual(a).tangent, fw.unpack_dual(b).tangent


_WRONG = dict(two=lambda T, t: (t, t), empty=lambda T, t: (), number=lambda T, t: 3, shape=lambda T, t: t[:1],
              tuple_=lambda T, t: (t * 2,))


@each(**_WRONG)
def what_jvp_returns(T, make):
    fw = _fw(T)

    class Odd(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return make(T, t)

    with fw.dual_level():
        return attempt(lambda: fw.unpack_dual(Odd.apply(fw.make_dual(rand(T, 2), rand(T, 2)))).tangent)


@each(itself=(lambda x: x, lambda t: t), itself_viewed=(lambda x: x, lambda t: t.view_as(t)),
      view=(lambda x: x[:1], lambda t: t[:1]), view_copied=(lambda x: x[:1], lambda t: t[:1] * 2))
def jvp_of_what_returns_a_view(T, row):
    fw = _fw(T)

    class View(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return row[0](x)

        @staticmethod
        def jvp(ctx, t):
            return row[1](t)

    with fw.dual_level():
        return attempt(lambda: fw.unpack_dual(View.apply(fw.make_dual(rand(T, 2), rand(T, 2)))).tangent)


@each(in_place=lambda t: t.mul_(2), fresh=lambda t: t * 2)
def jvp_of_what_writes(T, push):
    fw = _fw(T)

    class Write(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, t):
            return push(t)

    with fw.dual_level():
        x = fw.make_dual(rand(T, 2), rand(T, 2)) * 1

        def run():
            y = Write.apply(x)
            return y is x, fw.unpack_dual(y).primal, fw.unpack_dual(x).tangent

        return attempt(run)


@case
def jvp_missing_or_for_what_has_no_derivative(T):
    fw = _fw(T)

    class Without(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Marked(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_non_differentiable(y)
            return y, x * 3

        @staticmethod
        def jvp(ctx, t):
            return ctx.first, t * 3

    with fw.dual_level():
        dual = fw.make_dual(rand(T, 2), rand(T, 2))
        found = [raises(lambda: Without.apply(dual))]
        Marked.jvp = staticmethod(lambda ctx, t: (None, t * 3))
        a, b = Marked.apply(dual)
        found += [fw.unpack_dual(a).tangent is None, fw.unpack_dual(b).tangent]
        Marked.jvp = staticmethod(lambda ctx, t: (t, t * 3))
        return found, raises(lambda: Marked.apply(dual))


# ---------------------------------------------------------------------------------------------- func


@each(rule=True, by_hand=False)
def vmap_of_a_function(T, rule):
    seen = []

    def by_hand(info, in_dims, x, k):
        seen.append((type(info).__name__, info.batch_size, info.randomness, in_dims, tuple(x.shape), k))
        return cube.apply(x, k), in_dims[0]

    cube = _cube(T, generate_vmap_rule=True) if rule else _cube(T, vmap=by_hand)
    x = leaf(T, 3, 2)
    y = T.func.vmap(lambda row: cube.apply(row, 2))(x)
    g, = T.autograd.grad(y.sum(), x)
    if rule:
        twice = T.func.vmap(T.func.vmap(lambda e: cube.apply(e, 3)))(x)
        each_gradient = T.func.vmap(T.func.grad(lambda row: cube.apply(row, 2).sum()))(x.detach())
        return y.detach(), g, twice.detach(), each_gradient
    return y.detach(), g, seen


@case
def transforms_of_a_function(T):
    cube = _cube(T, generate_vmap_rule=True)
    f = lambda x: cube.apply(x, 2).sum()  # noqa: E731
    x, t = rand(T, 2), rand(T, 2)
    return (
        T.func.grad(f)(x), T.func.jvp(lambda x: cube.apply(x, 2), (x,), (t,)),
        T.func.jacrev(lambda x: cube.apply(x, 2))(x), T.func.jacfwd(lambda x: cube.apply(x, 2))(x),
        T.func.grad(lambda x: T.func.grad(f)(x).sum())(x), T.func.jvp(T.func.grad(f), (x,), (t,))[1],
        T.func.vjp(lambda x: cube.apply(x, 2), x)[1](t)[0],
    )


@case
def what_vmap_refuses(T):
    x = rand(T, 3, 2)

    def mapped(**parts):
        return raises(lambda: T.func.vmap(lambda row: _cube(T, **parts).apply(row, 2))(x))

    class Old(T.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            return x * 2

    returned = (lambda x: (x * 1, 0, 0), lambda x: (x * 1, (0, 0)))
    return (
        mapped(), mapped(generate_vmap_rule=True, vmap=lambda info, dims, x, k: (x, 0)),
        raises(lambda: T.func.vmap(Old.apply)(x)),
        [mapped(vmap=lambda info, dims, x, k, make=make: make(x)) for make in returned],
        T.func.vmap(lambda row: _cube(T, vmap=lambda info, dims, x, k: (x, None)).apply(row, 2))(x),
        AnyStrides(T.func.vmap(
            lambda row: (_cube(T, vmap=lambda i, d, a, k: 1 / 0).apply(T.ones(2), 2), row)[0]
        )(x)),
    )


@case
def vmap_by_hand_with_several_outputs(T):
    class Split(T.autograd.Function):
        @staticmethod
        def forward(x, pair):
            return x * pair[0], x.sum(), pair[0] * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, pair):
            return (x * pair[0], x.sum(1), pair[0] * 2), (0, 0, None)

    x = rand(T, 3, 2)
    return AnyStrides(T.func.vmap(lambda row: Split.apply(row, [T.ones(2)]))(x))
