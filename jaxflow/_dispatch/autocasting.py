"""Casts of operands inside autocast regions, by the name of the operation.

NOTE [Where casts happen]
    PyTorch casts the operands of an operation that is on its lists, and nothing within that operation. Here
    dispatch casts the operands of each operation named in `autocast_lists`. A function that is composed of
    several operations, and that PyTorch counts as one, is in the list by its own name: its arguments are
    cast and its operations are not, `state.uncast`. The casts are operations like any other: they are
    recorded, differentiated and batched, and a compiled program contains them. What is computed into a
    tensor that is given (in place, ``out=``) is not cast.

NOTE [Kept casts]
    The cast of a float32 leaf that requires grad, as weights are, to the lower precision is kept until the
    outermost region ends, so a weight that is used often is cast once, and its gradients add up before they
    are cast back. PyTorch keeps one cast of a tensor, whatever happens to the tensor. Here it counts as long
    as the tensor shows the same Value, for one dtype and one grad mode: after an optimizer's step within
    a region, or in a nested region of another dtype, the weight is cast anew. Nothing is kept while a call
    is captured, or inside a transformation, where tensors stand for others.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from jaxflow._core import autocast
from jaxflow._core import dtype as dtypes
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value
from jaxflow._plans.op import OPS, Op

from .autocast_lists import AS_OPERAND, BANNED, BANNED_WORDS, FLOAT, FLOAT_UNLESS_NAMED, LISTS, LOWER, WIDEST


def cast_operands(op: Op, args: tuple, static: tuple, apply: Callable) -> tuple:
    """The operands of an operation, cast as this thread's autocasting says."""
    now = state.autocast
    if now is None or not now.enabled or state.uncast:
        return args
    found = _rule(now, op.name, args)
    if found is None:
        return args
    kind, device_type = found
    if kind is FLOAT_UNLESS_NAMED and op.named(static).get("dtype") is not None:
        return args
    return cast_all(now, kind, device_type, args, apply)


def cast_call(name: str, apply: Callable, fn: Callable, args: tuple, kwargs: dict) -> Any:
    """What a function that counts as one operation returns, its arguments cast; its operations are not.

    ``kwargs`` is a dict of this call's own.
    """
    now = state.autocast
    if now is None or not now.enabled or state.uncast:
        return fn(*args, **kwargs)
    out = kwargs.pop("out", None)
    if out is not None:
        return without_casts(fn, *args, **kwargs, out=out)
    flat = not kwargs and not any([isinstance(a, (list, tuple)) for a in args])
    given = args if flat else tuple(_flat((*args, *kwargs.values())))
    found = _rule(now, name, given)
    if found is None or (found[0] is FLOAT_UNLESS_NAMED and kwargs.get("dtype") is not None):
        return fn(*args, **kwargs)
    given = cast_all(now, *found, given, apply)
    if flat:
        return without_casts(fn, *given)
    cast = iter(given)
    args = tuple(_rebuilt(a, cast) for a in args)
    kwargs = {key: _rebuilt(a, cast) for key, a in kwargs.items()}
    return without_casts(fn, *args, **kwargs)


def without_casts(fn: Callable, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, of whose operations none is cast. It is called where ``uncast`` is False."""
    try:
        try:
            state.uncast = True
            return fn(*args, **kwargs)
        finally:
            state.uncast = False
    except BaseException:  # which may have come before the line above: NOTE [Modes and interrupts]
        state.uncast = False
        raise


def cast_within(value: Any, device_type: str, dtype: dtypes.dtype, apply: Callable) -> Any:
    """A value with the tensors in it cast, those of floating point on the device, but for float64."""
    if isinstance(value, Tensor):
        if _eligible(value, device_type) and value._aval.dtype not in (dtype, dtypes.float64):
            return apply(OPS["_to_dtype"], (value,), (dtype,))
        return value
    if isinstance(value, Mapping):
        return {cast_within(k, device_type, dtype, apply): cast_within(v, device_type, dtype, apply)
                for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [cast_within(v, device_type, dtype, apply) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _flat(args: Sequence) -> Any:
    for a in args:
        if isinstance(a, (list, tuple)):
            yield from a
        else:
            yield a


def _rebuilt(a: Any, cast: Any) -> Any:
    return type(a)([next(cast) for _ in a]) if type(a) in (list, tuple) else (
        tuple(next(cast) for _ in a) if isinstance(a, (list, tuple)) else next(cast))


def _rule(now: autocast.Settings, name: str, args: tuple) -> tuple[Any, str] | None:
    """How operands are cast for what has this name, and the type of the device that says so."""
    enabled, device_type = now.enabled, None
    for a in args:
        if isinstance(a, Tensor):
            kind = a._aval.device.type
            if kind in enabled and (device_type is None or device_type == "cpu"):
                device_type = kind
    if device_type is None:
        return None
    rule = LISTS["cpu" if device_type == "cpu" else "cuda"].get(name)
    return None if rule is None else (rule, device_type)


def cast_all(now: autocast.Settings, kind: Any, device_type: str, args: tuple, apply: Callable) -> tuple:
    """The arguments with the tensors among them cast by a rule.

    Raises:
        RuntimeError: for what may not be called in a region, and for two lower precisions together.
    """
    if kind is BANNED:
        raise RuntimeError(BANNED_WORDS)
    lower = now.lower(device_type)
    if kind is LOWER:
        want = lower
    elif kind is WIDEST:
        want = _widest(args, device_type, lower)
    elif kind in AS_OPERAND:
        want = _widest(args[AS_OPERAND[kind]:][:1], device_type, lower)
    else:
        want = dtypes.float32
        if kind is not FLOAT and not (args and _eligible(args[0], device_type)):
            return args
    return tuple([
        _cast(now, a, want, lower, apply)
        if isinstance(a, Tensor) and a._aval.dtype is not want and _eligible(a, device_type)
        and a._aval.dtype is not dtypes.float64 else a
        for a in args])


def _eligible(a: Any, device_type: str) -> bool:
    return (isinstance(a, Tensor) and a._aval.dtype.is_floating_point
            and a._aval.device.type == device_type)


def _widest(args: tuple, device_type: str, lower: dtypes.dtype) -> dtypes.dtype:
    want = lower
    for a in args:
        if _eligible(a, device_type):
            dtype = a._aval.dtype
            if dtype is dtypes.float32:
                want = dtype
            elif dtype is not dtypes.float64 and want is lower is not dtype:
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return want


def _cast(now: autocast.Settings, t: Tensor, dtype: dtypes.dtype, lower: dtypes.dtype,
          apply: Callable) -> Tensor:
    """The tensor in another dtype: NOTE [Kept casts]."""
    if not (now.cache and now.nesting and dtype is lower and t._requires_grad and t._grad_fn is None
            and t._view is None and t._aval.dtype is dtypes.float32):
        return apply(OPS["_to_dtype"], (t,), (dtype,))
    value = t._storage.value
    if (value.__class__ is not Value or state.programs.__class__ is not dict or state.axes or state.captors
            or LEVELS):
        return apply(OPS["_to_dtype"], (t,), (dtype,))
    key = id(t), dtype, state.grad, state.inference, state.eager
    casts = state.casts
    if casts is None:
        casts = state.casts = {}
    kept = casts.get(key)
    if kept is not None and kept[0] is t and kept[1]() is value:
        return kept[2]
    new = apply(OPS["_to_dtype"], (t,), (dtype,))
    if t._storage.value is value and not isinstance(new._storage.value.array, jax.core.Tracer):
        casts[key] = t, weakref.ref(value), new
    return new
