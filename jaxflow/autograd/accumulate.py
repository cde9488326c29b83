"""What happens to a gradient when it arrives: at a leaf, at a tensor that retains it, beside another."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from operator import setitem
from typing import Any

from jaxflow._core.commit import (
    Overtaken,
    all_at_epochs,
    all_equal,
    commit_parts,
    rows_called,
    stores,
    with_grads,
)
from jaxflow._core.fields import grad_stores
from jaxflow._core.geometry import contiguous_strides, is_non_overlapping_and_dense
from jaxflow._core.layouts import HANDLERS, has_parts, parts_rows
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.traces import MET, refuse_leak
from jaxflow._core.value import Value
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply, share, strides_of
from jaxflow._dispatch.viewing import is_inference
from jaxflow._exec.buffer_reuse import expect
from jaxflow._exec.run import run
from jaxflow._exec.undo import grads_rows
from jaxflow._plans.op import OPS
from jaxflow._plans.plan import NoneKind
from jaxflow._shapes.plan_cache import kept
from jaxflow._transforms.batching import axes_of
from jaxflow._views.values import value_of
from jaxflow._writes.inplace import check_writable
from jaxflow._writes.writes import rows_of


def add(a: Tensor | Value, b: Tensor | Value) -> Tensor | Value:
    """The sum of two cotangents: a Value if both are."""
    if isinstance(a, Value) and isinstance(b, Value):
        return run(kept(OPS["add"], ((), None, a.aval, b.aval, NoneKind)), [a, b])[0]
    if HANDLERS and (has_parts(a) or has_parts(b)):
        return HANDLERS["add_gradients"](_as_tensor(a), _as_tensor(b))
    return apply(OPS["add"], (_as_tensor(a), _as_tensor(b), None))


def _as_tensor(x: Tensor | Value) -> Tensor:
    return make(x) if isinstance(x, Value) else x


def without_history(x: Tensor | Value) -> Tensor:
    """A fresh tensor with the same Value: immutable, so it need not be copied."""
    if has_parts(x):
        return HANDLERS["taken"](x)
    return make(x if isinstance(x, Value) else value_of(x))


def check_takes(variable: Tensor, grad: Tensor | Value) -> bool:
    """Whether ``variable`` still takes gradients. RuntimeError for those of several examples of a vmap."""
    if not variable._requires_grad:
        return False  # it was cut off the graph since
    if HANDLERS and (has_parts(grad) or has_parts(variable)):
        return True
    value = grad if isinstance(grad, Value) else value_of(grad)
    if value.__class__ is not Value and any(id(variable) not in axis.leaves for axis in axes_of(value)):
        raise RuntimeError(
            "vmap: backward() inside of vmap cannot accumulate into the .grad of a tensor from outside, "
            "which has no place for one gradient per example. Use torch.func.grad or "
            "torch.autograd.grad and return the gradients."
        )
    return True


def run_post_accumulate_hooks(variable: Tensor) -> None:
    """Call what waits for this leaf's gradient; as in PyTorch also when none came."""
    hooks = variable._hooks
    if hooks is not None:
        for hook in list(hooks.get("post_accumulate", {}).values()):
            if hook(variable) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")


_NONE = repeat(None)


class Publication:
    """What a pass has found and not stored yet: gradients of leaves, retained ones, and freed nodes.

    NOTE [A pass publishes at its end]
        Every ``.grad`` that a pass changes, and every node that it frees, is stored by one call at the end
        (NOTE [One C call]), so an interrupted ``backward()`` has done all of it or nothing. Where a hook or a
        custom Function looks at a ``.grad`` in the middle of it, what was found so far is stored first; and
        where a hook or a node raises, what was found before, as in PyTorch.
    """

    __slots__ = ("_freed", "_leaves", "_retained", "create_graph")

    def __init__(self, create_graph: bool) -> None:
        self.create_graph = create_graph
        # What is stored leaves its list in the same call. Until then it is there for whoever publishes next,
        # and so is what is appended while a finalizer publishes: the lists stay the same.
        self._leaves: list[tuple[Tensor, Tensor | Value]] = []
        self._retained: list[tuple[Tensor, Tensor]] = []
        self._freed: list = []  # nodes

    def leaf(self, variable: Tensor, grad: Tensor | Value) -> None:
        """``variable`` gets ``grad``."""
        self._leaves.append((variable, grad))

    def retained(self, t: Tensor, grad: Tensor) -> None:
        """``t``, which retains its grad, gets ``grad``."""
        self._retained.append((t, grad))

    def freed(self, node: Any) -> None:
        """``node`` refers no more to what it saved."""
        self._freed.append(node)

    def publish(self) -> None:
        """Store all of it; again from the present state if somebody else changed a ``.grad`` meanwhile."""
        while self._leaves or self._retained or self._freed:
            if state.grad is not self.create_graph:  # a hook or a finalizer looks, in a mode of its own
                Changed(state, grad=self.create_graph).run(self.publish)
                return
            lists = self._leaves, self._retained, self._freed
            copies = [found[:] for found in lists]
            unchanged = all_equal(map(len, lists), list(map(len, copies)))
            try:
                self._publish(lists, unchanged, *_first_round(*copies))
            except Overtaken:
                continue

    def _publish(self, lists: tuple, condition: Iterable, *part: list) -> None:
        """Store a ``part`` of each of the ``lists``, which is how it begins, if the ``condition`` holds."""
        leaves, retained, freed = part
        found = _Stores()
        for variable, grad in leaves:
            _add_to_grad(found, variable, grad, self.create_graph)
        for t, grad in retained:
            _retain(found, t, grad)
        held = [(node._inputs, node._guards) for node in freed]  # kept until the call is over
        stored = list(map(slice, map(len, part)))
        found.commit(
            condition, stores(freed, "_inputs", _NONE), stores(freed, "_guards", _NONE),
            map(setitem, lists, stored, repeat(())),
        )
        del held


