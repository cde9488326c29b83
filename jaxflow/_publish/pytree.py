"""Tensors in jax's own transformations: ``jax.jit``, ``jax.vmap``, ``jax.grad``, ``jax.tree``.

A Tensor is a pytree node with one child, its array. Beside the array only ``requires_grad`` of a
leaf, the device and the class come along; ``.grad``, ``grad_fn``, strides and the sharing of
storage between views do not. So a function under ``jax.jit`` gets tensors of its own: writing to
them shows outside only if they are returned, and autograd's graph ends at the boundary.

jax unflattens with whatever it likes (tracers, shapes, axis numbers, markers). What is no array makes
a hollow tensor, that gives the same thing back when it is flattened.
"""

from __future__ import annotations

import threading

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.fields import init_requires_grad
from jaxflow._core.modes import Changed
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.traces import entered
from jaxflow._core.value import Value
from jaxflow._views.history import refreshed
from jaxflow._views.values import value_of

from .overrides import disabled, install_overrides

_ARRAYS = (jax.Array, np.ndarray, jax.ShapeDtypeStruct)


class _Hollow(Value):
    """A Value that holds something jax put there, which is no array."""

    __slots__ = ()


def array_of(t: Tensor):
    """The array of a tensor, handed out for good; runs what is pending."""
    value = value_of(t)
    array = value.get()
    value.shared = True
    return array


def _flatten(t: Tensor) -> tuple[tuple, tuple]:
    value = t._storage.value
    if value.__class__ is _Hollow:
        return (value.array,), t._hollow
    tracked = refreshed(t)._requires_grad
    if tracked and _refusing.name is not None:
        _refuse()
    return (array_of(t),), (tracked and t._grad_fn is None, t._aval.device)


def _aval(x, device) -> Aval | None:
    if isinstance(x, _ARRAYS):
        try:
            return aval_of(tuple(x.shape), dtypes.from_numpy_dtype(x.dtype), device)
        except TypeError:  # a dtype tensors do not have, such as jax's float0
            return None
    return None


def _unflatten(cls: type, aux: tuple, children) -> Tensor:
    (x,) = children
    if isinstance(x, Tensor):
        return x  # a tree of trees, such as jax.hessian gives: one tensor of all the numbers
    requires_grad, device = aux
    aval = _aval(x, device)
    if aval is None:
        t = make(_Hollow(None, x), cls)
        t._hollow = aux
        return t
    if isinstance(x, jax.core.Tracer):
        entered(x)
    t = make(Value(aval, x, shared=True), cls)
    init_requires_grad(t, requires_grad and aval.dtype.category >= 2)
    return t


def register(cls: type) -> None:
    """Make a class of tensors known to jax; jax looks a pytree node up by its exact class."""
    jax.tree_util.register_pytree_node(
        cls, _flatten, lambda aux, children: _unflatten(cls, aux, children)
    )


def _register_subclass(cls, **kwargs) -> None:
    super(Tensor, cls).__init_subclass__(**kwargs)
    register(cls)
    if cls.__torch_function__ is not disabled:
        install_overrides()


register(Tensor)
Tensor.__init_subclass__ = classmethod(_register_subclass)


class _Refusing(threading.local):
    """In whose name tensors that require grad are refused to jnp functions: a wrapped function's."""

    name: str | None = None


_refusing = _Refusing()


def refusing_history(name: str) -> Changed:
    """While jax traces the function ``name``, a tensor that requires grad may not become a constant in it."""
    return Changed(_refusing, name=name)


def _refuse() -> None:
    raise RuntimeError(
        f"wrap_jax: {_refusing.name} reads a tensor that requires grad and is not among its arguments, so "
        "its gradient would be lost: pass it as an argument, or detach it"
    )


def _jax_array(self: Tensor):
    """What jnp functions and jax arrays call on a Tensor operand. Autograd does not see what they compute."""
    if _refusing.name is not None and refreshed(self)._requires_grad:
        _refuse()
    return array_of(self)


Tensor.__jax_array__ = _jax_array
