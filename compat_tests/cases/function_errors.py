"""``autograd.Function``: what is refused, and in which words."""

from compat_tests.cases.function import exp_function, mul_function
from compat_tests.harness import attempt, case, each, leaf, raises, rand, warns


def _returning(T, make):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return make(g)

    return Wrong


@each(one=lambda g: g, one_in_a_tuple=lambda g: (g,), three=lambda g: (g, g, g),
      three_with_none=lambda g: (g, g, None), nothing=lambda g: None, empty=lambda g: (),
      list_=lambda g: [g, g], number=lambda g: 3, string="x".join)
def number_of_gradients(T, make):
    a, b = leaf(T, 3), leaf(T, 3)
    y = _returning(T, make).apply(a, b)
    return attempt(lambda: y.sum().backward()), a.grad, b.grad


@each(int_=lambda g: (g, 3), string=lambda g: ("x", g), list_=lambda g: (g, [g]))
def gradients_that_are_no_tensors(T, make):
    a, b = leaf(T, 3), leaf(T, 3)
    y = _returning(T, make).apply(a, b)
    return raises(lambda: y.sum().backward()), a.grad, b.grad


@each(longer=lambda g: (g.new_ones(4), g), shorter=lambda g: (g[:2], g),
      scalar=lambda g: (g.sum(), g),
      matrix=lambda g: (g, g[None]), column=lambda g: (g, g[:, None]))
def gradients_of_another_shape(T, make):
    a, b = leaf(T, 3), leaf(T, 3)
    y = _returning(T, make).apply(a, b)
    return attempt(lambda: y.sum().backward()), a.grad, b.grad


@each(int64=lambda g: (g.long(), g), float64=lambda g: (g, g.double()),
      complex64=lambda g: (g, g * 1j), bool=lambda g: (g > 0, g))
def gradients_of_another_dtype(T, make):
    a, b = leaf(T, 3), leaf(T, 3)
    y = _returning(T, make).apply(a, b)
    return attempt(lambda: y.sum().backward()), a.grad, b.grad


@case
def a_gradient_for_an_argument_that_is_no_tensor(T):
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g, g

    x = leaf(T, 3)
    return attempt(lambda: Scale.apply(x, 2).sum().backward()), x.grad


@case
def a_gradient_for_a_tensor_that_needs_none(T):
    x, c = leaf(T, 3), rand(T, 3)
    y = _returning(T, lambda g: (g * 1, g * 1)).apply(x, c)
    return attempt(lambda: y.sum().backward()), x.grad, c.grad


@case
def called_like_a_function(T):
    exp = exp_function(T)
    x = leaf(T, 3)
    return raises(lambda: exp()(x)), raises(lambda: exp.forward(x))


@case
def legacy_methods(T):
    class Old(T.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, g):
            return g * 2

    x = leaf(T, 3)
    return raises(lambda: Old()(x)), attempt(lambda: Old.apply(x).detach())


@case
def forward_missing(T):
    class NoForward(T.autograd.Function):
        @staticmethod
        def backward(ctx, g):
            return g

    return raises(lambda: NoForward.apply(leaf(T, 3)))


