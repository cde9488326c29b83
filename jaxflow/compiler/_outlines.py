"""What is guarded of a tensor, and what that was before a captured call."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from jaxflow._core.fields import STATE, state_of
from jaxflow._core.tensor import Tensor

# A tensor has tangents only inside of forward-mode AD, where nothing is served.
tensor = attrgetter("_storage", "_aval", "_stride", "_view", "_requires_grad", "_grad_fn", "_hooks")
TENSOR_NAMES = ("its storage", "its shape, dtype or device", "its strides", "the base it is a view of",
                "requires_grad", "its grad_fn", "its hooks")
# Of one without requires_grad there is neither a grad_fn nor a hook, unless it is a view of what has.
constant = attrgetter("_storage", "_aval", "_stride", "_view", "_requires_grad")
grad = attrgetter("_aval", "_stride", "_view", "_requires_grad", "_grad_fn", "_hooks")
#: What it says of a .grad besides its aval, where there is nothing to say.
PLAIN = (None, None, False, None, None)
constant_grad = attrgetter("_aval", "_stride", "_view", "_requires_grad")
# All there is about a .grad but its value and its versions.
whole = attrgetter("_aval", "_stride", "_view", "_requires_grad", "_grad_fn", "_hooks", "_grad",
                   "_output_nr", "__dict__", "__class__")
# What is guarded of a tensor that is replaced without being read.
dropped = attrgetter("__class__", "_aval", "_stride", "_requires_grad", "_hooks", "__dict__")


def item(t: Tensor) -> tuple:
    """What is guarded of a tensor that each call replaces, having read it."""
    view, shown = t._view, None
    if view is not None:
        base = view.base
        shown = (view.constant, view.plan, view.version is t._storage.version, t._storage.value.aval,
                 None if base is None else (base._requires_grad, base._grad_fn, base._view))
    return (t._aval, t._stride, shown, t._requires_grad, t._grad_fn is None, t._hooks, t.__class__,
            not t.__dict__, t._storage.version.__class__)


def shown(t: Tensor) -> tuple:
    """What is guarded of a view of memory that stays, where each call puts another view in its place."""
    view = t._view
    at = None if view is None else (view.plan, view.constant, id(view.base), id(view.version))
    return (*dropped(t)[:-1], id(t._storage), at, t._grad_fn is None, not t.__dict__)


class Before:
    """A tensor as it was: what the functions above say of it is what they said of the tensor then."""

    __slots__ = ("as_item", "attributes", "kind", "state")

    def __init__(self, t: Tensor) -> None:
        self.state, self.kind, self.attributes = state_of(t), t.__class__, dict(t.__dict__)
        self.as_item = item(t)

    @property
    def __class__(self) -> Any:
        return self.kind

    @property
    def __dict__(self) -> dict:  # type: ignore[override]
        return self.attributes


for _at, _name in enumerate(STATE):
    setattr(Before, _name, property(lambda self, at=_at: self.state[at]))
