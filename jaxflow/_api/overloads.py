"""Operations that PyTorch overloads by argument type, or makes of others by a rule of promotion."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion
from jaxflow._core.arguments import Number
from jaxflow._core.numbers import check_fits, check_fits_element
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.held_operands import hold_also
from jaxflow._ops.arithmetic import FIXED_EXPONENTS
from jaxflow._plans.op import OPS, Out
from jaxflow._publish.composite import composite
from jaxflow._publish.out import refuse_dtype
from jaxflow._publish.publish import function_of, inplace_of, left_to
from jaxflow._transforms.batching import DYNAMIC, refuse_batched
from jaxflow._writes.inplace import apply_inplace, check_recorded

from .forms import expect_tensor, given_out, invalid_combination, refuse_recorded_into
from .settings.defaults import result_type

_POW, _POW_FIXED = OPS["pow"], OPS["pow_fixed"]
_NUMBERS = (bool, int, float, complex)
_HALVES = (dtypes.float16, dtypes.bfloat16)
_OPERANDS = (Tensor, *_NUMBERS, np.generic)

# ------------------------------------------------------------------------------------------- powers


def _power(input: Any, exponent: Any, run) -> Tensor:
    """A power by whichever op fits: `pow_fixed` compiles one program for each common exponent."""
    if isinstance(exponent, np.generic):
        exponent = exponent.item()
    if not isinstance(exponent, Tensor):
        if exponent.__class__ is bool and input._aval.dtype is not dtypes.bool:
            exponent = int(exponent)
        if input._aval.dtype.category <= dtypes.INTEGER and not isinstance(exponent, (float, complex)):
            if exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed.")
            if input._aval.dtype is dtypes.bool:
                if exponent.__class__ is bool:  # the one power that bools have
                    return run(_POW_FIXED, (input,), (int(exponent), int))
                return run(_POW, (input, exponent), ())
        # PyTorch's float16 has no roots among its powers: they differ at -0 and minus infinity.
        root = exponent in (0.5, -0.5) and input._aval.dtype is dtypes.float16
        if exponent.__class__ in (int, float) and exponent in FIXED_EXPONENTS and not root and (
            input._aval.dtype.category >= dtypes.FLOATING or exponent.__class__ is int
        ):
            return run(_POW_FIXED, (input,), (exponent, exponent.__class__))
        if exponent.__class__ is complex and exponent in FIXED_EXPONENTS and input._aval.dtype.is_complex:
            return run(_POW_FIXED, (input,), (exponent, complex))
        if exponent.__class__ is int and input._aval.dtype.category <= dtypes.INTEGER or (
                exponent.__class__ is not complex and input._aval.dtype in _HALVES):
            check_fits(exponent, input._aval.dtype)
    return run(_POW, (input, exponent), ())


#: The powers of 1 are ones of whatever dtype ``out=`` has.
_ONES_OUT = Out("", casts=True)


def _power_of_number(base: Any, exponent: Tensor) -> Tensor:
    if isinstance(base, np.generic):
        base = base.item()
    if base != 1:
        return apply(OPS["_power_of_number"], (base, exponent))
    return hold_also(apply(OPS["_power_of_one"], (base, exponent)), exponent)


@composite("function method")
def pow(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent``, of two tensors or a tensor and a number, broadcast.

    Args:
        input: the base, a tensor of any shape or a number.
        exponent: a tensor that broadcasts with ``input``, or a number; one of the two is a tensor.
        out: where to write the result.

    Returns:
        A new tensor of the broadcast shape, of the dtype that both promote to: integers to an integer power
        are integers.

    Raises:
        RuntimeError: for integers to a negative integer number.
        TypeError: for two numbers.

    Example:
        >>> torch.pow(torch.tensor([1, 2, 3]), 2)
        tensor([1, 4, 9])
        >>> torch.pow(2, torch.tensor([1.0, 2.0, -1.0]))
        tensor([2.0000, 4.0000, 0.5000])
        >>> torch.pow(torch.tensor([[1], [2]]), torch.tensor([1, 3]))
        tensor([[1, 1],
                [2, 8]])
    """
    refuse_recorded_into(out, "pow", input, exponent)
    if not isinstance(input, Tensor):
        if not isinstance(exponent, Tensor):
            raise invalid_combination("pow", (input, exponent), {})
        return given_out("pow", out, _power_of_number(input, exponent), (exponent,),
                         rule=_ONES_OUT if input == 1 else None)
    return given_out("pow", out, _power(input, exponent, apply), (input, exponent))


@composite("method")
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """``self ** exponent`` written into ``self``."""
    return _power(self, exponent, apply_inplace)


def _operator(name: str, call) -> None:
    """A binary operator that leaves an operand of a foreign type to the operator of that type."""

    def operator(self, other):
        return call(self, other) if isinstance(other, _OPERANDS) else left_to(other, name)

    operator.__name__, operator.__qualname__ = name, f"Tensor.{name}"
    operator.__module__ = "jaxflow"
    setattr(Tensor, name, operator)


