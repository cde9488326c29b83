"""Paddle's ``autograd``: backward passes, custom layers, Jacobians and Hessians."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jaxflow as _jaxflow
from jaxflow import autograd as _autograd
from jaxflow import no_grad as no_grad
from jaxflow import set_grad_enabled as set_grad_enabled
from jaxflow._dialect import Context
from jaxflow.autograd import graph as _graph

from ._autograd import backward as backward
from ._autograd import grad as _grad
from ._autograd import several as _several
from ._autograd import shown_open as _shown_open
from ._places import DIALECT as _DIALECT
from ._tensor import Tensor

enable_grad, is_grad_enabled = _jaxflow.enable_grad, _jaxflow.is_grad_enabled


class PyLayerContext(Context):
    """The ``ctx`` of a PyLayer: carries what forward leaves for backward."""

    __slots__ = ()

    def saved_tensor(self) -> tuple | None:
        """What ``save_for_backward`` kept; None if it was not called."""
        saved = self.saved_tensors
        return saved or None

    def mark_not_inplace(self, *args: Any) -> None:
        """Accepted: an input that comes back unchanged is a tensor of its own here in any case."""


class saved_tensors_hooks(_graph.saved_tensors_hooks):
    """Inside the ``with``, what is saved for backward passes both hooks, in and out."""

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        super().__init__(_DIALECT.hook(pack_hook), _DIALECT.hook(unpack_hook))


class PyLayer(_autograd.Function):
    """Base of custom differentiable functions: static ``forward(ctx, ...)`` and ``backward(ctx, ...)``.

    ``backward`` returns one gradient, a tuple or a list of them: one for each tensor among the arguments of
    forward. Use it with ``MyLayer.apply(...)``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _DIALECT.custom_function(cls, PyLayerContext)
        forward, backward = vars(cls).get("forward"), vars(cls).get("backward")
        if isinstance(forward, staticmethod):
            cls.forward = staticmethod(_counting(forward.__func__))
        if isinstance(backward, staticmethod):
            cls.backward = staticmethod(_placing(backward.__func__))

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and, with grad on, record this function as a node."""
        return _DIALECT.wrap(super().apply(*args, **kwargs), (*args, *kwargs.values()))


def _counting(forward: Callable) -> Callable:
    @functools.wraps(forward)
    def call(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._tensors_at = [isinstance(a, _jaxflow.Tensor) for a in args]
        result = forward(ctx, *args, **kwargs)
        return tuple(result) if isinstance(result, list) else result

    return call


def _placing(backward: Callable) -> Callable:
    """PyTorch's backward returns a gradient for every argument, Paddle's for every tensor."""

    def call(ctx: Any, *cotangents: Any) -> Any:
        for g in cotangents:
            _shown_open(g)
        found = backward(ctx, *cotangents)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        places = ctx._tensors_at
        if len(found) != sum(places):
            raise ValueError(
                f"{sum(places)} gradients are expected from backward, one for each tensor that forward was "
                f"given, but it returned {len(found)}"
            )
        given = iter(found)
        return tuple(next(given) if is_tensor else None for is_tensor in places)

    return call


# --------------------------------------------------------------------------- Jacobians and Hessians


class Jacobian:
    """The matrix of derivatives of ``ys`` by ``xs``, computed row by row when it is indexed.

    Without a batch axis ``xs`` and ``ys`` have at most one dimension and the matrix is ``[M, N]``; with
    ``batch_axis=0`` it is ``[B, M, N]``.
    """

    def __init__(self, ys: Tensor, xs: Tensor, batch_axis: int | None = None) -> None:
        most = 1 if batch_axis is None else 2
        if batch_axis not in (None, 0):
            raise ValueError(f"batch_axis should be None or 0, but got {batch_axis}.")
        for name, t in (("xs", xs), ("ys", ys)):
            if t.ndim > most or t.ndim < most - 1:
                raise ValueError(
                    f"{name}.ndim should be {most - 1} or {most} when batch_axis is {batch_axis}, but got "
                    f"{t.ndim}"
                )
        self._ys, self._xs, self._batch = ys, xs, batch_axis
        self._rows: dict[int, Any] = {}

    @property
    def shape(self) -> list[int]:
        """The extents of the matrix."""
        batch = [] if self._batch is None else [self._xs.shape[0]]
        tail = len(batch)
        return batch + [n for t in (self._ys, self._xs) for n in t.shape[tail:]]

    def _row(self, i: int) -> Any:
        if i not in self._rows:
            y = self._ys if self._ys.ndim == (self._batch is not None) else self._ys[..., i]
            (g,) = _grad([y.sum()], [self._xs], create_graph=True, allow_unused=True)
            self._rows[i] = _jaxflow.zeros_like(self._xs) if g is None else g
        return self._rows[i]

    def _matrix(self, rows: range | list[int]) -> Any:
        return _jaxflow.stack([self._row(i) for i in rows], 0 if self._batch is None else 1)

    def __getitem__(self, index: Any) -> Tensor:
        index = index if isinstance(index, tuple) else (index,)
        if any(i is Ellipsis for i in index):
            raise IndexError("Ellipsis index currently is not supported.")
        at = 0 if self._batch is None else 1
        if self._ys.ndim == at:  # no rows to choose from
            return _shown_open(self._row(0)[index] if self._row(0).ndim else self._row(0))
        wanted = index[at] if len(index) > at else slice(None)
        count = self._ys.shape[at]
        if isinstance(wanted, int):
            rows, inner = [range(count)[wanted]], 0
        elif isinstance(wanted, slice):
            rows, inner = range(count)[wanted], slice(None)
        else:
            rows, inner = range(count), wanted
        return _shown_open(self._matrix(rows)[(*index[:at], inner, *index[at + 1 :])])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self[:], name)


class Hessian(Jacobian):
    """The matrix of second derivatives: the Jacobian of a gradient."""


def _operand(method: str) -> Callable:
    def call(self: Jacobian, *others: Any) -> Any:
        others = [o[:] if isinstance(o, Jacobian) else o for o in others]
        return getattr(self[:], method)(*others)

    return call


for _name in ("add", "sub", "mul", "truediv", "matmul", "radd", "rsub", "rmul", "rtruediv", "rmatmul", "neg",
              "eq", "ne", "lt", "le", "gt", "ge", "pow"):
    setattr(Jacobian, f"__{_name}__", _operand(f"__{_name}__"))


def _nested(make: Callable, ys: Any, xs: Any, batch_axis: int | None) -> Any:
    _several(ys, "ys"), _several(xs, "xs")
    if isinstance(ys, (list, tuple)):
        return tuple(_nested(make, y, xs, batch_axis) for y in ys)
    if isinstance(xs, (list, tuple)):
        return tuple(make(ys, x, batch_axis) for x in xs)
    return make(ys, xs, batch_axis)


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """Derivatives of ``ys`` by ``xs``, two tensors or tuples of tensors; tuples give nested tuples.

    Raises:
        ValueError: for another ``batch_axis`` than None or 0, or tensors with too many dimensions.
    """
    return _nested(Jacobian, ys, xs, batch_axis)


def hessian(ys: Tensor, xs: Any, batch_axis: int | None = None) -> Any:
    """Second derivatives of one number (or one a row, with ``batch_axis=0``) by ``xs``.

    Raises:
        ValueError: when ``ys`` is more than that.
    """
    several = isinstance(xs, (list, tuple))
    wanted = list(xs) if several else [xs]
    count = 1 if batch_axis is None else ys.shape[0]
    if ys.numel() != count:
        raise ValueError(
            f"Only support ys.numel() ({ys.numel()})==1 when batch_axis is None." if batch_axis is None
            else f"Only support ys.numel() ({ys.numel()})==B when batch_axis is 0."
        )
    firsts = _grad([ys.sum()], wanted, create_graph=True, allow_unused=True)
    firsts = [_jaxflow.zeros_like(x) if g is None else g for g, x in zip(firsts, wanted)]
    found = tuple(tuple(Hessian(g, x, batch_axis) for x in wanted) for g in firsts)
    return found if several else found[0][0]
