"""Numbers of tensors that operations take: the program computes them itself.

NOTE [Computed numbers]
    ``y / y.max().item()`` is a tensor divided by a number that is known once the program has run. What Python
    did with such a number since it was read is recorded as operations on tensors of no dimensions, in double
    precision as Python's numbers are, and the operation takes the result in the place of the number: by
    another plan with the same function. So the number never leaves the device for that, and nothing waits
    for it. What Python does that such operations do not do alike (whole numbers of any size, rounding) needs
    the number itself. A division checks, as Python's does, whether the divisor is zero.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.symbolic_numbers import NumberTape, SymNumber
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._plans.plan import NUMBER_KINDS, Plan, build_lock
from jaxflow._views.values import value_of

if TYPE_CHECKING:
    from ._capture import Capture

_ALIKE = frozenset((operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
                    operator.abs, float))


def with_computed(capture: Capture, plan: Plan, inputs: list) -> tuple[Plan, list]:
    """The plan and its inputs where the recorded program computes those numbers that it has to read.

    They are the same where there are none, or where the number itself is needed.
    """
    tape = capture.tape  # a number of another thread's capture is none of this one
    late = [i for i, x in enumerate(inputs) if type(x) is SymNumber and x.tape is tape and x.at in tape.late]
    if not late or not tape.open or not all(_computable(tape, inputs[i].at) for i in late):
        return plan, inputs
    inputs = list(inputs)
    for i in late:
        inputs[i] = _computed(capture, tape, inputs[i].at)
    return _plan_of(plan, tuple(late), [inputs[i].aval for i in late]), inputs


def _computable(tape: NumberTape, at: int) -> bool:
    if at not in tape.late:
        return True
    fn, *operands = tape.steps[at - tape.count]
    if fn is None:
        return type(tape.values[at]) in (float, int)
    return fn in _ALIKE and type(tape.values[at]) is float and all(
        i < 0 or _computable(tape, i) for i in operands)


def _computed(capture: Capture, tape: NumberTape, at: int) -> Value:
    """What a number is as a tensor of no dimensions."""
    found = capture.computed.get(at)
    if found is None:
        found = capture.computed[at] = value_of(_made(capture, tape, at))
    return found


def _made(capture: Capture, tape: NumberTape, at: int) -> Tensor:
    fn, *operands = tape.steps[at - tape.count]
    if fn is None:
        return make(capture.read_values[at]).reshape(()).to(NUMBER_KINDS[type(tape.values[at])])
    given = []
    for i in operands:
        if i in tape.late:
            given.append(make(_computed(capture, tape, i)).to(dtypes.float64))
        else:
            given.append(tape.constants[~i] if i < 0 else SymNumber(tape, i, tape.values[i]))
    if fn is operator.truediv and operands[1] >= 0:
        tape.need(bool, (SymNumber(tape, operands[1], tape.values[operands[1]]),), True)
    return given[0] if fn is float else fn(*given)


def _plan_of(plan: Plan, positions: tuple[int, ...], avals: list[Aval]) -> Plan:
    """The plan that takes tensors of no dimensions where ``plan`` takes the numbers at ``positions``."""
    computed = plan.computed
    found = None if computed is None else computed.get(positions)
    if found is None:
        with build_lock:
            if plan.computed is None:
                plan.computed = {}
            found = plan.computed.get(positions)
            if found is None:
                kinds = list(plan.kinds)
                for i, aval in zip(positions, avals):
                    kinds[i] = aval_of((), aval.dtype, plan.device)
                found = plan.copied(tuple(kinds), plan.out_avals, lambda: plan.fn)
                found.arrays += len(positions)
                plan.computed[positions] = found
    return found
