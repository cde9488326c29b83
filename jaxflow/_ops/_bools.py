"""Formulas of derivatives that subtract or negate an operand as it came: PyTorch refuses a bool there."""

from __future__ import annotations

from jaxflow._core import dtype as dtypes
from jaxflow._plans.op import Underived

SUBTRACTED = ("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
              "invert a mask, use the `~` or `logical_not()` operator instead.")
SUBTRACTED_TWO = ("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                  "`logical_xor()` operator instead.")
NEGATED = ("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
           "mask, use the `~` or `logical_not()` operator instead.")


def no_bool_operand(*operands) -> None:
    """The ``check`` of an op that subtracts its operands as they come."""
    if all(found is dtypes.bool for found, _ in operands):
        raise RuntimeError(SUBTRACTED_TWO)
    if any(found is dtypes.bool for found, _ in operands):
        raise RuntimeError(SUBTRACTED)


def bools_at(text: str, *places: int) -> Underived:
    """No derivative where an operand in one of these places is a tensor of bools."""
    return Underived(RuntimeError, text, of=tuple((k, dtypes.bool) for k in places))
