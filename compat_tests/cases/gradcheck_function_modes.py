"""``gradcheck`` of custom Functions in forward mode: wrong in one mode, in the other, in both."""

from compat_tests.cases.gradcheck_modes import checked, point
from compat_tests.harness import case, each


def _square(T, backward=2, forward=2):
    """``x * x`` whose gradient and tangent are multiplied by other numbers than 2."""

    def forward_(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    body = dict(
        forward=staticmethod(forward_),
        backward=staticmethod(lambda ctx, g: backward * g * ctx.saved_tensors[0].conj()),
        jvp=staticmethod(lambda ctx, t: forward * t * ctx.saved_tensors[0]),
    )
    return type("Square", (T.autograd.Function,), body).apply


@each(wrong_forward=(2, 3), wrong_backward=(3, 2), both_wrong=(3, 3), slightly=(2, 2.01), right=(2, 2))
def which_mode_is_wrong(T, factors):
    fn, x = _square(T, *factors), (point(T),)
    return (
        checked(T, fn, x), checked(T, fn, x, check_forward_ad=True),
        checked(T, fn, x, check_forward_ad=True, check_backward_ad=False),
        checked(T, fn, x, check_forward_ad=True, rtol=0.1),
    )


@case
def no_forward_rule(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return checked(T, Double.apply, (point(T),), check_forward_ad=True)


@case
def a_tangent_of_zeros_is_no_tangent(T):
    # the rule adds a constant where there is a tangent, were it zeros
    class Off(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 2 + y * 3

        @staticmethod
        def backward(ctx, g):
            return g * 2, g * 3

        @staticmethod
        def jvp(ctx, s, t):
            zero = 0 if s is None or bool((s == 0).all()) else 1
            return (0 if s is None else s * 2) + (0 if t is None else t * 3) + zero * 0

    x = (point(T), point(T))
    return checked(T, Off.apply, x, check_forward_ad=True), checked(
        T, Off.apply, x, check_forward_ad=True, check_undefined_grad=False)


@case
def complex_inputs(T):
    z = point(T, dtype="complex128")
    return [
        checked(T, _square(T, backward, forward), (z,), check_forward_ad=True)
        for backward, forward in ((2, 3), (2, 2j), (3, 2), (2, 2))
    ]
