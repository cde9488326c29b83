"""Pointwise arithmetic of two or three tensors."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import Aval
from jaxflow._core.cast import cast
from jaxflow._core.dtype import BOOL, COMPLEX, FLOATING, INTEGER
from jaxflow._core.indexing import NONZERO
from jaxflow._core.numbers import check_fits
from jaxflow._plans.op import (
    FOUND,
    Element,
    Mask,
    Out,
    Scalar,
    Underived,
    complex_gradients,
    op,
    overload,
    overload_written,
)

from ._bools import SUBTRACTED, bools_at, no_bool_operand
from ._complex import inverse, inverse_root, square_root
from ._complex_functions import complex_power
from ._layouts import of_bounded, of_tensors, scaled_by_powers, second_first
from ._support import (
    blend,
    bounds_fit,
    category,
    divide,
    is_bool,
    is_complex,
    is_float,
    is_integral,
    number_fits,
    numbered,
    refuse,
    wide,
    with_partials,
)


def _scaled(x, alpha):
    """``alpha * x`` with PyTorch's rules for which kinds of ``alpha`` fit which dtypes."""
    if type(alpha) is int and alpha == 1:
        return x
    if is_bool(alpha) and not is_bool(x):
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if (is_float(alpha) or is_complex(alpha)) and category(x) < FLOATING:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if is_complex(alpha) and not is_complex(x):
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    return x * alpha.astype(x.dtype)


@op(promote="default", operators="__add__ __radd__ __iadd__", saves="none", numbers="all", factors="rounded")
def add(input, other, /, *, alpha: Scalar = 1):
    """``input + alpha * other``, broadcast; bools add as a logical or.

    Args:
        input: a tensor or a number of any dtype; dtypes are promoted.
        other: a tensor or a number, whose shape broadcasts with that of ``input``.
        alpha: the number by which ``other`` is multiplied; an integer where both are integers.

    Returns:
        A new tensor of the broadcast shape and the promoted dtype. The in-place form ``add_`` writes it
        into ``input``, which keeps its shape and dtype.

    Raises:
        RuntimeError: if the shapes do not broadcast, ``alpha`` does not fit the dtypes, or (in place) the
            result does not fit the dtype of ``input``.

    Example:
        >>> x = torch.tensor([[1], [2]])
        >>> torch.add(x, torch.tensor([10, 20]), alpha=2)
        tensor([[21, 41],
                [22, 42]])
        >>> x.add_(5)
        tensor([[6],
                [7]])
    """
    other = _scaled(other, alpha)
    return input | other if is_bool(input) else input + other


@op(promote="default", operators="__sub__ __isub__", saves="none", check=no_bool_operand, numbers="all",
    factors="rounded")
def sub(input, other, /, *, alpha: Scalar = 1):
    """``input - alpha * other``, broadcast; refuses bools.

    Args:
        input: a tensor or a number of any dtype but bool; dtypes are promoted.
        other: a tensor or a number, whose shape broadcasts with that of ``input``.
        alpha: the number by which ``other`` is multiplied; an integer where both are integers.

    Returns:
        A new tensor of the broadcast shape and the promoted dtype. The in-place form ``sub_`` writes it
        into ``input``, which keeps its shape and dtype.

    Raises:
        RuntimeError: for bools, if the shapes do not broadcast, or ``alpha`` does not fit the dtypes.

    Example:
        >>> x = torch.tensor([5, 7])
        >>> torch.sub(x, torch.tensor([1, 2]), alpha=2)
        tensor([3, 3])
        >>> torch.sub(x, 0.5)
        tensor([4.5000, 6.5000])
    """
    return input - _scaled(other, alpha)


overload(sub, "_sub_number", "SubBackward1")


@op(promote="default", operators="__rsub__", variants="function", saves="none",
    check=no_bool_operand, grad_name=numbered("Rsub", 1, 0, which=1), numbers="other",
    factors="rounded", layout=second_first)
def rsub(input, other, /, *, alpha: Scalar = 1):
    """``other - alpha * input``, broadcast; refuses bools."""
    return other - _scaled(input, alpha)