def _first_round(leaves: list, retained: list, freed: list) -> tuple[list, list, list]:
    """The first of them, so that no leaf comes twice: two threads may each have made it an accumulator."""
    seen: set[int] = set()
    for n, (variable, _) in enumerate(leaves):
        if id(variable) in seen:
            return leaves[:n], [], []
        seen.add(id(variable))
    return leaves, retained, freed


class _Stores:
    """What is to be stored, and what has to be as it was when it was computed."""

    def __init__(self) -> None:
        self.rows: list[tuple] = []
        self.storages: list = []
        self.epochs: list[int] = []
        self.owners: list[Tensor] = []
        self.before: list[Tensor | None] = []
        self.new: list[Tensor] = []
        self.written: dict[int, Value] = {}  # what storages will hold that several gradients are views of
        self.copies: list[tuple] = []  # into memory that others may read: they come last
        self.other: list[tuple] = []  # (owner, its .grad before, the new one), where a layout is not strided
        self.parts: list[tuple] = []  # (storage, its epoch, its parts from now on)

    def grad(self, owner: Tensor, before: Tensor | None, new: Tensor) -> None:
        """``owner.grad`` becomes ``new``."""
        self.owners.append(owner)
        self.before.append(before)
        self.new.append(new)

    def other_grad(self, owner: Tensor, before: Tensor | None, new: Tensor) -> None:
        """`grad`, where one of the two has another layout than strided."""
        self.other.append((owner, before, new))

    def write_parts(self, target: Tensor, result: Tensor, epoch: int) -> None:
        """`write`, of a tensor of another layout."""
        self.parts.append((target._storage, epoch, result._storage.parts))

    def write(self, target: Tensor, result: Tensor, epoch: int) -> None:
        """``target`` shows ``result``."""
        self.storages.append(target._storage)
        self.epochs.append(epoch)
        self.rows += rows_of(target, result, epoch, written=self.written, copies=self.copies)

    def commit(self, condition: Iterable, *more: Iterable) -> None:
        """Store all, and ``more``, if the ``condition`` holds too."""
        held: list = [s.value for s in self.storages]
        beside: tuple = ()  # further conditions
        if self.other:
            owners, before, new = zip(*self.other)
            beside, more = (with_grads(owners, before),), (*more, grad_stores(owners, new))
        if self.parts:
            storages, epochs, parts = zip(*self.parts)
            beside = (*beside, all_at_epochs(storages, list(epochs)))
            held += [s.parts for s in storages]
            self.rows += [row for s, new in zip(storages, parts) for row in parts_rows(s, new)]
        if self.new:
            self.rows += grads_rows(self.owners, self.before, [t._storage.value for t in self.new])
        commit_parts(
            condition, all_at_epochs(self.storages, self.epochs), with_grads(self.owners, self.before),
            *beside,
            rows_called(self.rows), grad_stores(self.owners, self.new), *more, rows_called(self.copies),
        )
        del held


