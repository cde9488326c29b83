"""The recorded graph: Nodes, what they keep, and the edges between them.

Only data lives here; ``jaxflow.autograd.engine`` walks it. Arrows lead from a Node to the Nodes of its
inputs, never to its own outputs: a graph holds no reference cycle, and dies with the last tensor that
can reach it.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from jaxflow._core.attributes import read_only
from jaxflow._core.hooks import RemovableHandle
from jaxflow._core.sequence import next_sequence

from .saved_names import SAVED_NAMES

# PyTorch's name() of these nodes contains their C++ namespace; for those of the derivative table it does not.
_WRITTEN_BY_HAND = frozenset(("CopySlices", "CopyBackwards", "NotImplemented"))

#: What PyTorch shows as the number of a node that runs before any other that is ready.
FIRST = (1 << 64) - 1

# In the place of a guard's edge: what is guarded is the node's own result.
RESULT = "result"


class HeldResult(NamedTuple):
    """The same for one of several results: its number, None for indices, which have no history."""

    number: int | None




class InputMetadata:
    """What a node stores about one of its outputs, which the cotangent for it must agree with."""

    __slots__ = ("_aval",)

    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, aval) -> None:
        self._aval = aval

    @property
    def shape(self) -> list[int]:
        """The extents."""
        return list(self._aval.shape)

    @property
    def dtype(self):
        """The dtype."""
        return self._aval.dtype

    @property
    def device(self):
        """The device."""
        return self._aval.device


def hook_into(table: OrderedDict, fn) -> RemovableHandle:
    """Add a hook to its table; the handle that takes it out again."""
    handle = RemovableHandle(table)
    table[handle.id] = fn
    return handle


class Node:
    """A recorded operation: how to turn cotangents of its outputs into those of its inputs.

    ``_inputs`` holds the kept dynamic inputs (see NOTE [What backward keeps]), aligned with
    ``_plan.kinds``, ``None`` where nothing is kept; ``_edges`` leads to the Nodes of the inputs, aligned
    likewise, ``None`` where no gradient is needed. ``_inputs is None`` once freed.

    NOTE [Freed graphs]
        A node that keeps nothing (``add``, a view) is not spoiled by freeing: as in PyTorch, a second
        pass through it works.
    """

    __slots__ = ("__weakref__", "_dict", "_edges", "_guards", "_inputs", "_needs", "_plan", "_post_hooks",
                 "_pre_hooks", "_retained", "_sequence", "_tensor_hooks")

    _is_python = False  # True for the nodes of autograd.Function, which run the user's backward
    _refused = None  # of a node that is Python's: the operand that alone is its affair
    _at_once = False  # whether it runs before any other that is ready: PyTorch's NotImplemented does
    _formula = False  # of a node that refuses: what was saved is looked at before
    _without_effect = None  # a function of the results' avals: those whose gradients alone lead to none

    def __init__(self, plan, inputs, edges, needs, guards) -> None:
        self._plan = plan
        self._inputs = inputs
        self._edges = edges
        self._needs = needs
        self._guards = guards
        self._sequence = next_sequence()
        self._pre_hooks = None  # OrderedDict of hooks on the cotangents of all outputs
        self._post_hooks = None
        self._tensor_hooks = None  # output number -> OrderedDict of Tensor.register_hook hooks
        self._retained = None  # output number -> weak reference to the tensor that retains its grad
        self._dict = None

    # -- the public attributes, as of torch.autograd.graph.Node
    def name(self) -> str:
        """PyTorch's name of the node, such as ``MulBackward0``."""
        kind = type(self).__name__
        return f"torch::autograd::{kind}" if kind in _WRITTEN_BY_HAND else kind

    @property
    def next_functions(self) -> tuple:
        """``(node, output number)`` for every input that PyTorch's node could have a gradient for."""
        edges = (self._edges[i] for i in self._plan.edge_inputs)
        if type(self).__name__ == "NotImplemented":  # it lists only operands that require grad
            return tuple(edge for edge in edges if edge)
        return tuple(edge or (None, 0) for edge in edges)

    @property
    def metadata(self) -> dict:
        """A dict for the user's own notes."""
        if self._dict is None:
            self._dict = {}
        return self._dict

    @property
    def requires_grad(self) -> bool:
        """True: nodes are made where a gradient is wanted."""
        return True

    @property
    def _input_metadata(self) -> tuple:
        return tuple(InputMetadata(self._out_aval(i)) for i in range(self._num_outputs))

    def _sequence_nr(self) -> int:
        return FIRST if self._at_once else self._sequence

    def _set_sequence_nr(self, number: int) -> None:
        self._sequence = number

    def register_hook(self, fn):
        """Run ``fn(grad_inputs, grad_outputs)`` after the node; it may return new grad_inputs."""
        if self._post_hooks is None:
            self._post_hooks = OrderedDict()
        return hook_into(self._post_hooks, fn)

    def register_prehook(self, fn):
        """Run ``fn(grad_outputs)`` before the node; it may return new grad_outputs."""
        if self._pre_hooks is None:
            self._pre_hooks = OrderedDict()
        return hook_into(self._pre_hooks, fn)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"

    def __reduce_ex__(self, protocol):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    # -- for the engine
    @property
    def _num_outputs(self) -> int:
        """How many cotangents arrive: indices that come last among the results get none."""
        return self._plan.arity

    def _out_aval(self, number: int):
        """The aval a cotangent of that output must have."""
        return self._plan.out_avals[number]

    @property
    def _saves_something(self) -> bool:
        """Whether PyTorch's node would hold a saved tensor, so that freeing it forbids a second pass."""
        if type(self).__name__ == "CopySlices":
            return True  # it holds the function of the write
        plan = self._plan
        if plan.saves == "none":
            return False
        if self._guards or plan.saves == "own" or plan.stepwise:  # whose steps hold what they computed
            return True
        vjp = plan.vjps.get((self._needs, None))
        return vjp is not None and bool(vjp.held)

    def _release(self) -> None:
        """Forget what was kept; a second pass is refused if there was anything (NOTE [Freed graphs])."""
        if self._inputs is not None and self._saves_something:
            self._inputs = None
            self._guards = None


