"""What nodes show of what they save: ``grad_fn._saved_<name>``, under PyTorch's names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from jaxflow._core.aval import Aval
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value

from .graph import RESULT, AccumulateGrad, HeldResult, Node
from .op import SCALAR, STATIC, TENSORS
from .plan import NUMBER_KINDS, Plan, result_number
from .run import run
from .saved_names import SAVED_NAMES
from .saving import FREED, Packed, at_edge, edge_of_result, our_name, packed_late, shown_value


def saved_value(node: Node, name: str, raw: bool = False) -> Any:
    """What ``node._saved_<name>`` (or ``_raw_saved_<name>``) shows.

    Raises:
        RuntimeError: for a tensor, once the graph was freed.
        AttributeError: where nothing of that name is at hand.
    """
    is_tensor = SAVED_NAMES[type(node).__name__][name]
    place = _place(node, name)
    if raw:
        return SavedTensor(node, name, place)
    if is_tensor and node._inputs is None:
        raise RuntimeError(FREED)
    if is_tensor and place[0] != "given":
        return _tensor_at(node, name, place)
    return _plain(node, name, place)


def saves_operand(node: Node, i: int) -> bool:
    """Whether PyTorch's node of this name saves its operand ``i`` as the tensor that it is."""
    if node._plan.stepwise:
        return True  # one of its steps
    found = None if node._plan.origin is None else _THEMSELVES.get(node._plan.origin[0].name)
    if found is not None:
        return i in found
    names = SAVED_NAMES.get(type(node).__name__)
    if names is None:
        return True  # of a node that shows nothing: it is no view of its operand
    for name, is_tensor in names.items():
        try:
            if is_tensor and _place(node, name) == ("operand", i):
                return True
        except AttributeError:  # of a name that is not shown nobody knows
            continue
    return False


# Where names do not tell which operands PyTorch's node has as they are: products that it composes get others
# as views, and its nodes of linear systems have a factorization.
_THEMSELVES: dict[str, tuple[int, ...]] = {
    "_matmul_folded": (1,), "_matmul_vec_mat": (1,), "_matmul_vec_batch": (0,), "_einsum_pair": (),
    "_matmul_mat_batch": (), "_tensordot": (), "_inner": (), "_inner_dot": (), "_bilinear": (2,),
    "outer": (1,), "prelu": (0,),
    "_kl_div": (0, 1), "_linalg_det": (), "_linalg_slogdet": (), "_linalg_solve_ex": (),
}


def _place(node: Node, name: str) -> tuple:
    """Where a saved name lies: ``("operand", i)``, ``("result", k)``, or ``("given", x)``."""
    plan = node._plan
    if plan.origin is None:
        if plan.view is not None:
            return _place_in_view(node, name)
        raise _not_shown(node, name)
    op, static, layout, present = plan.origin
    shown = SAVED_NAMES[type(node).__name__]
    names = (name, our_name(name, shown, layout), _PRODUCT.get(name) if op.name in _LINEAR else None,
             "pad" if name == "padding" else None)
    for p, first, count in layout:
        if p.name in names and p.kind != TENSORS:
            slots = [present.index(i) for i in range(first, first + count) if i in present]
            if not slots:
                return ("given", None if p.default is p.empty or p.kind != SCALAR else p.default)
            return ("transposed" if name == "mat2" and op.name in _LINEAR else "operand", slots[0])
    for own in names:
        if own in op.static_names:
            return ("given", static[op.static_names.index(own)])
    if name in _FIXED.get(op.name, ()):
        return ("given", _FIXED[op.name][name])
    number = result_number(plan, name)
    if number is not None:
        return ("result", number)
    match = _FACT.fullmatch(name)
    for p, first, _ in layout if match else ():
        operand, linear = match[1], op.name in _LINEAR
        if p.name not in ((_PRODUCT[operand],) if linear else (operand, our_name(operand, shown, layout))):
            continue
        if p.kind in (SCALAR, STATIC, TENSORS):
            continue
        if first not in present:
            return ("given", None)
        kind = plan.kinds[present.index(first)]
        if isinstance(kind, Aval):
            turned = linear and operand == "mat2"
            return ("given", _fact(kind.shape[::-1] if turned else kind.shape, match[2]))
    raise _not_shown(node, name)


