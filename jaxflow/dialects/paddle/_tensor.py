"""Paddle's tensor: jaxflow's own, seen through Paddle's names."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import jaxflow
from jaxflow._core.dtype import FLOATING
from jaxflow._core.fields import set_grad
from jaxflow._dialect import missing
from jaxflow._publish.overrides import disabled
from jaxflow.nn.parameter import Parameter as PlainParameter

from . import _autograd
from ._places import DIALECT, Place, device_of, dtype_of
from ._printing import tensor_text
from ._table import METHODS, METHODS_MISSING

_numbers = itertools.count()


class Tensor(jaxflow.Tensor):
    """A tensor under Paddle's names; make one with ``paddle.to_tensor``.

    ``stop_gradient`` is True for what users make and False for parameters and what is computed from them.
    """

    __slots__ = ()
    __torch_function__ = disabled

    # --------------------------------------------------------------------------------- what it is

    shape = property(lambda self: list(self.shape), doc="The extents, as a list.")
    size = property(lambda self: self._aval.numel, doc="The number of elements.")
    place = property(lambda self: Place(self.device), doc="Where the elements live.")
    inplace_version = property(lambda self: self._version, doc="How often it was written to.")
    strides = property(lambda self: list(self.stride()), doc="Elements between neighbours, a list.")
    is_leaf = property(lambda self: self.grad_fn is None, doc="Whether no recorded operation made it.")
    persistable = property(lambda self: isinstance(self, PlainParameter), doc="Whether a model owns it.")

    @property
    def name(self) -> str:
        """A name that no other tensor of the process was given by itself."""
        return self.__dict__.setdefault("_name", f"generated_tensor_{next(_numbers)}")

    @name.setter
    def name(self, value: str) -> None:
        self.__dict__["_name"] = value

    @property
    def stop_gradient(self) -> bool:
        """Whether operations on this tensor go unrecorded."""
        return not (self.requires_grad or "_open" in self.__dict__)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self.__dict__.pop("_open", None)
        if not value:
            if self.dtype.category >= FLOATING:
                self.requires_grad_(True)
            else:
                self.__dict__["_open"] = True  # Paddle lets integers say so; no gradient reaches them
        elif self.grad_fn is not None:
            self.detach_()
        else:
            self.requires_grad_(False)

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    ndimension = dim

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.itemsize

    # -------------------------------------------------------------------------------- numbers out

    def numpy(self) -> np.ndarray:
        """The elements as a NumPy array of one's own."""
        return np.array(jaxflow.Tensor.numpy(self.detach().cpu(), force=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = jaxflow.Tensor.numpy(self.detach(), force=True)
        return array if dtype is None else array.astype(dtype)

    def item(self, *args: int) -> Any:
        """The one element as a Python number, or the element at a flat or a full index."""
        if args:
            found = self.detach().reshape(-1)[args[0]] if len(args) == 1 else self.detach()[args]
            return jaxflow.Tensor.item(found)
        if self._aval.numel != 1:
            raise ValueError("only one element tensors can be converted to Python scalars.")
        return jaxflow.Tensor.item(self)

    def __repr__(self) -> str:
        return tensor_text(
            np.asarray(jaxflow.Tensor.jax(self.detach())), self.dtype.name, Place(self.device),
            self.stop_gradient,
        )

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec else format(self.item(), spec)

    # -------------------------------------------------------------------------------- gradients

    @property
    def grad(self) -> Any:
        """The accumulated gradient, or None."""
        return None if self._grad is None else _autograd.shown_open(self._grad)

    @grad.setter
    def grad(self, value: Any) -> None:
        self.grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def _grad_ivar(self) -> Any:
        """The accumulated gradient, or None: an older way to write ``grad``."""
        return None if self._grad is None else _autograd.shown_open(self._grad)

    def gradient(self) -> np.ndarray | None:
        """The accumulated gradient as a NumPy array, or None."""
        return None if self._grad is None else np.array(Tensor.__array__(self._grad))

    def backward(self, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """Add the gradients of this tensor to the ``.grad`` of the leaves.

        Args:
            grad_tensor: the cotangent, of this tensor's shape; None is a tensor filled with 1.
            retain_graph: keep what backward needs for another pass.

        Raises:
            AssertionError: for a cotangent that is no tensor or of another shape.
        """
        if grad_tensor is not None:
            if not isinstance(grad_tensor, jaxflow.Tensor):
                raise AssertionError("The type of grad_tensor must be paddle.Tensor")
            if grad_tensor.shape != self.shape:
                raise AssertionError(
                    f"Tensor shape not match, Tensor of grad_tensor [ {_name(grad_tensor)} ] with shape "
                    f"{list(grad_tensor.shape)} mismatch Tensor [ {_name(self)} ] with shape "
                    f"{list(self.shape)}"
                )
        _autograd.backward([self], [grad_tensor], retain_graph)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Fill the gradient with zeros, or forget it; a tensor without one stays so."""
        if self._grad is None or not set_to_zero:
            set_grad(self, None)
        elif self._grad.requires_grad:
            set_grad(self, jaxflow.zeros_like(self._grad).detach())
        else:
            self._grad.zero_()

    def clear_grad(self) -> None:
        """Fill the gradient with zeros: ``clear_gradient()``."""
        Tensor.clear_gradient(self)

    def retain_grads(self) -> None:
        """Keep this non-leaf's gradient in ``.grad``."""
        self.retain_grad()

    register_hook = _autograd.register_hook

    # ------------------------------------------------------------------------------ conversions

    def astype(self, dtype: Any) -> Tensor:
        """The tensor in another dtype."""
        return DIALECT.wrap(self.to(dtype_of(dtype)), (self,))

    cast = astype

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor in the dtype, on the device, or as the tensor that is given."""
        kwargs.pop("blocking", None)
        asked = [a for a in (*args, *kwargs.values()) if a is not None and not isinstance(a, bool)]
        result = self
        for a in asked:
            if isinstance(a, jaxflow.Tensor):
                result = result.to(a)
            elif isinstance(a, Place) or isinstance(a, str) and a.split(":")[0] in ("cpu", "gpu"):
                result = result.to(device_of(a))
            else:
                result = result.to(dtype_of(a))
        return DIALECT.wrap(result, (self,))

    def set_value(self, value: Any) -> None:
        """Write other values of the same shape, outside autograd."""
        with jaxflow.no_grad():
            self.copy_(value if isinstance(value, jaxflow.Tensor) else jaxflow.tensor(value))

    def __getattr__(self, name: str) -> Any:
        raise missing("Paddle", "Tensor", METHODS_MISSING, name)


def _name(t: jaxflow.Tensor) -> str:
    return Tensor.name.fget(t)


for _key, _method in METHODS.items():
    if _key not in vars(Tensor):
        setattr(Tensor, _key, _method)


def _absent(name: str) -> property:
    """What refuses Paddle's method of a name that jaxflow has for something else."""

    def refuse(self: Tensor) -> Any:
        raise missing("Paddle", "Tensor", METHODS_MISSING, name)

    return property(refuse)


for _key in METHODS_MISSING - vars(Tensor).keys():
    if hasattr(jaxflow.Tensor, _key):
        setattr(Tensor, _key, _absent(_key))
DIALECT.complete(Tensor)


class Parameter(PlainParameter, Tensor):
    """A leaf tensor that a layer trains: ``stop_gradient`` is False."""

    @property
    def trainable(self) -> bool:
        """Whether it is trained: the opposite of ``stop_gradient``."""
        return self.requires_grad

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.requires_grad_(value)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)

    __str__ = __repr__


DIALECT.stands_for(Parameter, PlainParameter)
