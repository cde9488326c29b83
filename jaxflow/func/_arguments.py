"""Which arguments a transform differentiates, and what its function may return."""

from __future__ import annotations

from typing import Any

from jaxflow._core import tree
from jaxflow._core.tensor import Tensor

Argnums = int | tuple[int, ...]


def positions(argnums: Any, count: int) -> tuple[int, ...]:
    """The positions ``argnums`` names among ``count`` arguments.

    Raises:
        RuntimeError: for anything but an int or a tuple of different ints that are in range.
    """
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = tuple(_position(n, count) for n in (argnums if isinstance(argnums, tuple) else (argnums,)))
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _position(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def chosen(args: tuple, argnums: Argnums) -> Any:
    """The arguments ``argnums`` names: one, or a tuple of them."""
    found = tuple(args[i] for i in positions(argnums, len(args)))
    return found if isinstance(argnums, tuple) else found[0]


def replaced(args: tuple, new: tuple, argnums: Argnums) -> tuple:
    """``args`` with the ones ``argnums`` names replaced by ``new``."""
    out = list(args)
    for i, x in zip(positions(argnums, len(args)), new, strict=True):
        out[i] = x
    return tuple(out)


def with_aux(output: Any, call: str) -> tuple[Any, Any]:
    """The two parts of what a function returned under ``has_aux``. RuntimeError for anything else."""
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return output


def check_output(flat: list, call: str) -> None:
    """RuntimeError unless there are results, all of them tensors."""
    if not flat or (len(flat) == 1 and flat[0] is None):
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {flat})"
        )
    for x in flat:
        if not isinstance(x, Tensor):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type {type(x)}"
            )


def check_real(name: str, values: Any, what: str) -> None:
    """RuntimeError if any of the tensors in a tree is complex."""
    for i, x in enumerate(tree.flatten(values)[0]):
        if isinstance(x, Tensor) and x._aval.dtype.is_complex:
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input "
                f"idx: {i}"
            )
