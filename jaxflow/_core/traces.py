"""Traces of jax's transformations in which tensors were used: what would leak out of them is refused.

NOTE [Older than the trace]
    A tensor made outside a transformation must not be left holding one of its tracers. When tensors enter
    a trace as arguments, before its function runs, the time is noted, on the clock that new storages read:
    ``Storage.epoch`` begins at it, which costs nothing. So a write of a tracer is found to be a leak where
    the storage is older than the trace. Where the trace was first seen later (an array made a tensor inside
    it), the time is not known, and jax itself complains when the tracer is used afterwards.
"""

from __future__ import annotations

import weakref
from typing import Any

import jax

from jaxflow._core.tensor import Tensor, ViewInfo
from jaxflow._core.value import Value, tick

# When the traces began; 0 where that is not known.
_began: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

# Not empty as soon as a tensor was used in a trace: writes check this before anything else.
MET: list[bool] = []


def entered(tracer: jax.core.Tracer) -> None:
    """A tensor was an argument of the function that is traced: it has not begun to run."""
    _meet(tracer, entry=True)


def met(tracer: jax.core.Tracer) -> None:
    """A tensor was made of a tracer somewhere inside the function."""
    _meet(tracer, entry=False)


def _meet(tracer: jax.core.Tracer, entry: bool) -> None:
    trace = tracer._trace
    if trace in _began:
        return
    MET[:] = [True]
    _began[trace] = tick() if entry else 0
    while (trace := getattr(trace, "parent_trace", None)) is not None:
        _began.setdefault(trace, 0)  # its tensors were not seen to enter: some may come out of this one


def as_constant(view: ViewInfo, value: Value) -> Value:
    """What a view shows that was read just now; without tangents if it comes from a detached tensor.

    NOTE [What jax may not differentiate]
        ``jax.grad`` goes through whatever is computed from its tracers. ``detach()``, ``.data`` and what
        is computed under ``no_grad`` are constants to PyTorch's autograd, so they are made constants to
        jax as well (``jax.lax.stop_gradient``). The engine's own pass is none of these: without
        ``create_graph`` it records no graph of ours, but jax may differentiate it.
    """
    above = None if view.base is None else view.base._view
    if (view.constant or (above is not None and above.constant)) and value.producer is None and isinstance(
        value.array, jax.core.Tracer
    ):
        return Value(value.aval, jax.lax.stop_gradient(value.array))
    return value


def refuse_leak(t: Tensor, new: Value, what: str) -> None:
    """RuntimeError where ``t``, or what belongs to it, would show a tracer of a trace it is older than."""
    array = new.array
    if new.producer is None and isinstance(array, jax.core.Tracer) and (
        t._storage.epoch < _began.get(array._trace, 0)
    ):
        raise RuntimeError(
            f"{what} of shape {list(t._aval.shape)} was made outside of the function that jax is tracing, "
            "and would be left holding a value that exists only inside. Pass the tensor to the function and "
            "return what it becomes (for a module: jaxflow.to_jax), or write to a copy made inside "
            "(clone())"
        )