@op(promote="default", operators="__mul__ __rmul__ __imul__", aliases=("multiply",), numbers="all",
    wide="other")
def mul(input, other, /):
    """The product, broadcast; bools multiply as a logical and.

    Args:
        input: a tensor or a number of any dtype; dtypes are promoted.
        other: a tensor or a number, whose shape broadcasts with that of ``input``.

    Returns:
        A new tensor of the broadcast shape and the promoted dtype. The in-place form ``mul_`` writes it
        into ``input``, which keeps its shape and dtype.

    Raises:
        RuntimeError: if the shapes do not broadcast, or (in place) the result does not fit the dtype of
            ``input``.

    Example:
        >>> x = torch.tensor([[1], [2]])
        >>> torch.mul(x, torch.tensor([10, 20]))
        tensor([[10, 20],
                [20, 40]])
        >>> x.mul_(3)
        tensor([[3],
                [6]])
    """
    return input & other if is_bool(input) else input * other


def _by_zero(watch, dynamic, static):
    """A guard: in integers nothing is divided by zero. Only PyTorch's kernels for the CPU refuse that."""
    input, other = dynamic[:2]
    if max(_operand_category(input), _operand_category(other)) != INTEGER:
        return
    avals = [x._aval for x in dynamic[:2] if hasattr(x, "_aval")]
    if not avals or avals[0].device.type != "cpu" or not all(aval.numel for aval in avals):
        return
    if hasattr(other, "_aval"):
        watch.within((other,), (NONZERO,), lambda value, _: RuntimeError("ZeroDivisionError"))
    elif not other:
        raise RuntimeError("ZeroDivisionError")


def _operand_category(x) -> int:
    aval = getattr(x, "_aval", None)
    if aval is not None:
        return aval.dtype.category
    if isinstance(x, (bool, np.bool_)):
        return BOOL
    return INTEGER if isinstance(x, (int, np.integer)) else COMPLEX


def _div_kind(rounding_mode):
    # A rounded quotient of halves is rounded to a half before it is rounded to an integer.
    return {None: "int_to_float", "trunc": "no_opmath"}.get(rounding_mode, "default")


def _div_name(numbers, rounding_mode):
    return "DivBackward0" if rounding_mode is None else "DivBackward2"


def _div_saves(kinds, rounding_mode):
    return "input" if rounding_mode is None else ("input for other", "other")


@op(promote=_div_kind, operators="__truediv__ __itruediv__", aliases=("divide",),
    grad_name=_div_name, numbers="all", wide="other", saves=_div_saves, guard=_by_zero,
    guarded=lambda rounding_mode: rounding_mode is not None)
def div(input, other, /, *, rounding_mode=None):
    """The quotient, broadcast; ``rounding_mode`` may be ``"trunc"`` or ``"floor"``.

    Without rounding, integers give floating results; with it they stay integers.

    Args:
        input: a tensor or a number of any dtype; dtypes are promoted.
        other: a tensor or a number, whose shape broadcasts with that of ``input``.
        rounding_mode: None for the quotient itself, "trunc" to round it towards zero, "floor" to round it
            down.

    Returns:
        A new tensor of the broadcast shape and the promoted dtype; of the default dtype for integers
        without rounding. The in-place form ``div_`` writes it into ``input``, which keeps its shape and
        dtype.

    Raises:
        RuntimeError: for another ``rounding_mode``, if the shapes do not broadcast, if integers are divided
            by 0 with rounding on the CPU, or (in place) the result does not fit the dtype of ``input``.
        NotImplementedError: for complex numbers with rounding.

    Example:
        >>> x = torch.tensor([7, -7])
        >>> torch.div(x, 2)
        tensor([ 3.5000, -3.5000])
        >>> torch.div(x, 2, rounding_mode="trunc")
        tensor([ 3, -3])
        >>> torch.div(x, 2, rounding_mode="floor")
        tensor([ 3, -4])
    """
    if rounding_mode is None:
        return divide(input, other)
    if rounding_mode == "floor":
        return _floor_quotient(input, other)
    if rounding_mode == "trunc":
        return _trunc_quotient(input, other)
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
        f"but found '{rounding_mode}'"
    )