_operator("__pow__", pow)
_operator("__ipow__", pow_)
_operator("__rpow__", lambda self, other: apply(_POW, (other, self)) if isinstance(other, Tensor)
          else _power_of_number(other, self))
# PyTorch divides a number by a tensor as a product with its reciprocal, to the last bit and node.
for _name in ("__rtruediv__", "__rdiv__"):
    _operator(_name, lambda self, other: apply(OPS["mul"], (self.reciprocal(), other)))


def _subtract(name: str, doc: str, run: Callable, general: Callable) -> None:
    """``sub`` under its other name; with a number and its factor by their places it is another overload."""

    def call(input: Tensor | Number, other: Any, *factor: Any, **named: Any) -> Tensor:
        if len(factor) == 1 and not named and not isinstance(other, Tensor):
            return run(OPS["_sub_number"], (input, other, factor[0]))
        return general(input, other, *factor, **named)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    call.__op__ = OPS["sub"]  # from which signatures are derived
    composite("method" if name[-1] == "_" else "function method")(call)


_subtract("subtract", "``input - alpha * other``, broadcast; refuses bools.", apply, function_of(OPS["sub"]))
_subtract("subtract_", "`subtract` written into ``self``.", apply_inplace, inplace_of(OPS["sub"]))


def _invert(self: Tensor) -> Tensor:
    if self._aval.dtype.category > dtypes.INTEGER:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return apply(OPS["bitwise_not"], (self,))


Tensor.__invert__ = _invert


def _is_complex(x: Any) -> bool:
    return x._aval.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex)


def _double_dtype(*operands: Any) -> dtypes.dtype:
    return dtypes.complex128 if any(map(_is_complex, operands)) else dtypes.float64


def _double(x: Any) -> Any:
    wants_complex = _is_complex(x)
    if isinstance(x, Tensor):
        return x.to(dtypes.complex128 if wants_complex else dtypes.float64)
    return complex(x) if wants_complex else float(x)


@composite("function method")
def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent`` in double precision. RuntimeError for an ``out`` of another dtype."""
    if isinstance(out, Tensor) and (isinstance(input, Tensor) or isinstance(exponent, Tensor)):
        want = _double_dtype(input, exponent)
        if out._aval.dtype is not want:
            raise RuntimeError(
                f"the output given to float_power has dtype {out._aval.dtype.scalar_name} but the "
                f"operation's result requires dtype {want.scalar_name}"
            )
    return pow(_double(input), _double(exponent), out=out)


@composite("method")
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """``self ** exponent`` in double precision, for a ``self`` of double precision."""
    want = _double_dtype(self, exponent)
    if self._aval.dtype is not want:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self._aval.dtype.scalar_name} but the "
            f"operation's result requires dtype {want.scalar_name}"
        )
    return pow_(self, exponent)


@composite("function method")
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * 2 ** other``."""
    refuse_recorded_into(out, "ldexp", input, other)
    if isinstance(out, Tensor):
        _need_floating("ldexp", out)
    op = OPS["_ldexp"]
    return given_out("ldexp", out, apply(op, (input, other), (_dtype_of_power(input, other),)), (input,), op)


def _need_floating(name: str, out: Tensor) -> None:
    if out._aval.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"{name} can't be cast to the desired output type {out._aval.dtype.scalar_name}")


def _dtype_of_power(input: Tensor, exponent: Tensor) -> dtypes.dtype | None:
    """The dtype of the power that is multiplied by; None where integers are added to floating exponents."""
    own = exponent._aval.dtype
    if own.category < dtypes.FLOATING:
        if input._aval.dtype.category == dtypes.FLOATING:
            if own is dtypes.bool:
                raise NotImplementedError("\"ldexp_cpu_exp\" not implemented for 'Bool'")
            return None
        return dtypes.get_default_dtype()
    if not exponent._aval.ndim:  # one number has the precision of the result
        return result_type(input, exponent)
    return promotion.promote_types(input._aval.dtype, own) if input._aval.dtype.is_complex else own


@composite("function method")
def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2 ** other`` written into ``input``; RuntimeError for integers."""
    _need_floating("ldexp", input)
    return apply_inplace(OPS["_ldexp"], (input, other), (_dtype_of_power(input, other),))


# ------------------------------------------------------------------------- polygamma takes n first


@composite("function", aliases=("special.polygamma",))
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of order ``n`` of the digamma function."""
    refuse_recorded_into(out, "polygamma", input)
    return given_out("polygamma", out, apply(OPS["polygamma"], (input,), (n,)))


@composite("method", name="_polygamma_method", method_name="polygamma")
def _polygamma(self: Tensor, n: int) -> Tensor:
    return apply(OPS["polygamma"], (self,), (n,))


@composite("method")
def polygamma_(self: Tensor, n: int) -> Tensor:
    """`polygamma` written into ``self``."""
    if n < 0 and self._aval.dtype.category < dtypes.FLOATING:
        apply(OPS["polygamma"], (self,), (n,))  # says so before it says what cannot be cast
    return apply_inplace(OPS["polygamma"], (self,), (n,))