_FACT = re.compile(r"(\w+?)_(sym_sizes|sym_numel|sym_argsize_\w+)(?:_opt)?")

# Options of PyTorch's nodes that our op has but one value for.
_FIXED: dict[str, dict[str, Any]] = {
    "_convolution": {"transposed": False},
    "_convolution_transposed": {"transposed": True},
    "_embedding": {"sparse": False},
    "_linear_matrix_bias": {"alpha": 1, "beta": 1},
    "selu": {"input_scale": 1, "scale": 1.0507009873554804934193349852946},
    "relu6": {"max_val": 6, "min_val": 0},
    "square": {"exponent": 2},
}


# A linear layer of matrices, which PyTorch computes as a product with the weight's transpose.
_LINEAR = frozenset(("_linear_matrix", "_linear_matrix_bias"))
_PRODUCT = {"mat1": "input", "self": "input", "mat2": "weight"}


def _fact(shape: tuple[int, ...], fact: str) -> Any:
    if fact == "sym_sizes":
        return shape
    if fact == "sym_numel":
        return math.prod(shape)
    at = fact.removeprefix("sym_argsize_")
    return shape[-int(at.removeprefix("minus_")) if at.startswith("minus_") else int(at)]


def _place_in_view(node: Node, name: str) -> tuple:
    key, parent = node._plan.view
    names, static = _VIEW_ARGUMENTS.get(key[0], ()), key[1]
    if name == "self_sym_sizes":
        return ("given", tuple(parent.shape))
    if name == "self_sym_numel":
        return ("given", parent.numel)
    if name in names:
        # A plan serves all calls that differ in where they begin alone: that is a number of each node.
        begins = len(node._inputs) > 1
        if key[0] in ("select", "slice") and name in ("index", "start") and begins:
            return ("operand", 1)
        given = static[names.index(name)]
        if key[0] == "slice" and name == "start" and given is None:
            return ("given", 0)
        if key[0] == "slice" and name == "end" and begins:
            dim, step = static[0] % parent.ndim, static[3]
            last = node._inputs[1] + node._plan.out_avals[0].shape[dim] * (1 if step is None else step)
            return ("given", min(last, parent.shape[dim]))
        return ("given", given)
    raise _not_shown(node, name)


_VIEW_ARGUMENTS = {
    "joint": ("dim",),
    "select": ("dim", "index"),
    "slice": ("dim", "start", "end", "step"),
    "permute": ("dims",),
    "transpose": ("dim0", "dim1"),
    "squeeze_dim": ("dim",),
    "squeeze_dims": ("dim",),
    "unsqueeze": ("dim",),
    "diagonal": ("offset", "dim1", "dim2"),
    "unfold": ("dimension", "size", "step"),
    "as_strided": ("size", "stride", "storage_offset"),
}


def _not_shown(node: Node, name: str) -> AttributeError:
    return AttributeError(
        f"'{type(node).__name__}' keeps no '{name}' here; keep the value yourself if you need it"
    )


def _tensor_at(node: Node, name: str, place: tuple) -> Tensor | None:
    kind, number = place
    if kind == "transposed":
        t = _tensor_at(node, name, ("operand", number))
        return None if t is None else t.t()
    plan, guards = node._plan, node._guards
    pack = guards.find(kind == "operand", number) if guards.__class__ is Packed else None
    if kind == "result":
        edge = edge_of_result(node, number)
        if pack is not None:
            return pack.unpack(edge)
        _check_guard(node, kind, number)
        return at_edge(make(_computed(node)[number]), edge)
    edge = node._edges[number]
    if pack is not None:
        return pack.unpack(edge)
    x = node._inputs[number]
    held = number in _held(node)
    if x is None or (isinstance(x, Value) and not held):
        if held or all(node._needs[i] for i in plan.faces):
            raise _not_shown(node, name)  # PyTorch's node would hold it
        return None
    if not isinstance(x, Value):
        return _wrapped(plan, x)
    _check_guard(node, kind, number)
    if edge is not None and edge[0].__class__ is AccumulateGrad:
        return edge[0].variable
    return at_edge(make(x), edge)


