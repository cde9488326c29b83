"""What nodes save under saved-tensor hooks: packed when recorded, unpacked at use.

NOTE [Packed values]
    A node keeps Values. While saved-tensor hooks are in force (``state.saving``), `pack_node` hands each
    tensor that PyTorch's node would save to the pack hook when the node is recorded, and the node keeps
    what the hook returned instead. Its guards are then a `Packed`, which is what the engine looks at: other
    nodes pay nothing. Where PyTorch saves the result and our formula reads the operand, the formula is
    traced again with the result in the place of what computes it, so that what unpack returns is what
    counts. What the formula still reads beside that stays a Value.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxflow._core.aval import Aval
from jaxflow._core.fields import init_history, init_requires_grad
from jaxflow._core.graph import AccumulateGrad, Node
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.modes import Changed
from jaxflow._core.saved_names import SAVED_NAMES
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, version_cell
from jaxflow._exec.run import run
from jaxflow._plans.plan import Plan, Vjp, result_number
from jaxflow._transforms.vjp import backward_from_results, finish_vjp, held_by
from jaxflow._views.values import value_of

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they "
    "have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)

_WRITTEN = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
    "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
    "an issue if you need to perform in-place operations on the input to a pack hook."
)


class Hooks:
    """A pair of saved-tensor hooks in force, and the pair it hides.

    ``under_way`` is about an in-place operation: [what it is going to overwrite, None or the node and number
    of a result that is the target once it is written].
    """

    __slots__ = ("below", "pack", "under_way", "unpack")

    def __init__(self, pack: Callable, unpack: Callable, below: Hooks | None) -> None:
        self.pack, self.unpack, self.below = pack, unpack, below
        self.under_way: list = [None, None]

    def overwriting(self, target: Tensor, write: Callable, *args: Any) -> Any:
        """``write(*args)``, which overwrites ``target``.

        Of what that was a copy is packed, and itself of what it becomes.
        """
        before = self.under_way  # a hook may itself write in place
        now: list = [target, None]
        try:
            self.under_way = now
            result = write(*args)
            self.under_way = before
        except BaseException:
            self.under_way = before
            raise
        if now[1] is not None:
            node, number = now[1]
            pack_result(node, target, number)
        return result


class Pack:
    """One tensor in the custody of the user's hooks."""

    __slots__ = ("aval", "held", "hook", "tangents")

    def __init__(self, t: Tensor, pack: Callable, unpack: Callable) -> None:
        self.aval, self.hook = t._aval, unpack
        self.tangents: dict = {}  # NOTE [Duals]
        cell = version_cell(t)
        version = cell[0]
        self.held = Changed(state, grad=False).run(pack, t)
        if cell[0] != version:
            raise RuntimeError(_WRITTEN)

    def unpack(self, edge: tuple | None) -> Tensor:
        """What the unpack hook returns, at ``edge`` of the graph. TypeError for no tensor."""
        t = self.hook(self.held)
        if not isinstance(t, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(t).__name__}"
            )
        if edge is None and not t._requires_grad and not self.tangents:
            return t
        shown = make(value_of(t))
        shown._stride = t._stride
        if self.tangents:
            for level, tangent in self.tangents.items():
                if level in LEVELS:
                    FORWARD.set_tangent(shown, level, tangent)
        return at_edge(shown, edge)


def at_edge(t: Tensor, edge: tuple | None) -> Tensor:
    """Give a fresh tensor its place in the graph: that of a leaf, or of a result."""
    if edge is not None:
        if edge[0].__class__ is AccumulateGrad:
            init_requires_grad(t)
            t._accumulator = weakref.ref(edge[0])
        else:
            init_history(t, *edge)
    return t


class Packed(list):
    """In the place of a node's guards: its packed tensors. The list are guards of what was not packed.

    ``packs`` has ``(name, is it an operand, its number, Pack)``, in PyTorch's order of unpacking.
    """

    __slots__ = ("packs",)

    def __init__(self, guards=()) -> None:
        super().__init__(guards)
        self.packs: list[tuple[str, bool, int, Pack]] = []

    def __bool__(self) -> bool:
        return True

    def add(self, name: str, operand: bool, number: int, pack: Pack) -> None:
        """Take one more into custody."""
        self.packs.append((name, operand, number, pack))
        self.packs.sort(key=lambda entry: entry[0])

    def find(self, operand: bool, number: int) -> Pack | None:
        """The pack of that operand or result."""
        return next((p for _, o, n, p in self.packs if (o, n) == (operand, number)), None)

    def unpack(self, node: Node) -> tuple[list, dict[int, Tensor]]:
        """The node's inputs as the hooks give them back, and by number the results that it does not keep."""
        inputs, results = list(node._inputs), {}
        for name, operand, number, pack in self.packs:
            edge = node._edges[number] if operand else edge_of_result(node, number)
            t = _fitting(pack.unpack(edge), pack.aval, node, name)
            if operand:
                inputs[number] = t
            else:
                results[number] = t
        for at, number in enumerate(node._plan.residual_outputs, len(node._edges)):
            inputs[at] = results.pop(number, inputs[at])
        return inputs, results


def _fitting(t: Tensor, aval: Aval, node: Node, name: str) -> Tensor:
    if t._aval is aval:
        return t
    if t._aval.shape != aval.shape:
        raise RuntimeError(
            f"an unpack hook returned a tensor of shape {list(t._aval.shape)} for '{name}' of "
            f"{node.name()}, which was saved with shape {list(aval.shape)}; return a tensor of that shape"
        )
    if t._aval.device is not aval.device:
        t = t.to(aval.device)
    return t.to(aval.dtype) if t._aval.dtype is not aval.dtype else t


