"""Every option of ``gradcheck``, each on a function that is wrong in just the way the option is about."""

from compat_tests.harness import attempt, case, each, leaf, raises


def _function(T, forward, backward, **more):
    body = dict(forward=staticmethod(forward), backward=staticmethod(backward))
    body |= {name: staticmethod(f) if callable(f) else f for name, f in more.items()}
    return type("Wrong", (T.autograd.Function,), body).apply


def _double(ctx, x):
    return x * 2


def _loose(ctx, x):
    ctx.set_materialize_grads(False)
    return x * 2


def _outcomes(T, fn, inputs, **options):
    """By default, without raising, and in fast mode."""
    check = T.autograd.gradcheck
    return (
        attempt(lambda: check(fn, inputs, **options)),
        attempt(lambda: check(fn, inputs, raise_exception=False, **options)),
        attempt(lambda: check(fn, inputs, fast_mode=True, **options)),
    )


def _point(T, n=2, **options):
    return leaf(T, n, dtype="float64", low=0.5, high=1.5, **options)


@case
def what_cannot_be_asked_together(T):
    x = (_point(T),)
    check, twice = T.autograd.gradcheck, T.autograd.gradgradcheck
    return (
        raises(lambda: check(T.sin, x, check_backward_ad=False, check_batched_grad=True)),
        raises(lambda: check(T.sin, x, check_batched_grad=True, check_backward_ad=False,
                             check_forward_ad=True)),
        raises(lambda: check(T.sin, x, check_batched_forward_grad=True)),
        raises(lambda: twice(T.sin, x, check_rev_over_rev=False)),
        raises(lambda: twice(T.sin, x, check_rev_over_rev=False, check_fwd_over_rev=True)),
        raises(lambda: twice(T.sin, x, check_rev_over_rev=False, check_fwd_over_rev=True,
                             check_undefined_grad=False, check_batched_grad=True)),
        raises(lambda: check(T.sin, x, 1e-6)), raises(lambda: check(T.sin, x, tolerance=1)),
    )


# A gradient with a constant beside what depends on the cotangent: right at no cotangent but one.
@each(tiny=1e-9, large=1e-3)
def not_multiplied_by_the_cotangent(T, constant):
    fn = _function(T, _double, lambda ctx, g: g * 2 + constant)
    return _outcomes(T, fn, (_point(T),)), _outcomes(T, fn, (_point(T),), check_undefined_grad=False)


@each(yes=True, no=False, none=None)
def masked_allows_nearly_zero(T, masked):
    fn = _function(T, _double, lambda ctx, g: g * 2 + 1e-9)
    worse = _function(T, _double, lambda ctx, g: g * 2 + 1e-7)
    options = dict(masked=masked, check_undefined_grad=False)
    return _outcomes(T, fn, (_point(T),), **options), _outcomes(T, worse, (_point(T),), **options)


def _raising(ctx, g):
    if g is None:
        raise RuntimeError("needs a gradient")
    return g * 2


@each(
    refused=(_loose, _raising),
    made_up=(_loose, lambda ctx, g: 2 * g if g is not None else ctx.needs_input_grad and ctx.ones),
    a_type_error=(_loose, lambda ctx, g: g * 2),
    fine=(_loose, lambda ctx, g: None if g is None else g * 2),
)
def without_a_cotangent(T, pair):
    forward, backward = pair

    def with_ones(ctx, x):
        ctx.ones = T.ones(2, dtype=T.float64)
        return forward(ctx, x)

    fn = _function(T, with_ones, backward)
    return _outcomes(T, fn, (_point(T),)), _outcomes(T, fn, (_point(T),), check_undefined_grad=False)


@each(both_refused=(True, True), second_refused=(False, True), first_made_up=(None, False))
def without_the_cotangents_of_some_outputs(T, refused):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        for cotangent, no in zip((a, b), refused):
            if cotangent is None and no:
                raise RuntimeError("needs a gradient")
        if a is None and b is not None and refused[0] is None:
            return b * 0 + 1
        found = [g * k for g, k in ((a, 2), (b, 3)) if g is not None]
        return sum(found) if found else None

    class Two(T.autograd.Function):
        pass

    Two.forward, Two.backward = staticmethod(forward), staticmethod(backward)
    fn = lambda x: sum(Two.apply(x))  # noqa: E731 - each pass of the Jacobian has both cotangents
    return _outcomes(T, fn, (_point(T),)), attempt(
        lambda: T.autograd.gradcheck(Two.apply, (_point(T),), check_undefined_grad=False)
    )


@case
def outputs_that_move_with_the_input(T):
    # shape or dtype change at the point itself
    x = T.tensor([0.5, 1.0], dtype=T.float64, requires_grad=True)
    narrow = lambda x: x[:1] * 2 if x.detach()[0] >= 0.5 else x * 2  # noqa: E731
    single = lambda x: x * 2 if x.detach()[0] >= 0.5 else (x * 2).float()  # noqa: E731
    return [raises(lambda fn=fn, fast=fast: T.autograd.gradcheck(fn, (x,), fast_mode=fast))
            for fn in (narrow, single) for fast in (False, True)]


@each(number=lambda x: (x * 2, 1.0), none=lambda x: None, list_=lambda x: [x * 2, x.exp()],
      integers_last=lambda x: (x * 2, x.long()), detached_beside=lambda x: (x * 2, x.detach()),
      bools=lambda x: x > 0.7, refuses=lambda x: x.no_such_method(), only_detached=lambda x: x.detach())
def what_a_function_returns(T, fn):
    return _outcomes(T, fn, (_point(T),))


