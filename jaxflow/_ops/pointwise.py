"""Pointwise functions of one tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import FOUND, Out, RealScalar, in_place, op

from . import _complex_functions as functions
from ._bools import NEGATED
from ._complex import inverse, inverse_root, square_root
from ._layouts import angles, real_of_complex
from ._support import is_bool, is_complex, is_float, is_integral, refuse, selected, with_partials


def _square(x):
    return x * x


_FLOAT_DOC = """{sentence}

Args:
    input: a tensor of any shape and dtype; integers and bools are converted to the default dtype.

Returns:
    A new floating point or complex tensor of the shape of ``input``.{remark}

Example:
    >>> {call}
    {printed}
"""

_STEP_DOC = """{sentence}

Args:
    input: a tensor of any shape, of integers or floating point; integers stay as they are.

Returns:
    A new tensor of the shape and dtype of ``input``. The gradient is 0.

Raises:
    NotImplementedError: for bools and complex numbers.

Example:
    >>> torch.{name}(torch.tensor([1.5, -1.5, -2.0, math.inf]))
    tensor({printed})
"""

# name, function, what PyTorch saves, the kernel that refuses complex numbers, other names, sentence,
# what is to be said of the result, an example and what it prints
_FLOAT_ROWS = (
    ("exp", functions.exp, "result", None, "", "The exponential of each element.",
     "", "torch.exp(torch.tensor([0.0, -math.inf]))", "tensor([1., 0.])"),
    ("exp2", functions.exp2, "result", None, "special.exp2", "Two to the power of each element.",
     "", "torch.exp2(torch.tensor([0, -math.inf]))", "tensor([1., 0.])"),
    ("expm1", functions.expm1, "result", None, "special.expm1", "``exp(input) - 1``, accurate near zero.",
     "", "torch.expm1(torch.tensor(1e-10)) > 0, torch.exp(torch.tensor(1e-10)) - 1",
     "(tensor(True), tensor(0.))"),
    ("log", functions.log, "input", None, "", "The natural logarithm of each element.",
     "Of real numbers it is minus infinity for 0, and nan below.",
     "torch.log(torch.tensor([1, 0, -1]))", "tensor([0., -inf, nan])"),
    ("log2", functions.log2, "input", None, "", "The logarithm to base 2.",
     "Of real numbers it is minus infinity for 0, and nan below.",
     "torch.log2(torch.tensor([1, 0, -1]))", "tensor([0., -inf, nan])"),
    ("log10", functions.log10, "input", None, "", "The logarithm to base 10.",
     "Of real numbers it is minus infinity for 0, and nan below.",
     "torch.log10(torch.tensor([1, 0, -1]))", "tensor([0., -inf, nan])"),
    ("log1p", functions.log1p, "input", None, "special.log1p", "``log(1 + input)``, accurate near zero.",
     "Of real numbers it is minus infinity for -1, and nan below.",
     "torch.log1p(torch.tensor(1e-10)) > 0, torch.log(1 + torch.tensor(1e-10))",
     "(tensor(True), tensor(0.))"),
    ("sin", functions.sin, "input", None, "", "The sine of each element, in radians.",
     "Of real numbers it is nan for infinities.",
     "torch.sin(torch.tensor([0, math.pi / 2, -math.pi / 2])).round()", "tensor([ 0.,  1., -1.])"),
    ("cos", functions.cos, "input", None, "", "The cosine of each element, in radians.",
     "Of real numbers it is nan for infinities.",
     "torch.cos(torch.tensor([0, math.pi, 2 * math.pi])).round()", "tensor([ 1., -1.,  1.])"),
    ("tan", functions.tan, "result", None, "", "The tangent of each element, in radians.",
     "Of real numbers it is nan for infinities.",
     "torch.tan(torch.tensor([0, math.pi / 4, -math.pi / 4])).round()", "tensor([ 0.,  1., -1.])"),
    ("asin", functions.asin, "input", None, "arcsin", "The angle whose sine each element is.",
     "Of real numbers it is from -pi / 2 to pi / 2, and nan where there is no such angle.",
     "torch.asin(torch.tensor([0, 1, -1, 2])).rad2deg().round()", "tensor([  0.,  90., -90.,  nan])"),
    ("acos", functions.acos, "input", None, "arccos", "The angle whose cosine each element is.",
     "Of real numbers it is from 0 to pi, and nan where there is no such angle.",
     "torch.acos(torch.tensor([1, 0, -1, 2])).rad2deg().round()", "tensor([  0.,  90., 180.,  nan])"),
    ("atan", functions.atan, "input", None, "arctan", "The angle whose tangent each element is.",
     "Of real numbers it is from -pi / 2 to pi / 2.",
     "torch.atan(torch.tensor([0, 1, -math.inf])).rad2deg().round()", "tensor([  0.,  45., -90.])"),
    ("sinh", functions.sinh, "input", None, "", "The hyperbolic sine of each element.",
     "", "torch.sinh(torch.tensor([0, math.inf, -math.inf]))", "tensor([0., inf, -inf])"),
    ("cosh", functions.cosh, "input", None, "", "The hyperbolic cosine of each element.",
     "", "torch.cosh(torch.tensor([0, math.inf, -math.inf]))", "tensor([1., inf, inf])"),
    ("tanh", functions.tanh, "result", None, "", "The hyperbolic tangent of each element.",
     "Of real numbers it is from -1 to 1.",
     "torch.tanh(torch.tensor([0, math.inf, -math.inf]))", "tensor([ 0.,  1., -1.])"),
    ("asinh", functions.asinh, "input", None, "arcsinh", "The inverse hyperbolic sine.",
     "", "torch.asinh(torch.tensor([0, math.inf]))", "tensor([0., inf])"),
    ("acosh", functions.acosh, "input", None, "arccosh", "The inverse hyperbolic cosine.",
     "Of real numbers it is nan below 1.",
     "torch.acosh(torch.tensor([1, math.inf, 0]))", "tensor([0., inf, nan])"),
    ("atanh", functions.atanh, "input", None, "arctanh", "The inverse hyperbolic tangent.",
     "Of real numbers it is infinite for 1 and -1, and nan beyond.",
     "torch.atanh(torch.tensor([0, 1, 2]))", "tensor([0., inf, nan])"),
    ("sqrt", square_root, "result", None, "", "The square root of each element.",
     "Of real numbers it is nan where they are negative.",
     "torch.sqrt(torch.tensor([4.0, 2.25, -1.0]))", "tensor([2.0000, 1.5000,    nan])"),
    ("rsqrt", inverse_root, "result", None, "", "One over the square root of each element.",
     "Of real numbers it is infinite for 0, and nan where they are negative.",
     "torch.rsqrt(torch.tensor([4.0, 0.25, 0.0]))", "tensor([0.5000, 2.0000,    inf])"),
    ("reciprocal", inverse, "result", None, "", "One over each element.",
     "Of real numbers it is infinite for 0.",
     "torch.reciprocal(torch.tensor([2, -4, 0]))", "tensor([ 0.5000, -0.2500,     inf])"),
)

_STEP_ROWS = (
    ("floor", jnp.floor, "floor is not supported for complex inputs", "",
     "The largest integer not above each element.", "[ 1., -2., -2., inf]"),
    ("ceil", jnp.ceil, "ceil is not supported for complex inputs", "",
     "The smallest integer not below each element.", "[ 2., -1., -2., inf]"),
    ("trunc", jnp.trunc, "trunc is not supported for complex inputs", "fix",
     "The integer part of each element, rounding towards zero.", "[ 1., -1., -2., inf]"),
)


def declare_unary(name: str, fn: Callable, doc: str, *, complex_kernel: str | None = None,
                  **options) -> None:
    """Declare an op of one tensor from a table row; ``complex_kernel`` names who refuses complex."""

    def body(input, /):
        if complex_kernel:
            refuse(complex_kernel, input, COMPLEX)
        return fn(input)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    op(**options)(body)


_NODES = {"log1p": {"grad_name": "Log1PBackward0"}}
for _name in ("acosh", "asinh", "atanh"):
    _NODES[_name] = {
        "inplace_grad_name": f"{_name.title()}Backward1",
        "underived": in_place(NotImplementedError, f"the derivative for 'inplace version of {_name}' is not "
                              "implemented.", forward=f"Trying to use forward AD with {_name}_ that does not "
                              "support it because it has not been implemented yet."),
    }

for _name, _fn, _saves, _kernel, _aliases, _doc, _remark, _call, _printed in _FLOAT_ROWS:
    _doc = _FLOAT_DOC.format(sentence=_doc, remark=f"\n    {_remark}" if _remark else "", call=_call,
                             printed=_printed)
    declare_unary(_name, _fn, _doc, complex_kernel=_kernel, promote="int_to_float", saves=_saves,
                  aliases=_aliases.split(), **_NODES.get(_name, {}))


def _step(name, fn, refusal, input):
    if is_complex(input):
        raise NotImplementedError(refusal)
    refuse(f"{name}_vml_cpu", input, BOOL)
    # A derivative of zero, where jax would have none at all for the rounding primitives.
    return input if is_integral(input) else fn(input)


# name, function, how it refuses complex numbers, other names, sentence, what its example prints
for _name, _fn, _refusal, _aliases, _doc, _printed in _STEP_ROWS:
    _doc = _STEP_DOC.format(sentence=_doc, name=_name, printed=_printed)
    declare_unary(_name, functools.partial(_step, _name, _fn, _refusal), _doc,
                  promote="default", saves="none", aliases=_aliases.split(), out=FOUND)


def _round_name(numbers, decimals):
    return "RoundBackward0" if decimals is None else "RoundBackward1"


@op(promote="default", saves="none", grad_name=_round_name, out=FOUND)
def round(input, /, *, decimals: int = None):
    """Each element rounded to ``decimals`` decimals (none), halves to even.

    Args:
        input: a tensor of any shape, of integers or floating point; integers stay as they are.
        decimals: to how many places after the point; negative ones count before it. None or 0 rounds to
            whole numbers. A tensor of integers takes None only.

    Returns:
        A new tensor of the shape and dtype of ``input``. The gradient is 0.

    Raises:
        NotImplementedError: for bools and complex numbers, and for integers with ``decimals``.

    Example:
        >>> torch.round(torch.tensor([0.5, 1.5, 2.5, -1.75]))
        tensor([ 0.,  2.,  2., -2.])
        >>> torch.round(torch.tensor([1234.0, 1250.0]), decimals=-2)
        tensor([1200., 1200.])
    """
    if decimals is None:
        refuse("round_vml_cpu", input, BOOL, COMPLEX)
    else:  # kernels that take no integers, one of them for 0 decimals
        refuse("round_cpu" if decimals else "round_vml_cpu", input, BOOL, INTEGER, COMPLEX)
    if is_integral(input):
        return input
    if not decimals:
        return jnp.round(input)
    scale = jnp.asarray(10.0 ** (decimals if decimals > 0 else -decimals), input.dtype)
    if decimals > 0:
        return jnp.round(input * scale) / scale
    return jnp.round(input / scale) * scale


@op(promote="default", saves="none", out=FOUND)
def frac(input, /):
    """The fractional part of each element, with its sign."""
    refuse("frac_cpu", input, 0, 1, COMPLEX)
    return input - jnp.trunc(input)


@op(promote="bool_to_long", grad_name="PowBackward0")
def square(input, /):
    """Each element times itself; bools become integers.

    Args:
        input: a tensor of any shape and dtype.

    Returns:
        A new tensor of the shape and dtype of ``input``, of int64 for bools.

    Example:
        >>> torch.square(torch.tensor([-3, 2]))
        tensor([9, 4])
        >>> torch.square(torch.tensor([True, False]))
        tensor([1, 0])
    """
    return _square(input)


def _complex_abs_rule(primals, tangents):
    (z,), (t,) = primals, tangents
    out = _absolute(z)
    # jnp.where of empty arrays is its second argument: that one must have the history of ``z``.
    direction = jnp.where(z != 0, z / jnp.where(z != 0, out, 1).astype(z.dtype), 0)
    return out, (jnp.conj(direction) * t).real


def _absolute(z):
    # Infinite if one part is, whatever the other one is: XLA gives nan beside nan.
    infinite = jnp.isinf(z.real) | jnp.isinf(z.imag)
    return jnp.where(infinite, jnp.inf, jnp.abs(z))


_complex_abs = jax.custom_jvp(_absolute)
_complex_abs.defjvp(_complex_abs_rule)
# At zero PyTorch's derivative is 0, jax's is 1 (and nan for complex numbers).
_real_abs = with_partials(lambda out, x: _sign(x))(jnp.abs)


def magnitude(x):
    """The absolute value, real, with derivative 0 at 0."""
    if is_bool(x):
        return x
    if is_complex(x):
        return _complex_abs(x)
    return jnp.abs(x) if is_integral(x) else _real_abs(x)


_ABS_OUT = Out(FOUND.text, refuses=lambda have, want, operands: (
    have is not want and not operands[0]._aval.dtype.is_complex))


@op(promote="complex_to_float", aliases=("absolute",), operators="__abs__", out=_ABS_OUT,
    layout=real_of_complex)
def abs(input, /):
    """The absolute value of each element; real for complex input.

    The derivative at 0 is 0.

    Args:
        input: a tensor of any shape and dtype but bool.

    Returns:
        A new tensor of the shape and dtype of ``input``; of the real dtype for complex numbers.

    Raises:
        NotImplementedError: for bools.
        RuntimeError: for complex numbers in place.

    Example:
        >>> torch.abs(torch.tensor([-2, 3]))
        tensor([2, 3])
        >>> torch.abs(torch.tensor([3 + 4j]))
        tensor([5.])
    """
    refuse("abs_cpu", input, BOOL)
    return magnitude(input)


@op(promote="default", saves="none", aliases=("negative",), operators="__neg__", out=FOUND)
def neg(input, /):
    """Each element with its sign turned; refuses bools.

    Args:
        input: a tensor of any shape and dtype but bool.

    Returns:
        A new tensor of the shape and dtype of ``input``; unsigned integers wrap around.

    Raises:
        RuntimeError: for bools: `logical_not` inverts those.

    Example:
        >>> torch.neg(torch.tensor([1.5, -2.0]))
        tensor([-1.5000,  2.0000])
        >>> torch.neg(torch.tensor([1], dtype=torch.uint8))
        tensor([255], dtype=torch.uint8)
    """
    if is_bool(input):
        raise RuntimeError(NEGATED)
    return -input


@op(promote="default", saves="none", out=FOUND)
def sign(input, /):
    """-1, 0 or 1 by the sign of each element; refuses complex numbers.

    Args:
        input: a tensor of any shape and dtype but complex.

    Returns:
        A new tensor of the shape and dtype of ``input``; 0 for nan. The gradient is 0.

    Raises:
        NotImplementedError: for complex numbers: `sgn` takes those.

    Example:
        >>> torch.sign(torch.tensor([-2.5, 0.0, 7.0, math.nan]))
        tensor([-1.,  0.,  1.,  0.])
    """
    if is_complex(input):
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. "
            "Please use torch.sgn instead."
        )
    return input if is_bool(input) else _sign(input)


def _sign(x):
    # jnp.sign keeps nan; PyTorch's sign of nan is 0.
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


@op(promote="default", saves=("input", "result"), out=FOUND)
def sgn(input, /):
    """The sign of each element; for complex numbers the unit number in its direction, 0 at 0."""
    if is_bool(input):
        return input
    if not is_complex(input):
        return _sign(input)
    return unit_of(input)


def unit_of(x):
    """The unit number in the direction of each complex element, 0 at 0."""
    safe = jnp.where(x == 0, 1, x)
    length = jnp.abs(safe)
    # Part by part, as PyTorch: a quotient of complex numbers is nan in both parts where one of them is.
    return jnp.where(x == 0, 0, jax.lax.complex(safe.real / length, safe.imag / length))


@op(variants="function method out", layout=angles, saves=("input",), apart="input")
def angle(input, /):
    """The angle of each complex element in radians; 0 or pi for real ones.

    The derivative is 0 at 0, and everywhere for real input.
    """
    if is_complex(input):
        safe = jnp.where(input == 0, 1, input)
        constant = jax.lax.stop_gradient(jnp.angle(input))
        return jnp.where(input == 0, constant, jnp.angle(safe))
    x = input if is_float(input) else input.astype(dtypes.get_default_dtype().np)
    turned = jnp.where(x < 0, jnp.asarray(np.pi, x.dtype), jnp.zeros_like(x))
    return jnp.where(jnp.isnan(x), jax.lax.stop_gradient(x), turned)


@op(promote="default", saves="none", variants="inplace", layout=real_of_complex,
    out=Out(FOUND.text, lost=True), inplace_grad_name="ConjPhysicalBackward1")
def conj_physical(input, /):
    """The complex conjugate of each element; real input is returned as it is."""
    return jnp.conj(input)


@op(promote="int_to_float", saves="none", grad_name="Deg2RadBackward0", layout="like")
def deg2rad(input, /):
    """Degrees as radians; refuses complex numbers."""
    if is_complex(input):
        raise RuntimeError("deg2rad is not supported for complex tensors.")
    return input * jnp.asarray(np.pi / 180, input.dtype)


@op(promote="int_to_float", saves="none", grad_name="Rad2DegBackward0", layout="like")
def rad2deg(input, /):
    """Radians as degrees; refuses complex numbers."""
    if is_complex(input):
        raise RuntimeError("rad2deg is not supported for complex tensors.")
    return input * jnp.asarray(180 / np.pi, input.dtype)


@jax.custom_jvp
def _relu(x):
    # A maximum reads its operand once. A selection reads it twice, and XLA then does not move the transposes
    # on both sides of it (between two convolutions) towards each other: NOTE [Channels last inside].
    return jax.lax.max(x, jnp.zeros_like(x))


@_relu.defjvp
def _relu_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return _relu(x), jax.lax.select(x <= 0, jnp.zeros_like(dx), dx)


@op(promote="default", saves="result", variants="function method inplace")
def relu(input, /):
    """Each element, or 0 where it is negative; the derivative at 0 is 0.

    ``max(input, 0)``, the rectified linear unit (Nair and Hinton, 2010).

    Args:
        input: a tensor of any shape, of integers or floating point; nan stays nan.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        RuntimeError: for bools.
        NotImplementedError: for complex numbers.

    Example:
        >>> x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
        >>> torch.relu(x).tolist()
        [0.0, 0.0, 2.0]
        >>> torch.relu(x).sum().backward()
        >>> x.grad
        tensor([0., 0., 1.])
    """
    if is_complex(input):
        raise NotImplementedError("clamp is not supported for complex types")
    if is_bool(input):
        raise RuntimeError("Boolean inputs not supported for relu")
    if is_integral(input):
        return jnp.maximum(input, jnp.zeros_like(input))
    return _relu(input)


@op(promote="no_opmath", saves=("input",), layout="like", complex_grad=False,
    out="nan_to_num: dtype of out: {out} should be same as input: {result}")
def nan_to_num(input, /, nan: RealScalar = None, posinf: RealScalar = None, neginf: RealScalar = None):
    """Nan replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the dtype's limits).

    Args:
        input: a tensor of any shape and dtype; of complex numbers both parts are treated so, and integers
            and bools stay as they are.
        nan: the real number that replaces nan; None means 0.
        posinf: the one that replaces infinity; None means the largest number of the dtype.
        neginf: the one that replaces minus infinity; None means the smallest number of the dtype.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: if one of them is not a real number.

    Example:
        >>> x = torch.tensor([math.nan, math.inf, -math.inf, 1.5])
        >>> torch.nan_to_num(x, nan=-1.0, posinf=9.0, neginf=-9.0)
        tensor([-1.0000,  9.0000, -9.0000,  1.5000])
        >>> torch.nan_to_num(x)[1] == torch.finfo(torch.float32).max
        tensor(True)
    """
    if is_complex(input):
        return jax.lax.complex(*(_nan_to_num(part, nan, posinf, neginf)
                                 for part in (input.real, input.imag)))
    return input if is_integral(input) else _nan_to_num(input, nan, posinf, neginf)


def _nan_to_num(x, nan, posinf, neginf):
    limits = jnp.finfo(x.dtype)
    other = jnp.where(x > 0, _number(posinf, limits.max, x), _number(neginf, limits.min, x))
    return selected(x, jnp.isfinite(x), jnp.where(jnp.isnan(x), _number(nan, 0, x), other))


def _number(value, default, like):
    return jnp.asarray(default if value is None else value).astype(like.dtype)
