"""autograd.Function: what it saves, higher derivatives, setup_context, and other ways to write one."""

from compat_tests.cases.function import exp_function, mul_function
from compat_tests.harness import AnyStrides, attempt, case, leaf, rand


@case
def saves_inputs_outputs_and_none(T):
    class Keep(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            y = x * w
            ctx.save_for_backward(x, None, y, w)
            return y

        @staticmethod
        def backward(ctx, g):
            x, nothing, y, w = ctx.saved_tensors
            assert nothing is None
            return g * w, g * x

    x, w = leaf(T, 3), leaf(T, 3)
    y = Keep.apply(x, w)
    y.sum().backward()
    return x.grad, w.grad


@case
def saved_tensors_are_the_inputs_themselves(T):
    seen = []

    class Keep(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append((a is x, b is y, a.requires_grad, b.requires_grad, b.grad_fn is y.grad_fn))
            return g * 2

    x = leaf(T, 3)
    y = Keep.apply(x)
    y.sum().backward()
    return seen


@case
def double_backward(T):
    x = leaf(T, 3)
    y = exp_function(T).apply(x)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x, create_graph=True)
    return g.detach(), h.detach(), T.autograd.grad(h.sum(), x)


@case
def double_backward_of_several_inputs(T):
    a, b = leaf(T, 3), leaf(T, 3)
    y = mul_function(T).apply(a, b)
    ga, gb = T.autograd.grad((y * y).sum(), [a, b], create_graph=True)
    return AnyStrides(T.autograd.grad((ga * gb).sum(), [a, b]))


@case
def custom_double_backward(T):
    class CubeBackward(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, g):
            ctx.save_for_backward(x, g)
            return 3 * x**2 * g

        @staticmethod
        def backward(ctx, gg):
            x, g = ctx.saved_tensors
            return gg * 100 * x * g, gg * 3 * x**2

    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return CubeBackward.apply(ctx.saved_tensors[0], g)

    x = leaf(T, 3)
    (g,) = T.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    return g, T.autograd.grad(g.sum(), x)


@case
def returning_none_for_an_input(T):
    class Stop(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g, None

    a, b = leaf(T, 3), leaf(T, 3)
    h = b * b
    Stop.apply(a, h).sum().backward()
    return AnyStrides(a.grad), b.grad


@case
def trailing_nones_may_be_too_many(T):
    class Extra(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2, None, None

    x = leaf(T, 3)
    return attempt(lambda: Extra.apply(x).sum().backward()), x.grad


@case
def straight_through(T):
    class Round(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(T, 3)
    y = Round.apply(x * 3)
    (y * y).sum().backward()
    return y, x.grad


@case
def gradient_reversal(T):
    class Reverse(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, alpha):
            ctx.alpha = alpha
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g.neg() * ctx.alpha, None

    x = leaf(T, 3)
    y = Reverse.apply(x, 0.5)
    (y * y).sum().backward()
    return y, x.grad


@case
def once_differentiable(T):
    once = T.autograd.function.once_differentiable

    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = leaf(T, 3)
    Square.apply(x).sum().backward()
    (g,) = T.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return x.grad, g.requires_grad, attempt(lambda: g.sum().backward())


@case
def setup_context(T):
    class Mul(T.autograd.Function):
        @staticmethod
        def forward(a, b, scale):
            return a * b * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            a, b, ctx.scale = inputs
            ctx.seen = output.shape
            ctx.save_for_backward(a, b)

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b * ctx.scale, g * a * ctx.scale, None

    a, b = leaf(T, 3), leaf(T, 3)
    y = Mul.apply(a, b, 2)
    y.sum().backward()
    (g,) = T.autograd.grad(Mul.apply(a, b, 3).sum(), a, create_graph=True)
    g.sum().backward()
    return y, a.grad, b.grad


@case
def setup_context_with_several_outputs(T):
    class SinCos(T.autograd.Function):
        @staticmethod
        def forward(x):
            return x.sin(), x.cos(), x.argmax()

        @staticmethod
        def setup_context(ctx, inputs, output):
            s, c, i = output
            ctx.mark_non_differentiable(i)
            ctx.save_for_backward(s, c)

        @staticmethod
        def backward(ctx, gs, gc, _):
            s, c = ctx.saved_tensors
            return gs * c - gc * s

    x = leaf(T, 3)
    s, c, i = SinCos.apply(x)
    (s * c).sum().backward()
    return s, c, i, x.grad


@case
def intermediate_results_as_outputs(T):
    class Saved(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            twice = x * 2
            ctx.save_for_backward(x, twice)
            return twice.exp(), twice

        @staticmethod
        def backward(ctx, g, g2):
            x, twice = ctx.saved_tensors
            return g * twice.exp() * 2 + g2 * 2

    x = leaf(T, 3)
    y, _ = Saved.apply(x)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), T.autograd.grad(g.sum(), x)


@case
def grad_inside_backward(T):
    class Checkpoint(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp().sin()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with T.enable_grad():
                inner = x.detach().requires_grad_()
                y = inner.exp().sin()
            return T.autograd.grad(y, inner, g)

    x = leaf(T, 3)
    (Checkpoint.apply(x) * 2).sum().backward()
    return x.grad


@case
def nested_functions(T):
    Exp, Mul = exp_function(T), mul_function(T)

    class Outer(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return Exp.apply(x) * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return Mul.apply(g * 2, Exp.apply(x))

    x = leaf(T, 3)
    (g,) = T.autograd.grad(Outer.apply(x).sum(), x, create_graph=True)
    return g, T.autograd.grad(g.sum(), x)


@case
def in_a_subclass(T):
    class Scale(exp_function(T)):
        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = leaf(T, 3)
    y = Scale.apply(x)
    y.sum().backward()
    return y.grad_fn.name(), AnyStrides(x.grad)


@case
def complex_function(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * (2 * z).conj()

    z = leaf(T, 3, dtype="complex64")
    Square.apply(z).backward(rand(T, 3, dtype="complex64"))
    return z.grad


@case
def gradient_of_another_dtype_is_cast(T):
    class Half(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.half()

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(T, 3)
    Half.apply(x).sum().backward()
    return x.grad


@case
def gradient_that_broadcasts_is_summed(T):
    class Wide(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.expand(4, 3) * 1

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(T, 3)
    Wide.apply(x).sum().backward()
    return x.grad


@case
def hooks_on_its_outputs(T):
    x = leaf(T, 3)
    y = exp_function(T).apply(x)
    seen = []
    y.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    (y * 3).sum().backward()
    return seen, x.grad


@case
def a_context_is_its_own_each_time(T):
    x = leaf(T, 3)
    exp = exp_function(T)
    a, b = exp.apply(x), exp.apply(x * 2)
    (a * b).sum().backward()
    return x.grad, a.grad_fn is b.grad_fn


@case
def retained_and_run_twice(T):
    x = leaf(T, 3)
    y = exp_function(T).apply(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad


@case
def defined_vjp_name(T):
    class Old(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 4

    x = leaf(T, 3)
    Old.apply(x).sum().backward()
    return AnyStrides(x.grad)
