"""``torch.cond``: one of two functions, by a number of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._api.per_example import is_batched
from jaxflow._core import tree
from jaxflow._core.tensor import Tensor
from jaxflow._functions import where

from ._metadata import refuse

__all__ = ["cond"]


def cond(pred: Any, true_fn: Callable, false_fn: Callable, operands: Sequence = ()) -> Any:
    """Apply one of two functions, as a Python ``if`` would; under `vmap` each example has its own choice.

    The number of ``pred`` is read, so what was recorded up to here is run; in a compiled function each way
    is a specialisation. Under `vmap`, where examples differ, both functions are applied and `torch.where`
    chooses among their results.

    Args:
        pred: a bool, a number, or a tensor of one element.
        true_fn: the function of ``*operands`` for true.
        false_fn: the function of ``*operands`` for false.
        operands: a tuple or list of tensors, which may stand in dicts, lists and tuples.

    Returns:
        What the function returned.

    Raises:
        RuntimeError: for another ``pred``, for functions that cannot be called, for operands that are no
            tensors, and where a function returns one of its operands as it is.

    Example:
        >>> x = torch.tensor([1., 2.])
        >>> torch.cond(x.sum() > 2, lambda x: x * 2, lambda x: x - 1, (x,))
        tensor([2., 4.])
    """
    if isinstance(pred, (bool, int, float)):
        return true_fn(*operands) if pred else false_fn(*operands)
    if not isinstance(pred, Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    leaves = tree.flatten(operands)[0] if isinstance(operands, (tuple, list)) else [None]
    if not all(isinstance(x, Tensor) for x in leaves):
        raise RuntimeError("Expect operands to be a tuple of possibly nested dict/list/tuple that only "
                           f"consists of tensor leaves, but got {operands}.")
    if is_batched(pred):
        yes, no = _applied(true_fn, operands, leaves), _applied(false_fn, operands, leaves)
        return _both(pred.reshape(()), yes, no)
    return _applied(true_fn if pred else false_fn, operands, leaves)


def _applied(fn: Callable, operands: Sequence, leaves: list) -> Any:
    """What a branch returns: tensors of its own."""
    found = fn(*operands)
    if any(x is operand for x in tree.flatten(found)[0] for operand in leaves):
        refuse("A branch of cond returns one of its operands as it is: return a clone of it")
    return found


def _both(pred: Tensor, yes: Any, no: Any) -> Any:
    """For each example the leaves of one result or of the other."""
    left, spec = tree.flatten(yes)
    right, other = tree.flatten(no)
    if spec != other:
        refuse(f"The branches of cond return different structures: {spec} and {other}")
    return spec.unflatten([where(pred, a, b) for a, b in zip(left, right, strict=True)])
