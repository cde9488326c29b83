"""Tensor: a mutable object over immutable values. Data only; operations are attached by publishing.

A base tensor reads ``_storage.value``. A view also has a :class:`ViewInfo` and reads its base's
storage through ``plan``; what it read last is cached under the storage's ``epoch``. ``_aval`` never
changes, except by metadata changes (``t_()``, ``.data =``). ``_stride`` is None for a contiguous layout.
"""

from __future__ import annotations

from typing import Any

from .value import Storage, Value

#: What a view shows that nobody has read.
UNREAD = -1, None


class ViewInfo:
    """What makes a tensor a view.

    Attributes:
        plan: the chain from the storage's array to what the view shows.
        base: the tensor whose autograd history this view follows; None for ``detach()`` and ``.data``.
        base_plan: the chain from ``base`` to this view (``plan`` itself unless base is an alias).
        version: the version cell shared with the base.
        seen_version: the version at which ``_grad_fn`` was right; see ``_views.history``.
        own: whether ``requires_grad_()`` was called on this very view.
        shown: (epoch of the storage, Value) of what was read last; one object, so that they stay together.
        written: the version after the last recorded write through this very view.
        origin: how it was made, as far as in-place writes care (see ``jaxflow._writes.inplace``).
    """

    __slots__ = ("base", "base_plan", "origin", "own", "plan", "seen_version", "shown", "version", "written")

    constant = False  # whether jax may not differentiate through it: NOTE [What jax may not differentiate]

    def __init__(self, plan, base, base_plan, version, origin=None) -> None:
        self.plan = plan
        self.base = base
        self.base_plan = base_plan
        self.version = version
        # See NOTE [Provisional versions].
        follows = base is None or base._requires_grad
        self.seen_version = version[0] if follows else -1 - version[0]
        self.shown: tuple[int, Value | None] = UNREAD
        self.origin = origin
        self.own = False
        self.written = 0


class ConstantInfo(ViewInfo):
    """Of a tensor that ``detach()`` or ``.data`` made."""

    __slots__ = ()
    constant = True


class MovedInfo(ViewInfo):
    """Of a view that was given other memory, or a view of it: ``_grad_fn`` has it where it was before."""

    __slots__ = ()


class Tensor:
    """A multi-dimensional array with PyTorch's interface; see the package's documentation."""

    __slots__ = ("__dict__", "__weakref__", "_accumulator", "_aval", "_grad", "_grad_fn", "_hooks",
                 "_output_nr", "_requires_grad", "_storage", "_stride", "_tangents", "_view")

    _storage: Storage
    _view: ViewInfo | None
    _hooks: Any


_new = object.__new__


def make(value: Value, cls: type = Tensor) -> Tensor:
    """A fresh contiguous base tensor that holds ``value`` and requires no grad."""
    t = _new(cls)
    t._storage = Storage(value)
    t._aval = value.aval
    t._stride = None
    t._view = None
    t._requires_grad = False
    t._grad_fn = None
    t._output_nr = 0
    t._grad = None
    t._accumulator = None
    t._hooks = None
    t._tangents = None
    return t


def make_result(value: Value, node: Any, number: int) -> Tensor:
    """A fresh contiguous base tensor that holds ``value``, the result of ``node`` with this number."""
    t = _new(Tensor)
    t._storage = Storage(value)
    t._aval = value.aval
    t._stride = None
    t._view = None
    t._requires_grad = True
    t._grad_fn = node
    t._output_nr = number
    t._grad = None
    t._accumulator = None
    t._hooks = None
    t._tangents = None
    return t


def make_view(storage: Storage, aval, stride, info: ViewInfo, cls: type = Tensor) -> Tensor:
    """A fresh tensor that shows a storage that is there already, as ``info`` says; it requires no grad."""
    t = _new(cls)
    t._storage = storage
    t._aval = aval
    t._stride = stride
    t._view = info
    t._requires_grad = False
    t._grad_fn = None
    t._output_nr = 0
    t._grad = None
    t._accumulator = None
    t._hooks = None
    t._tangents = None
    return t


def version_cell(t: Tensor) -> list[int]:
    """The list whose first element is ``t._version``."""
    return t._storage.version if t._view is None else t._view.version
