"""What optimizers need of the core: first states, shared counters, updates and their write-back.

PyTorch keeps a ``step`` tensor for every parameter. Here too each is its own tensor, but those
that count together share one immutable Value, so a step computes one new count whatever the
number of parameters. Writing to one of them by hand takes only that one out of the set.

NOTE [First states are known arrays]
    States start as arrays made on the host, not as recorded operations, and what initialized the
    parameters runs when an optimizer takes them: so the program of the first training step is that of
    all others, and is compiled once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.commit import Overtaken
from jaxflow._core.device import resolve
from jaxflow._core.geometry import contiguous_strides, empty_like_strides
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.symbolic_numbers import as_float
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._dispatch.dispatch import apply, values_of
from jaxflow._exec.run import flush
from jaxflow._exec.undo import entry_rows
from jaxflow._plans.op import SCALAR, Op
from jaxflow._views.values import live_value_of, value_of
from jaxflow._writes.inplace import check_writable
from jaxflow._writes.writes import write_all


def _known(aval: Aval, fill: Any) -> Value:
    array = np.full(aval.shape, fill, aval.dtype.np)
    return Value(aval, jax.device_put(array, resolve(aval.device)[1]))


def _number_aval(device: Any) -> Aval:
    wide = dtypes.get_default_dtype() is dtypes.float64
    return aval_of((), dtypes.float64 if wide else dtypes.float32, device)


def number(value: float, param: Tensor) -> Tensor:
    """A 0-d state of one parameter, on its device."""
    return make(_known(_number_aval(param._aval.device), value))


def numbers(value: float, params: Sequence[Tensor]) -> list[Tensor]:
    """A 0-d state for each of ``params``, of one device: separate tensors, one Value."""
    shared = _known(_number_aval(params[0]._aval.device), value)
    return [make(shared) for _ in params]


def filled_like(param: Tensor, fill: float) -> Tensor:
    """A state shaped like the parameter; both parts of a complex one are ``fill``."""
    aval = param._aval
    state = make(_known(aval, complex(fill, fill) if aval.dtype.is_complex else fill))
    if param._stride is not None:
        stride = empty_like_strides(aval.shape, param._stride)
        state._stride = None if stride == contiguous_strides(aval.shape) else stride
    return state


def zeros(shape: Sequence[int], param: Tensor) -> Tensor:
    """A state of another shape than the parameter's, of its dtype and on its device."""
    return make(_known(aval_of(tuple(shape), param._aval.dtype, param._aval.device), 0))


def identities(columns: Sequence[Sequence[Tensor]]) -> Iterator[tuple[int, ...]]:
    """For each parameter what is equal where states share their Values; a column is one state of all."""
    return zip(*[[id(live_value_of(t)) for t in column] for column in columns])


def unify(columns: Sequence[Sequence[Tensor]]) -> None:
    """Let equal scalar states share one Value; a column is one state of all parameters."""
    for column in columns:
        known: dict[tuple, Value] = {}
        for t in column:
            value = t._storage.value
            # What is pending is not waited for, and a host-shared storage keeps what it holds.
            if value.__class__ is Value and value.producer is None and t._view is None:
                key = (value.aval, np.asarray(value.array).tobytes())
                t._storage.value = known.setdefault(key, value)


def call(rule: Op, tensors: Sequence, hypers: dict[str, Any], static: dict[str, Any]) -> Sequence:
    """Apply an update rule; results in its order: tensors where they may have a history, else Values."""
    scalars = [_scalar(hypers[p.name]) for p in rule.params if p.kind == SCALAR]
    form = apply if state.grad or LEVELS else values_of
    return form(rule, (*tensors, *scalars), tuple([static[name] for name in rule.static_names]))


def _scalar(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.squeeze() if value._aval.ndim else value
    return as_float(value)


def overwrite(targets: Sequence[Tensor], results: Sequence, epochs: Sequence[int],
              entries: Sequence[tuple], more: Sequence[tuple] = ()) -> bool:
    """Write results in place, all at once: new versions, and history where grad mode is on.

    ``results`` are what `call` returned; ``entries`` are ``(dict, what it is updated with, tensors)``: the
    dict changes with them. ``more`` are rows that are stored with all else. False,
    with nothing changed, if a target is not at its epoch any more.
    """
    if state.grad or any([t._stride is not None for t in targets]):  # else there is nothing to refuse
        for t, result in zip(targets, results):
            check_writable(t, t._requires_grad or isinstance(result, Tensor) and result._requires_grad)
    rows = list(more)
    for mapping, change, new in entries:
        rows.append((dict.update, mapping, change))
        first = results[0]
        rows += entry_rows(mapping, change, list(new.values()),
                           [value_of(first) if isinstance(first, Tensor) else first])
    try:
        write_all(targets, results, epochs, rows)
    except Overtaken:
        return False
    return True


def copy_all(targets: Sequence[Tensor], sources: Sequence[Tensor]) -> None:
    """Copy a tensor into each target, without history, all at once; broadcast and cast as ``copy_`` does."""
    epochs = [t._storage.epoch for t in targets]
    new = [s if s.dtype is t.dtype else s.to(t.dtype) for s, t in zip(sources, targets)]
    new = [s if s.shape == t.shape else s.expand(t.shape) for s, t in zip(new, targets)]
    if not overwrite(targets, [value_of(s) for s in new], epochs, ()):
        raise RuntimeError("a tensor was overwritten by another thread while its new value was computed")


def program_boundary(reason: str) -> None:
    """Run what was recorded up to here, without waiting: a training step is one program."""
    if not state.eager:
        flush(reason)
