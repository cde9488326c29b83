"""Spare arrays: gradients that nobody can see any more, whose memory the next ones take over.

NOTE [Spare arrays]
    A training step drops the old gradients and makes new ones of the same shapes. A program gets the memory
    for its results when it is handed over, and the old gradients' is busy until the steps before it have
    ended: with some steps under way there are as many sets of gradients. So the array of a large ``.grad``
    that is set to None and that nothing else refers to (its tensor, storage, Value and array are counted)
    waits in its thread for the program that is closed next. If that was compiled when there were such arrays,
    it takes them as donated inputs that it does not read, and writes results for which no leaf makes room in
    their place; an array that is missing is made. Before any other program they are let go, so nothing lives
    longer than it would. They are no part of a program's key.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from itertools import repeat
from typing import Any
from weakref import getweakrefcount

import jax
import numpy as np

from jaxflow._core.aval import Aval
from jaxflow._core.commit import store
from jaxflow._core.device import resolve
from jaxflow._core.fields import grad_stores
from jaxflow._core.layouts import PartsStorage
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import SMALL, Value

_NONE = repeat(None)
_FEW = SMALL // 16  # so many elements are never large, whatever their dtype


def large(aval: Aval) -> bool:
    """Whether fresh memory for it costs more than an argument of a compiled call."""
    return aval.nbytes > SMALL


def expect(grad: Any) -> None:
    """Note that ``grad`` is a new ``.grad``, in the program that computes it: the next one may lie there."""
    aval = grad._aval
    if aval.numel > _FEW and grad._view is None and large(aval):
        producer = grad._storage.value.producer
        if producer is not None:
            producer[0].program.gradients.append(producer)


def drop_grads(owners: Sequence[Any]) -> None:
    """Set the ``.grad`` of ``owners`` to None, at once.

    An array is spare if it was large and nobody else's.
    """
    grads = [owner._grad for owner in owners]
    store(grad_stores(owners, _NONE))
    while grads:
        grad = grads.pop()
        if grad is None or grad._aval.numel <= _FEW or state.eager or not large(grad._aval):
            continue
        storage = grad._storage
        if storage.__class__ is PartsStorage:
            continue
        value = storage.value
        if (
            grad._view is None and value.__class__ is Value and value.producer is None and not value.shared
            and isinstance(value.array, jax.Array) and not isinstance(value.array, jax.core.Tracer)
            and _counts(grad, storage, value) == _SOLE
            and not getweakrefcount(grad) and not getweakrefcount(value)
        ):
            state.spares.append((value.aval, value.array))


def take() -> list[tuple[Aval, Any]]:
    """This thread's spare arrays, which it has no longer."""
    found = state.spares
    if found:
        state.spares = []
    return found


def chosen(avals: tuple[Aval, ...], offered: list[tuple[Aval, Any]]) -> list:
    """An array nobody needs for each of ``avals``: ``offered`` ones while they last; the rest are let go."""
    there: dict[Aval, list] = {}
    while offered:
        aval, array = offered.pop()
        there.setdefault(aval, []).append(array)
    return [there[aval].pop() if there.get(aval) else _blank(aval)() for aval in avals]


def blank(aval: Aval) -> Any:
    """A new array that nobody reads, where ``aval`` says."""
    return _blank(aval)()


@functools.lru_cache(maxsize=256)
def _blank(aval: Aval) -> Any:
    """A compiled function that makes an array of ``aval``."""
    device = resolve(aval.device)[1]
    sharding = jax.sharding.SingleDeviceSharding(device)

    def blank() -> jax.Array:
        return jax.numpy.zeros(aval.shape, aval.struct.dtype)

    return jax.jit(blank, out_shardings=sharding).lower().compile()


def _counts(grad: Any, storage: Any, value: Any) -> tuple[int, ...]:
    return tuple(map(sys.getrefcount, (grad, storage, value, value.array)))


def _calibrate() -> tuple[int, ...]:
    """What `_counts` returns where only `drop_grads` refers to the tensor."""
    tensor = make(Value(None, np.zeros(1)), Tensor)  # type: ignore[arg-type]
    grad = tensor
    del tensor
    storage = grad._storage
    value = storage.value
    return _counts(grad, storage, value)


# A free-threaded build has no reliable count: there, nothing is spare.
_SOLE = _calibrate() if getattr(sys, "_is_gil_enabled", lambda: True)() else ()
