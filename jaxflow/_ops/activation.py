"""Activation functions of ``nn.functional``.

Static numbers (slopes, thresholds) are traced, so two layers that differ only in them share a program.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._core.numbers import check_fits, largest_of
from jaxflow._plans.op import EXACT, EXPECTED, FOUND, Out, Scalar, in_place, op

from ._complex_functions import exp
from ._layouts import of_parts
from ._support import (
    as_dtype,
    at_least_1d,
    divide,
    in_wide,
    is_bool,
    is_complex,
    is_float,
    refuse,
    with_partials,
    wrap_dim,
)

_F = dict(promote="default", namespace="nn.functional", variants="function out")
_PLAIN = dict(promote="default", variants="")  # published by _api/nn/activations.py, with ``inplace``


def _like(value, x):
    """A number or a 0-d array in the dtype of ``x``; a complex one has no imaginary part here."""
    value = jnp.asarray(value)
    return (value.real if is_complex(value) else value).astype(x.dtype)


# ----------------------------------------------------------- numbers that the kernel's dtype cannot hold


def computed_in(own):
    """The dtype in which PyTorch computes with numbers: single precision for the half ones."""
    return dtypes.float32 if own.is_floating_point and own.itemsize < 4 else own


def _number(watch, value):
    """A number, or that in a tensor of no dimension: of a complex one it is waited for. None if not there."""
    if isinstance(value, (int, float, complex)):
        return value
    aval = getattr(value, "_aval", None)
    found = None if aval is None else watch.known(value, wait=aval.dtype.is_complex)
    return None if found is None or found.size != 1 else found.item()


def numbers_fit(*targets):
    """A guard: each number after the operand fits the dtype that its function gives for the operand's."""

    def guard(watch, dynamic, static):
        for value, target in zip(dynamic[1:], targets):
            number = _number(watch, value)
            if number is not None:
                check_fits(number, target(dynamic[0]._aval.dtype))

    return guard


def real_of(number):
    """A complex number that has no imaginary part as a float; others as they are.

    A compiled call follows them, which it could not if they were made anew.
    """
    return number.real if isinstance(number, complex) else number


def _same(own):
    return own


def _is_real(watch, number) -> None:
    """Refuse a number with an imaginary part before anything else is checked."""
    watch.early = True
    check_fits(number, dtypes.float64)
    watch.early = False


def _celu_fits(watch, dynamic, static):
    alpha, target = _number(watch, dynamic[1]), computed_in(dynamic[0]._aval.dtype)
    if alpha is not None:
        _is_real(watch, alpha)
        check_fits(alpha, target)
        check_fits(1 / alpha, target)


def _limits_fit(watch, dynamic, static):
    own, found = dynamic[0]._aval.dtype, [_number(watch, x) for x in dynamic[1:]]
    limits = [x for x in found if x is not None]
    if own is dtypes.bool or own.is_complex:
        return
    for limit in limits:
        check_fits(limit, dtypes.float64 if own.is_floating_point else dtypes.int64)
    if not own.is_floating_point:
        limits = [int(real_of(limit)) for limit in limits]
    if own is dtypes.uint8 and min(limits, default=0) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    for limit in limits:
        check_fits(limit, own)


@jax.custom_jvp
def _clip_open(x, low, high):
    """``x`` limited to ``[low, high]`` with derivative 0 at both edges, as these activations have it.

    An element at an edge stays as it is: a zero keeps its sign. A limit that is nan leaves nothing but nan.
    """
    limited = jnp.where(x < low, low, jnp.where(x > high, high, x))
    if not is_float(x):
        return limited
    return jnp.where(jnp.isnan(low) | jnp.isnan(high), jnp.nan, limited)


@_clip_open.defjvp
def _clip_open_jvp(primals, tangents):
    x, low, high = primals
    inside = ~((x <= low) | (x >= high))
    return _clip_open(x, low, high), jnp.where(inside, tangents[0], jnp.zeros_like(tangents[0]))


def _refuse_limits(input):
    if is_bool(input):
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if is_complex(input):
        raise NotImplementedError("clamp is not supported for complex types")


