"""One function of flat arrays as a portable artifact of StableHLO, and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax

from jaxflow._core.jax_compat import exported_of, fields_of

#: Where an artifact runs, if what it computes can be lowered for all of them.
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


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
    """An artifact as plain data, and its StableHLO."""
    fields = fields_of(made)
    code = fields.pop("mlir_module_serialized")
    data = {name: list(x) if isinstance(x, tuple) else x for name, x in fields.items()}
    data.update(name=made.fun_name, inputs=[_written(a) for a in made.in_avals],
                outputs=[_written(a) for a in made.out_avals])
    return data, bytes(code)


def from_data(data: dict, code: bytes) -> Any:
    """The artifact that `to_data` wrote down."""
    from jax.export import SymbolicScope

    scope = SymbolicScope()
    fields = {name: tuple(x) if isinstance(x, list) else x for name, x in data.items()
              if name not in ("name", "inputs", "outputs")}
    return exported_of(data["name"], [_aval(a, scope) for a in data["inputs"]],
                       [_aval(a, scope) for a in data["outputs"]],
                       mlir_module_serialized=bytes(code), **fields)


def _written(aval: Any) -> list:
    return [[n if isinstance(n, int) else str(n) for n in aval.shape], str(aval.dtype)]


def _aval(written: list, scope: Any) -> Any:
    from jax.export import symbolic_shape

    shape, dtype = written
    text = ", ".join(map(str, shape))
    return jax.core.ShapedArray(symbolic_shape(text, scope=scope) if text else (), jax.numpy.dtype(dtype))