@composite("method")
def mvlgamma_(self: Tensor, p: int) -> Tensor:
    """`mvlgamma` written into ``self``; RuntimeError for integers."""
    if self._aval.dtype.category < dtypes.FLOATING:
        apply(OPS["mvlgamma"], (self,), (p,))  # whatever else is wrong with the call is said first
        raise RuntimeError(
            f"mvlgamma: result type {self._aval.dtype.scalar_name} can't be cast to the desired output "
            f"type {dtypes.get_default_dtype().scalar_name}"
        )
    return apply_inplace(OPS["mvlgamma"], (self,), (p,))


# --------------------------------------------------------------------------------- where, magnitudes


_NUMBERS = (int, float, complex)
#: Numbers up to this one are held by every dtype that they promote to.
_SMALL = 127


@composite("function")
def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Tensor | None = None):
    """``input`` where ``condition`` holds and ``other`` elsewhere; alone, where ``condition`` is nonzero.

    Args:
        condition: a bool tensor (uint8 is accepted with a warning); alone a tensor of any dtype.
        input: a tensor or a number.
        other: a tensor or a number.
        out: where to write the result.

    Returns:
        A new tensor of the shape that all three broadcast to, and of the dtype that ``input`` and ``other``
        promote to. Of ``condition`` alone a tuple of int64 tensors, one for each dimension: the indices of
        the elements other than 0, as ``nonzero(as_tuple=True)``.

    Raises:
        RuntimeError: if the condition is not bool, and for shapes that do not broadcast.
        TypeError: if the condition is no tensor.

    Example:
        >>> x = torch.tensor([[1, -2], [-3, 4]])
        >>> torch.where(x > 0, x, 0)
        tensor([[1, 0],
                [0, 4]])
        >>> torch.where(x > 0)
        (tensor([0, 1]), tensor([0, 1]))
    """
    if out is not None:
        expect_tensor("where", "input", input, 2)
        expect_tensor("where", "other", other, 3)
        refuse_recorded_into(out, "where", input, other)
    if input is None and other is None:
        refuse_batched(DYNAMIC.format("where"), condition)
        return condition.nonzero(as_tuple=True)
    if not isinstance(condition, Tensor):
        raise TypeError(
            "where(): argument 'condition' (position 1) must be Tensor, not "
            f"{type(condition).__name__}"
        )
    for number, beside in ((input, other), (other, input)):
        if number.__class__ in _NUMBERS and not abs(number) <= _SMALL:
            check_fits_element(number, result_type(number, beside))
    if out is not None:
        refuse_dtype(OPS["where"], out, (condition, input, other), ())
    if condition._aval.dtype not in (dtypes.bool, dtypes.uint8):
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{condition._aval.dtype.scalar_name}")
    if condition._aval.dtype is dtypes.uint8:
        warnings.warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
            "future version of PyTorch. Use a boolean condition instead.", stacklevel=2)
    return given_out("where", out, apply(OPS["where"], (condition, input, other)), (condition, input, other))


@composite("method", name="_where_method", method_name="where")
def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``self`` where ``condition`` holds and ``other`` elsewhere.

    Args:
        condition: bools, of a shape that broadcasts with the others.
        other: a tensor, or a number.

    Returns:
        A tensor of the broadcast shape, of the dtype that ``self`` and ``other`` promote to.

    Raises:
        RuntimeError: for a condition that is not of bools.

    Example:
        >>> x = torch.tensor([-1.0, 2.0])
        >>> x.where(x > 0, 0.0)
        tensor([0., 2.])
    """
    return where(condition, self, other)


@composite(operators="__pos__")
def positive(input: Tensor) -> Tensor:
    """The tensor itself; refuses bools."""
    if input._aval.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@composite()
def abs_(input: Tensor) -> Tensor:
    """Overwrite each element with its absolute value. RuntimeError for complex tensors."""
    if input._aval.dtype.is_complex:
        check_recorded((input,))
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return apply_inplace(OPS["abs"], (input,))


@composite("method")
def absolute_(input: Tensor) -> Tensor:
    """`Tensor.abs_` under another name."""
    return abs_(input)


# ------------------------------------------------------- in-place methods that are functions as well

_INPLACE_FUNCTIONS = (
    "acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil clamp "
    "clamp_max clamp_min clip conj_physical cos cosh deg2rad erf erfc exp exp2 expm1 fix floor frac "
    "gcd i0 lcm log log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal round rsqrt "
    "sigmoid sin sinc sinh sqrt square tan tanh trunc xlogy"
).split()


def _inplace_function(name: str) -> None:
    def call(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return getattr(input, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"``input.{name}(...)``."
    composite("function")(call)


for _name in _INPLACE_FUNCTIONS:
    _inplace_function(_name + "_")


# ---------------------------------------------------------------------------------------- rounding


_round = function_of(OPS["round"])


@composite("function", name="round", namespace="special")
def special_round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Each element rounded to ``decimals`` decimals, halves to even: the same as `round`."""
    return _round(input, decimals=decimals, out=out)
