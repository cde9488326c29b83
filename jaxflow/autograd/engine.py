"""The engine: one iterative walk over the recorded graph, from cotangents of roots to gradients.

A node runs when every cotangent it will ever get has arrived; among those ready, the one recorded
last runs first, and gradient accumulators before anything else, in the order they became ready (the
same in every step, or steps would compile anew). Nothing recurses, so a chain of any
length works; every node and edge is touched a constant number of times.

NOTE [Cotangents without tensors]
    In a pass that only adds to leaves and records no graph of its own, a cotangent that an operation yields
    is a bare Value, for nobody sees it: one that a hook or a user's function gets becomes a tensor there,
    and what those return stays one.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core.fields import RESHAPED, init_history, init_requires_grad
from jaxflow._core.graph import FIRST, RESULT, AccumulateGrad, HeldResult, Node
from jaxflow._core.layouts import HANDLERS, among
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._dispatch.dispatch import apply_plan, run_plan
from jaxflow._dispatch.saved_tensors import FREED, Packed, vjp_from_results
from jaxflow._dispatch.shared_operands import as_they_are, to_look
from jaxflow._transforms.vjp import vjp_of
from jaxflow._views.history import DETACHED, ELSEWHERE, Guarded, detached_in_place
from jaxflow._views.values import value_of

from . import anomaly_mode, node_hooks
from .accumulate import Publication, add, check_takes, run_post_accumulate_hooks
from .shapes import in_their_shapes, roots_in_their_shapes
from .silent import read_silently
from .version_checks import refuse_overwritten

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
    def walk() -> list[Tensor | None]:
        publish_open()
        before, outer = state.grad, _passes.open
        starts = roots_in_their_shapes(roots) if RESHAPED[0] else roots
        this = _Walk(starts, retain_graph, create_graph, capture, only)
        try:
            try:
                state.grad = create_graph
                _passes.open = (*outer, this)
                results = this.run()
                for callback in this.callbacks:  # which may queue more
                    callback()
                return results
            except (MemoryError, RecursionError):
                raise  # they may come from anywhere, as an interrupt
            except Exception:
                if not this.cut_off:  # as in PyTorch, what a hook or node refuses leaves what came before it
                    this.found.publish()
                raise
            finally:
                state.grad = before
                _passes.open = outer
        except BaseException:  # an interrupt may have come in between: NOTE [Modes and interrupts]
            state.grad = before
            _passes.open = outer
            raise

    return walk() if len(_passes.open) < _DEEP else _in_new_thread(walk)


class _Passes(threading.local):
    """The passes under way in a thread, the innermost last."""

    open: tuple[_Walk, ...] = ()


_passes = _Passes()


def publish_open() -> None:
    """Store what the passes under way in this thread have found so far: somebody looks at a ``.grad``."""
    for walk in _passes.open:
        walk.found.publish()


def lone_pass(create_graph: bool) -> _Walk:
    """A pass without roots that keeps the graph: to run single nodes."""
    return _Walk([], True, create_graph, None, None)


def current_pass() -> _Walk:
    """The innermost pass under way in this thread."""
    return _passes.open[-1]


def queue_callback(callback: Callable) -> None:
    """Call ``callback()`` at the end of the pass under way. RuntimeError outside of one."""
    if not _passes.open:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    _passes.open[-1].callbacks.append(callback)


# NOTE [Passes in passes]: so many backward passes inside each other run in one thread. Deeper ones get a
# thread of their own, which starts with an empty stack and goes on in the state of the one that waits.
_DEEP = 20


def _in_new_thread(work: Callable) -> Any:
    mine, found, failed = dict(state.__dict__), [], []

    def run() -> None:
        state.__dict__.update(mine)
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="jaxflow-backward")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


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
        self.callbacks: list[Callable] = []  # to be called at the end
        self.found = Publication(create_graph)
        self.bare = False  # NOTE [Cotangents without tensors]
        self.cut_off = False  # whether an operation of a node's backward could not be run

    def will_run(self, node) -> bool:
        """Whether this node gets a cotangent in this pass. RuntimeError for leaf inputs of `grad`."""
        if node.__class__ is AccumulateGrad and id(node) in self.capture_nodes:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running "
                "autograd.grad(). This is currently not supported."
            )
        if self.needed is None:
            return node in self.pending or any(node is edge[0] for edge, _ in self.roots)
        return node in self.needed or id(node) in self.capture_nodes

    def run(self) -> list[Tensor | None]:
        arrived: dict[Any, list] = {}
        for (node, number), cotangent in self.roots:
            _deposit(arrived, node, number, cotangent)
        ready: list = []
        order = itertools.count().__next__  # accumulators are all alike: first come, first served
        needed, pending = self.needed, self.pending
        alone = len(self.roots) == 1  # the hooks of such a root run even where it leads nowhere
        for node in arrived:
            if pending.get(node, 0) == 0 and (
                needed is None or alone or node in needed or id(node) in self.capture_nodes
            ):
                heapq.heappush(ready, (_turn(node), order(), node))
        watched = anomaly_mode.is_anomaly_enabled()
        apply = self._apply_watched if watched else self._apply
        shortcut = needed is None and not watched
        self.bare = shortcut and not (self.create_graph or LEVELS)
        while ready:
            node = heapq.heappop(ready)[2]
            cotangents = arrived.pop(node, None) or [None] * node._num_outputs
            runs = needed is None or node in needed
            if runs:
                if id(node) in self.capture_nodes:
                    self._capture(node, cotangents)  # PyTorch's order: hooks change what goes on
                grads = apply(node, cotangents)
            else:
                self._capture(node, node_hooks.on_arrival(node, cotangents, self.found))
                grads = None
            direct = shortcut  # until somebody becomes ready in this loop
            for i, edge in enumerate(node._edges):
                if edge is None:
                    continue
                target, number = edge
                left = pending[target] = pending[target] - 1
                grad = None if grads is None else grads[i]
                if grad is not None:
                    if left == 0 and direct and target.__class__ is AccumulateGrad and (
                        target not in arrived and target._is_plain
                    ):
                        self._accumulate(target.variable, grad)  # it would be the next to run
                        continue
                    _deposit(arrived, target, number, grad)
                if left == 0 and (needed is None or target in needed or (
                    id(target) in self.capture_nodes
                )):
                    direct = False
                    heapq.heappush(ready, (_turn(target), order(), target))
        self.found.publish()
        return self.results

    def _accumulate(self, variable: Tensor, grad: Tensor | Value) -> bool:
        """Note that a leaf gets ``grad``; False if it takes none any more."""
        if not check_takes(variable, grad):
            return False
        self.found.leaf(variable, grad)
        return True

    def _capture(self, node, cotangents: list) -> None:
        for number, cotangent in enumerate(cotangents):
            for i in self.captured.get((id(node), number), ()):
                self.results[i] = cotangent

    def _apply(self, node, cotangents: list):
        if node._tensor_hooks or node._retained:
            cotangents = node_hooks.on_arrival(node, _as_tensors(cotangents), self.found)
        if node._pre_hooks:
            cotangents = node_hooks.before(node, _as_tensors(cotangents))
        grads = self.evaluate(node, cotangents)
        if RESHAPED[0] and grads:
            grads = in_their_shapes(node, grads)
        if node._post_hooks:
            grads = node_hooks.after(node, grads and _as_tensors(grads), _as_tensors(cotangents))
        return grads

    def _apply_watched(self, node, cotangents: list):
        """`_apply` in anomaly mode."""
        before = state.evaluating
        try:
            state.evaluating = node
            grads = self._apply(node, cotangents)
            if grads and anomaly_mode.is_anomaly_check_nan_enabled():
                anomaly_mode.check(node, grads)
        except BaseException:
            anomaly_mode.report(node)
            raise
        finally:
            state.evaluating = before
        return grads

    def evaluate(self, node, cotangents: list):
        """The gradients of a node's inputs; hooks are not its business."""
        if node.__class__ is AccumulateGrad:
            grad = cotangents[0]
            if grad is None or self._accumulate(node.variable, grad):
                run_post_accumulate_hooks(node.variable)
            return ()
        if node._is_python and (node._refused is None or self._leads_on(node._edges[node._refused])):
            if node._formula and node._inputs is None:
                raise RuntimeError(FREED)
            others = node._refused is not None and node._needs.count(True) > 1
            if node._guards and not node._at_once and (others or node._formula):
                self._check_versions(node)  # what is saved for others than the one that is refused
            found = node._run(_as_tensors(cotangents), self.keep)
            if node._formula:  # and does not refuse: it gives no gradient
                self._without_gradient(node)
            return found
        if HANDLERS and among(cotangents):  # operations take dense gradients
            return HANDLERS["through_operation"](node, cotangents, self._pull_back)
        return self._pull_back(node, cotangents)

    def _without_gradient(self, node: Node) -> None:
        """A node that nothing arrived at is done with, like any other."""
        if not self.keep and node._inputs is not None and node._saves_something:
            self.found.freed(node)

    def _check_versions(self, node: Node) -> None:
        """Refuse to use what was overwritten since it was saved, in PyTorch's words."""
        changed = [edge for cell, version, _, edge, _ in node._guards if cell[0] != version]
        if DETACHED.data:  # checked for each node: the mapping's own `bool` is Python code
            changed += [edge for _, _, _, edge, _ in node._guards if detached_in_place(edge)]
        if changed and (not node._plan.name.endswith("_vjp") or any(map(self._leads_on, changed))):
            refuse_overwritten(node)

    def _leads_on(self, edge) -> bool:
        """Whether this walk needs a cotangent there.

        The node of a recorded walk is several in PyTorch: what another of those saved is not looked at.
        """
        return self.needed is None or edge.__class__ is not tuple or edge[0] in self.needed or (
            id(edge[0]) in self.capture_nodes
        )

    def _pull_back(self, node: Node, cotangents: list) -> list | None:
        inputs = node._inputs
        if inputs is None:
            raise RuntimeError(FREED)
        results: dict = {}
        if node._guards:
            self._check_versions(node)
            if node._guards.__class__ is Packed:
                inputs, results = node._guards.unpack(node)
            elif to_look(node):
                inputs = as_they_are(node, inputs)
        plan, needs = node._plan, node._needs
        if True not in needs:  # of views that only require grad because their bases do
            return self._without_gradient(node)
        if len(cotangents) == 1:
            if cotangents[0] is None:
                return self._without_gradient(node)
            vjp = plan.vjps.get((needs, None)) or vjp_of(plan, needs)
        else:
            diff = plan.diff_outputs
            cotangents = [*cotangents, *(None,) * (len(diff) - len(cotangents))]
            defined = tuple(c is not None and d for c, d in zip(cotangents, diff))
            if not any(defined) or node._without_effect is not None and _has_no_effect(node, defined):
                return self._without_gradient(node)
            vjp = vjp_of(plan, needs, None if defined == diff else defined)
            cotangents = [c for c, d in zip(cotangents, defined) if d]
        if results:
            vjp = vjp_from_results(plan, needs, vjp.defined, tuple(results))
            inputs = [*inputs, *results.values()]
        args: list = [inputs[i] for i in vjp.vjp_inputs]
        try:
            if self.bare and not LEVELS:
                found = run_plan(vjp.plan, args + cotangents)
            elif self.create_graph:
                found = self._recorded(node, vjp, args, cotangents, results)
            else:
                found = apply_plan(vjp.plan, args + _as_tensors(cotangents))
        except Exception:
            self.cut_off = True
            raise
        if not self.keep and node._saves_something:  # NOTE [Freed graphs]
            self.found.freed(node)
        if len(found) == len(needs):
            return found
        grads: list = [None] * len(needs)
        for i, grad in zip(vjp.wanted, found):
            grads[i] = grad
        return grads

    def _recorded(self, node: Node, vjp: Any, args: list, cotangents: list, results: dict) -> tuple:
        """What a node's backward yields for its kept inputs and the cotangents, with a history."""
        plan = node._plan
        beside = results or plan.residual_outputs
        edges = node._edges if not beside else [
            *node._edges, *((node, k) if plan.diff_outputs[k] else None for k in beside)]
        args = [_with_history(x, edges[i]) for x, i in zip(args, vjp.vjp_inputs)]
        guards = node._guards
        if guards and guards.__class__ is not Packed:
            _stand_for(node, args, vjp.vjp_inputs)
        found = apply_plan(vjp.plan, args + cotangents)
        if guards:
            _pass_on_guards(guards, found)
        if vjp.silent:
            read_silently(plan, vjp, edges, found)
        return found