@case
def complex_parts_are_named(T):
    z = leaf(T, 2, dtype="complex128", low=0.5, high=1.5)
    square = lambda ctx, z: (ctx.save_for_backward(z), z * z)[1]  # noqa: E731
    unconjugated = _function(T, square, lambda ctx, g: 2 * g * ctx.saved_tensors[0])
    halved = _function(T, square, lambda ctx, g: g * ctx.saved_tensors[0].conj())
    # right for the imaginary part of the output alone
    real_lost = _function(
        T, square, lambda ctx, g: 1j * 2 * g.imag * ctx.saved_tensors[0].conj()
    )
    right = _function(T, square, lambda ctx, g: 2 * g * ctx.saved_tensors[0].conj())
    return [_outcomes(T, fn, (z,)) for fn in (unconjugated, halved, real_lost, right)]


@case
def complex_inputs_of_real_functions(T):
    z, x = leaf(T, 2, dtype="complex128", low=0.5, high=1.5), _point(T)
    modulus = lambda ctx, z: (ctx.save_for_backward(z), z.abs())[1]  # noqa: E731
    wrong = _function(T, modulus, lambda ctx, g: g * ctx.saved_tensors[0].sgn().conj())
    right = _function(T, modulus, lambda ctx, g: g * ctx.saved_tensors[0].sgn())
    mixed = lambda x, z: (x * z, x.exp(), z.real * x)  # noqa: E731
    return (*(_outcomes(T, fn, (z,)) for fn in (wrong, right)), _outcomes(T, mixed, (x, z)),
            T.autograd.gradgradcheck(mixed, (x, z)))


@case
def which_input_and_output_is_wrong(T):
    # indices count what requires grad
    class Pair(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * 2, a * b

        @staticmethod
        def backward(ctx, g, h):
            a, b = ctx.saved_tensors
            return g * 2 + h * b, h * a * 1.5

    a, b, c = _point(T), _point(T), _point(T).detach()
    return _outcomes(T, lambda c, a, b: (*Pair.apply(a, b), a.detach()), (c, a, b))


@case
def fast_mode_says_when_slow_would_do(T):
    # every entry is within rtol alone of the numerical one, by a hair
    fn = _function(T, _double, lambda ctx, g: g * 2 * (1 + 1.2e-3))
    x = _point(T)
    return (
        _outcomes(T, fn, (x,)), _outcomes(T, fn, (x,), rtol=2e-3), _outcomes(T, fn, (x,), atol=1e-2),
        _outcomes(T, fn, (x,), rtol=0, atol=0),
    )


@case
def coarse_steps_see_curvature(T):
    fn = lambda x: x**3  # noqa: E731
    return [_outcomes(T, fn, (_point(T),), eps=eps) for eps in (1e-6, 1e-3, 0.3)]


@case
def nondeterminism_has_a_tolerance(T):
    def wobble(size):
        count = [0]

        def backward(ctx, g):
            count[0] += 1
            return g * (2 + size * count[0])

        return _function(T, _double, backward)

    x = (_point(T),)
    return [
        attempt(lambda s=size, t=tol, f=fast: T.autograd.gradcheck(
            wobble(s), x, nondet_tol=t, fast_mode=f))
        for size in (1e-8, 1e-6) for tol in (0.0, 1e-7) for fast in (False, True)
    ]


@case
def leaves_what_it_was_given(T):
    x = _point(T)
    state = T.get_rng_state().sum().item()
    before = x.detach().clone()
    T.autograd.gradcheck(lambda x: x.exp(), (x,), fast_mode=True, check_batched_grad=False)
    y = x * 2
    y.retain_grad()
    T.autograd.gradcheck(lambda y: y * y, (y,))
    return T.equal(x, before), x.grad, x._version, y.grad, state == T.get_rng_state().sum().item()


@case
def inputs_that_overlap_or_repeat(T):
    x = _point(T)
    return (
        attempt(lambda: T.autograd.gradcheck(lambda a, b: a * b, (x, x))),
        attempt(lambda: T.autograd.gradcheck(lambda a, b: a * b, (x, x.detach()))),
        raises(lambda: T.autograd.gradcheck(lambda a: a * 2, (x.expand(3, 2),))),
        attempt(lambda: T.autograd.gradcheck(lambda a: a * 2, (x.expand(1, 2),))),
    )


@case
def a_non_leaf_or_a_view_is_checked_as_it_is(T):
    x = leaf(T, 2, 3, dtype="float64")
    return (
        T.autograd.gradcheck(lambda a: a.exp(), (x * 2,)),
        T.autograd.gradcheck(lambda a: a.exp().sum(), ((x * 2).t(),)),
        T.autograd.gradcheck(lambda a: a * a, ((x * 2)[0],)),
        T.autograd.gradgradcheck(lambda a: a.t() ** 3, (leaf(T, 2, 2, dtype="float64").t(),)),
    )


@each(fast=True, slow=False)
def second_derivatives(T, fast):
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * g * x * x.detach()  # right, but half of it is a constant to the next backward

    x = (_point(T),)
    check = T.autograd.gradgradcheck
    once = lambda fn: T.autograd.gradcheck(fn, x, fast_mode=fast)  # noqa: E731
    return (
        once(Cube.apply), attempt(lambda: check(Cube.apply, x, fast_mode=fast)),
        check(Cube.apply, x, fast_mode=fast, raise_exception=False),
        check(lambda x: x**3, x, fast_mode=fast),
        check(lambda x: (x**3, x.exp()), x, fast_mode=fast, gen_non_contig_grad_outputs=True),
        attempt(lambda: check(lambda x: x * 2, x, (T.ones(2, dtype=T.float64),), fast_mode=fast)),
        attempt(lambda: check(lambda x: x * 2, x, (None,), fast_mode=fast)),
        attempt(lambda: check(lambda x: x.detach(), x, fast_mode=fast)),
    )