def _saves_no_number(kinds, **static):
    return "input" if isinstance(kinds[1], Aval) else "none"


# PyTorch's composites multiply and divide by numbers in overloads that take no tensor there, and save none.
overload(mul, "_mul_number", numbered("Mul", 1, 0), saves=_saves_no_number)
overload_written(div, "rounding_mode", "_div_unrounded", "DivBackward2", saves=("input for other", "other"))
overload(div, "_div_number", lambda numbers, rounding_mode: f"DivBackward{1 if numbers[1] else 0}",
         saves=_saves_no_number)


@op(promote="int_to_float", grad_name="DivBackward0", numbers="all", wide="other")
def true_divide(input, other, /):
    """The quotient, broadcast; integers give floating results."""
    return divide(input, other)


def _trunc_quotient(a, b):
    refuse("div_trunc_cpu", a, BOOL, COMPLEX)
    return jax.lax.div(a, b) if is_integral(a) else jnp.trunc(divide(a, b))


def _floor_quotient(a, b):
    refuse("div_floor_cpu", a, BOOL, COMPLEX)
    if is_integral(a):
        quotient = jax.lax.div(a, b)
        exact = quotient * b == a
        return jnp.where(exact | ((a < 0) == (b < 0)), quotient, quotient - 1)
    # From the remainder, not from a / b: near an integer the rounded quotient may lie on the wrong side.
    rest = jax.lax.rem(a, b)
    quotient = divide(a - rest, b)
    quotient = jnp.where((rest != 0) & ((b < 0) != (rest < 0)), quotient - 1, quotient)
    floored = jnp.floor(quotient)
    floored = jnp.where(quotient - floored > 0.5, floored + 1, floored)
    ratio = divide(a, b)
    floored = jnp.where(quotient == 0, jnp.copysign(jnp.zeros_like(a), ratio), floored)
    # Rounding is constant between its steps; of a division by zero, which is not rounded, too.
    return jax.lax.stop_gradient(jnp.where(b == 0, ratio, floored))


@op(promote="default", operators="__floordiv__ __rfloordiv__ __ifloordiv__", grad_name="NotImplemented",
    saves="none", underived=Underived(
        RuntimeError, "derivative for aten::floor_divide{_} is not implemented",
        forward="Trying to use forward AD with aten::floor_divide{_} that does not support it."),
    numbers="all", wide="other", guard=_by_zero, out=Out(lost=True))
def floor_divide(input, other, /):
    """The quotient rounded down, broadcast."""
    return _floor_quotient(input, other)