@op(**_PLAIN, layout="like", guard=_limits_fit)
def hardtanh(input, /, min_val: Scalar = -1.0, max_val: Scalar = 1.0):
    """Each element limited to ``[min_val, max_val]``; the derivative at the edges is 0."""
    _refuse_limits(input)
    low, high = _like(min_val, input), _like(max_val, input)
    return _clip_open(input, jnp.where(low > high, high, low), high)  # the upper one wins


@op(**_PLAIN, grad_name="HardtanhBackward0", layout="like")
def relu6(input, /):
    """Each element limited to ``[0, 6]``."""
    _refuse_limits(input)
    return _clip_open(input, _like(0, input), _like(6, input))


def below_zero(what, at=1):
    """PyTorch's node of an activation in place, which reads its result, refuses a slope below zero."""
    return in_place(
        RuntimeError, f"In-place {what} backward calculation is triggered with a negative slope which is not "
        "supported. This is caused by calling in-place forward function with a negative slope, please call "
        "out-of-place version instead. File an issue at https://github.com/pytorch/pytorch if you do "
        "require supporting in-place with a negative slope.",
        lambda inputs: len(inputs) > at and inputs[at].__class__ in (int, float) and inputs[at] < 0)


@op(**_PLAIN, inplace_grad_name="LeakyReluBackward1", underived=below_zero("leakyReLu"),
    guard=numbers_fit(computed_in))
def leaky_relu(input, /, negative_slope: Scalar = 0.01):
    """Each element, times ``negative_slope`` where it is not positive."""
    refuse("leaky_relu_cpu", input, BOOL, INTEGER, COMPLEX)
    # One product: of a selection between two, a slope that is not finite would leave nan in the derivative.
    return input * jnp.where(input > 0, 1, _like(negative_slope, input))


def _of_one_dtype(input, weight):
    if input[0] is not weight[0]:
        raise RuntimeError("prelu: Type promoting not supported. Got "
                           f"{input[0].scalar_name} and {weight[0].scalar_name}")


@op(promote="no_opmath", broadcast=False, variants="function method", check=_of_one_dtype,
    aliases=("nn.functional.prelu",), grad_name="PreluKernelBackward0", layout="like",
    saves=("input", "weight"))
def prelu(input, weight, /):
    """Each element, times the weight of its channel (dimension 1) where it is not positive."""
    if weight.size != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != weight.size:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter "
                f"numbers = {weight.size} and channel size = {channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(
            "prelu: Expected `weight` to be a scalar or 1D tensor, but got: "
            f"ndim = {weight.ndim}"
        )
    refuse("prelu_cpu", input, BOOL, INTEGER, COMPLEX)
    if weight.size != 1:
        weight = weight.reshape((1, -1) + (1,) * (input.ndim - 2))
    else:
        weight = weight.reshape(())
    return input * jnp.where(input > 0, 1, weight)


def _elu_slope(out, x, alpha, scale, input_scale):
    # The exponential sees only what it is used for: exp of a large positive number would be inf, and
    # inf * 0 in the next derivative nan.
    below = jnp.exp(jnp.where(x < 0, x, 0) * input_scale)  # whose own derivative at 0 is 0
    return jnp.where(x <= 0, below * alpha * scale * input_scale, scale)


# At 0 the value is that of what is positive, a nan too, and the derivative that of what is below.
@with_partials(_elu_slope, None, None, None)
def _elu(x, alpha, scale, input_scale):
    return jnp.where(x < 0, jnp.expm1(x * input_scale) * alpha * scale, x * scale)


@op(**_PLAIN, recomputes=True, inplace_grad_name="EluBackward1", underived=below_zero("elu"),
    guard=numbers_fit(computed_in, computed_in, computed_in))
def elu(input, /, alpha: Scalar = 1.0, scale: Scalar = 1.0, input_scale: Scalar = 1.0):
    """``scale`` times each element where positive, ``alpha * (exp(input_scale * input) - 1)`` elsewhere."""
    refuse("elu_cpu", input, BOOL, INTEGER, COMPLEX)
    return _elu(input, _like(alpha, input), _like(scale, input), _like(input_scale, input))


