"""``grad`` and ``vjp``: derivatives of functions by the engine, of any order.

A function under ``grad`` or ``vjp`` gets leaves of its own: aliases of its arguments, whose gradient
arrives not at an accumulator but at a *border* node with an edge to the argument's own history. The
walk of the transform ends at its borders; a later walk, of an outer transform or of ``backward``, goes on
through them. So derivatives nest without mixing: each walk collects gradients at its own borders.

Whether anything outside depends on a result is read off the graph before the walk: only then is the
walk itself recorded, and only then do results keep a history.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import tree
from jaxflow._core.fields import init_requires_grad
from jaxflow._core.graph import AccumulateGrad, Node
from jaxflow._core.layouts import NotStrided, has_parts
from jaxflow._core.levels import LEVELS
from jaxflow._core.modes import Changed, Kept
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import tick
from jaxflow._dispatch.viewing import alias, is_inference
from jaxflow._plans.op import Op
from jaxflow._views.chain import root_of, view_node
from jaxflow._views.history import edge_of, refreshed
from jaxflow._writes.inplace import captured
from jaxflow.autograd import api, forward_mode

from ._arguments import Argnums, check_output, chosen, replaced, with_aux


class Border(Node):
    """Where the gradient of a transform's own leaf arrives; leads on to the argument it stands for."""

    __slots__ = ()

    @property
    def _tensor_hooks(self) -> dict | None:
        """Hooks that the function registered on the leaf."""
        leaf = self._dict["leaf"]()
        hooks = None if leaf is None else leaf._hooks
        return {0: hooks["tensor"]} if hooks and hooks.get("tensor") else None


class Borders:
    """The leaves of one call of a transform, and how results leave it."""

    def __init__(self) -> None:
        self.grad = state.grad  # of the caller: whether results may have a history
        self.began = tick()  # tensors with older storages were captured
        self.nodes: dict[Node, None] = {}
        self.origins: dict[int, tuple[Tensor, Tensor]] = {}

    def enter(self, x: Any) -> Tensor:
        """The leaf that stands for ``x``. ValueError for what is no tensor, RuntimeError for integers."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        edge = edge_of(x) if refreshed(x)._requires_grad else None
        if has_parts(x) and hasattr(x._storage.parts, "instead"):
            raise NotStrided("torch.func does not differentiate by nested tensors: use torch.autograd.grad")
        leaf = alias(x)
        if is_inference(x):
            leaf._view.version, leaf._view.seen_version = [0], 0
        if x._aval.dtype.category < 2:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        leaf._view.own = True
        init_requires_grad(leaf)
        node = view_node(root_of(x._aval, None).child("alias", ()).step, (), [edge])
        node.__class__, node._dict = Border, {"leaf": weakref.ref(leaf)}
        leaf._accumulator = weakref.ref(node)
        if LEVELS:
            forward_mode.carry(leaf, x, lambda tangent: tangent)
        self.nodes[node] = None
        self.origins[id(leaf)] = (leaf, x)
        return leaf

    def depends_on_outside(self, outputs: Iterable[Tensor]) -> bool:
        """Whether anything but this transform's own leaves is differentiated in ``outputs``."""
        start = min((n._sequence for n in self.nodes), default=0)
        return any(
            node._edges[0] is not None if node in self.nodes else
            isinstance(node, AccumulateGrad) or node._sequence < start
            for node in self._within(outputs)
        )

    def _within(self, outputs: Iterable[Tensor]) -> Iterator[Node]:
        """The nodes that ``outputs`` depend on, as far as the borders."""
        todo = [edge_of(t)[0] for t in outputs if refreshed(t)._requires_grad and edge_of(t)]
        seen = set(todo)
        while todo:
            node = todo.pop()
            yield node
            if node not in self.nodes:
                found = {edge[0] for edge in node._edges if edge is not None} - seen
                seen |= found
                todo.extend(found)

    def check_write(self, op: Op, t: Tensor, result: Tensor) -> None:
        """Refuse to write what depends on this transform's leaves to a tensor its function captured."""
        if t._storage.epoch < self.began and any(node in self.nodes for node in self._within([result])):
            raise captured(op)

    def leave(self, x: Any) -> Tensor:
        """A result for the caller: with a history only if it leads out. RuntimeError for other things."""
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
        if id(x) in self.origins:
            x = self.origins[id(x)][1]
            return x if self.grad else x.detach()
        if not refreshed(x)._requires_grad or (self.grad and self.depends_on_outside([x])):
            return x
        out = alias(x)
        if LEVELS:
            forward_mode.carry(out, x, lambda tangent: tangent)
        return out


