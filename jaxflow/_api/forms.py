"""What composites share: ``out=``, dtype arguments, and the error for arguments that fit no overload."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.op import Op, Out
from jaxflow._dispatch.outputs import write_out


def required_dim(name: str, dim: int | None, axis: int | None) -> int:
    """``dim`` or its NumPy name ``axis``, whichever was given; TypeError for neither."""
    if dim is None and axis is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    return axis if dim is None else dim


def given_out(name: str, out: Any, result: Any, operands: tuple = (), op: Op | None = None,
              rule: Out | None = None) -> Any:
    """``result``, written into ``out`` if there is one, as the op ``name``, ``op`` or ``rule`` says."""
    return result if out is None else write_out(name, out, result, operands, op, rule)


def invalid_combination(name: str, args: tuple, kwargs: dict) -> TypeError:
    """PyTorch's error for arguments that fit no overload (its first line)."""
    got = [type(a).__name__ for a in args]
    got += [f"{key}={type(value).__name__}" for key, value in kwargs.items()]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but "
        "expected one of the forms its documentation lists"
    )


def expect_tensor(name: str, parameter: str, value: Any, position: int = 1) -> None:
    """Refuse what is no tensor where function ``name`` wants one."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument '{parameter}' (position {position}) must be Tensor, not "
            f"{type(value).__name__}"
        )
