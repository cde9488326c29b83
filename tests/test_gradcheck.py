"""``gradcheck`` can fail: each check on a function whose gradient is wrong in just that way."""

import pytest

import jaxflow as torch
from jaxflow._core import fields
from jaxflow.autograd import engine, gradcheck, gradgradcheck
from jaxflow.autograd.gradcheck import GradcheckError

pytestmark = pytest.mark.usefixtures("executor")


@pytest.fixture
def x():
    return torch.tensor([0.5, 1.25], dtype=torch.float64, requires_grad=True)


def function(forward=lambda ctx, x: x * 2, backward=lambda ctx, g: g * 2, **more):
    body = {"forward": forward, "backward": backward, **more}
    return type("Made", (torch.autograd.Function,), {k: staticmethod(f) for k, f in body.items()}).apply


def loose(ctx, x):
    ctx.set_materialize_grads(False)
    return x * 2


def wobbling():
    calls = []

    def backward(ctx, g):
        calls.append(g)
        return g * (2 + 1e-7 * len(calls))

    return function(backward=backward)


def needs_a_gradient(ctx, g):
    if g is None:
        raise RuntimeError("no gradient")
    return g * 2


def looks_at_numbers(ctx, g):
    return g * 2 if g.sum().item() > -1e9 else g


def tangent_of_three(ctx, t):
    return t * 3


WRONG = {
    "jacobian": (lambda: function(backward=lambda ctx, g: g * 2.1), {}, "Jacobian mismatch for output 0"),
    "fast": (lambda: function(backward=lambda ctx, g: g * 2.1), dict(fast_mode=True), "in fast mode"),
    "tolerances": (lambda: function(backward=lambda ctx, g: g * 2.0001), dict(rtol=1e-6, atol=0.0),
                   "Jacobian mismatch"),
    "nondet_tol": (wobbling, {}, "Backward is not reentrant"),
    "zeros": (lambda: function(backward=lambda ctx, g: g * 2 + 1e-7), {},
              "backward not multiplied by grad_output"),
    "undefined_refused": (lambda: function(loose, needs_a_gradient), {}, "handle undefined output grads"),
    "undefined_made_up": (lambda: function(loose, lambda ctx, g: torch.ones(2, dtype=torch.float64)
                                           if g is None else g * 2), {}, "to be undefined or zero"),
    "batched": (lambda: function(backward=looks_at_numbers), dict(check_batched_grad=True),
                "While computing batched gradients"),
    "forward": (lambda: function(jvp=tangent_of_three), dict(check_forward_ad=True),
                "computed with forward mode mismatch"),
    "forward_fast": (lambda: function(jvp=tangent_of_three),
                     dict(check_forward_ad=True, fast_mode=True), "computed with forward mode mismatch"),
    "no_gradient": (lambda: (lambda x: x.detach() * 2), {}, "expected to be zero"),
}
# The option (or tolerance) that lets the same function pass.
RIGHT = {
    "jacobian": dict(rtol=0.1), "fast": dict(rtol=0.1), "tolerances": dict(rtol=1e-3),
    "nondet_tol": dict(nondet_tol=1e-3), "zeros": dict(masked=True, check_undefined_grad=False),
    "undefined_refused": dict(check_undefined_grad=False),
    "undefined_made_up": dict(check_undefined_grad=False), "batched": dict(check_batched_grad=False),
    "forward": dict(check_forward_ad=False), "forward_fast": dict(check_forward_ad=False),
}


@pytest.mark.filterwarnings("ignore:Backwards compatibility")
@pytest.mark.parametrize("name", WRONG)
def test_each_check_can_fail(x, name):
    make, options, text = WRONG[name]
    with pytest.raises(GradcheckError, match=text):
        gradcheck(make(), (x,), **options)
    assert gradcheck(make(), (x,), raise_exception=False, **options) is False
    if name in RIGHT:
        if name == "zeros":  # nearly zero: within 1e-8 only
            make = lambda: function(backward=lambda ctx, g: g * 2 + 1e-9)  # noqa: E731
        assert gradcheck(make(), (x,), **{**options, **RIGHT[name]}) is True


def test_gradients_of_another_dtype_fail(x):
    x.grad_dtype = torch.float32
    with pytest.raises(GradcheckError):
        gradcheck(torch.sin, (x,), check_grad_dtypes=True)


def test_tangents_that_are_complex_where_the_output_is_not(x):
    complex_tangent = function(jvp=lambda ctx, t: t * (2 + 0j))
    with pytest.raises((GradcheckError, RuntimeError)):
        gradcheck(complex_tangent, (x,), check_forward_ad=True, check_grad_dtypes=True)


def test_second_derivatives_can_fail(x):
    def cube(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    wrong = function(cube, lambda ctx, g: 3 * g * ctx.saved_tensors[0] * ctx.saved_tensors[0].detach())
    assert gradcheck(wrong, (x,)) and gradgradcheck(lambda x: x**3, (x,), check_fwd_over_rev=True)
    for options in ({}, dict(fast_mode=True)):
        with pytest.raises(GradcheckError, match="Jacobian mismatch"):
            gradgradcheck(wrong, (x,), **options)
        assert gradgradcheck(wrong, (x,), raise_exception=False, **options) is False


def test_everything_at_once(x):
    z = torch.tensor([0.5 + 1j, -0.25 + 0.5j], dtype=torch.complex128, requires_grad=True)
    options = dict(check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True,
                   check_grad_dtypes=True)
    for fast in (False, True):
        assert gradcheck(lambda x, z: (x * z, z.abs() * x), (x, z), fast_mode=fast, **options)
    before = x.detach().clone()
    assert gradcheck(torch.exp, (x * 2,)) and gradcheck(torch.exp, x)
    assert x.grad is None and torch.equal(x, before)


def test_once_a_tensor_took_another_shape(x, monkeypatch):
    monkeypatch.setattr(fields, "RESHAPED", [False])
    monkeypatch.setattr(engine, "RESHAPED", fields.RESHAPED)
    w = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        w.t_()
    assert fields.RESHAPED[0]  # from now on passes look at the shapes of gradients, those that are none, too
    assert gradcheck(lambda x: torch.cat((x, x * 2)), (x,), check_undefined_grad=True)
    assert gradgradcheck(lambda x: x ** 3, (x,))