def _recording(*captors: Borders) -> Changed:
    """Record whatever the caller's modes are: a transform differentiates inside ``no_grad`` as well."""
    return Changed(state, grad=True, inference=False, captors=(*state.captors, *captors))


def _gradients(borders: Borders, outputs: list, leaves: list, cotangents: list, *, retain: bool,
               create: bool) -> list[Tensor]:
    kept = [(t, c) for t, c in zip(outputs, cotangents, strict=True) if refreshed(t)._requires_grad]
    found: Iterable = (None,) * len(leaves)
    if kept:
        roots, given = zip(*kept, strict=True)
        create = create and (borders.depends_on_outside(roots) or any(
            c is not None and refreshed(c)._requires_grad for c in given
        ))
        found = api.grad(roots, leaves, given, retain_graph=retain or create, create_graph=create,
                         allow_unused=True)
    return [functions.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]


# ------------------------------------------------------------------------------------------- grad


def grad(func: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """A function that gives the gradient of ``func``, which returns one number.

    Args:
        func: takes tensors or nested tuples, lists and dicts of them; returns a 0-d tensor.
        argnums: which positional arguments to differentiate; a tuple gives a tuple of gradients.
        has_aux: ``func`` returns ``(output, aux)``, and the new function ``(gradient, aux)``.

    Raises:
        RuntimeError: when called, for ``argnums`` out of range and results that are no 0-d tensor.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(func: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """`grad` that gives ``(gradient, value)``, or ``(gradient, (value, aux))``."""

    @functools.wraps(func)
    @Kept(state, "grad", "inference", "captors")
    def both(*args: Any, **kwargs: Any) -> Any:
        borders = Borders()
        with _recording(borders):
            args, differentiated = _enter(borders, args, argnums)
            output = func(*args, **kwargs)
            aux = None
            if has_aux:
                output, aux = with_aux(output, "grad_and_value(f)(*args)")
            _check_number(output)
            leaves, structure = tree.flatten(differentiated)
            found = _gradients(borders, [output], leaves, [None], retain=False,
                               create=borders.grad)
            gradient = tree.unflatten(found, structure)
            value = borders.leave(output)
            if has_aux:
                value = (value, tree.map_leaves(borders.leave, aux))
        return gradient, value

    return both


def _enter(borders: Borders, args: tuple, argnums: Argnums | None) -> tuple[tuple, Any]:
    """The arguments for the function, and those of them that are differentiated."""
    if argnums is None:
        args = tree.map_leaves(borders.enter, args)
        return args, args
    leaves = tree.map_leaves(borders.enter, chosen(args, argnums))
    args = replaced(args, leaves if isinstance(argnums, tuple) else (leaves,), argnums)
    return args, leaves


def _check_number(output: Any) -> None:
    call = "grad_and_value(f)(*args)"
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{call}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output.dim() != 0:
        raise RuntimeError(
            f"{call}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. "
            "Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


# -------------------------------------------------------------------------------------------- vjp


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """``func(*primals)``, and the function that takes cotangents of it to cotangents of ``primals``.

    With ``has_aux`` the function returns ``(output, aux)`` and a third result is ``aux``.

    Raises:
        RuntimeError: for results that are no floating-point or complex tensors, and cotangents of another
            structure or shape.
    """
    return vjp_of(func, primals, None, has_aux)


@Kept(state, "grad", "inference", "captors")
def vjp_of(func: Callable, primals: tuple, argnums: Argnums | None, has_aux: bool) -> tuple:
    """`vjp` for the arguments ``argnums`` names, None for all."""
    borders = Borders()
    with _recording(borders):
        args, differentiated = _enter(borders, primals, argnums)
        output = func(*args)
        aux = None
        if has_aux:
            output, aux = with_aux(output, "vjp(f, *primals)")
            aux = tree.map_leaves(borders.leave, aux)
        outputs, out_structure = tree.flatten(output)
        check_output(outputs, "vjp(f, *primals)")
        leaves, structure = tree.flatten(differentiated)
        results = tree.map_leaves(borders.leave, output)
        for t in outputs:
            if t._aval.dtype.category < 2:
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                    f"with dtype {t.dtype}"
                )

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        flat, given = tree.flatten(cotangents)
        if given != out_structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {given}, primal output: {out_structure}"
            )
        create = state.grad if create_graph is None else create_graph
        found = _recording().run(
            _gradients, borders, outputs, leaves, flat, retain=retain_graph, create=create)
        return tree.unflatten(found, structure)

    return (results, pull, aux) if has_aux else (results, pull)