@op(**_PLAIN, grad_name="EluBackward0", inplace_grad_name="EluBackward1", recomputes=True)
def selu(input, /):
    """The exponential linear unit whose constants keep mean 0 and variance 1."""
    refuse("elu_cpu", input, BOOL, INTEGER, COMPLEX)
    return _elu(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1)


@op(**_PLAIN, recomputes=True, inplace_grad_name="CeluBackward1", underived=below_zero("elu"),
    guard=_celu_fits)
def celu(input, /, alpha: Scalar = 1.0):
    """Each element where positive, ``alpha * (exp(input / alpha) - 1)`` elsewhere."""
    refuse("elu_cpu", input, BOOL, INTEGER, COMPLEX)
    alpha = _like(alpha, input)
    return _elu(input, alpha, 1, 1 / alpha)


# The derivatives of the next functions are written as one factor of what arrives. The rule of products
# multiplies what arrives by more than 1 on the way, and then a large gradient makes nan.


def _d_gelu(out, x):
    return 0.5 * (1 + jax.lax.erf(x * math.sqrt(0.5))) + x * (jnp.exp(-0.5 * x * x) * (2 * math.pi) ** -0.5)


@with_partials(_d_gelu)
def _gelu(x):
    return x * (0.5 * (1 + jax.lax.erf(x * math.sqrt(0.5))))


def _d_tanh_gelu(out, x):
    scale = math.sqrt(2 / math.pi)
    found = jnp.tanh(scale * (x + 0.044715 * x * x * x))
    return 0.5 * (1 + found) + 0.5 * x * (1 - found * found) * (scale * (1 + 3 * 0.044715 * x * x))


@with_partials(_d_tanh_gelu)
def _tanh_gelu(x):
    return jax.nn.gelu(x, approximate=True)


def _d_silu(out, x):
    part = jax.nn.sigmoid(x)
    return part * (1 + x * (1 - part))


@with_partials(_d_silu)
def _silu(x):
    return x * jax.nn.sigmoid(x)


def _d_mish(out, x):
    found = jnp.tanh(jax.nn.softplus(x))
    return found + x * jax.nn.sigmoid(x) * (1 - found * found)


@with_partials(_d_mish)
def _mish(x):
    return x * jnp.tanh(jax.nn.softplus(x))