@with_partials(lambda out, a, b: jnp.ones_like(a), lambda out, a, b: -_floor_quotient(a, b))
def _float_remainder(a, b):
    rest = jax.lax.rem(a, b)
    return jnp.where((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest)


def _remainder_name(numbers):
    return "NotImplemented" if numbers[0] else "RemainderBackward0" if numbers[1] else "RemainderBackward1"


@op(promote="no_opmath", operators="__mod__ __rmod__ __imod__", grad_name=_remainder_name,
    numbers="input other", guard=_by_zero, out=Out(tensors=True), underived=Underived(
        RuntimeError, "derivative for aten::remainder is not implemented", of=((0, None),),
        forward="Trying to use forward AD with aten::remainder that does not support it."))
def remainder(input, other, /):
    """What division rounded down leaves: the result has the sign of ``other``."""
    refuse("remainder_cpu", input, BOOL, COMPLEX)
    if is_float(input):
        return _float_remainder(input, other)
    rest = jax.lax.rem(input, other)
    return jnp.where((rest != 0) & ((other < 0) != (rest < 0)), rest + other, rest)


@with_partials(lambda out, a, b: jnp.ones_like(a), lambda out, a, b: -jnp.trunc(divide(a, b)))
def _float_fmod(a, b):
    return jax.lax.rem(a, b)


@op(promote="no_opmath", grad_name=numbered("Fmod", 0, 1), numbers="other", guard=_by_zero)
def fmod(input, other, /):
    """What division rounded towards zero leaves: the result has the sign of ``input``."""
    refuse("fmod_cpu", input, BOOL, COMPLEX)
    return _float_fmod(input, other) if is_float(input) else jax.lax.rem(input, other)


# ------------------------------------------------------------------------------------------- powers


def _d_base(out, base, exponent):
    # x ** 0 has derivative 0 everywhere, at x = 0 too, where jax's formula gives nan.
    power = _power if is_complex(base) else jnp.power
    return exponent != 0, exponent * power(base, exponent - 1)


def _d_exponent(out, base, exponent):
    flat = (base == 0) & (exponent.real >= 0)
    return jnp.where(flat, 0, out * jnp.log(jnp.where(flat, 1, base)))


@with_partials(_d_base, _d_exponent)
def _power(base, exponent):
    return complex_power(base, exponent) if is_complex(base) else jnp.power(base, exponent)


def _by_squares(base, exponent):
    """An integer to a power that is not negative, modulo two to the number of bits; any other gives 1.

    The loop ends after the last bit of the largest exponent; ``jnp.power`` takes only six bits of each.
    """
    def further(state):
        return jnp.any(state[1] > 0)

    def step(state):
        product, left, square = state
        product = jnp.where((left & 1) == 1, product * square, product)
        return product, left >> 1, square * square

    return jax.lax.while_loop(further, step, (jnp.ones_like(base), jnp.maximum(exponent, 0), base))[0]


def _integer_power(base, exponent):
    refuse("pow", base, BOOL)
    raised = _by_squares(base, exponent)
    if not jnp.issubdtype(exponent.dtype, np.signedinteger):
        return raised
    # One over an integer is 0 in integers, unless the integer is 1 or -1.
    odd = (exponent & 1) == 1
    inverse = jnp.where(base == 1, 1, jnp.where(base == -1, jnp.where(odd, -1, 1), 0))
    return jnp.where(exponent < 0, inverse.astype(base.dtype), raised)


def _pow_name(numbers):
    return "PowBackward2" if numbers[0] else "PowBackward0" if numbers[1] else "PowBackward1"


def _pow_saves(kinds):
    """A power of a number of its own, not what it gave."""
    return "both" if isinstance(kinds[1], Aval) else "input"


@op(promote="default", variants="", grad_name=_pow_name, saves=_pow_saves, layout=of_bounded,
    underived=bools_at(SUBTRACTED, 1))
def pow(input, exponent, /):
    """Each element of ``input`` to the power of the matching element of ``exponent``."""
    if is_integral(input):
        return _integer_power(input, exponent)
    if is_complex(input):
        # In double: exp(exponent * log(base)) multiplies the rounding error of the logarithm.
        doubled = (x.astype(np.complex128) for x in (input, exponent))
        return _power(*doubled).astype(input.dtype)
    return _power(input, exponent)


#: Of a number's powers PyTorch makes a contiguous result.
overload(pow, "_power_of_number", _pow_name, layout="contiguous")
# Those of 1 it does not compute at all: complex ones too are 1 beside infinity and nan.
_ONES = with_partials(None, lambda out, base, exponent: jnp.zeros_like(out))(
    lambda base, exponent: jnp.ones_like(exponent))


def _power_of_one(input, exponent):
    refuse("pow", input, BOOL)
    return jnp.ones_like(exponent) if is_integral(exponent) else _ONES(input, exponent)


overload(pow, "_power_of_one", _pow_name, layout="contiguous", fn=_power_of_one)


@op(promote="int_to_float", name="_ldexp", variants="", grad_name="LdexpBackward0",
    saves=("other for input", "result"), layout=scaled_by_powers, wide="other",
    underived=complex_gradients(0, 1))
def ldexp(input, other, /, *, power):
    """``input * 2 ** other``, whose power is rounded to the dtype ``power``.

    None is said of exponents that are integers: then it is not computed, and only the result overflows.
    """
    if power is not None:
        exponent = wide(cast(other, power.np))
        return input * cast(cast(pow.fn(jnp.full_like(exponent, 2), exponent), power.np), input.dtype)
    x, e = wide(input), wide(other)
    limits = jnp.finfo(x.dtype)
    most = 2 * (limits.maxexp + limits.nmant)  # beyond which every number overflows or vanishes
    e = jnp.clip(e, -most, most)
    third = jnp.round(e / 3)
    step = _power_of_two(third)
    return (x * step * step * _power_of_two(e - 2 * third)).astype(input.dtype)


def _power_of_two(exponent):
    """``2 ** exponent`` from its bits, of whole numbers; XLA's ``exp2`` rounds."""
    limits = jnp.finfo(exponent.dtype)
    whole = np.dtype(f"int{limits.bits}")
    bits = (exponent.astype(whole) + (limits.maxexp - 1)) << limits.nmant
    return jax.lax.bitcast_convert_type(bits, exponent.dtype)


@with_partials(lambda out, x: divide(-0.5 * out, x))
def _power_of_minus_half(x):
    return inverse_root(x)


@with_partials(lambda out, x: -2 * inverse(x * x * x))
def _inverse_square(x):
    return inverse(x * x)


_FIXED_POWERS = {
    0: jnp.ones_like,
    0.5: square_root,
    1: lambda x: x,
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    -0.5: _power_of_minus_half,
    -1: inverse,
    -2: _inverse_square,
}

#: The exponents that `pow_fixed` takes; any other goes to `pow` as a traced number.
FIXED_EXPONENTS = frozenset(_FIXED_POWERS)


@op(promote="default", variants="", grad_name="PowBackward0", saves=("input for input",))
def pow_fixed(input, /, *, exponent, kind):
    """Each element to one of the powers in `FIXED_EXPONENTS`, by multiplication or a square root.

    ``kind`` is the exponent's class: a node shows 3 or 3.0, which are one key of the plans.
    """
    return _FIXED_POWERS[exponent](input)


# ---------------------------------------------------------------------------------- larger, smaller


def _extremum(name):
    """The declaration of the larger or smaller of two numbers, of which complex ones are none."""
    def check(*operands):
        if any(found.is_complex for found, _ in operands):
            raise RuntimeError(f"{name} not implemented for complex tensors.")

    return op(promote="default", variants="function method out", check=check)


def _share(out, below, tied):
    """What an operand passes on: nothing where it is ``below`` the other, half where ``tied``; nan all."""
    return ~below, jnp.where(tied, 0.5, 1).astype(out.dtype)


@with_partials(lambda out, x, y: _share(out, x < y, x == y), lambda out, x, y: _share(out, x > y, x == y))
def _larger(x, y):
    return jnp.maximum(x, y)


@with_partials(lambda out, x, y: _share(out, x > y, x == y), lambda out, x, y: _share(out, x < y, x == y))
def _smaller(x, y):
    return jnp.minimum(x, y)


@_extremum("maximum")
def maximum(input, other, /):
    """The larger of two elements, nan if one is nan; tied elements share the gradient.

    Args:
        input: a tensor of any dtype but complex; dtypes are promoted.
        other: a tensor whose shape broadcasts with that of ``input``.

    Returns:
        A new tensor of the broadcast shape and the promoted dtype.

    Raises:
        RuntimeError: for complex numbers, and if the shapes do not broadcast.
        TypeError: if one of them is a number: `clamp_min` takes numbers.

    Example:
        >>> torch.maximum(torch.tensor([1.0, 5.0, math.nan]), torch.tensor([3, 2, 7]))
        tensor([3., 5., nan])
    """
    return (_larger if is_float(input) else jnp.maximum)(input, other)


@_extremum("minimum")
def minimum(input, other, /):
    """The smaller of two elements, nan if one is nan; tied elements share the gradient.

    Args:
        input: a tensor of any dtype but complex; dtypes are promoted.
        other: a tensor whose shape broadcasts with that of ``input``.

    Returns:
        A new tensor of the broadcast shape and the promoted dtype.

    Raises:
        RuntimeError: for complex numbers, and if the shapes do not broadcast.
        TypeError: if one of them is a number: `clamp_max` takes numbers.

    Example:
        >>> torch.minimum(torch.tensor([1.0, 5.0, math.nan]), torch.tensor([3, 2, 7]))
        tensor([1., 2., nan])
    """
    return (_smaller if is_float(input) else jnp.minimum)(input, other)


@_extremum("fmax")
def fmax(input, other, /):
    """The larger of two elements, the number where one is nan; ``input`` wins a tie."""
    return jnp.where((input >= other) | jnp.isnan(other), input, other)


@_extremum("fmin")
def fmin(input, other, /):
    """The smaller of two elements, the number where one is nan; ``input`` wins a tie."""
    return jnp.where((input <= other) | jnp.isnan(other), input, other)


def _clamp_name(numbers):
    return "ClampBackward1" if any(numbers) else "ClampBackward0"


def _clamp_of_bools(input, *bounds):
    """Bools have one bound that is a tensor, or none; complex numbers have no bounds.

    Complex bounds that are tensors are refused once the shapes fit.
    """
    if bounds and input[0].is_complex:
        raise NotImplementedError("clamp is not supported for complex types")
    if any(found.is_complex and kind == "scalar" for found, kind in bounds):
        if input[0].category < dtypes.FLOATING:
            raise NotImplementedError("clamp is not supported for complex types")
        raise RuntimeError("value cannot be converted to type double without overflow")
    if bounds and all(found is dtypes.bool for found, _ in (input, *bounds)):
        number = bounds[-1][1] == "scalar"
        if number or len(bounds) > 1:
            raise NotImplementedError(f"\"clamp{'_scalar' * number}_cpu\" not implemented for 'Bool'")


#: Numbers as bounds do not cast, tensors do.
_CLAMP_OUT = Out(FOUND.text, refuses=lambda have, want, operands: (
    have is not want and not any(hasattr(bound, "_aval") for bound in operands[1:])))


@op(promote="default", aliases=("clip",), grad_name=_clamp_name, numbers="min max", guard=bounds_fit,
    layout=of_bounded, out=_CLAMP_OUT, check=_clamp_of_bools)
def clamp(input, min=None, max=None, /):
    """Each element limited to ``[min, max]``, each a number, a tensor or None.

    An element on the edge keeps its gradient. Where ``min`` exceeds ``max`` the result is ``max``.

    Args:
        input: a tensor of any shape and dtype but complex; nan stays nan.
        min: the lower bound: a number, a tensor whose shape broadcasts with that of ``input``, or None for
            no bound.
        max: the upper bound, likewise.

    Returns:
        A new tensor of the broadcast shape; dtypes are promoted.

    Raises:
        RuntimeError: if both are None.
        NotImplementedError: for complex numbers.

    Example:
        >>> x = torch.tensor([-3, 0, 8])
        >>> torch.clamp(x, -1, 5)
        tensor([-1,  0,  5])
        >>> torch.clamp(x, min=torch.tensor([1, -1, 9]))
        tensor([1, 0, 9])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    refuse("minimum_cpu" if min is None else "maximum_cpu" if max is None else "clamp_cpu", input, COMPLEX)
    if min is None or max is None:
        return _at_most(_at_least(input, min), max)
    return _within(input, min, max) if is_float(input) else _at_most(_at_least(input, min), max)


# Each has a derivative of its own, as PyTorch compares them: between bounds that are one, none has any.
@with_partials(lambda out, x, low, high: (x >= low) & (x <= high),
               lambda out, x, low, high: (x < low) & (low < high),
               lambda out, x, low, high: (x > high) | (high < low))
def _within(x, low, high):
    return _at_most(_at_least(x, low), high)


# A nan is within no bounds: it passes no gradient on.
@with_partials(lambda out, x, bound: x >= bound, lambda out, x, bound: x < bound)
def _raised(x, bound):
    return jnp.where((x < bound) | jnp.isnan(bound), bound, x)


@with_partials(lambda out, x, bound: x <= bound, lambda out, x, bound: x > bound)
def _lowered(x, bound):
    return jnp.where((x > bound) | jnp.isnan(bound), bound, x)


def _at_least(x, bound):
    return x if bound is None else _raised(x, bound)


def _at_most(x, bound):
    return x if bound is None else _lowered(x, bound)


def _bounded_bools(kernel):
    """Bools have bounds that are tensors, and no bound is a complex number."""
    def check(input, bound):
        if bound[1] == "scalar" and (input[0].is_complex or bound[0].is_complex):
            raise NotImplementedError("clamp is not supported for complex types")
        if input[0] is bound[0] is dtypes.bool and bound[1] == "scalar":
            raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")

    return check


@op(promote="default", grad_name=numbered("ClampMin", 0, 1), numbers="min", guard=bounds_fit,
    check=_bounded_bools("clamp_min_scalar_cpu"),
    layout=of_bounded)
def clamp_min(input, min, /):
    """Each element, but at least ``min``.

    Args:
        input: a tensor of any shape and dtype but complex; nan stays nan.
        min: the lower bound: a number, or a tensor whose shape broadcasts with that of ``input``.

    Returns:
        A new tensor of the broadcast shape; dtypes are promoted.

    Raises:
        RuntimeError: if the shapes do not broadcast.
        NotImplementedError: for complex numbers.

    Example:
        >>> torch.clamp_min(torch.tensor([1, 5]), 2)
        tensor([2, 5])
        >>> torch.clamp_min(torch.tensor([1.0, math.nan]), torch.tensor([0.0, 9.0]))
        tensor([1., nan])
    """
    refuse("maximum_cpu", input, COMPLEX)
    return input | min if is_bool(input) else _at_least(input, min)


@op(promote="default", grad_name=numbered("ClampMax", 0, 1), numbers="max", guard=bounds_fit,
    check=_bounded_bools("clamp_max_scalar_cpu"),
    layout=of_bounded)
def clamp_max(input, max, /):
    """Each element, but at most ``max``."""
    refuse("minimum_cpu", input, COMPLEX)
    return input & max if is_bool(input) else _at_most(input, max)


# ---------------------------------------------------------------------------------------- mixtures


def _lerp_dtypes(input, end, weight):
    found = input[0]
    for name, (other, kind) in (("end", end), ("weight", weight)):
        # A weight of 0-d takes part in promotion.
        if other is not found and kind != "scalar" and (name == "end" or kind != "zerodim"):
            raise RuntimeError(
                f"expected dtype {found.c_name} for `{name}` but got dtype {other.c_name}"
            )
    number = weight[1] == "scalar"
    if found.category < FLOATING and (number or weight[0].category < FLOATING):
        kernel = "lerp_kernel_scalar" if number else "lerp_kernel_tensor"
        return NotImplementedError(f"\"{kernel}\" not implemented for '{found.scalar_name}'")
    return None


def _lerp_saves(kinds):
    """Tensors, where the weight is one."""
    return "input" if isinstance(kinds[2], Aval) else "none"


def _lerp_refuses(have, want, operands):
    """Whether the kernel writes another dtype: where it promotes nothing, nor does it cast the result."""
    return have is not want and getattr(operands[2], "ndim", 0) > 0


@op(promote="default", check=_lerp_dtypes, grad_name=numbered("Lerp", 0, 1), numbers="weight",
    wide_number="weight", factors="wide", layout=of_tensors, saves=_lerp_saves,
    out=Out(FOUND.text, refuses=_lerp_refuses))
def lerp(input, end, weight, /):
    """``input + weight * (end - input)``, exact at both ends."""
    return blend(input, end, weight)


def _times_value(x, value):
    """``value * x`` in the dtype of ``x``, into which a fraction or a bool is converted."""
    if type(value) is int and value == 1:  # where none is given
        return x
    if is_complex(value) and not is_complex(x):
        check_fits(1j, dtypes.from_numpy_dtype(x.dtype))
    return x * cast(jnp.asarray(value), x.dtype)


@op(promote="default", factors="wide")
def addcmul(input, tensor1, tensor2, /, *, value: Scalar = 1):
    """``input + value * tensor1 * tensor2``.

    Args:
        input: a tensor of any dtype but bool; dtypes are promoted.
        tensor1: the first factor, whose shape broadcasts with the others'.
        tensor2: the second factor.
        value: the number by which the product is multiplied; it is converted to the promoted dtype, so that
            0.5 is 0 where all three are integers.

    Returns:
        A new tensor of the broadcast shape and the promoted dtype. The in-place form ``addcmul_`` writes it
        into ``input``, which keeps its shape and dtype.

    Raises:
        RuntimeError: if the shapes do not broadcast, for a complex ``value`` of real tensors, or (in place)
            if the result does not fit the dtype of ``input``.
        NotImplementedError: for bools.

    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.addcmul(x, torch.tensor([[3.0], [4.0]]), torch.tensor([5.0, 6.0]), value=2)
        tensor([[31., 38.],
                [41., 50.]])
        >>> x.addcmul_(x, x)
        tensor([2., 6.])
    """
    refuse("addcmul_cpu_out", input, BOOL)
    return input + _times_value(tensor1, value) * tensor2


def _no_integer_quotient(input, tensor1, tensor2):
    if tensor1[0].category < FLOATING and tensor2[0].category < FLOATING:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv "
            "will perform a true division of tensor1 and tensor2. The historic addcdiv behavior can "
            "be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for "
            "integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future "
            "addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
            "tensor2), for all dtypes."
        )


def _quotient_of_integers(found, result):
    """PyTorch divides ``value`` by ``tensor2`` into a tensor of the latter's dtype."""
    divisor = found[2]
    if divisor is None or divisor.category >= dtypes.FLOATING:
        return ""
    return (f"result type {dtypes.get_default_dtype().scalar_name} can't be cast to the desired output type "
            f"{divisor.scalar_name}")


@op(promote="default", check=_no_integer_quotient, saves=("tensor1 for tensor2", "tensor2"), factors="wide",
    underived=Underived(RuntimeError, "", operand=1, formula=_quotient_of_integers))
def addcdiv(input, tensor1, tensor2, /, *, value: Scalar = 1):
    """``input + value * tensor1 / tensor2``; ``tensor1`` and ``tensor2`` must not both be integer."""
    quotient = divide if is_complex(input) else jnp.divide
    return input + quotient(_times_value(tensor1, value), tensor2)


@op(promote="default", variants="", out="Expected out type to be {result} but got {out}",
    underived=complex_gradients(1, 2))
def where(condition: Mask, input, other, /):
    """``input`` where ``condition`` holds, ``other`` elsewhere; all broadcast."""
    if not is_bool(condition):
        if condition.dtype != np.uint8:
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{dtypes.from_numpy_dtype(condition.dtype).scalar_name}"
            )
        condition = condition != 0
    return jnp.where(condition, input, other)


@op(promote="no_opmath", saves="input", grad_name=numbered("MaskedFill", 0, 1), guard=number_fits,
    layout="contiguous", variants="function method inplace")
def masked_fill(input, mask: Mask, /, value: Element):
    """``input`` with ``value`` (a number or a 0-d tensor) where ``mask`` holds.

    Args:
        input: a tensor of any shape and dtype.
        mask: a bool tensor whose shape broadcasts with that of ``input``.
        value: a number or a tensor without dimensions; it is converted to the dtype of ``input``.

    Returns:
        A new tensor of the broadcast shape and the dtype of ``input``. The in-place form ``masked_fill_``
        writes it into ``input``.

    Raises:
        RuntimeError: if the mask is not bool, the value has dimensions, or the dtype of ``input`` cannot
            hold it.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> torch.masked_fill(x, x > 2, 0)
        tensor([[1, 2],
                [0, 0]])
        >>> torch.masked_fill(x, torch.tensor([True, False]), -1)
        tensor([[-1,  2],
                [-1,  4]])
    """
    if not is_bool(mask):
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{dtypes.from_numpy_dtype(mask.dtype).c_name}"
        )
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
            f"with {value.ndim} dimension(s)."
        )
    return jnp.where(mask, cast(value, input.dtype), input)