def _add_to_grad(found: _Stores, variable: Tensor, grad: Any, create_graph: bool) -> None:
    """``variable.grad += grad``; PyTorch's rules for when the old ``.grad`` object is kept.

    Without ``create_graph`` an existing ``.grad`` is changed in place; with it, replaced by a new sum
    that has history.
    """
    before = variable._grad
    if HANDLERS and (has_parts(grad) or has_parts(before)):
        _add_other(found, variable, before, _as_tensor(grad), create_graph)
        return
    if before is None:
        if (grad.aval if grad.__class__ is Value else _as_tensor(grad)._aval).shape != variable._aval.shape:
            grad = _copied_into(variable, _as_tensor(grad))
        if MET:
            refuse_leak(variable, value_of(_as_tensor(grad)), "the .grad of a tensor")
        if not (create_graph and grad._requires_grad) and variable._stride is None:
            new = without_history(grad)  # the usual case, in the usual layout
            found.owners.append(variable)
            found.before.append(None)
            found.new.append(new)
            expect(new)
            return
    grad = _as_tensor(grad)
    if before is None:
        new = grad if create_graph and grad._requires_grad else without_history(grad)
        stride = _contract(variable)
        if new is grad:  # PyTorch copies it into the variable's layout, or clones it into row order
            gaps = stride != strides_of(variable)
            new = share(OPS["clone"], grad) if gaps else apply(
                OPS["_copy"], (make(value_of(grad)), grad)
            )
        new._stride = None if stride == contiguous_strides(variable._aval.shape) else stride
        found.grad(variable, None, new)
        return
    epoch = before._storage.epoch
    usual = _as_agreed(before, variable)
    if state.grad:
        found.grad(variable, before, add(before, grad))
    elif usual and before._aval is grad._aval and not is_inference(before):
        found.write(before, add(before, grad), epoch)
    else:
        check_writable(before, before._requires_grad, (before, grad))
        found.write(before, apply(OPS["add"], (before, grad, None), (), before._aval), epoch)
    if not usual:
        warn_once(
            "grad and param do not obey the gradient layout contract. This is not an error, but "
            "may impair performance."
        )


def _add_other(found: _Stores, variable: Tensor, before: Tensor | None, grad: Tensor,
               create_graph: bool) -> None:
    """`_add_to_grad` where a gradient is sparse: a sum of sparse ones is sparse, any other is dense.

    A ``.grad`` object is kept where its layout is that of the sum.
    """
    if before is None:
        found.other_grad(variable, None,
                         grad if create_graph and grad._requires_grad else without_history(grad))
        return
    epoch, total = before._storage.epoch, add(before, grad)
    if state.grad:
        found.other_grad(variable, before, total)
    elif has_parts(before) and has_parts(total):
        found.write_parts(before, without_history(total), epoch)
    elif has_parts(before) or before._aval is not total._aval:
        found.other_grad(variable, before, without_history(total))
    else:
        found.write(before, total, epoch)


def _copied_into(variable: Tensor, grad: Tensor) -> Tensor:
    """What a leaf without a ``.grad`` gets whose shape has changed: PyTorch copies into one like the leaf.

    Of a leaf that has gaps, or shows elements twice, it takes the gradient as it is. RuntimeError where
    ``grad`` does not broadcast to the leaf's shape.
    """
    aval = variable._aval
    if not is_non_overlapping_and_dense(aval.shape, strides_of(variable)):
        return grad
    return apply(OPS["_copy"], (apply(OPS["_full"], (0.0,), (aval.shape, aval.dtype, aval.device)), grad))


def _as_agreed(grad: Tensor, variable: Tensor) -> bool:
    """Whether a ``.grad`` that is there lies as `_contract` says."""
    shape, other = grad._aval.shape, variable._aval.shape
    if shape == other:
        return grad._stride is variable._stride is None or strides_of(grad) == _contract(variable)
    wanted = strides_of(variable)
    if not is_non_overlapping_and_dense(other, wanted):
        return grad._stride is None
    given = strides_of(grad)
    return all(n == 1 or given[i:i + 1] == wanted[i:i + 1] for i, n in enumerate(shape))


def _contract(variable: Tensor) -> tuple[int, ...]:
    """The strides a leaf's ``.grad`` is given: its own where they leave no gaps, else contiguous ones."""
    shape, strides = variable._aval.shape, strides_of(variable)
    return strides if is_non_overlapping_and_dense(shape, strides) else contiguous_strides(shape)


def _retain(found: _Stores, t: Tensor, grad: Tensor) -> None:
    """Store (a second time: add) the cotangent of a non-leaf that called ``retain_grad()``."""
    before = t._grad
    if before is None:
        new = share(OPS["clone"], grad) if state.grad and not has_parts(grad) else without_history(grad)
    else:
        new = add(before, grad)
    if HANDLERS and (has_parts(new) or has_parts(before)):
        found.other_grad(t, before, new)
        return
    found.grad(t, before, new)
