"""What a tensor shows, read on the host without an operation, where it is there already.

NOTE [Read where it lies]
    A program that looks at the numbers of a tensor one by one (``for v in x: if v > 0``) reads as many views.
    To record each of them, and to run it, takes a hundred times as long as to look. So where the storage's
    array is known, on the host, and no trace of jax, a strided view is read from that array by its strides.
    Inside a call of a compiled function that is recorded a storage's Value is pending, as everywhere where it
    has to be noted that it was read: such a Value is not read here.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value, as_number

from .chain import ViewPlan
from .host_shared import shown_of


def _known(value: Any) -> np.ndarray | None:
    """The array of a Value that is there, on the host, and has nothing left to check; else None."""
    if value.__class__ is not Value or value.producer is not None or value.unchecked is not None or (
        value.aval.device is not CPU
    ):
        return None
    array = value.array
    if array.__class__ is np.ndarray:
        return value.settled()  # by which who watches a capture sees that it is read
    if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer) or array.is_deleted():
        return None
    return value.host()


_DIMS = 64  # NumPy has no arrays of more


def strided(plan: ViewPlan, value: Value) -> bool:
    """Whether what a plan shows of a storage lies in the storage's array as the plan's strides say."""
    g = (plan.first or plan).geometry  # siblings differ in where they start alone
    return (
        plan.root.aval is value.aval and plan.root.stride is None and g.dtype is g.root_dtype
        and not (g.conj or g.neg or g.root_conj or g.root_neg or g.root_offset) and g.room is None
        and plan.aval.ndim <= _DIMS
    )


def by_strides(plan: ViewPlan, base: np.ndarray) -> np.ndarray:
    """What a `strided` plan shows of a storage's array, in the same memory."""
    shape, item = plan.aval.shape, base.itemsize
    if 0 in shape:
        return np.empty(shape, base.dtype)
    if plan.stride is None and base.ndim == 1:
        found = base[plan.offset:plan.offset + plan.aval.numel]
        return found if len(shape) == 1 else found.reshape(shape)
    # NumPy's own kinds are buffers as they are; the others, such as bfloat16, are none.
    memory = base if base.dtype.kind in "biufc" and base.flags.c_contiguous else (
        np.ascontiguousarray(base).reshape(-1).view(np.uint8))
    strides = None if plan.stride is None else [s * item for s in plan.stride]
    return np.ndarray(shape, base.dtype, memory, plan.offset * item, strides)


def number_on_host(t: Tensor) -> Any:
    """The one element of a view as a Python number; None where reading it takes an operation."""
    value, plan = t._storage.value, t._view.plan
    if value.__class__ is HostValue:
        found = shown_of(value, plan)
        return None if found is None else as_number(found.live)
    array = _known(value)
    if array is None:
        return None
    if not strided(plan, value):
        return None
    if array.dtype.kind in "biufc":
        return array.item(plan.offset)
    return as_number(array.reshape(-1)[plan.offset])


def shown_on_host(t: Tensor) -> np.ndarray | None:
    """The elements of a CPU tensor, to be read only; None where reading them takes an operation.

    They lie in the memory of the tensor's storage.
    """
    if t._aval.device is not CPU:
        return None
    value = t._storage.value
    if value.__class__ is HostValue:
        found = value if t._view is None else shown_of(value, t._view.plan)
        return None if found is None else found.array
    base = _known(value)
    if base is None or t._view is None:
        return base
    plan = t._view.plan
    if not strided(plan, value):
        return None
    return by_strides(plan, base)
