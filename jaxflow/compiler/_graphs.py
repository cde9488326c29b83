"""The graph that a captured call leaves to be walked, and how another call makes one like it.

NOTE [A backward after the call]
    ``loss = compiled(x)``, then ``loss.backward()``: a program that ends with such a call would have to
    return all that the backward reads, where one program for the whole step computes it on the way. So no
    program is run by the quick call of such a function. It records the operations of the captured call once
    more, with what comes after it, and makes the nodes of its graph anew: each keeps the new Values, guards
    the present versions, and leads to the histories of the present leaves and arguments. No line of the
    user's Python runs for that.

    A node of ``autograd.Function``, one with hooks, or one that saved-tensor hooks have packed, belongs to
    the call that made it; such a function runs as Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxflow._core.generator import Position
from jaxflow._core.graph import RESULT, AccumulateGrad, HeldResult, Node
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value, counted_in
from jaxflow._dispatch.saved_tensors import Packed
from jaxflow._dispatch.shared_operands import given_since
from jaxflow._dispatch.vmap_axes import Crossing
from jaxflow._transforms.batching import Batched
from jaxflow._views.chain import ViewPlan
from jaxflow._views.history import Aliased, Guarded
from jaxflow.autograd.function_node import BackwardCFunction

from ._journal import UNKNOWN
from ._nodes import Nodes
from ._template import Unwalked

if TYPE_CHECKING:
    from ._builder import Builder
    from ._template import Recipes

LATER = "a tensor whose backward() comes after the call"
_NUMBERS = (bool, int, float, complex, type(None))


class Graph:
    """The nodes of a captured call that are still to be walked.

    ``number`` collects them while the results are looked at, ``close`` finds out how each is made.

    Attributes:
        found: id of a node -> (it, its number).
    """

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.found: dict[int, tuple[Node, int]] = {}
        self.nodes = Nodes()
        self._leaf_numbers: dict[tuple, int] = {}
        self._cell_numbers: dict[int, int] = {}

    def varies(self, node: Node) -> bool:
        """Whether the history that begins at a node of the call has to be another one at each call.

        It is the same where a backward inside the call has freed it, so that another one is refused, and it
        comes to no argument: NOTE [Freed graphs].
        """
        builder = self.builder
        given = [*builder.arguments, *(item.tensor for item in builder.items)]
        owned = {id(t) for t in given} | {id(builder.was(t)._grad_fn) for t in given}
        refused, seen, stack = False, set(), [node]
        while stack:
            n = stack.pop()
            if id(n) in seen:
                continue
            seen.add(id(n))
            if not self._is_made(n):
                if id(n._variable if n.__class__ is AccumulateGrad else n) in owned:
                    return True
                continue
            if _is_freed(n):
                refused = True
            elif _is_of_the_call(n) or any(isinstance(x, (Value, Tensor)) for x in n._inputs):
                return True
            stack += [edge[0] for edge in n._edges if edge is not None]
        return not refused

    def number(self, node: Node) -> int:
        """The number of a node that the call made, which is noted with all that it leads to. Unwalked."""
        stack = [node]
        while stack:
            n = stack.pop()
            if id(n) not in self.found:
                _check_own(n)
                self.found[id(n)] = n, len(self.found)
                stack += [edge[0] for edge in n._edges if edge is not None and self._is_made(edge[0])]
        return self.found[id(node)][1]

    def _is_made(self, node: Node) -> bool:
        return node.__class__ is not AccumulateGrad and node._sequence >= self.builder.journal.began

    def close(self, recipes: Recipes, new_slot: dict[int, int]) -> Nodes | None:
        """How to make the nodes; None if there are none. Unwalked.

        ``recipes`` describe all tensors that the call makes, ``new_slot`` has the slots of leaves it reads.
        """
        if not self.found:
            return None
        self.recipes, self.new_slot = recipes, new_slot
        self.storages = {id(s.version): at for at, s in enumerate(recipes.storages)}
        journal = self.builder.journal
        self.known = {id(journal.cell_of[at]): s for at, (s, *_) in journal.storages.items()}
        drawn = self.builder.capture.seeds()
        self.drawn = {id(x): at for at, x in self.builder.program.drawn if at in drawn}
        # In the order in which they were made: edges lead back.
        for node, number in sorted(self.found.values(), key=lambda found: found[0]._sequence):
            self.nodes.templates.append((number, *self._template(node)))
        return self.nodes

    def _template(self, node: Node) -> tuple:
        values, numbers, inputs = [], [], None
        if node._inputs is not None:
            inputs, plain = list(node._inputs), list(node._inputs)
            for i, x in enumerate(inputs):
                if type(x) is Value:
                    values.append((i, self._slot(x), None))
                    inputs[i] = None
                elif type(x) is Batched:
                    values.append((i, self._slot(x.inner), (x.aval, x.axes)))
                    inputs[i] = None
                elif type(x) is SymNumber:
                    numbers.append((i, None, self.builder.capture.tape.keep(x)))
                    inputs[i], plain[i] = None, x.value
                elif type(x) is Position:
                    if id(x) in self.drawn:
                        numbers.append((i, int, self.drawn[id(x)]))
                    inputs[i] = int(x)
                elif type(x) not in _NUMBERS:
                    raise Unwalked(f"{LATER}, which keeps a {type(x).__name__}")
            node._inputs = plain  # the node of the captured call keeps what the call began with
        edges = [self._edge(edge) for edge in node._edges]
        guards = node._guards
        if guards is not None:
            if any(given_since(node, guard) for guard in guards):
                raise Unwalked(f"{LATER}, which saved a tensor that is given other memory after that")
            guards = guards.__class__, [self._guard(guard, node._edges, edges) for guard in guards]
        return node.__class__, node._plan, inputs, values, numbers, edges, node._needs, guards

    def _slot(self, value: Value) -> int:
        slot = self.builder.program.reference(value)
        if slot is None or (slot < 0 and slot not in self.new_slot):
            raise Unwalked(f"{LATER}, which keeps a number {UNKNOWN}")
        return slot if slot >= 0 else self.new_slot[slot]

    def _edge(self, edge: tuple | None) -> Any:
        """None, the number of a leaf, or (number of a node, which of its outputs)."""
        if edge is None:
            return None
        node, output = edge
        if id(node) in self.found:
            return self.found[id(node)][1], output
        leaf = self._leaf(node._variable if node.__class__ is AccumulateGrad else self._owner(node, output))
        key = leaf[0], id(leaf[1]) if leaf[0] == "tensor" else leaf[1]
        if key not in self._leaf_numbers:
            self._leaf_numbers[key] = len(self.nodes.leaves)
            self.nodes.leaves.append(leaf)
        return self._leaf_numbers[key]

    def _owner(self, node: Node, output: int) -> Tensor:
        """Whose history it was before the call that cotangents for an output of ``node`` go to."""
        builder = self.builder
        items = (item.tensor for item in builder.items)
        for t in (*builder.arguments, *items, *(t for t, _ in builder.reach.tensors.values())):
            was = builder.was(t)
            if was._grad_fn is node and was._output_nr == output and t._grad_fn is node:
                return t
        raise Unwalked(f"{LATER}, and goes on {UNKNOWN}")

    def _leaf(self, t: Tensor) -> tuple:
        recipes = self.recipes
        if id(t) in recipes.argument:
            return "argument", recipes.argument[id(t)]
        if id(t) in recipes.items:
            recipes.used.add(("item", recipes.items[id(t)]))
            return "item", recipes.items[id(t)]
        unguarded = id(t) in recipes.dropped or id(t) in self.builder.grown
        if id(t) in recipes.reach.tensors and not unguarded:
            return "tensor", t
        raise Unwalked(f"{LATER}, for a leaf {UNKNOWN}")

    def _guard(self, guard: tuple, then: list, edges: list) -> tuple:
        """(number of the cell, version, aval, position of an edge or what stands in its place, view)."""
        cell, version, aval, edge, special = guard
        where = next((i for i, e in enumerate(then) if e is edge and e is not None), None)
        if where is None and edge is not None and edge is not RESULT and edge.__class__ is not HeldResult:
            raise Unwalked(f"{LATER}, which guards what is no operand of it")
        if special is not None:
            special = self._view_guard(special)
        at, since = self._cell(cell)
        return at, version - since, aval, edge if where is None else None, where, special

    def _view_guard(self, guard: Any) -> tuple:
        """How to make the guard of a view of special origin."""
        if guard.__class__ is ViewPlan:  # how it lies in its storage is part of the specialisation
            return guard
        if guard.__class__ is Aliased:  # what becomes of its version decides whether it can be followed
            return guard.plan
        if guard.__class__ is not Guarded:
            raise Unwalked(f"{LATER}, through a view that was written to")
        base, node = guard.base(), None
        if guard.node is not None:
            node = self.number(guard.node) if id(guard.node) in self.found else guard.node
        if base is None or (self.recipes.is_born(base) and id(base) not in self.recipes.tensor_numbers):
            return None, node, guard.number, guard.origin
        return self._leaf(base), node, guard.number, guard.origin

    def _cell(self, cell: list) -> tuple[int, int]:
        """The number of a version cell, and the version from which a guard of it counts."""
        s, since = self.known.get(id(cell)), 0
        if s is not None:
            place = self.builder.place_of(s)
            source: tuple = "place", place
            since = self.builder.journal.cells[id(cell)][1][0]
            self.recipes.used.add(place)
        elif id(cell) in self.storages:
            source = "fresh", self.storages[id(cell)]
        elif id(cell) in self.builder.journal.cells or id(cell) in self.recipes.own_cells:
            raise Unwalked(f"{LATER}, through an alias (.data) with a version of its own")
        else:
            source = "gone", counted_in(cell)
        if id(cell) not in self._cell_numbers:
            self._cell_numbers[id(cell)] = len(self.nodes.cells)
            self.nodes.cells.append(source)
            if source[0] == "fresh":
                self.nodes.fresh.append((source[1], counted_in(cell)))
        return self._cell_numbers[id(cell)], since


def hooks_on(n: Node) -> list:
    """The hooks on a node, and what retains its gradients."""
    on_outputs = {at: list(hooks) for at, hooks in (n._tensor_hooks or {}).items() if hooks}
    return [on_outputs, *(list(hooks or ()) for hooks in (n._pre_hooks, n._post_hooks, n._retained))]


def _is_of_the_call(n: Node) -> bool:
    """Whether a node runs what the call has made; one that crosses an axis of ``vmap`` keeps nothing."""
    return n._is_python and not isinstance(n, Crossing)


def _is_freed(n: Node) -> bool:
    """Whether to walk a node is refused, and nothing is on it that belongs to the call."""
    if isinstance(n, BackwardCFunction):  # there may be what the user has put on it
        return n._freed and not any(isinstance(x, (Value, Tensor)) for x in vars(n).values())
    return not n._is_python and n._inputs is None


def _check_own(n: Node) -> None:
    """Raise Unwalked if a node could not be made again: it belongs to the call that made it."""
    if _is_of_the_call(n) or n.__class__ is not getattr(n._plan, "node", None):
        raise Unwalked(f"{LATER} and runs {type(n).__name__}")
    if any(hooks_on(n)) or n._dict:
        raise Unwalked(f"{LATER}, with hooks on {n.name()}")
    if n._guards.__class__ is Packed:
        raise Unwalked(f"{LATER}, with hooks that hold what {n.name()} saved")
