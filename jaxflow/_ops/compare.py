"""Comparisons, classification of elements, and logical operations: results are bool."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import COMPLEX
from jaxflow._plans.op import op

from ._layouts import finite_compared, imaginary_compared, magnitudes_compared
from ._support import is_bool, is_complex, is_float, numbered, refuse, truth

# name, function, refuses complex, operators, other names, sentence
_COMPARISONS = (
    ("eq", jnp.equal, False, "__eq__", "", "Where two elements are equal."),
    ("ne", jnp.not_equal, False, "__ne__", "not_equal", "Where two elements differ."),
    ("lt", jnp.less, True, "__lt__", "less", "Where ``input`` is smaller."),
    ("le", jnp.less_equal, True, "__le__", "less_equal", "Where ``input`` is not larger."),
    ("gt", jnp.greater, True, "__gt__", "greater", "Where ``input`` is larger."),
    ("ge", jnp.greater_equal, True, "__ge__", "greater_equal", "Where ``input`` is not smaller."),
)

_CONNECTIVES = (
    ("logical_and", jnp.logical_and, "Whether both elements are nonzero."),
    ("logical_or", jnp.logical_or, "Whether at least one element is nonzero."),
    ("logical_xor", jnp.logical_xor, "Whether exactly one element is nonzero."),
)


def _declare_binary(name, fn, doc, refuses_complex=False, operators="", aliases="", numbers="", **options):
    def body(input, other, /):
        if refuses_complex:
            refuse(f"{name}_cpu", input, COMPLEX)
        return fn(input, other)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc + " The result is bool, broadcast."
    op(promote="always_bool", operators=operators, aliases=aliases.split(),
       numbers=numbers, **options)(body)


for _name, _fn, _refuses, _operators, _aliases, _doc in _COMPARISONS:
    # Bools have no derivative; written into floating numbers they have one, which is zero.
    _declare_binary(_name, _fn, _doc, _refuses, _operators, _aliases, "other", saves="none",
                    grad_name=numbered(_name.title(), 0, 1))
for _name, _fn, _doc in _CONNECTIVES:
    _declare_binary(_name, _fn, _doc, differentiable=False)


@op(promote="always_bool", differentiable=False)
def logical_not(input, /):
    """Whether each element is zero."""
    return ~truth(input)


def _parts(test, combine):
    """Apply a test of real floats to both parts of a complex number; integers get ``None``'s answer."""

    def fn(x, otherwise):
        if is_complex(x):
            return combine(test(x.real), test(x.imag))
        return test(x) if is_float(x) else jnp.full(x.shape, otherwise)

    return fn


_is_nan = _parts(jnp.isnan, jnp.logical_or)
_is_inf = _parts(jnp.isinf, jnp.logical_or)
_is_finite = _parts(jnp.isfinite, jnp.logical_and)


@op(promote="always_bool", variants="function method", differentiable=False)
def isnan(input, /):
    """Where elements are not a number."""
    return _is_nan(input, False)


@op(promote="always_bool", variants="function method", differentiable=False, layout=magnitudes_compared)
def isinf(input, /):
    """Where elements are infinite, of either sign."""
    return _is_inf(input, False)


@op(promote="always_bool", variants="function method", differentiable=False, layout=finite_compared)
def isfinite(input, /):
    """Where elements are neither infinite nor nan."""
    return _is_finite(input, True)


@op(promote="always_bool", variants="function method out", differentiable=False,
    out="isposinf does not support non-boolean outputs.")
def isposinf(input, /):
    """Where elements are positive infinity; refuses complex numbers."""
    if is_complex(input):
        raise RuntimeError("isposinf does not support complex inputs.")
    return input == jnp.inf if is_float(input) else jnp.zeros(input.shape, np.bool_)


@op(promote="always_bool", variants="function method out", differentiable=False,
    out="isneginf does not support non-boolean outputs.")
def isneginf(input, /):
    """Where elements are negative infinity; refuses complex numbers."""
    if is_complex(input):
        raise RuntimeError("isneginf does not support complex inputs.")
    return input == -jnp.inf if is_float(input) else jnp.zeros(input.shape, np.bool_)


@op(promote="always_bool", variants="function method", differentiable=False, layout=imaginary_compared)
def isreal(input, /):
    """Where the imaginary part is zero."""
    return input.imag == 0 if is_complex(input) else jnp.ones(input.shape, np.bool_)


@op(promote="always_bool", variants="function method out", differentiable=False,
    out="signbit does not support non-boolean outputs.")
def signbit(input, /):
    """Where the sign bit is set: negative elements, and negative zero."""
    if is_complex(input):
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    if is_bool(input):
        return jnp.zeros_like(input)
    return jnp.signbit(input) if is_float(input) else input < 0
