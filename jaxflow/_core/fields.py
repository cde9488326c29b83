"""Every store to the fields that say what a tensor shows, what gradient it has, and who made it.

NOTE [Stores to a tensor]
    ``_storage``, ``_grad``, ``_requires_grad`` and ``_grad_fn`` are set here, and by the constructors `make`
    and `make_view`, which fill a tensor that nobody has yet; `tests/test_structure.py` refuses a store to
    them in any other place. So all changes of a tensor are made here.

    A function that begins with ``init_`` completes a *fresh* tensor: one that only its maker can see. It may
    assign field after field. All others change a tensor that others may see: by one store, or by rows and
    iterators for `commit`, in which all that changes together is stored together: NOTE [One C call].
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat, starmap
from operator import attrgetter, call, eq
from typing import Any

from .commit import commit, store, stores
from .tensor import Tensor, ViewInfo
from .value import Storage

# ------------------------------------------------------------------------------------- fresh tensors


def init_history(t: Tensor, node: Any, number: int, requires_grad: bool = True) -> None:
    """Make a fresh tensor an output of ``node``, the one with this number."""
    t._grad_fn = node
    t._output_nr = number
    t._requires_grad = requires_grad


def init_requires_grad(t: Tensor, requires_grad: bool = True) -> None:
    """Say of a fresh tensor without history whether it requires grad."""
    t._requires_grad = requires_grad


def init_grad(t: Tensor, grad: Tensor) -> None:
    """Give a fresh tensor a ``.grad``."""
    t._grad = grad


def init_storage(t: Tensor, storage: Storage, stride: Any, view: ViewInfo | None = None) -> None:
    """Let a fresh tensor show a storage that is there already."""
    t._storage = storage
    t._stride = stride
    t._view = view


# ---------------------------------------------------------------------------------- the place in a graph

_HISTORY = ("_grad_fn", "_output_nr", "_requires_grad")


def history_rows(t: Tensor, node: Any, number: int, requires_grad: bool = True) -> list[tuple]:
    """The stores that make ``t`` the output ``number`` of ``node``; see also `_views.history`."""
    return [(setattr, t, "_grad_fn", node), (setattr, t, "_output_nr", number),
            requires_grad_row(t, requires_grad)]


def set_history(t: Tensor, node: Any, number: int, requires_grad: bool = True, *more: tuple) -> None:
    """Make ``t`` the output ``number`` of ``node``, at once; and store the rows ``more``."""
    before = t._grad_fn  # kept until the call is over
    stored = map(setattr, repeat(t), _HISTORY, (node, number, requires_grad))
    store(chain(stored, starmap(call, more)) if more else stored)
    del before


def set_requires_grad(t: Tensor, requires_grad: bool) -> None:
    """Say whether ``t`` requires grad."""
    store(stores((t,), "_requires_grad", (requires_grad,)))


def requires_grad_row(t: Tensor, requires_grad: bool) -> tuple:
    """The store that says whether ``t`` requires grad."""
    return setattr, t, "_requires_grad", requires_grad


# ----------------------------------------------------------------------------------------- the gradient


def set_grad(t: Tensor, grad: Tensor | None) -> None:
    """``t.grad = grad``, unchecked."""
    before = t._grad  # kept until the call is over
    store(stores((t,), "_grad", (grad,)))
    del before


def set_hooks(t: Tensor, hooks: dict) -> None:
    """Give ``t``, which has none, a dict of hooks."""
    store(stores((t,), "_hooks", (hooks,)))


def grad_row(t: Tensor, grad: Tensor | None) -> tuple:
    """The store that gives ``t`` a ``.grad``, or takes it away."""
    return setattr, t, "_grad", grad


def grad_stores(owners: Iterable[Tensor], grads: Iterable[Tensor | None]) -> Iterable:
    """The stores that give each of ``owners`` its ``.grad``."""
    return stores(owners, "_grad", grads)


# ------------------------------------------------------------------------------------------ the memory

#: Whether a tensor that may have a place in a graph ever took another shape: gradients are looked at since.
#: See NOTE [Shapes in the graph].
RESHAPED = [False]


def rebind(t: Tensor, storage: Storage, aval: Any, stride: Any, view: ViewInfo | None, *more: tuple) -> None:
    """Give ``t`` another storage, and another way to show it, at once; and store the rows ``more``."""
    before = t._storage, t._view, t._grad_fn, t._tangents  # kept until the call is over
    commit([*rebind_rows(t, storage, aval, stride, view), *more])
    del before


def rebind_rows(t: Tensor, storage: Storage, aval: Any, stride: Any, view: ViewInfo | None) -> list[tuple]:
    """The stores of `rebind`."""
    placed = t._requires_grad or t._view is not None or t._accumulator is not None
    if placed and aval.shape != t._aval.shape:
        RESHAPED[0] = True
    return [(setattr, t, "_storage", storage), (setattr, t, "_aval", aval), (setattr, t, "_stride", stride),
            (setattr, t, "_view", view)]


_shown_by = attrgetter("_storage", "_view")


def exchange_cells(t: Tensor, source: Tensor, info: ViewInfo, *more: tuple) -> None:
    """Let ``t`` show all of a storage that ``source`` is the base of, at once, and go on counting its writes.

    The version cell of ``t`` becomes the storage's. ``source`` shows its memory by ``info`` from now on,
    which has the cell that was there. The rows ``more`` are stored as well. Overtaken if another thread has
    given one of them other memory.
    """
    storage, before = source._storage, (t._storage, t._view, t._grad_fn, t._tangents)
    shown = before[:2], (storage, None)
    cell = t._storage.version if t._view is None else t._view.version
    commit([*rebind_rows(t, storage, source._aval, source._stride, None),
            (setattr, source, "_view", info), (setattr, storage, "version", cell), *more],
           conditions=map(eq, map(_shown_by, (t, source)), shown))
    del before


# -------------------------------------------------------------------------------------- all there is

#: What `rebind` changes of a tensor.
MEMORY = ("_storage", "_aval", "_stride", "_view")

#: What a call can change of a tensor besides its attributes.
STATE = ("_storage", "_aval", "_stride", "_view", "_requires_grad", "_grad_fn", "_output_nr", "_grad",
         "_hooks", "_tangents")
state_of = attrgetter(*STATE)


def restore(t: Tensor, state: tuple) -> None:
    """Bring back what `state_of` said of ``t``, at once."""
    before = state_of(t)  # kept until the call is over
    store(map(setattr, repeat(t), STATE, state))
    del before


_EVERYTHING = ("__class__", "__dict__", *(slot for slot in Tensor.__slots__ if not slot.startswith("__")))
_everything_of = attrgetter(*_EVERYTHING)


def exchange(one: Tensor, other: Tensor) -> None:
    """Let two tensors change places, but not identities, at once."""
    of_one, of_other = _everything_of(one), _everything_of(other)
    commit((), map(setattr, repeat(one), _EVERYTHING, of_other),
           map(setattr, repeat(other), _EVERYTHING, of_one))
