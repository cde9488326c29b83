"""Numbers that scale operands, as ``alpha`` of `add`: the dtype that has to hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core import promotion
from jaxflow._core.aval import Aval
from jaxflow._core.dtype import INTEGER
from jaxflow._core.numbers import check_fits
from jaxflow._core.tensor import Tensor

from .op import SCALAR, STATIC, Op
from .plan import NUMBER_KINDS, operand

_NUMBERS = (int, float, complex)


def check_factors(op: Op, dynamic: tuple, known: Callable[[Tensor], Any]) -> None:
    """Refuse factors that the dtype of the operands, or of the computation, cannot hold. RuntimeError.

    ``known`` gives the value of a tensor that is taken as a number, or None where it is not computed yet.
    """
    taken = [p for p in op.params if p.kind != STATIC]
    factors, kinds = [], []
    for p, x in zip(taken, dynamic):
        if p.kind != SCALAR and p.name != op.wide_number:
            kinds.append(x._aval if isinstance(x, Tensor) else x.__class__)
        elif x.__class__ in _NUMBERS:
            factors.append(x)
        elif p.kind == SCALAR and (value := known(x)) is not None:
            factors.append(value.item())
    factors = [x for x in factors if x not in (0, 1)]
    if not factors:
        return
    if op.promote is None:
        del kinds[1:]  # the others have the same dtype, or are indices
    if any(not isinstance(kind, Aval) and kind not in NUMBER_KINDS for kind in kinds):
        return  # no operand of this op, which says so itself
    operands = tuple(map(operand, kinds))
    target = promotion.common("default", operands)
    if op.factors == "wide":
        target = promotion.elementwise("default", operands)[0]
    for x in factors:
        if not (op.promote and op.factors == "rounded" and _is_above(x, target)):
            check_fits(x, target)


def _is_above(x: Any, target: Any) -> bool:
    """Whether the op itself refuses a factor of this kind, in other words."""
    return NUMBER_KINDS[x.__class__].category > max(target.category, INTEGER)