def _has_no_effect(node: Node, defined: tuple[bool, ...]) -> bool:
    """Whether gradients are there of such results alone from which PyTorch's formula gets none."""
    without = node._without_effect(node._plan.out_avals)
    return not any(d for k, d in enumerate(defined) if k not in without)


def _stand_for(node: Node, args: list, kept: tuple) -> None:
    """Let kept inputs, ``args``, stand for the tensors they were: writes to those count for them too."""
    guards = [g for g in node._guards if g[3] is not RESULT and g[3].__class__ is not HeldResult]
    cells = {id(edge): cell for cell, _, _, edge, _ in guards if edge is not None}
    for at, i in enumerate(kept):
        edge = node._edges[i] if i < len(node._edges) else None
        if id(edge) in cells and isinstance(args[at], Tensor):
            args[at]._storage.version = cells[id(edge)]
        elif edge is None and args[at].__class__ is Value and any(_of_view(g, args[at].aval) for g in guards):
            args[at] = make(args[at])
            init_requires_grad(args[at])  # though no gradient goes anywhere from it


def _of_view(guard: tuple, aval) -> bool:
    """Whether it guards a view that requires grad without a history of its own, of this aval."""
    _, _, shape, edge, view = guard
    return edge is None and shape is aval and view.__class__ is Guarded and view.base_requires_grad()