@op(**_F, recomputes=True, out=FOUND)
def gelu(input, /, *, approximate="none"):
    """``input`` times the standard normal distribution of ``input``; ``"tanh"`` approximates it.

    ``x * (1 + erf(x / sqrt(2))) / 2``, or ``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2``:
    the Gaussian error linear unit (Hendrycks and Gimpel, 2016).

    The distribution by ``1 + erf``, as precise as PyTorch's: ``erfc``, which is also precise where the
    result is next to nothing, takes twice the time on the CPU.

    Args:
        input: a floating point tensor of any shape.
        approximate: "none", or "tanh" for the second formula.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        RuntimeError: for another ``approximate``.
        NotImplementedError: for integers, bools and complex numbers.

    Example:
        >>> F.gelu(torch.tensor([0.0, 100.0]))  # far from 0 it is x or 0
        tensor([  0., 100.])
        >>> F.gelu(torch.tensor([[1.0, -1.0]]), approximate="tanh").shape
        torch.Size([1, 2])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    refuse("GeluKernelImpl", input, BOOL, INTEGER, COMPLEX)
    if approximate == "tanh":
        return _tanh_gelu(input)
    return _gelu(input)


@op(**_PLAIN, recomputes=True, complex_grad=False)
def silu(input, /):
    """``input * sigmoid(input)``."""
    refuse("silu_cpu", input, BOOL, INTEGER)
    if is_complex(input):
        return divide(input, 1 + exp(-input))
    return _silu(input)


@op(**_PLAIN, recomputes=True)
def mish(input, /):
    """``input * tanh(softplus(input))``."""
    refuse("mish_cpu", input, BOOL, INTEGER, COMPLEX)
    return _mish(input)


# The derivative needs no division by ``beta``, which may be 0 or infinite.
@with_partials(lambda out, x, beta, threshold: jnp.where(
    x * beta > threshold, jnp.ones_like(x), jax.nn.sigmoid(x * beta)), None, None)
def _softplus(x, beta, threshold):
    scaled = x * beta
    linear = scaled > threshold
    return jnp.where(linear, x, jnp.log1p(jnp.exp(jnp.where(linear, 0, scaled))) / beta)


@op(**_F, recomputes=True, out=FOUND, guard=numbers_fit(computed_in, computed_in))
def softplus(input, /, beta: Scalar = 1.0, threshold: Scalar = 20.0):
    """``log(1 + exp(beta * input)) / beta``, and ``input`` itself above the threshold.

    A smooth form of `relu` (Dugas et al., 2001).

    Args:
        input: a floating point tensor of any shape.
        beta: a number: the larger, the nearer the result is to that of `relu`.
        threshold: a number; where ``beta * input`` is larger, the result is ``input``.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        NotImplementedError: for integers, bools and complex numbers.

    Example:
        >>> F.softplus(torch.tensor([-1000.0, 25.0]))
        tensor([ 0., 25.])
        >>> F.softplus(torch.tensor([3.0]), beta=2, threshold=5)
        tensor([3.])
    """
    refuse("softplus_cpu", input, BOOL, INTEGER, COMPLEX)
    beta, threshold = _like(beta, input), _like(threshold, input)
    return _softplus(input, beta, threshold)


# At 0 too, where what the value is made of has no derivative.
@with_partials(lambda out, x: jax.nn.sigmoid(-x))
def _log_sigmoid(x):
    return jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x)))


@op(**_F, layout="contiguous", grad_name="LogSigmoidBackward0", recomputes=True,
    out=Out(EXPECTED.text, resizes=True))
def logsigmoid(input, /):
    """``log(sigmoid(input))`` without overflow.

    It is computed as ``min(input, 0) - log(1 + exp(-abs(input)))``.

    Args:
        input: a floating point tensor of any shape.

    Returns:
        A new tensor of the shape and dtype of ``input``, with no element above 0.

    Raises:
        NotImplementedError: for integers, bools and complex numbers.

    Example:
        >>> x = torch.tensor([-1000.0, 1000.0])
        >>> F.logsigmoid(x)
        tensor([-1000.,     0.])
        >>> torch.log(torch.sigmoid(x))  # where sigmoid(-1000) is 0
        tensor([-inf, 0.])
    """
    refuse("log_sigmoid_cpu", input, BOOL, INTEGER, COMPLEX)
    return _log_sigmoid(input)


@with_partials(lambda out, x: x / 3 + 0.5)
def _bend(x):
    return x * (x + 3) / 6


@op(**_PLAIN)
def hardswish(input, /):
    """``input * relu6(input + 3) / 6``."""
    refuse("hardswish_cpu", input, BOOL, INTEGER, COMPLEX)
    inside = (input > -3) & (input < 3)
    kept = jnp.where(inside, input, 0)  # nan and infinity make no nan of the other slopes
    low = jnp.where(input == -jnp.inf, jnp.nan, jnp.full_like(input, -0.0))
    return jnp.where(inside, _bend(kept), jnp.where(input <= -3, low, input))


@op(**_PLAIN)
def hardsigmoid(input, /):
    """``relu6(input + 3) / 6``; the derivative at the edges is 0."""
    refuse("hardsigmoid_cpu", input, BOOL, INTEGER, COMPLEX)
    inside = (input > -3) & (input < 3)
    edge = jnp.where(input >= 3, jnp.ones_like(input), jax.lax.stop_gradient(jnp.where(
        jnp.isnan(input), input, 0)))
    return jnp.where(inside, (input + 3) / 6, edge)


def _positive_lambda(watch, dynamic, static):
    lambd, found = _number(watch, dynamic[1]), dynamic[0]._aval.dtype
    if lambd is None:
        return
    _is_real(watch, lambd)
    if not found.is_floating_point:
        return
    lambd = real_of(lambd)
    largest = largest_of(found)
    if not 0 <= lambd <= largest:
        raise RuntimeError(f"lambda must be in range [0, {largest:g}] for input dtype "
                           f"{found.scalar_name}, but found {lambd:g}")


@op(**_F, guard=_positive_lambda, out=FOUND)
def softshrink(input, /, lambd: Scalar = 0.5):
    """Each element moved towards zero by ``lambd``; within it a zero of the same sign."""
    refuse("softshrink_check", input, BOOL, INTEGER, COMPLEX)
    lambd = _like(lambd, input)
    moved = jnp.where(input > 0, input - lambd, input + lambd)
    signed_zero = 0 * jax.lax.stop_gradient(input)
    return jnp.where(jnp.abs(input) <= lambd, signed_zero, moved)


@op(promote="default", variants="function method out", aliases=("nn.functional.hardshrink",), out=FOUND,
    guard=numbers_fit(_same))
def hardshrink(input, /, lambd: Scalar = 0.5):
    """Each element, 0 where it lies within ``lambd`` of zero."""
    refuse("hardshrink_cpu", input, BOOL, INTEGER, COMPLEX)
    return jnp.where(jnp.abs(input) <= _like(lambd, input), jnp.zeros_like(input), input)


@op(**_PLAIN, inplace_grad_name="ThresholdBackward1", guard=numbers_fit(computed_in, _same))
def threshold(input, /, threshold: Scalar, value: Scalar):
    """Each element, or ``value`` where it does not exceed ``threshold``."""
    refuse("threshold_cpu", input, BOOL, COMPLEX)
    return jnp.where(input <= _like(threshold, input), _like(value, input), input)


def _d_gate(out, x, gate):
    part = jax.nn.sigmoid(gate)
    return (1 - part) * part * x


@with_partials(lambda out, x, gate: jax.nn.sigmoid(gate), _d_gate)
def _gated(x, gate):
    return x * jax.nn.sigmoid(gate)


@op(variants="function", namespace="nn.functional", layout=of_parts)
def glu(input, /, dim: int = -1):
    """The first half of a dimension times the sigmoid of the second half."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, input.ndim)
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}"
        )
    refuse("glu_cpu", input, BOOL, INTEGER, COMPLEX)
    first, second = jnp.split(input, 2, axis=dim)
    return in_wide(lambda a: _gated(a, second.astype(a.dtype)))(first)