def _check_guard(node: Node, kind: str, number: int) -> None:
    """Refuse to show what was overwritten since it was saved. RuntimeError."""
    if kind == "result":
        guards = [g for g in node._guards or () if g[3] in (RESULT, HeldResult(number))]
    else:
        operands = [
            g for g in node._guards or () if g[3] is not RESULT and g[3].__class__ is not HeldResult
        ]
        held = [i for i in _held(node) if isinstance(node._plan.kinds[i], Aval)]
        held = held[len(held) - len(operands):]  # an operation in place let go of its first
        guards = [g for i, g in zip(held, operands) if i == number]
    if any(cell[0] != version for cell, version, *_ in guards):
        refusals["overwritten"](node)


# ``overwritten(node)`` raises PyTorch's error for the first saved tensor that was. The engine, which has
# the words for it and stands above, puts it here.
refusals: dict[str, Callable[[Node], None]] = {}


def _held(node: Node) -> tuple[int, ...]:
    return node._plan.held(node._needs)


def _wrapped(plan: Plan, x: Any) -> Tensor:
    """A number that took an operand's place, as the tensor PyTorch makes of it."""
    from .door import apply
    from .op import OPS

    return apply(OPS["_full"], (x,), ((), NUMBER_KINDS[type(x)], plan.device))


def _computed(node: Node) -> list[Value]:
    """The node's results again, from what it keeps; in a Program the engine finds that it has them."""
    inputs = node._inputs
    if node._guards.__class__ is Packed:
        inputs = node._guards.unpack(node)[0]
    inputs = inputs[: len(node._plan.kinds)]
    if any(x is None for x in inputs):
        raise AttributeError(
            f"'{node.name()}' keeps too little here to show its result; keep the result yourself"
        )
    return run(node._plan, [shown_value(x) if isinstance(x, Tensor) else x for x in inputs])


def _plain(node: Node, name: str, place: tuple) -> Any:
    if place[0] == "operand":
        x = node._inputs[place[1]] if node._inputs is not None else None
        return x if not isinstance(x, Value) else _tensor_at(node, name, place)
    x = place[1]
    if name == "reduction":
        return _REDUCTIONS.get(x, x)
    if name == "padding_idx" and x is None:
        x = -1
    if name == "padding" and isinstance(x, tuple) and x and isinstance(x[0], tuple):
        if any(before != behind for before, behind in x):
            raise _not_shown(node, name)  # PyTorch pads first then, in a node of its own
        x = tuple(before for before, _ in x)
    if type(x) is int and name in _LISTS.get(type(node).__name__, ()):
        x = (x,)
    return _unsigned(x)


_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}

# Where PyTorch's signature has a list, a single number was one of one.
_LISTS = dict.fromkeys(
    ("AmaxBackward0", "AminBackward0", "LinalgVectorNormBackward0", "LogsumexpBackward0", "MeanBackward1",
     "SumBackward1", "StdBackward0", "StdMeanBackward0", "VarBackward0", "VarMeanBackward0"), ("dim",),
) | {"RollBackward0": ("shifts", "dims"), "FlipBackward0": ("dims",)}


def _unsigned(x: Any) -> Any:
    """A negative dimension as PyTorch shows it: an unsigned number of 64 bits."""
    if isinstance(x, (tuple, list)):
        return tuple(map(_unsigned, x))
    return x + (1 << 64) if type(x) is int and x < 0 else x


class SavedTensor:
    """One saved tensor of a node: what ``_raw_saved_<name>`` shows, to put hooks on it alone."""

    __slots__ = ("_name", "_node", "_place")

    def __init__(self, *parts: Any) -> None:
        if not parts:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._node, self._name, self._place = parts

    def unpack(self) -> Tensor | None:
        """The tensor as it was saved. RuntimeError once freed."""
        return saved_value(self._node, self._name)

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Give this tensor to ``pack_hook`` now, and take it from ``unpack_hook`` whenever it is needed.

        Raises RuntimeError once it was freed, where there is no tensor, or where it has hooks already.
        """
        node, operand, number = self._node, self._place[0] == "operand", self._place[1]
        guards, freed = node._guards, node._inputs is None
        packed = guards.__class__ is Packed and guards.find(operand, number) is not None
        t = None if freed or packed else self.unpack()
        pack = packed_late(self, freed, packed, t, pack_hook, unpack_hook)
        if guards.__class__ is not Packed:
            guards = node._guards = Packed(guards or ())
        guards.add(self._name, operand, number, pack)
        if operand:
            node._inputs[number] = None