def _pass_on_guards(guards, found) -> None:
    """Store with a node that a recorded walk made what the walked node stores about the views both keep.

    It refuses what the walked one refuses, and finds the views where they lie: NOTE [Unseen writes].
    """
    views = [guard for guard in guards if guard[4] is not None]
    node = next((t._grad_fn for t in found if t._grad_fn is not None), None) if views else None
    if node is not None and node._guards:
        special = {id(guard[0]): guard[4] for guard in views if guard[4].__class__ is Guarded}
        places = {(id(guard[0]), guard[3]): guard[4] for guard in guards if guard[3].__class__ is tuple}
        unknown = {id(guard[0]): ELSEWHERE for guard in views}

        def passed_on(guard: tuple) -> Any:
            cell, edge, where = id(guard[0]), guard[3], guard[4]
            if where is None and edge.__class__ is tuple:
                where = places.get((cell, edge), unknown.get(cell))
            return special.get(cell, where)

        node._guards[:] = [(*guard[:4], passed_on(guard)) for guard in node._guards]


def _with_history(kept, edge: Edge | None):
    """A kept input as the Tensor it was: with ``create_graph`` its own gradient is wanted too."""
    if edge is None or kept is None or isinstance(kept, (bool, int, float, complex)):
        return kept
    if isinstance(kept, Tensor):  # a dual: NOTE [Duals]
        t = make(value_of(kept))
        t._tangents = kept._tangents
    else:
        t = make(kept)
    init_history(t, edge[0], edge[1])
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


def _as_tensors(cotangents: Sequence) -> list:
    return [make(c) if isinstance(c, Value) else c for c in cotangents]


def _turn(node: Any) -> int:
    """What is the smaller, the sooner a node runs that is ready: those made last before others."""
    return -FIRST if node._at_once else -node._sequence


def _deposit(arrived: dict, node, number: int, cotangent: Tensor | Value) -> None:
    slots = arrived.get(node)
    if slots is None:
        outputs = node._num_outputs
        if outputs == 1:
            arrived[node] = [cotangent]
            return
        slots = arrived[node] = [None] * outputs
    before = slots[number]
    slots[number] = cotangent if before is None else add(before, cotangent)
