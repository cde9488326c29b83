"""The engine: one iterative walk over the recorded graph, from cotangents of roots to gradients.

NOTE [Order of the walk]
    A node runs when every cotangent it will ever get has arrived; among those ready, the one recorded
    last runs first, and gradient accumulators before anything else, in the order they became ready (the
    same in every step, or steps would compile anew). Nothing recurses, so a chain of any
    length works; every node and edge is touched a constant number of times.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any

from jaxflow._core.tensor import Tensor, make
from jaxflow._dispatch.door import apply_plan, value_of
from jaxflow._dispatch.graph import RESULT, AccumulateGrad, Node
from jaxflow._dispatch.op import OPS, TENSOR
from jaxflow._dispatch.state import state

from .accumulate import accumulate_grad, add, retain
from .wording import FREED, current_maker, overwritten, type_name

Edge = tuple[Any, int]


def run_backward(
    roots: list[tuple[Edge, Tensor]],
    *,
    retain_graph: bool,
    create_graph: bool,
    capture: list[Edge] | None = None,
    only: list[Edge] | None = None,
) -> list[Tensor | None]:
    """Walk the graph from ``roots`` (edge, cotangent).

    With ``capture``, return the cotangents arriving at those edges and accumulate nothing. With
    ``only``, accumulate into those edges alone. ``create_graph`` records the walk itself.
    """
    before = state.grad
    state.grad = create_graph
    callbacks = _callbacks.append([]) or _callbacks[-1]
    try:
        walk = _Walk(roots, retain_graph, create_graph, capture, only)
        results = walk.run()
        for callback in callbacks:
            callback()
        return results
    finally:
        _callbacks.pop()
        state.grad = before


# Functions queued during a pass (``queue_callback``), one list for each pass under way.
_callbacks: list[list] = []


class _Walk:
    """One pass: which nodes take part, what has arrived where, and who is ready."""

    def __init__(self, roots, retain_graph, create_graph, capture, only) -> None:
        self.keep, self.create_graph = retain_graph, create_graph
        self.roots = roots
        self.captured: dict[tuple[int, int], list[int]] = {}
        self.results: list[Tensor | None] = [None] * len(capture or ())
        for i, (node, number) in enumerate(capture or ()):
            self.captured.setdefault((id(node), number), []).append(i)
        self.pending, nodes = _dependencies([edge[0] for edge, _ in roots])
        targets = capture if capture is not None else only
        # None: every node runs. Otherwise only those that lead to a target, and (with ``only``) those.
        self.needed = None if targets is None else _leading_to(
            nodes, {id(n) for n, _ in targets}, run_targets=capture is None
        )
        self.capture_nodes = {key[0] for key in self.captured}

    def run(self) -> list[Tensor | None]:
        arrived: dict[Any, list] = {}
        for (node, number), cotangent in self.roots:
            _deposit(arrived, node, number, cotangent)
        ready: list = []
        order = itertools.count().__next__  # accumulators are all alike: first come, first served
        for node in arrived:
            if self.pending.get(node, 0) == 0:
                heapq.heappush(ready, (-node._sequence, order(), node))
        needed, pending = self.needed, self.pending
        while ready:
            node = heapq.heappop(ready)[2]
            cotangents = arrived.pop(node, None) or [None] * node._num_outputs
            runs = needed is None or node in needed
            if runs and id(node) in self.capture_nodes:
                self._capture(node, cotangents)  # PyTorch's order: hooks change what goes on
            cotangents = self._before(node, cotangents)
            if runs:
                grads = self._apply(node, cotangents)
            else:
                self._capture(node, cotangents)
                grads = None
            for i, edge in enumerate(node._edges):
                if edge is None:
                    continue
                target, number = edge
                if grads is not None and grads[i] is not None:
                    _deposit(arrived, target, number, grads[i])
                left = pending[target] = pending[target] - 1
                if left == 0 and (needed is None or target in needed or (
                    id(target) in self.capture_nodes
                )):
                    heapq.heappush(ready, (-target._sequence, order(), target))
        return self.results

    def _before(self, node, cotangents: list) -> list:
        """Tensor hooks, node pre-hooks and retained grads, in PyTorch's order."""
        hooks = node._tensor_hooks
        if hooks:
            cotangents = list(cotangents)
            for number, table in list(hooks.items()):
                for hook in list(table.values()):
                    cotangents[number] = _call_tensor_hook(hook, cotangents[number])
        if node._pre_hooks:
            for hook in list(node._pre_hooks.values()):
                changed = hook(tuple(cotangents))
                if changed is not None:
                    cotangents = list(changed) if isinstance(changed, (tuple, list)) else [changed]
        if node._retained:
            for number, ref in node._retained.items():
                tensor = ref()
                if tensor is not None and cotangents[number] is not None:
                    retain(tensor, cotangents[number])
        return cotangents

    def _capture(self, node, cotangents: list) -> None:
        for number, cotangent in enumerate(cotangents):
            for i in self.captured.get((id(node), number), ()):
                self.results[i] = cotangent

    def _apply(self, node, cotangents: list):
        if isinstance(node, AccumulateGrad):
            if cotangents[0] is not None:
                accumulate_grad(node.variable, cotangents[0], self.create_graph)
            grads = ()
        elif node._is_python:
            grads = node._run(cotangents, self.keep)
        else:
            grads = self._pull_back(node, cotangents)
        if node._post_hooks:
            grads = _call_post_hooks(node, grads, cotangents)
        return grads

    def _pull_back(self, node: Node, cotangents: list) -> list | None:
        inputs = node._inputs
        if inputs is None:
            raise RuntimeError(FREED)
        if node._guards:
            _check_versions(node)
        plan, needs = node._plan, node._needs
        if True not in needs:  # of views that only require grad because their bases do
            if not self.keep:
                node._release()
            return None
        if len(cotangents) == 1:
            if cotangents[0] is None:
                return None
            vjp = plan.vjps.get((needs, None)) or plan.vjp(needs)
        else:
            diff = plan.diff_outputs
            defined = tuple(c is not None and d for c, d in zip(cotangents, diff))
            if not any(defined):
                return None
            vjp = plan.vjp(needs, None if defined == diff else defined)
            cotangents = [c for c, d in zip(cotangents, defined) if d]
        args: list = [inputs[i] for i in vjp.kept]
        if self.create_graph:
            args = [_with_history(x, node._edges[i]) for x, i in zip(args, vjp.kept)]
        args += cotangents
        found = apply_plan(vjp.plan, args)
        if not self.keep:
            node._release()
        if len(found) == len(needs):
            return found
        grads: list = [None] * len(needs)
        for i, grad in zip(vjp.wanted, found):
            grads[i] = grad
        return grads