def edge_of_result(node: Node, number: int) -> tuple | None:
    """The place of a node's result in the graph; None for indices."""
    return (node, number) if node._plan.diff_outputs[number] else None


# ---------------------------------------------------------------------------- when a node is recorded


def pack_node(node: Node, args, values: list) -> None:
    """Hand the operands a fresh node keeps, and indices it made, to the hooks in force."""
    hooks, plan = state.saving, node._plan
    names = SAVED_NAMES.get(type(node).__name__)
    present = [a for a in args if a is not None]
    held = [i for i in held_by(plan, node._needs) if isinstance(present[i], Tensor)]
    guards = dict(zip(held, node._guards or ()))
    wanted = sorted((name_of(plan, i), i) for i in held) if plan.saves in ("input", "both") else []
    if names is not None and any(names.get(name) for name, _ in wanted):
        wanted = [(name, i) for name, i in wanted if names.get(name)]
    packed = Packed()
    for name, i in wanted:
        t = present[i]
        if t is hooks.under_way[0]:
            t = t.clone()
        packed.add(name, True, i, Pack(t, hooks.pack, hooks.unpack))
        guards.pop(i, None)
        node._inputs[i] = None
    packed.extend(guards.values())
    made = [] if plan.saves in ("result", "both") else [
        (name, place) for name, tensor in (names or {}).items() if tensor
        for place in [result_number(plan, name)] if place is not None
    ]
    outs = run(plan, values) if made else ()
    for name, number in made:
        t = at_edge(make(outs[number]), edge_of_result(node, number))
        packed.add(name, False, number, Pack(t, hooks.pack, hooks.unpack))
    if node._guards is not None and plan.saves in ("result", "both"):
        node._guards.packed = packed  # complete when there is a result: `pack_result`
    elif packed.packs:
        node._guards = packed


def pack_result(node: Node, t: Tensor, number: int) -> None:
    """Hand a result that the node saves to the hooks in force."""
    packed, hooks = getattr(node._guards, "packed", node._guards), state.saving
    node._guards = packed
    if hooks.under_way[0] is not None:
        hooks.under_way[1] = node, number
        return
    names = SAVED_NAMES.get(type(node).__name__) or {}
    name = next((n for n in names if result_number(node._plan, n) == number), "result")
    packed.add(name, False, number, Pack(t, hooks.pack, hooks.unpack))


# -------------------------------------------------------------------------- backward from the results


def vjp_from_results(plan: Plan, needs: tuple, with_ct: tuple, results: tuple[int, ...]) -> Vjp:
    """The backward that takes ``results`` after the inputs, and reads them wherever it can."""
    key = (needs, with_ct, results)
    found = plan.vjps.get(key)
    if found is None:
        wanted = tuple(i for i, need in enumerate(needs) if need)
        with jax.disable_jit():  # what an inner jit computes would be out of reach
            found = plan.vjps[key] = finish_vjp(
                plan, *backward_from_results(plan, wanted, with_ct, results), wanted, with_ct
            )
    return found


# ---------------------------------------------------------------------------------- names and errors


def name_of(plan: Plan, i: int) -> str:
    """PyTorch's name of a plan's input number ``i``: its parameter's, ``self`` for the first."""
    if plan.origin is None:
        return "self"
    _, _, layout, present = plan.origin
    at, shown = present[i], SAVED_NAMES.get(plan.grad_name, {})
    for p, first, count in layout:
        if first <= at < first + count:
            return next((name for name in shown if our_name(name, shown, layout) == p.name), p.name)
    return ""


def our_name(name: str, shown: dict, layout: Sequence[tuple]) -> str:
    """The name of our parameter for what PyTorch calls ``name``: ``self`` is the first."""
    first = layout[0][0].name
    if name == "self" and first not in shown:
        return first
    return _OTHER_NAMES.get(name, name)


_OTHER_NAMES = {
    "kernel_size": "kernel", "source": "src", "key": "key_", "attn_mask": "mask", "group": "num_groups",
    "delta": "parameter", "beta": "parameter", "output_size": "out", "input2": "tau", "input3": "other",
    "b": "B",
}


def packed_late(saved: Any, freed: bool, packed: bool, t: Tensor | None, pack: Callable,
                unpack: Callable) -> Pack:
    """The custody of what a node saved already, or PyTorch's error. ``packed``: it has hooks."""
    check_callable("register_hooks", (pack, unpack), saved)
    if freed:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
            "of the graph are freed when you call .backward() or autograd.grad(). Specify "
            "retain_graph=True if you need to backward through the graph a second time or if you need to "
            "access saved variables after calling backward."
        )
    if packed:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
            "pair of hooks is allowed at a time."
        )
    if t is None:
        raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
    return Pack(t.detach(), pack, unpack)


def check_callable(name: str, hooks: tuple, bound: Any = None) -> None:
    """Refuse hooks that cannot be called, in the words of PyTorch's bindings. TypeError."""
    if all(map(callable, hooks)):
        return
    first = "" if bound is None else "self: torch._C._autograd.SavedTensor, "
    given = (*hooks,) if bound is None else (bound, *hooks)
    types = ", ".join(f"arg{i}: collections.abc.Callable" for i in range(2))
    raise TypeError(
        f"{name}(): incompatible function arguments. The following argument types are supported:\n    1. "
        f"({first}{types}) -> None\n\nInvoked with: {', '.join(map(repr, given))}"
    )
