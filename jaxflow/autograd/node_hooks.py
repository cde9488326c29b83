"""The user's hooks during a pass: in which order they run, and what they may return."""

from __future__ import annotations

from typing import Any

from jaxflow._core.graph import AccumulateGrad
from jaxflow._core.tensor import Tensor

from .accumulate import Publication
from .grad_dtype import in_grad_dtype
from .wording import type_name


def on_arrival(node, cotangents: list, found: Publication) -> list:
    """Hooks of the tensors a node made, in order of registration; then those grads are retained."""
    hooks = node._tensor_hooks
    if hooks:
        cotangents = list(cotangents)
        if node.__class__ is AccumulateGrad:
            cotangents[0] = in_grad_dtype(node.variable, cotangents[0])
        for number, table in list(hooks.items()):
            for hook in list(table.values()):
                changed = hook(cotangents[number])
                if changed is not None:
                    cotangents[number] = _accepted(hook, cotangents[number], changed)
    if node._retained:
        for number, ref in node._retained.items():
            tensor = ref()
            if tensor is not None and cotangents[number] is not None:
                found.retained(tensor, cotangents[number])
    return cotangents


def before(node, cotangents: list) -> list:
    """The node's own pre-hooks; not run where the pass only looks at what arrives."""
    for hook in list(node._pre_hooks.values()):
        cotangents = _all_accepted(hook, cotangents, hook(tuple(cotangents)))
    return cotangents


def after(node, grads, cotangents: list) -> list:
    """The node's post-hooks: they see a gradient for each of ``next_functions``."""
    plan = node._plan if not node._is_python and node.next_functions else None
    grads = list(grads) if grads is not None else [None] * len(node._edges)
    shown = grads if plan is None else [grads[i] for i in plan.edge_inputs]
    for hook in list(node._post_hooks.values()):
        shown = _all_accepted(hook, shown, hook(tuple(shown), tuple(cotangents)))
    if plan is None:
        return shown
    for i, grad in zip(plan.edge_inputs, shown, strict=True):
        grads[i] = grad
    return grads


def _all_accepted(hook, given: list, changed: Any) -> list:
    """What one hook on a node made of its tuple. TypeError or RuntimeError where PyTorch raises them."""
    if changed is None:
        return given
    if not isinstance(changed, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(changed).__name__}'")
    if len(changed) != len(given):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(changed)}, but "
            f"expected {len(given)})"
        )
    return [
        None if new is None else _accepted(hook, old, new)
        for old, new in zip(given, changed, strict=True)
    ]


def _accepted(hook, given: Tensor | None, changed: Any) -> Tensor:
    if not isinstance(changed, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(changed).__name__}'")
    if given is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if changed._aval.shape != given._aval.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    if changed._aval.dtype is not given._aval.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {type_name(given._aval)} got "
            f"{type_name(changed._aval)})"
        )
    return changed


def _name(hook) -> str:
    return getattr(hook, "__name__", "<unknown>")
