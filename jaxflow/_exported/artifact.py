"""One function of flat arrays as a portable artifact of StableHLO, and as plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

#: Where an artifact runs, if what it computes can be lowered for all of them.
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")

#: What is kept of a ``jax.export.Exported`` beside its inputs, outputs and code.
_FIELDS = ("fun_name", "platforms", "calling_convention_version", "module_kept_var_idx",
           "uses_global_constants")


def exported(function: Callable, avals: Sequence) -> Any:
    """``function`` for inputs like ``avals``, as a ``jax.export.Exported``.

    It is made for all platforms where each operation can be lowered for all of them, and else for the one
    at hand.
    """
    from jax import export

    jitted = jax.jit(function)
    try:
        return export.export(jitted, platforms=PLATFORMS)(*avals)
    except NotImplementedError:  # an operation that another platform has no lowering for
        return export.export(jitted)(*avals)


def symbols(names: Iterable[str], limits: Mapping[str, Sequence] | None = None) -> tuple:
    """Dimensions of these names, which stand for any size from 1 on, or between the limits that are given."""
    from jax.export import symbolic_shape

    text, constraints = ", ".join(names), []
    for name, (least, most) in (limits or {}).items():
        constraints += [f"{name} >= {least}"] if least and least > 1 else []
        constraints += [f"{name} <= {most}"] if most else []
    return symbolic_shape(text, constraints=constraints) if text else ()


def to_data(made: Any) -> tuple[dict, bytes]:
    """An artifact as plain data, and its StableHLO.

    ``Exported.serialize`` would write the same, but needs a package that jax does not install.
    """
    data = {name: list(x) if isinstance(x := getattr(made, name), tuple) else x for name in _FIELDS}
    data.update(inputs=[_written(a) for a in made.in_avals], outputs=[_written(a) for a in made.out_avals])
    return data, bytes(made.mlir_module_serialized)


def from_data(data: dict, code: bytes) -> Any:
    """The artifact that `to_data` wrote down: one of zeros with the same inputs and outputs, and its code."""
    from jax import export

    scope = export.SymbolicScope()
    inputs = [_struct(a, scope) for a in data["inputs"]]
    outputs = [_struct(a, scope) for a in data["outputs"]]
    fields = {name: tuple(x) if isinstance(x := data[name], list) else x for name in _FIELDS}
    zeros = jax.jit(lambda *arrays: tuple(jnp.zeros(x.shape, x.dtype) for x in outputs))
    made = export.export(zeros, platforms=fields["platforms"])(*inputs)
    return dataclasses.replace(made, mlir_module_serialized=bytes(code), **fields)


def _written(aval: Any) -> list:
    return [[n if isinstance(n, int) else str(n) for n in aval.shape], str(aval.dtype)]


def _struct(written: list, scope: Any) -> jax.ShapeDtypeStruct:
    from jax.export import symbolic_shape

    shape, dtype = written
    text = ", ".join(map(str, shape))
    return jax.ShapeDtypeStruct(symbolic_shape(text, scope=scope) if text else (), jnp.dtype(dtype))
