"""Comparisons, classification of elements, and logical operations: results are bool."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import COMPLEX
from jaxflow._plans.op import op

from ._layouts import finite_compared, imaginary_compared, magnitudes_compared
from ._support import is_bool, is_complex, is_float, numbered, refuse, truth

_DOC = """{sentence} The result is bool, broadcast.

Args:
    input: a tensor of any {dtype}.
    other: a tensor {number}of any {dtype}, whose shape broadcasts with that of ``input``.

Returns:
    A new bool tensor of the broadcast shape. {of_nan}

Raises:
    RuntimeError: if the shapes do not broadcast.{refusal}

Example:
    >>> torch.{name}({example})
    tensor([{printed}])
"""

# name, function, refuses complex, operators, other names, sentence, what its example prints
_COMPARISONS = (
    ("eq", jnp.equal, False, "__eq__", "", "Where two elements are equal.",
     "False,  True, False, False"),
    ("ne", jnp.not_equal, False, "__ne__", "not_equal", "Where two elements differ.",
     " True, False,  True,  True"),
    ("lt", jnp.less, True, "__lt__", "less", "Where ``input`` is smaller.",
     " True, False, False, False"),
    ("le", jnp.less_equal, True, "__le__", "less_equal", "Where ``input`` is not larger.",
     " True,  True, False, False"),
    ("gt", jnp.greater, True, "__gt__", "greater", "Where ``input`` is larger.",
     "False, False,  True, False"),
    ("ge", jnp.greater_equal, True, "__ge__", "greater_equal", "Where ``input`` is not smaller.",
     "False,  True,  True, False"),
)

_CONNECTIVES = (
    ("logical_and", jnp.logical_and, "Whether both elements are nonzero.", " True, False, False"),
    ("logical_or", jnp.logical_or, "Whether at least one element is nonzero.", " True,  True, False"),
    ("logical_xor", jnp.logical_xor, "Whether exactly one element is nonzero.", "False,  True, False"),
)

_COMPARED = dict(number="or a number ", example="torch.tensor([1.0, 2.0, 3.0, math.nan]), 2")
_CONNECTED = dict(number="", example="torch.tensor([1.0, math.nan, 0.0]), torch.tensor([2, 0, 0])",
                  of_nan="Nan counts as nonzero.")


def _declare_binary(name, fn, doc, refuses_complex=False, operators="", aliases="", numbers="", **options):
    def body(input, other, /):
        if refuses_complex:
            refuse(f"{name}_cpu", input, COMPLEX)
        return fn(input, other)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    op(promote="always_bool", operators=operators, aliases=aliases.split(),
       numbers=numbers, **options)(body)


for _name, _fn, _refuses, _operators, _aliases, _doc, _printed in _COMPARISONS:
    _doc = _DOC.format(
        sentence=_doc, name=_name, printed=_printed, dtype="dtype but complex" if _refuses else "dtype",
        refusal="\n    NotImplementedError: for complex numbers." if _refuses else "",
        of_nan=f"Where one element is nan it is {_name == 'ne'}, also where both are.", **_COMPARED)
    # Bools have no derivative; written into floating numbers they have one, which is zero.
    _declare_binary(_name, _fn, _doc, _refuses, _operators, _aliases, "other", saves="none",
                    grad_name=numbered(_name.title(), 0, 1))
for _name, _fn, _doc, _printed in _CONNECTIVES:
    _doc = _DOC.format(sentence=_doc, name=_name, printed=_printed, dtype="dtype", refusal="", **_CONNECTED)
    _declare_binary(_name, _fn, _doc, differentiable=False)


@op(promote="always_bool", differentiable=False)
def logical_not(input, /):
    """Whether each element is zero.

    Args:
        input: a tensor of any shape and dtype; nan counts as nonzero.

    Returns:
        A new bool tensor of the shape of ``input``.

    Example:
        >>> torch.logical_not(torch.tensor([0.0, 2.0, math.nan]))
        tensor([ True, False, False])
    """
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
    """Where elements are not a number.

    Args:
        input: a tensor of any shape and dtype; a complex number is nan if one of its parts is.

    Returns:
        A new bool tensor of the shape of ``input``; False for integers and bools.

    Example:
        >>> torch.isnan(torch.tensor([1.0, math.nan, math.inf]))
        tensor([False,  True, False])
    """
    return _is_nan(input, False)


@op(promote="always_bool", variants="function method", differentiable=False, layout=magnitudes_compared)
def isinf(input, /):
    """Where elements are infinite, of either sign.

    Args:
        input: a tensor of any shape and dtype; a complex number is infinite if one of its parts is.

    Returns:
        A new bool tensor of the shape of ``input``; False for integers and bools.

    Example:
        >>> torch.isinf(torch.tensor([1.0, math.nan, math.inf, -math.inf]))
        tensor([False, False,  True,  True])
    """
    return _is_inf(input, False)


@op(promote="always_bool", variants="function method", differentiable=False, layout=finite_compared)
def isfinite(input, /):
    """Where elements are neither infinite nor nan.

    Args:
        input: a tensor of any shape and dtype; a complex number is finite if both of its parts are.

    Returns:
        A new bool tensor of the shape of ``input``; True for integers and bools.

    Example:
        >>> torch.isfinite(torch.tensor([1.0, math.nan, math.inf, -math.inf]))
        tensor([ True, False, False, False])
    """
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
