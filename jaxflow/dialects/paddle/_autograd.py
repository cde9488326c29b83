"""``backward`` and ``grad`` as Paddle has them, over jaxflow's engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jaxflow
from jaxflow import Tensor, autograd
from jaxflow.autograd.graph import get_gradient_edge

from ._places import DIALECT


def shown_open(t: Any) -> Any:
    """Let a tensor without history say ``stop_gradient=False``, as Paddle's gradients do."""
    DIALECT.wrap(t)
    if isinstance(t, Tensor) and not t.requires_grad:
        t.__dict__["_open"] = True
    return t


def several(tensors: Any, name: str) -> list[Tensor]:
    """One tensor, or a list or tuple of them, as a list. Raises TypeError for anything else."""
    found = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    for t in found:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name} must be a paddle.Tensor or a list of them, but got {type(t).__name__}")
    return found


def _cotangents(roots: list, given: Any, name: str) -> list[Tensor]:
    """A cotangent for each root: ones where none is given."""
    if given is None:
        given = [None] * len(roots)
    elif isinstance(given, Tensor):
        given = [given]
    if len(given) != len(roots):
        raise ValueError(f"{name} must be as many as the tensors: got {len(given)} for {len(roots)}")
    return [
        jaxflow.ones_like(root).detach() if g is None else g for root, g in zip(roots, given, strict=True)
    ]


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False) -> None:
    """Add the gradients of ``tensors`` to the ``.grad`` of the leaves they were computed from.

    Args:
        tensors: one tensor or several, none of them twice. Those with ``stop_gradient`` are passed over.
        grad_tensors: a cotangent for each, of its shape; None is a tensor filled with 1.
        retain_graph: keep what backward needs for another pass.

    Raises:
        ValueError: when there are not as many cotangents as tensors.
        AssertionError: for the same tensor twice.
    """
    roots = several(tensors, "tensors")
    if len({id(t) for t in roots}) != len(roots):
        raise AssertionError(
            "The argument 'tensors' of paddle.autograd.backward contains duplicate paddle.Tensor object."
        )
    cotangents = _cotangents(roots, grad_tensors, "grad_tensors")
    pairs = [(t, g) for t, g in zip(roots, cotangents) if t.requires_grad]
    if pairs:
        autograd.backward([t for t, _ in pairs], [g for _, g in pairs], retain_graph)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Tensor | None]:
    """The sum of gradients of ``outputs`` with respect to each of ``inputs``; no ``.grad`` changes.

    Args:
        outputs, inputs: a tensor or several.
        grad_outputs: a cotangent for each output; None is a tensor filled with 1.
        retain_graph: keep the graph for another pass; None means as ``create_graph``.
        create_graph: record the walk, so that the gradients can be differentiated.
        only_inputs: must be True.
        allow_unused: give None for an input that the outputs do not depend on, instead of raising.
        no_grad_vars: tensors through which no gradient flows.

    Raises:
        AssertionError: for ``only_inputs=False``.
        RuntimeError: for an input with ``stop_gradient``.
        ValueError: for an unused input.
    """
    if not only_inputs:
        raise AssertionError("only_inputs=False is not supported yet")
    roots, wanted = several(outputs, "outputs"), several(inputs, "inputs")
    cotangents = _cotangents(roots, grad_outputs, "grad_outputs")
    for i, t in enumerate(wanted):
        if not t.requires_grad:
            raise RuntimeError(f"There is no grad op for inputs:[{i}] or it's stop_gradient=True.")
    if no_grad_vars is None:
        closed = []
    else:
        closed = several(list(no_grad_vars) if isinstance(no_grad_vars, set) else no_grad_vars,
                         "no_grad_vars")
    pairs = [(t, g) for t, g in zip(roots, cotangents) if t.requires_grad]
    found: Sequence = [None] * len(wanted)
    hooks: list = []
    try:
        for t in closed:
            if t.requires_grad:
                hooks.append(t.register_hook(jaxflow.zeros_like))
        if pairs:
            found = autograd.grad(
                [t for t, _ in pairs], wanted, [g for _, g in pairs], retain_graph, create_graph,
                allow_unused=True,
            )
    finally:
        for hook in hooks:
            hook.remove()
    if closed:
        reached = _reached([t for t, _ in pairs], closed)
        found = [g if get_gradient_edge(t)[:2] in reached else None for t, g in zip(wanted, found)]
    for i, g in enumerate(found):
        if g is None and not allow_unused:
            raise ValueError(
                f"The {i}-th input does not appear in the backward graph. Please check the input tensor or "
                "set allow_unused=True to get None result."
            )
    return [shown_open(g) if create_graph else DIALECT.wrap(g) for g in found]


def _reached(roots: list[Tensor], closed: list[Tensor]) -> set[tuple]:
    """The places of the graph that the gradient of ``roots`` comes by when it stops at ``closed``."""
    stops = {get_gradient_edge(t)[:2] for t in closed if t.requires_grad}
    waiting = [get_gradient_edge(t)[:2] for t in roots]
    reached: set[tuple] = set()
    while waiting:
        place = waiting.pop()
        if place[0] is not None and place not in reached and place not in stops:
            reached.add(place)
            waiting += place[0].next_functions
    return reached


class HookRemoveHelper:
    """What ``register_hook`` returns: ``remove()`` takes the hook out, and says whether it was there."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def remove(self) -> bool:
        """Take the hook out; False the second time."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()
        return handle is not None


def register_hook(t: Tensor, hook: Callable) -> HookRemoveHelper:
    """Call ``hook(grad)`` whenever this tensor's gradient is computed; a returned tensor replaces it.

    Raises:
        RuntimeError: for a tensor with ``stop_gradient``.
    """
    if not t.requires_grad:
        raise RuntimeError("Cannot register hook on a tensor that stop gradient.")
    return HookRemoveHelper(Tensor.register_hook(t, lambda g: hook(shown_open(g))))
