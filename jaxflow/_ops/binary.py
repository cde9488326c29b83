"""Pointwise functions of two tensors beyond arithmetic."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import BOOL, COMPLEX, FLOATING, INTEGER
from jaxflow._plans.op import Out, Underived, op

from . import _complex_functions as functions
from ._bools import NEGATED, SUBTRACTED, bools_at
from ._support import (
    category,
    is_bool,
    is_complex,
    is_float,
    numbered,
    numbered_of_two,
    refuse,
    with_partials,
)
from .pointwise import unit_of


def _d_atan2(part):
    def partial(out, y, x):
        square = y * y + x * x
        # PyTorch's derivative at the origin is 0.
        return jnp.where(square == 0, 0, part(y, x) / jnp.where(square == 0, 1, square))

    return partial


@with_partials(_d_atan2(lambda y, x: x), _d_atan2(lambda y, x: -y))
def _atan2(y, x):
    return jnp.arctan2(y, x)


@op(promote="int_to_float", aliases=("arctan2",), underived=bools_at(NEGATED, 0))
def atan2(input, other, /):
    """The angle of the point with ordinate ``input`` and abscissa ``other``, in radians.

    Args:
        input: a tensor of any dtype but complex; dtypes are promoted, and integers and bools converted to
            the default dtype.
        other: a tensor whose shape broadcasts with that of ``input``.

    Returns:
        A new floating point tensor of the broadcast shape, from -pi to pi. The gradient at the origin is 0.

    Raises:
        RuntimeError: if the shapes do not broadcast.
        NotImplementedError: for complex numbers.

    Example:
        >>> y, x = torch.tensor([0.0, 1.0, 0.0, -1.0]), torch.tensor([1.0, 0.0, -1.0, 0.0])
        >>> torch.atan2(y, x).rad2deg().round()
        tensor([  0.,  90., 180., -90.])
    """
    refuse("atan2_cpu", input, COMPLEX)
    return _atan2(input, other)


@with_partials(lambda out, x, y: x / out, lambda out, x, y: y / out)
def _hypot(x, y):
    return jnp.hypot(x, y)


@op(promote="default", saves=("input for input", "other for other", "result"))
def hypot(input, other, /):
    """``sqrt(input ** 2 + other ** 2)`` without overflow on the way."""
    refuse("hypot_cpu", input, BOOL, INTEGER, COMPLEX)
    return _hypot(input, other)


@with_partials(lambda out, x, y: jnp.where(x == 0, 0, out / jnp.where(x == 0, 1, x)), None)
def _copysign(x, y):
    return jnp.copysign(x, y)


@op(promote="int_to_float", grad_name=numbered("Copysign", 1, 0), numbers="other",
    saves=("input for input", "result"))
def copysign(input, other, /):
    """The magnitude of ``input`` with the sign of ``other``."""
    refuse("copysign_cpu", input, COMPLEX)
    return _copysign(input, other)


_UNKNOWN = math.nan * (1 + 1j)


def log_add_exp(x, y):
    """``log(exp(x) + exp(y))`` without overflow.

    Of complex numbers, the branch that continues the one with the larger real part, as PyTorch has it.
    """
    if not is_complex(x):
        return jnp.logaddexp(x, y)
    larger = jnp.where(x.real >= y.real, x, y)
    smaller = jnp.where(x.real >= y.real, y, x)
    nothing, both = larger.real == -jnp.inf, smaller.real == jnp.inf
    step = jnp.where(nothing | both, 0, smaller - larger)
    first, second = (functions.exp(jnp.where(both, z, 0)) for z in (smaller, larger))
    found = jnp.where(both, functions.log(first + second), larger + functions.log1p(functions.exp(step)))
    unknown = jnp.isnan(x) | jnp.isnan(y)
    return jnp.where(unknown, _UNKNOWN, jnp.where(nothing, smaller, found))


@op(promote="default", variants="function method out", underived=bools_at(SUBTRACTED, 0, 1))
def logaddexp(input, other, /):
    """``log(exp(input) + exp(other))`` without overflow."""
    refuse("logaddexp_cpu", input, BOOL, INTEGER)
    if is_complex(input):
        return log_add_exp(input, other)
    return _log_of_sum(jnp.logaddexp, jnp.exp, input, other)


@op(promote="default", variants="function method out", underived=bools_at(SUBTRACTED, 0, 1))
def logaddexp2(input, other, /):
    """``log2(2 ** input + 2 ** other)`` without overflow."""
    refuse("logaddexp2_cpu", input, BOOL, INTEGER, COMPLEX)
    return _log_of_sum(jnp.logaddexp2, jnp.exp2, input, other)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _log_of_sum(whole, power, x, y):
    """The logarithm of a sum of two powers. Of its slopes one is 0 where the other operand is infinite.

    jax's own rule multiplies the slope there by a power of the finite operand.
    """
    return whole(x, y)


@_log_of_sum.defjvp
def _log_of_sum_jvp(whole, power, primals, tangents):
    x, y = primals
    return whole(x, y), tangents[0] / (1 + power(y - x)) + tangents[1] / (1 + power(x - y))


def _product_with(name, log):
    """``x * log(y)`` that is 0 where x is 0, however bad the logarithm."""

    def fn(x, y):
        return jnp.where(jnp.isnan(y), y, jnp.where(x == 0, 0, x * log(y)))

    return fn


def _d_xlogy_self(out, x, y):
    return ~((x == 0) & (y <= 0)), jnp.log(y)


def _d_xlog1py_self(out, x, y):
    return ~((x == 0) & (y <= -1)), jnp.log1p(y)


# PyTorch's gradient by the first operand is the same function again, of the cotangent and the second one.
_OF_SELF = {0: lambda x, y: ~jnp.isnan(y)}
x_log_y = with_partials(_d_xlogy_self, lambda out, x, y: x / y, zeroed=_OF_SELF)(
    _product_with("xlogy", jnp.log)
)
_xlog1py = with_partials(_d_xlog1py_self, lambda out, x, y: x / (y + 1), zeroed=_OF_SELF)(
    _product_with("xlog1py", jnp.log1p)
)


@op(promote="int_to_float", grad_name=numbered_of_two("Xlogy"), numbers="input other",
    aliases=("special.xlogy",))
def xlogy(input, other, /):
    """``input * log(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
    refuse("xlogy_cpu", input, COMPLEX)
    return x_log_y(input, other)


@op(promote="int_to_float", namespace="special", variants="function out",
    grad_name=numbered_of_two("SpecialXlog1Py"), numbers="input other")
def xlog1py(input, other, /):
    """``input * log1p(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
    refuse("xlog1py_cpu", input, COMPLEX)
    return _xlog1py(input, other)


def _heaviside_dtypes(*operands):
    if any(found.category == COMPLEX for found, _ in operands):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if len({found for found, _ in operands}) > 1:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes."
        )


@op(promote="default", check=_heaviside_dtypes, grad_name="NotImplemented", saves="none",
    underived=Underived(RuntimeError, "derivative for aten::heaviside{_} is not implemented",
                        forward="Trying to use forward AD with aten::heaviside{_} that does not support it."),
    out=Out("heaviside is not yet implemented for tensors with different dtypes.", lost=True))
def heaviside(input, values, /):
    """0 where ``input`` is negative, 1 where positive, ``values`` where it is 0."""
    if is_bool(input):
        return input | values
    return jnp.where(input == 0, values, (input > 0).astype(input.dtype))


@with_partials(lambda out, x, y: x != y, None)
def _nextafter(x, y):
    return jnp.nextafter(x, y)


@op(promote="no_opmath")
def nextafter(input, other, /):
    """The next representable number after ``input`` in the direction of ``other``."""
    refuse("nextafter_cpu", input, BOOL, INTEGER, COMPLEX)
    return _nextafter(input, other)


@op(promote="no_opmath", differentiable=False)
def gcd(input, other, /):
    """The greatest common divisor of integers; negative for the least number of the dtype alone."""
    refuse("gcd_cpu", input, BOOL, 2, COMPLEX)
    return _gcd(input, other)


def _gcd(a, b):
    """By Euclid, as PyTorch does: the least number, which has no absolute value, stays negative."""

    def step(pair):
        a, b = pair
        return jnp.where(a == 0, 0, jax.lax.rem(b, jnp.where(a == 0, 1, a))), jnp.where(a == 0, b, a)

    return jax.lax.while_loop(lambda pair: jnp.any(pair[0] != 0), step, (jnp.abs(a), jnp.abs(b)))[1]


@op(promote="no_opmath", differentiable=False)
def lcm(input, other, /):
    """The least common multiple of integers; what overflows wraps, and may be negative."""
    refuse("lcm_cpu", input, BOOL, 2, COMPLEX)
    divisor = _gcd(input, other)
    # C computes what is narrower as an int.
    dtype = np.promote_types(input.dtype, np.int32)
    a, b, g = (x.astype(dtype) for x in (input, other, divisor))
    return jnp.where(g == 0, 0, jnp.abs(jax.lax.div(a, jnp.where(g == 0, 1, g)) * b)).astype(input.dtype)


def _parts(first, second):
    """Refuse dtypes of two parts, before their shapes are looked at."""
    one, other = first[0], second[0]
    if not all(d.is_floating_point and d is not dtypes.bfloat16 for d in (one, other)):
        raise RuntimeError("Expected both inputs to be Half, Float or Double tensors but got "
                           f"{one.scalar_name} and {other.scalar_name}")
    if one is not other:
        raise RuntimeError(f"Expected object of scalar type {one.scalar_name} but got scalar type "
                           f"{other.scalar_name} for second argument")


def _parts_of_complex(first, second):
    _parts(first, second)
    first[0].to_complex()  # refuses half precision


def _complex_of(dtype):
    return dtype.to_complex()


_OUT = Out("Expected object of scalar type {result} but got scalar type {out} for argument 'out'",
           dtype=_complex_of)


@op(broadcast=True, variants="function out", out=_OUT, saves=("real for real", "imag for imag"),
    check=_parts_of_complex)
def complex(real, imag, /):
    """The complex number of two real parts of one dtype, float32 or float64."""
    return jax.lax.complex(real, imag)


@op(broadcast=True, variants="function out", out=_OUT, saves="result", check=_parts)
def polar(abs, angle, /):
    """The complex number of an absolute value and an angle, float32 or float64.

    ``abs * cos(angle) + abs * sin(angle) * 1j``

    Args:
        abs: a float32 or float64 tensor.
        angle: a tensor of the same dtype, in radians, whose shape broadcasts with that of ``abs``.

    Returns:
        A new complex64 or complex128 tensor of the broadcast shape.

    Raises:
        RuntimeError: for other dtypes, for two different ones, and if the shapes do not broadcast.
        NotImplementedError: for float16.

    Example:
        >>> z = torch.polar(torch.tensor([2.0, 3.0]), torch.tensor([0.0, math.pi]))
        >>> z.real
        tensor([ 2., -3.])
        >>> z.dtype
        torch.complex64
    """
    if abs.dtype == np.float16:
        refuse("polar_cpu", abs, FLOATING)
    return _polar(abs, angle)


@jax.custom_jvp
def _polar(r, angle):
    return jax.lax.complex(r * jnp.cos(angle), r * jnp.sin(angle))


@_polar.defjvp
def _polar_jvp(primals, tangents):
    """By the absolute value, the direction of the result: where that is negative, the other one."""
    out = _polar(*primals)
    by_value, by_angle = (t.astype(out.dtype) for t in tangents)
    return out, unit_of(out) * by_value + out * 1j * by_angle


_FREXP_OUT = (Out("torch.frexp() expects mantissa to have dtype {result_c} but got {out_c}"),
              Out("torch.frexp() expects exponent to have {result_c} dtype but got {out_c}"))


@op(variants="function method out", returns=("mantissa", "exponent"), layout="like", out=_FREXP_OUT,
    saves="own", apart="input")
def frexp(input, /):
    """Mantissa in ``[0.5, 1)`` and int32 exponent of each floating element."""
    if not is_float(input):
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = jnp.frexp(jax.lax.stop_gradient(input))
    return _scaled(input, mantissa, exponent), exponent.astype(np.int32)


@jax.custom_jvp
def _scaled(x, mantissa, exponent):
    """The mantissa of ``x``; its derivative is one over the power of two, 1 for infinities and nan."""
    return mantissa


@_scaled.defjvp
def _scaled_jvp(primals, tangents):
    mantissa, exponent = primals[1:]
    power = jnp.exp2(exponent.astype(np.promote_types(mantissa.dtype, np.float32)))
    return mantissa, (tangents[0].astype(power.dtype) / power).astype(mantissa.dtype)


def _same_dtype(input, other):
    if input[0] is not other[0]:
        raise RuntimeError(f"{input[0].scalar_name} did not match {other[0].scalar_name}")


@op(promote="always_bool", variants="function method", differentiable=False, check=_same_dtype)
def isclose(input, other, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False):
    """Where ``|input - other| <= atol + rtol * |other|``; bool.

    Args:
        input: a tensor of any dtype.
        other: a tensor of the same dtype, whose shape broadcasts with that of ``input``.
        rtol: how far apart they may be in proportion to ``other``.
        atol: how far apart they may be in any case.
        equal_nan: whether nan is close to nan.

    Returns:
        A new bool tensor of the broadcast shape. Infinities are close to themselves only.

    Raises:
        RuntimeError: if the dtypes differ, the shapes do not broadcast, or ``rtol`` or ``atol`` is
            negative.

    Example:
        >>> torch.isclose(torch.tensor([1.0, 2.0, math.inf]), torch.tensor([1.0, 2.5, math.inf]))
        tensor([ True, False,  True])
        >>> torch.isclose(torch.tensor([100, 200]), torch.tensor([101, 203]), rtol=0.01)
        tensor([ True, False])
    """
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if bound < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {bound:g}")
    close = input == other
    if category(input) >= 2:
        near = jnp.abs(input - other) <= atol + rtol * jnp.abs(other)
        close = close | (jnp.isfinite(input) & jnp.isfinite(other) & near)
        if equal_nan:
            close = close | (jnp.isnan(input) & jnp.isnan(other))
    elif rtol or atol:
        a, b = (x.astype(np.float64) for x in (input, other))
        close = close | (jnp.abs(a - b) <= atol + rtol * jnp.abs(b))
    return close
