"""The scan of a function that carries a state along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core import tree
from jaxflow._core.tensor import Tensor
from jaxflow._functions import stack

from ._metadata import refuse, same_metadata

__all__ = ["scan"]


def scan(combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0,
         reverse: bool = False) -> tuple[Any, Any]:
    """Carry a state along a dimension: ``state, y[i] = combine_fn(state, x[i])``.

    The function is called once for each slice; what it does is recorded together, as one program.

    Args:
        combine_fn: a function of the state and a slice of ``xs`` that returns the next state, of the same
            shapes and dtypes, and a tree of tensors.
        init: the first state: a tensor, or a tree of tensors.
        xs: a tensor, or a tree of tensors of the same size along ``dim``, which is not 0.
        dim: the dimension.
        reverse: from the end to the start.

    Returns:
        The last state, and a tree like the second result of ``combine_fn``, stacked along ``dim``; what has
        no such dimension is stacked along dimension 0.

    Raises:
        RuntimeError: for other arguments, and where ``combine_fn`` returns something else.
        IndexError: where ``xs`` has no dimension ``dim``.

    Example:
        >>> from jaxflow._higher_order_ops.scan import scan
        >>> scan(lambda total, x: (total + x, total * x), torch.tensor(1.), torch.tensor([2., 3.]))
        (tensor(6.), tensor([2., 9.]))
    """
    leaves, spec = tree.flatten(xs)
    if not leaves:
        return init, []
    state, state_spec = tree.flatten(init)
    dim = _check(combine_fn, leaves, state, dim, reverse)
    rows = list(zip(*(x.unbind(dim) for x in leaves), strict=True))
    results = []
    for row in reversed(rows) if reverse else rows:
        found = combine_fn(state_spec.unflatten(state), spec.unflatten(row))
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            refuse("combine_fn of scan returns a state and a result, a tuple of two")
        after, after_spec = tree.flatten(found[0])
        if after_spec != state_spec:
            refuse(f"Expected init and carry to have same structure but found: {state_spec} and {after_spec}")
        same_metadata("carry", state, after)
        state = after
        results.append(tree.flatten(found[1]))
    if reverse:
        results.reverse()
    columns = zip(*(each for each, _ in results), strict=True)
    stacked = [stack(column, dim if dim <= column[0].ndim else 0) for column in columns]
    return state_spec.unflatten(state), results[0][1].unflatten(stacked)


def _check(combine_fn: Any, leaves: list[Any], state: list[Any], dim: Any, reverse: Any) -> int:
    """Refuse what PyTorch refuses; the dimension, counted from the front."""
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise RuntimeError(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if not state:
        raise RuntimeError("scan() operator requires init leaves.")
    for name, given in (("init", state), ("xs", leaves)):
        for x in given:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"All {name} leaves must be a Tensor but got {x}")
    dims = leaves[0].ndim
    if not -dims <= dim < dims:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], "
                         f"but got {dim})")
    dim %= dims
    if any(x.ndim <= dim or x.shape[dim] == 0 for x in leaves):
        raise RuntimeError("All xs leaves must at least have 'dim' number of dimensions and scan dimension "
                           "> 0")
    if len({x.shape[dim] for x in leaves}) > 1:
        raise RuntimeError("All xs leaves must have the same size in the scan dimension, but got "
                           f"{[x.shape[dim] for x in leaves]}")
    return dim