@case
def backward_missing(T):
    class NoBackward(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    y = NoBackward.apply(leaf(T, 3))
    return raises(lambda: y.sum().backward())


@case
def backward_and_vjp(T):
    class Both(exp_function(T)):
        @staticmethod
        def vjp(ctx, g):
            return g

    y = Both.apply(leaf(T, 3))
    return raises(lambda: y.sum().backward())


@case
def keyword_arguments(T):
    x = leaf(T, 3)
    y = exp_function(T).apply(x=x)
    return y, attempt(lambda: y.sum().backward()), x.grad


@case
def wrong_number_of_arguments(T):
    exp = exp_function(T)
    return (
        raises(exp.apply,
               phrase="missing 1 required positional argument: 'x'",
               because="the message names the function of the case file"),
        raises(lambda: exp.apply(leaf(T, 3), 1),
               phrase="takes 2 positional arguments but 3 were given",
               because="the message names the function of the case file"),
    )


@each(int_=3, string="x", list_=[1.0], dict_={"a": 1}, nothing=None, empty=())
def forward_returns_no_tensor(T, value):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return value

        @staticmethod
        def backward(ctx, *g):
            return None

    return attempt(lambda: Wrong.apply(leaf(T, 3)))


@each(int_=3, string="x", tensors_in_a_list="list")
def save_for_backward_of_no_tensor(T, value):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward([x] if value == "list" else value)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    return raises(lambda: Wrong.apply(leaf(T, 3)))


@case
def errors_in_forward_and_backward_come_through(T):
    class Fails(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, when):
            if when == "forward":
                raise KeyError("in forward")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("in backward")

    x = leaf(T, 3)
    y = Fails.apply(x, "later")
    return raises(lambda: Fails.apply(x, "forward")), raises(lambda: y.sum().backward()), x.grad


@case
def a_saved_input_changed(T):
    x, w = leaf(T, 3), leaf(T, 3)
    h = x * 1
    y = mul_function(T).apply(h, w)
    h.add_(1)
    return raises(lambda: y.sum().backward()), w.grad


@case
def a_saved_output_changed(T):
    x = leaf(T, 3)
    y = exp_function(T).apply(x)
    y.add_(1)
    return raises(lambda: y.sum().backward()), y.grad_fn.name()


@case
def a_saved_intermediate_changed(T):
    kept = []

    class Keep(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            middle = x * 2
            kept.append(middle)
            ctx.save_for_backward(middle)
            return middle.exp()

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    y = Keep.apply(leaf(T, 3))
    kept[0].add_(1)
    return raises(lambda: y.sum().backward())


@case
def a_second_backward(T):
    y = exp_function(T).apply(leaf(T, 3))
    y.sum().backward()
    return raises(lambda: y.sum().backward()), raises(lambda: y.grad_fn.saved_tensors)


@case
def a_second_backward_when_nothing_is_saved(T):
    x = leaf(T, 3)
    y = _returning(T, lambda g: (g * 1, g * 1)).apply(x, x)
    y.sum().backward()
    y.sum().backward()
    return x.grad


@case
def saved_tensors_in_forward(T):
    seen = []

    class Peek(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            seen.append(len(ctx.saved_tensors))
            ctx.save_for_backward(x, x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(len(ctx.saved_tensors))
            return g

    Peek.apply(leaf(T, 3)).sum().backward()
    return seen


@case
def dirty_leaf(T):
    class AddOne(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g

    x, c = leaf(T, 3), rand(T, 3)
    part = leaf(T, 3)[1:]
    return (
        raises(lambda: AddOne.apply(x)),
        raises(lambda: AddOne.apply(part)),
        attempt(lambda: AddOne.apply(c)),
        c._version,
    )


@case
def dirty_and_not_returned(T):
    class Hidden(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.add_(1)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(T, 3)
    return attempt(lambda: Hidden.apply(x * 1).detach())


@case
def dirty_of_no_input(T):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return attempt(lambda: Wrong.apply(leaf(T, 3)).detach())


@case
def changed_without_mark(T):
    class Sneaky(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(T, 3)
    h = x * 1
    y = Sneaky.apply(h)
    y.sum().backward()
    return y is h, h._version, x.grad


@case
def marks_of_no_tensor(T):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(3)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class WrongDirty(Wrong):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(3)
            return x * 2

    x = leaf(T, 3)
    return raises(lambda: Wrong.apply(x)), raises(lambda: WrongDirty.apply(x))


@case
def set_materialize_grads_wants_a_bool(T):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads("no")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return attempt(lambda: Wrong.apply(leaf(T, 3)).detach())


@case
def all_outputs_non_differentiable(T):
    class Flat(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.round()
            ctx.mark_non_differentiable(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    y = Flat.apply(leaf(T, 3))
    return y, raises(lambda: y.sum().backward())


@case
def setup_context_and_ctx_in_forward(T):
    class Mixed(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g

    return raises(lambda: Mixed.apply(leaf(T, 3)))


@case
def inputs_of_multi_view_outputs_written(T):
    class Split(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x[1:]

        @staticmethod
        def backward(ctx, a, b):
            return T.cat([a, b])

    x = leaf(T, 3)
    h = x * 1
    a, b = Split.apply(h)
    return attempt(lambda: a.mul_(2).detach()), attempt((a.sum() + b.sum()).backward)


@case
def once_differentiable_with_a_gradient_requiring_grad(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    x, u = leaf(T, 3), leaf(T, 3)
    (g,) = T.autograd.grad(Square.apply(x), x, u, create_graph=True)
    (plain,) = T.autograd.grad(Square.apply(x), x, u)
    return g.requires_grad, g.grad_fn, raises(lambda: T.autograd.grad(g.sum(), u)), plain


@case
def instantiating_warns(T):
    return warns(lambda: type(exp_function(T)()).__name__)


def _identity(T, forward):
    class Given(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return g

    return Given


def _in_no_grad(T, call, x):
    with T.no_grad():
        return call(x)


_VIEWS = dict(
    split=lambda T, h: h.split(1)[0], unbind=lambda T, h: h.unbind()[1], slice=lambda T, h: h[1:],
    function=lambda T, h: _identity(T, lambda t: t.view(4)).apply(h),
    view_of_leaf=lambda T, h: h.detach().requires_grad_()[1:],
    views_of_leaf=lambda T, h: h.detach().requires_grad_().split(1)[0],
)
_VIEWS_WITHOUT_HISTORY = dict(
    no_grad=lambda T, h: _in_no_grad(T, lambda t: t[1:], h),
    views_of_constant=lambda T, h: h.detach().split(1)[0],
)


def _doubling(T, outputs):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return (x.mul_(2), x.detach() * 3)[:outputs] if outputs > 1 else x.mul_(2)

        @staticmethod
        def backward(ctx, g, *others):
            return g * 2

    return Double


def _dirty(T, view, outputs):
    x = leaf(T, 4)
    h = x * 1
    part = view(T, h)
    error = attempt(lambda: _doubling(T, outputs).apply(part))
    if isinstance(error, (tuple, T.Tensor)):
        (h * h).sum().backward()
        error = None
    return error, x.grad


@each(**_VIEWS, **_VIEWS_WITHOUT_HISTORY)
def dirty_views(T, view):
    # a view's base takes on the function as its history, if there is one view
    return _dirty(T, view, 1)


@each(**_VIEWS_WITHOUT_HISTORY)
def dirty_views_without_history(T, view):
    return _dirty(T, view, 2)


@each(**_VIEWS)
def dirty_views_and_other_outputs(T, view):
    x = leaf(T, 4)
    part = view(T, x * 1)
    return raises(lambda: _doubling(T, 2).apply(part),
                  phrase="your Function cannot return more than one Tensor",
                  because="PyTorch's text goes on to its forum"), x.grad


@each(itself=lambda x: x, whole=lambda x: x.view(-1), part=lambda x: x[1:], plain=lambda x: x * 2)
def views_returned_in_no_grad(T, forward):
    x = leaf(T, 3)
    y = _in_no_grad(T, _identity(T, forward).apply, x)
    inside = _in_no_grad(T, lambda t: t.mul_(2).detach().clone(), y)
    return y.requires_grad, y._is_view(), inside, attempt(lambda: y.mul_(2))


@each(itself=lambda x: x, part=lambda x: x[1:], plain=lambda x: x * 2)
def views_marked_non_differentiable(T, forward):
    class Beside(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = forward(x)
            ctx.mark_non_differentiable(y)
            return y, x * 1

        @staticmethod
        def backward(ctx, g, h):
            return h

    results = []
    for x in (leaf(T, 3), leaf(T, 3) * 1, rand(T, 3)):
        y, _ = Beside.apply(x)
        results.append((y.requires_grad, y._is_view(), attempt(lambda y=y: y.mul_(2).detach())))
    return results
