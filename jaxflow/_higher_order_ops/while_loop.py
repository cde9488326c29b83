"""``torch.while_loop``: a function repeated as long as another one says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core import tree
from jaxflow._core.tensor import Tensor

from ._metadata import refuse, same_metadata

__all__ = ["while_loop"]


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: Sequence) -> Any:
    """Apply ``body_fn`` to its own results as long as ``cond_fn`` of them is true.

    The condition is read before each round, so what was recorded up to there is run.

    Args:
        cond_fn: a function of ``*carried_inputs`` that returns a bool or a tensor without dimensions.
        body_fn: a function of ``*carried_inputs`` that returns as many, of the same shapes and dtypes.
        carried_inputs: a tuple of tensors and integers, which may stand in dicts, lists and tuples.

    Returns:
        What ``body_fn`` returned last; ``carried_inputs`` where it was never called.

    Raises:
        RuntimeError: for functions that cannot be called, for other inputs, and where a function returns
            something else.

    Example:
        >>> start = torch.tensor(0), torch.ones(2)
        >>> torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), start)
        (tensor(3), tensor([8., 8.]))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    leaves, spec = tree.flatten(carried_inputs)
    if not all(isinstance(x, (Tensor, int)) for x in leaves):
        raise RuntimeError("Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only "
                           f"consists of tensor or int leaves, but got {carried_inputs}.")
    carried = carried_inputs
    while _holds(cond_fn(*spec.unflatten(leaves))):
        carried = body_fn(*spec.unflatten(leaves))
        after = tree.flatten(carried)[0]
        same_metadata("body_fn_output", leaves, after)
        leaves = after
    return carried


def _holds(found: Any) -> bool:
    """The number of a condition."""
    if not isinstance(found, bool) and (not isinstance(found, Tensor) or found.ndim):
        refuse(f"cond_fn of while_loop returns a bool or a tensor without dimensions, not {found!r}")
    return bool(found)
