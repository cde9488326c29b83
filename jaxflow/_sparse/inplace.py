"""Writes to sparse tensors, and of sparse tensors into dense ones: all parts change by one store."""

from __future__ import annotations

from collections.abc import Callable

from jaxflow._core.commit import Overtaken, commit
from jaxflow._core.fields import history_rows
from jaxflow._core.layouts import has_parts, parts_rows
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor

from .dispatch import on

_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


def check_may_write(t: Tensor) -> None:
    """RuntimeError for a leaf that requires grad, where operations are recorded."""
    if state.grad and t.requires_grad and t.is_leaf:
        raise RuntimeError(_LEAF)


def in_place(t: Tensor, result: Tensor) -> Tensor:
    """``t``, which has the parts and the history of ``result`` from now on.

    Raises:
        RuntimeError: if ``result`` has another shape or layout, or a dtype that ``t`` cannot take.
    """
    check_may_write(t)
    if not has_parts(result) or result._storage.parts.layout is not t._storage.parts.layout:
        raise RuntimeError(
            f"a tensor of layout {t._storage.parts.layout} cannot become {result.layout} in place")
    if result._aval.shape != t._aval.shape:
        raise RuntimeError(
            f"output with shape {list(t._aval.shape)} doesn't match the broadcast shape "
            f"{list(result._aval.shape)}")
    if result._aval.dtype is not t._aval.dtype:
        if result._aval.dtype.category > t._aval.dtype.category:
            raise RuntimeError(
                f"result type {result._aval.dtype.scalar_name} can't be cast to the desired output type "
                f"{t._aval.dtype.scalar_name}")
        result = result.to(t._aval.dtype)
    storage, epoch = t._storage, t._storage.epoch
    history = history_rows(t, result._grad_fn, result._output_nr, result._requires_grad) if (
        state.grad and (result._requires_grad or t._grad_fn is not None)) else []
    before = storage.parts, t._grad_fn  # kept until the call is over
    commit([*parts_rows(storage, result._storage.parts), *history], storages=(storage,), epochs=(epoch,))
    del before
    return t


def again(t: Tensor, work: Callable[[], Tensor]) -> Tensor:
    """`in_place` of what ``work()`` computes; once more where another thread was quicker."""
    while True:
        try:
            return in_place(t, work())
        except Overtaken:
            continue


@on("copy_")
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Let a sparse tensor be a copy of another one of its size."""
    if not (has_parts(self) and has_parts(src)):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{self.type()} and src type = {src.type()}")
    if self._aval.shape != src._aval.shape:
        raise RuntimeError(
            f"copy_: a tensor of size {list(self._aval.shape)} takes no copy of one of size "
            f"{list(src._aval.shape)}")
    return again(self, lambda: src.clone().to(self._aval.dtype))
