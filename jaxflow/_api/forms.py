"""What composites share: ``out=``, dtype arguments, and the error for arguments that fit no overload."""

from __future__ import annotations

from typing import Any

from jaxflow._core.geometry import channels_last_strides
from jaxflow._core.layout import channels_last, channels_last_3d
from jaxflow._core.tensor import Tensor
from jaxflow._plans.op import Op, Out
from jaxflow._publish.bind import freeze
from jaxflow._publish.out import refuse_operands, write_out


def required_dim(name: str, dim: int | None, axis: int | None) -> int:
    """``dim`` or its NumPy name ``axis``, whichever was given; TypeError for neither."""
    if dim is None and axis is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    return axis if dim is None else dim


def given_out(name: str, out: Any, result: Any, operands: tuple = (), op: Op | None = None,
              rule: Out | None = None) -> Any:
    """``result``, written into ``out`` if there is one, as the op ``name``, ``op`` or ``rule`` says."""
    return result if out is None else write_out(name, out, result, operands, op, rule)


def refuse_recorded_into(out: Any, name: str, *operands: Any) -> None:
    """Refuse operands, and an ``out=``, that require grad, which PyTorch does before all else."""
    if out is not None:
        refuse_operands(name, *operands, out)


def invalid_combination(name: str, args: tuple, kwargs: dict) -> TypeError:
    """PyTorch's error for arguments that fit no overload (its first line)."""
    got = [type(a).__name__ for a in args]
    got += [f"{key}={type(value).__name__}" for key, value in kwargs.items()]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but "
        "expected one of:\n * the forms that its documentation lists"
    )


def expect_int(name: str, parameter: str, value: Any, position: int = 0) -> int:
    """``value``, which must be an integer in function ``name``; with ``position`` 0 the error names none."""
    frozen = freeze(value)
    if type(frozen) is not int:
        place = f" (position {position})" if position else ""
        raise TypeError(f"{name}(): argument '{parameter}'{place} must be int, not {type(value).__name__}")
    return frozen


def expect_tensor(name: str, parameter: str, value: Any, position: int = 1) -> None:
    """Refuse what is no tensor where function ``name`` needs one."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument '{parameter}' (position {position}) must be Tensor, not "
            f"{type(value).__name__}"
        )


def listed(tensors: tuple) -> tuple[Tensor, ...]:
    """What ``f(a, b)`` and ``f([a, b])`` were both given. TypeError where one is no tensor."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    return tensors


def channels_last_of(shape: tuple[int, ...], wanted: Any) -> tuple[int, ...] | None:
    """The strides of this shape in a channels-last format, None for another; RuntimeError for its rank."""
    if wanted is not channels_last and wanted is not channels_last_3d:
        return None
    rank = 4 if wanted is channels_last else 5
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {wanted.name} format")
    return channels_last_strides(shape)


def tuple_of_ints(function: str, name: str, value: Any, position: int | None = None) -> tuple[int, ...]:
    """An argument that is a tuple or list of ints, or PyTorch's refusal of it.

    Args:
        position: what number the argument has in messages; None where it is one that has a keyword alone.
    """
    place = f"{function}(): argument '{name}' " + ("" if position is None else f"(position {position}) ")
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{place}must be tuple of ints, not {type(value).__name__}")
    for at, n in enumerate(value):
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(
                f"{place}must be tuple of ints, but found element of type {type(n).__name__} at pos {at}")
    return tuple(value)