def _with_history(kept, edge: Edge | None):
    """A kept input as the Tensor it was: with ``create_graph`` its own gradient is wanted too."""
    if edge is None or kept is None or isinstance(kept, (bool, int, float, complex)):
        return kept
    if isinstance(kept, Tensor):  # a dual: NOTE [Duals]
        t = make(value_of(kept))
        t._tangents = kept._tangents
    else:
        t = make(kept)
    t._grad_fn, t._output_nr, t._requires_grad = edge[0], edge[1], True
    return t


def _dependencies(roots: list) -> tuple[dict, list]:
    """How many cotangents each reachable node waits for, and the nodes in discovery order."""
    pending: dict = {}
    seen = set()
    nodes = []
    stack = []
    for root in roots:
        if root not in seen:
            seen.add(root)
            stack.append(root)
    while stack:
        node = stack.pop()
        nodes.append(node)
        for edge in node._edges:
            if edge is not None:
                target = edge[0]
                pending[target] = pending.get(target, 0) + 1
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
    return pending, nodes


def _leading_to(nodes: list, targets: set[int], *, run_targets: bool) -> set:
    """The nodes that must run so that the targets get their cotangents."""
    parents: dict = {}
    found = []
    for node in nodes:
        if id(node) in targets:
            found.append(node)
        for edge in node._edges:
            if edge is not None:
                parents.setdefault(edge[0], []).append(node)
    needed = set(found) if run_targets else set()
    stack = list(found)
    while stack:
        for parent in parents.get(stack.pop(), ()):
            if parent not in needed:
                needed.add(parent)
                stack.append(parent)
    return needed


def _deposit(arrived: dict, node, number: int, cotangent: Tensor) -> None:
    slots = arrived.get(node)
    if slots is None:
        slots = arrived[node] = [None] * node._num_outputs
    before = slots[number]
    slots[number] = cotangent if before is None else add(before, cotangent)


def _check_versions(node: Node) -> None:
    """Refuse to use what was overwritten since it was saved, in PyTorch's words."""
    if any(cell[0] != version for cell, version, _, _, _ in node._guards):
        _refuse_overwritten(node)


def _refuse_overwritten(node: Node) -> None:
    for cell, version, aval, edge, view in _as_unpacked(node):
        if cell[0] != version:
            if edge is RESULT:
                maker = (view is not None and view.maker()) or node.name()
            else:
                if view is not None:
                    view.check()
                maker = current_maker(cell, edge)
            raise overwritten(aval, maker, 0, cell, version)


def _as_unpacked(node: Node) -> list[tuple]:
    """The guards in the order PyTorch looks at what it saved: that of its names, ``self`` for ``input``."""
    op = OPS.get(node._plan.name)
    names = [] if op is None else [p.name for p in op.params if p.kind == TENSOR]
    inputs = [g for g in node._guards if g[3] is not RESULT]
    if len(names) != len(inputs):
        return node._guards
    named = [("self" if name == "input" else name, g) for name, g in zip(names, inputs)]
    named += [("result", g) for g in node._guards if g[3] is RESULT]
    return [g for _, g in sorted(named, key=lambda pair: pair[0])]


def _call_tensor_hook(hook, cotangent):
    changed = hook(cotangent)
    if changed is None:
        return cotangent
    if not isinstance(changed, Tensor):
        raise TypeError(
            f"expected Variable, but hook returned '{type(changed).__name__}'"
        )
    if cotangent is not None:
        if changed._aval.shape != cotangent._aval.shape:
            raise RuntimeError("hook '{}' has changed the size of value".format(
                getattr(hook, "__name__", "<unknown>")))
        if changed._aval.dtype is not cotangent._aval.dtype:
            raise RuntimeError("hook '{}' has changed the type of value (was {} got {})".format(
                getattr(hook, "__name__", "<unknown>"),
                type_name(cotangent._aval), type_name(changed._aval)))
    return changed


def _call_post_hooks(node, grads, cotangents):
    inputs = tuple(grads) if grads is not None else (None,) * len(node._edges)
    for hook in list(node._post_hooks.values()):
        changed = hook(inputs, tuple(cotangents))
        if changed is None:
            continue
        if not isinstance(changed, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type(changed).__name__}'")
        if len(changed) != len(inputs):
            raise RuntimeError(
                f"hook '{getattr(hook, '__name__', '<unknown>')}' has returned an incorrect number "
                f"of values (got {len(changed)}, but expected {len(inputs)})"
            )
        inputs = changed
    return list(inputs)