class AccumulateGrad(Node):
    """The node at a leaf: adds what arrives to ``variable.grad``.

    It takes gradients of the shape that the leaf had when it was made: NOTE [Shapes in the graph].
    """

    __slots__ = ("_aval", "_variable")

    _edges = ()
    next_functions = ()
    _num_outputs = 1
    _retained = None

    def __init__(self, variable) -> None:
        self._variable = variable
        self._aval = variable._aval
        self._sequence = FIRST
        self._pre_hooks = None
        self._post_hooks = None
        self._dict = None
        if on_made is not None:
            on_made(self)

    @property
    def variable(self):
        """The leaf."""
        return self._variable

    @property
    def _is_plain(self) -> bool:
        """Whether it has no hooks, nor its leaf."""
        return self._variable._hooks is None and self._pre_hooks is None and self._post_hooks is None

    @property
    def _tensor_hooks(self) -> dict | None:
        """Hooks registered on the leaf itself; they outlive this node. A ``grad_dtype`` counts as one."""
        hooks = self._variable._hooks
        if hooks and (hooks.get("tensor") or "grad_dtype" in hooks):
            return {0: hooks.get("tensor", {})}
        return None

    def name(self) -> str:
        """PyTorch's name of the node."""
        return "torch::autograd::AccumulateGrad"

    def _out_aval(self, number: int):
        """The leaf's aval when this node was made."""
        return self._aval


class Invalid:
    """In the place of the ``grad_fn`` of a view that lost it; what needs the history raises."""

    __slots__ = ("message", "node")

    _retained = None

    def __init__(self, message: str, node) -> None:
        self.message = message
        self.node = node

    def name(self) -> str:
        """What a printed tensor shows."""
        return "Invalid"


def own_edge(t: Any) -> tuple | None:
    """The place of ``t`` in the graph: its node and output number, or its gradient accumulator.

    None for a view that only requires grad because its base does: nothing recorded how it was made.
    """
    node = t._grad_fn
    if node is not None:
        if node.__class__ is Invalid:
            raise RuntimeError(node.message)
        return (node, t._output_nr)
    view = t._view
    if view is not None and view.base is not None and not view.own:
        return None
    return (accumulator(t), 0)


def accumulator(t: Any) -> AccumulateGrad:
    """The leaf's accumulation node; one as long as anything refers to it, and ``.data =`` keeps the dtype."""
    ref = t._accumulator
    node = None if ref is None else ref()
    if node is None or (node.__class__ is AccumulateGrad and node._aval is not t._aval and (
        node._aval.dtype is not t._aval.dtype or node._aval.device is not t._aval.device
    )):
        node = AccumulateGrad(t)
        t._accumulator = weakref.ref(node)
    return node


# Called with each new node in anomaly mode; see `watch_nodes`.
on_made = None


def watch_nodes(fn) -> None:
    """Call ``fn(node)`` for every node made from now on, in any thread; None stops that.

    It takes the place of the class's ``__init__``, so that nobody pays for it otherwise.
    """
    global on_made
    on_made = fn
    if fn is None:
        Node.__init__ = _plain_init
        return

    def watched(self, *args) -> None:
        _plain_init(self, *args)
        fn(self)

    Node.__init__ = watched


_plain_init = Node.__init__


def short_name(node_name: str) -> str:
    """A node's name as errors say it: ``AddBackward0`` is ``Add``, ``ClampBackward1`` ``Clamp1``."""
    return re.sub(r"Backward(\d*)$", lambda m: "" if m[1] == "0" else m[1], node_name)


@functools.cache
def node_class(name: str) -> type[Node]:
    """The class of the nodes called ``name``: programs look at ``type(t.grad_fn).__name__``."""
    shown: dict = {"__slots__": (), "__module__": "builtins"}  # as PyTorch's, which are written in C
    if name == "NotImplemented":
        shown["_at_once"] = True
    for saved, is_tensor in SAVED_NAMES.get(name, {}).items():
        shown[f"_saved_{saved}"] = _saved(name, saved, raw=False)
        if is_tensor:
            shown[f"_raw_saved_{saved}"] = _saved(name, saved, raw=True)
    return type(name, (Node,), shown)


# How ``_saved_<name>`` of a node is read. The results among them are computed again, with operations, so the
# module that reads them imports this one, and puts its function here.
read_saved: list[Callable[[Node, str, bool], Any]] = []


def _saved(kind: str, name: str, raw: bool) -> property:
    def show(node: Node):
        return read_saved[0](node, name, raw)

    return read_only(f"_{'raw_' * raw}saved_{name}", show, owner=kind)