# ----------------------------------------------------------------------------------------- softmax


def _normalised(kernel, fn, input, dim, dtype):
    """Run a softmax along ``dim``; half precision is widened inside and rounded once."""
    input = as_dtype(input, dtype)
    dim = wrap_dim(dim, input.ndim)
    if input.size == 0:
        return input
    refuse(kernel if dim < input.ndim - 1 else kernel.replace("_kernel", "_lastdim_kernel"),
           input, BOOL, INTEGER, COMPLEX)
    return in_wide(lambda x: fn(at_least_1d(x), dim).reshape(x.shape))(input)


def _softmax(x, axis):
    # Subtracting the largest element changes nothing but overflow, the derivative included.
    shifted = x - jax.lax.stop_gradient(jnp.max(x, axis, keepdims=True))
    powers = jnp.exp(shifted)
    return powers / jnp.sum(powers, axis, keepdims=True)


def _log_softmax(x, axis):
    shifted = x - jax.lax.stop_gradient(jnp.max(x, axis, keepdims=True))
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis, keepdims=True))


_LOST = Out(EXACT.text, lost=True, dtype=lambda own, dim, dtype: dtype or own)


@op(saves="result", variants="", grad_name="SoftmaxBackward0", out=_LOST, complex_grad="_softmax")
def softmax(input, /, dim: int, dtype=None):
    """Exponentials along ``dim``, scaled to add up to 1; ``dtype`` is converted to first."""
    return _normalised("softmax_kernel_impl", _softmax, input, dim, dtype)


@op(saves="result", variants="", grad_name="LogSoftmaxBackward0", out=_LOST, complex_grad="_log_softmax")
def log_softmax(input, /, dim: int, dtype=None):
    """The logarithm of `softmax`, without its loss of precision."""
    return _normalised("log_softmax_kernel_impl", _log_softmax, input, dim, dtype)
