"""``gradcheck`` in forward mode and under vmap: what passes, and what must be caught."""

import warnings

from compat_tests.harness import attempt, case, each, leaf


def point(T, n=2, dtype="float64"):
    return leaf(T, n, dtype=dtype, low=0.5, high=1.5)


def checked(T, fn, inputs, **options):
    """By default, without raising, and in fast mode; warnings of torch's own making are left out."""
    check = T.autograd.gradcheck
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return (
            attempt(lambda: check(fn, inputs, **options)),
            attempt(lambda: check(fn, inputs, raise_exception=False, **options)),
            attempt(lambda: check(fn, inputs, fast_mode=True, **options)),
        )


_SMOOTH = dict(
    exp=lambda x: x.exp(), matmul=lambda x: x.outer(x) @ x, sum=lambda x: (x * x).sum(),
    several=lambda x: (x.sin(), x * 2),
    view=lambda x: x[1:] * 2, softmax=lambda x: x.softmax(0), itself=lambda x: x,
)


@each(**_SMOOTH)
def forward_mode_passes(T, fn):
    return checked(T, fn, (point(T),), check_forward_ad=True), checked(
        T, fn, (point(T),), check_forward_ad=True, check_backward_ad=False)


@case
def forward_mode_of_several_inputs(T):
    a, b, c = point(T), point(T), point(T).detach()
    fn = lambda a, b, c, n: (a * b + c, (a - b).sum() * n)  # noqa: E731
    return checked(T, fn, (a, b, c, 3), check_forward_ad=True)


@case
def complex_forward_mode(T):
    z, x = point(T, dtype="complex128"), point(T)
    return [
        checked(T, lambda z: z * z, (z,), check_forward_ad=True),
        checked(T, lambda z: z.abs(), (z,), check_forward_ad=True),
        checked(T, lambda x, z: (x * z, x.exp()), (x, z), check_forward_ad=True),
        checked(T, lambda x: x * 1j, (x,), check_forward_ad=True),
    ]


@each(fwd_over_rev=dict(check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False),
      both=dict(check_fwd_over_rev=True), rev_over_rev=dict())
def second_derivatives_by_mode(T, options):
    check, x = T.autograd.gradgradcheck, (point(T),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return [
            attempt(lambda fn=fn, fast=fast: check(fn, x, fast_mode=fast, **options))
            for fn in (lambda x: x**3, lambda x: (x.sin(), x.exp().sum())) for fast in (False, True)
        ]


@each(**_SMOOTH)
def batched_passes(T, fn):
    return checked(T, fn, (point(T),), check_batched_grad=True), checked(
        T, fn, (point(T),), check_batched_grad=True, check_batched_forward_grad=True,
        check_forward_ad=True)


@case
def batched_second_derivatives(T):
    return T.autograd.gradgradcheck(lambda x: x**3, (point(T),), check_batched_grad=True), checked(
        T, lambda z: z * z, (point(T, dtype="complex128"),), check_batched_grad=True)


@case
def backward_that_looks_at_numbers_fails_under_vmap(T):
    def looks(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x if g.sum().item() > -1e9 else g

    fn = type("Looks", (T.autograd.Function,), dict(
        forward=staticmethod(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1]),
        backward=staticmethod(looks))).apply
    found = []
    for fast in (False, True):
        try:
            found.append(T.autograd.gradcheck(fn, (point(T),), check_batched_grad=True, fast_mode=fast))
        except RuntimeError as error:
            found += [type(error).__name__, str(error).startswith("While computing batched gradients, got: "),
                      "failed while testing batched gradient computation" in str(error)]
    found.append(T.autograd.gradcheck(fn, (point(T),), check_batched_grad=True, raise_exception=False))
    return found, T.autograd.gradcheck(fn, (point(T),))


@case
def backward_that_mixes_rows_fails_under_vmap(T):
    # what it multiplies by grows with every call: the batched pass sees another number
    calls = [0]

    def drifting(ctx, g):
        calls[0] += 1
        return g * 2 * (1 + 1e-3 * calls[0])

    fn = type("Drifting", (T.autograd.Function,), dict(
        forward=staticmethod(lambda ctx, x: x * 2), backward=staticmethod(drifting))).apply
    options = dict(rtol=1.0, nondet_tol=1.0, check_batched_grad=True)
    return checked(T, fn, (point(T),), **options)
