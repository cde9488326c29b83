"""Where a node has what it shows as ``grad_fn._saved_<name>``: which operand, which result, or a fact."""

from __future__ import annotations

import math
import re
from typing import Any

from jaxflow._core.aval import Aval
from jaxflow._core.graph import Node
from jaxflow._core.saved_names import SAVED_NAMES
from jaxflow._plans.op import SCALAR, STATIC, TENSORS
from jaxflow._plans.plan import result_number

from .saved_tensors import our_name


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
            if is_tensor and place_of(node, name) == ("operand", i):
                return True
        except AttributeError:  # a name that is not shown: its place is unknown
            continue
    return False


# Where names do not show which operands PyTorch's node has as they are: products that it composes get others
# as views, and its nodes of linear systems have a factorization.
_THEMSELVES: dict[str, tuple[int, ...]] = {
    "_matmul_folded": (1,), "_matmul_vec_mat": (1,), "_matmul_vec_batch": (0,), "_einsum_pair": (),
    "_matmul_mat_batch": (), "_tensordot": (), "_inner": (), "_inner_dot": (), "_bilinear": (2,),
    "outer": (1,), "prelu": (0,),
    "_kl_div": (0, 1), "_linalg_det": (), "_linalg_slogdet": (), "_linalg_solve_ex": (),
}


def place_of(node: Node, name: str) -> tuple:
    """Where a saved name lies: ``("operand", i)``, ``("result", k)``, or ``("given", x)``."""
    plan = node._plan
    if plan.origin is None:
        if plan.view is not None:
            return _place_in_view(node, name)
        raise not_shown(node, name)
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
    raise not_shown(node, name)


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
    raise not_shown(node, name)


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


def not_shown(node: Node, name: str) -> AttributeError:
    return AttributeError(
        f"'{type(node).__name__}' keeps no '{name}' here; keep the value yourself if you need it"
    )
