"""``gradcheck`` and ``gradgradcheck``: what passes, and what must be caught."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand


def _check(T, *args, **options):
    return T.autograd.gradcheck(*args, **options)


def _checkcheck(T, *args, **options):
    return T.autograd.gradgradcheck(*args, **options)


_SMOOTH = dict(
    exp=lambda x: x.exp(), sin=lambda x: x.sin(), mul=lambda x: x * x, cube=lambda x: x**3,
    matmul=lambda x: x @ x.t(), softmax=lambda x: x.softmax(0), view=lambda x: x.view(-1) * 2,
    index=lambda x: x[0] ** 2, sum=lambda x: (x * x).sum(), several=lambda x: (x.exp(), x * 2),
    linear=lambda x: x * 3, tanh=lambda x: x.tanh(), div=lambda x: 1 / (x + 3),
)


@each(**_SMOOTH)
def passes(T, fn):
    return _check(T, fn, (leaf(T, 2, 2, dtype="float64"),))


@each(**_SMOOTH)
def passes_fast(T, fn):
    return _check(T, fn, leaf(T, 2, 2, dtype="float64"), fast_mode=True)


@each(**_SMOOTH)
def second_order_passes(T, fn):
    return _checkcheck(T, fn, (leaf(T, 2, 2, dtype="float64"),))


@case
def several_inputs(T):
    a, b = leaf(T, 2, dtype="float64"), leaf(T, 2, dtype="float64")
    c = rand(T, 2, dtype="float64")
    fn = lambda x, y, z: (x * y + z, (x - y).sum())  # noqa: E731
    return _check(T, fn, (a, b, c)), _check(T, fn, [a, b, c]), _checkcheck(T, fn, (a, b, c))


@case
def non_tensor_inputs(T):
    return _check(T, lambda x, n, s: x**n, (leaf(T, 2, dtype="float64"), 3, "text"))


@case
def complex_functions(T):
    z = leaf(T, 2, dtype="complex128")
    return (
        _check(T, lambda z: z * z, (z,)),
        _check(T, lambda z: z.abs(), (z,)),
        _check(T, lambda z: z.conj() * z.exp(), (z,)),
        _checkcheck(T, lambda z: z**3, (z,)),
    )


@case
def real_to_complex(T):
    x = leaf(T, 2, dtype="float64")
    return _check(T, lambda x: T.complex(x, x * x), (x,)), _check(T, lambda x: x * 1j, (x,))


@case
def zero_elements_and_scalars(T):
    return (
        _check(T, lambda x: x * 2, (leaf(T, dtype="float64"),)),
        _check(T, lambda x: x.sum(), (leaf(T, 0, dtype="float64"),)),
    )


def _wrong(T, scale):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return scale(g, x)

    return Wrong.apply


_SCALES = dict(half=lambda g, x: g * x, sign=lambda g, x: -2 * g * x, zero=lambda g, x: g * 0,
               slightly=lambda g, x: g * x * 2.01, constant=lambda g, x: g * 0 + 1)


@each(**_SCALES)
def a_wrong_gradient_is_caught(T, scale):
    x = leaf(T, 3, dtype="float64", low=0.5, high=2.0)
    fn = _wrong(T, scale)
    return (
        raises(lambda: _check(T, fn, (x,))),
        _check(T, fn, (x,), raise_exception=False),
        raises(lambda: _check(T, fn, (x,), fast_mode=True)),
    )


@case
def a_wrong_second_gradient_is_caught(T):
    class Inner(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, g):
            ctx.save_for_backward(x, g)
            return g * 2 * x

        @staticmethod
        def backward(ctx, gg):
            x, g = ctx.saved_tensors
            return gg * 5 * g, gg * 2 * x

    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return Inner.apply(ctx.saved_tensors[0], g)

    x = leaf(T, 3, dtype="float64", low=0.5, high=2.0)
    return (
        _check(T, Square.apply, (x,)),
        raises(lambda: _checkcheck(T, Square.apply, (x,))),
        _checkcheck(T, Square.apply, (x,), raise_exception=False),
    )


@case
def within_the_tolerances_asked_for(T):
    x = leaf(T, 3, dtype="float64", low=0.5, high=2.0)
    fn = _wrong(T, lambda g, x: g * x * 2.01)
    return (
        _check(T, fn, (x,), raise_exception=False),
        _check(T, fn, (x,), rtol=0.05),
        _check(T, fn, (x,), atol=0.5),
        _check(T, fn, (x,), eps=1e-4, raise_exception=False),
    )


@case
def nothing_requires_grad(T):
    x = rand(T, 3, dtype="float64")
    return raises(lambda: _check(T, lambda x: x * 2, (x,))), raises(
        lambda: _check(T, lambda: T.ones(1), ())
    )


@case
def nothing_requires_grad_without_raising(T):
    x = rand(T, 3, dtype="float64")
    return attempt(lambda: _check(T, lambda x: x * 2, (x,), raise_exception=False))


@case
def single_precision_warns(T):
    return _check(T, lambda x: x * 2, (leaf(T, 2),), atol=1e-1, rtol=1e-1)


@case
def outputs_that_need_no_grad(T):
    x = leaf(T, 3, dtype="float64")
    return (
        raises(lambda: _check(T, lambda x: x.detach() * 2, (x,))),
        attempt(lambda: _check(T, lambda x: x.argmax(), (x,))),
        attempt(lambda: _check(T, lambda x: (x * 2, x.detach()), (x,))),
    )


@case
def function_without_outputs(T):
    return attempt(lambda: _check(T, lambda x: (), (leaf(T, 3, dtype="float64"),)))


@case
def output_that_is_an_input(T):
    return attempt(lambda: _check(T, lambda x: x, (leaf(T, 3, dtype="float64"),)))


@case
def overlapping_memory_is_refused(T):
    x = leaf(T, 3, 1, dtype="float64").detach().expand(3, 2).requires_grad_()
    return raises(lambda: _check(T, lambda x: x * 2, (x,)))


@case
def not_deterministic_is_caught(T):
    count = [0]

    class Wobble(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            count[0] += 1
            return g * (2 + 1e-5 * count[0])

    x = leaf(T, 3, dtype="float64")
    return (
        raises(lambda: _check(T, Wobble.apply, (x,), rtol=1, atol=1)),
        _check(T, Wobble.apply, (x,), rtol=1, atol=1, nondet_tol=1.0),
    )


@case
def undefined_gradients_must_be_supported(T):
    class Strict(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    x = leaf(T, 3, dtype="float64")
    return (
        raises(lambda: _check(T, Strict.apply, (x,))),
        attempt(lambda: _check(T, Strict.apply, (x,), check_undefined_grad=False)),
    )


@case
def gradient_of_wrong_shape_is_an_error(T):
    fn = _wrong(T, lambda g, x: g[:1])
    x = leaf(T, 3, dtype="float64")
    return raises(lambda: _check(T, fn, (x,))), attempt(
        lambda: _check(T, fn, (x,), raise_exception=False)
    )


@each(relu=lambda x: x.relu(), abs=lambda x: x.abs(), clamp=lambda x: x.clamp(min=0),
      maximum=lambda x: x.maximum(-x))
def kinks(T, fn):
    x = T.zeros(2, dtype=T.float64, requires_grad=True)
    return _check(T, fn, (x,), raise_exception=False)


@case
def batched_grad(T):
    x = leaf(T, 3, dtype="float64")
    return _check(T, lambda x: x.sin() * x, (x,), check_batched_grad=True)


@case
def gen_non_contig_grad_outputs(T):
    x = leaf(T, 2, 2, dtype="float64")
    return _checkcheck(T, lambda x: x**3, (x,), gen_non_contig_grad_outputs=True)


@case
def grad_outputs_given(T):
    x = leaf(T, 2, dtype="float64")
    return _checkcheck(T, lambda x: x**3, (x,), (leaf(T, 2, dtype="float64"),))


@case
def inputs_are_left_alone(T):
    x = leaf(T, 3, dtype="float64")
    before = x.detach().clone()
    _check(T, lambda x: x * x, (x,))
    return bool((x == before).all()), x.grad, x._version


@case
def in_place_functions(T):
    x = leaf(T, 3, dtype="float64")

    def fn(x):
        h = x * 1
        h[1:].mul_(h[:1].clone())
        return h

    return _check(T, fn, (x,)), _checkcheck(T, fn, (x,))


@case
def something_must_be_checked(T):
    x = leaf(T, 3, dtype="float64")
    return (
        raises(lambda: T.autograd.gradcheck(T.sin, x, check_backward_ad=False)),
        raises(lambda: T.autograd.gradgradcheck(T.sin, x, check_rev_over_rev=False)),
        raises(lambda: T.autograd.gradcheck(T.sin, 1.0)),
        T.autograd.gradcheck(T.sin, [x]), T.autograd.gradgradcheck(T.sin, [x], check_rev_over_rev=True),
    )
