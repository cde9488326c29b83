"""NOTE [Stores to a tensor]: what changes a tensor that others may see changes it at once."""

import sys
from itertools import pairwise
from operator import is_not

import pytest

import jaxflow as torch
from jaxflow._core import fields
from jaxflow._core.tensor import ViewInfo
from jaxflow._dispatch.dispatch import plan_of


def states_during(change, *tensors):
    """All fields of the tensors, before each instruction of `fields` in ``change()``, and afterwards."""
    seen = []

    def look(frame=None, event=None, argument=None):
        seen.append([field for t in tensors for field in fields.state_of(t)])
        return look

    def enter(frame, event, argument):
        frame.f_trace_opcodes = True
        return look() if frame.f_code.co_filename == fields.__file__ else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        change()
    finally:
        sys.settrace(before)
    look()
    return seen


def history(t, u):
    fields.set_history(t, u.grad_fn, 3, False, (setattr, t, "_tangents", None))


def memory(t, u):
    info = ViewInfo(plan_of(u), None, None, [0])
    fields.rebind(t, u._storage, u._aval, u._stride, info, (setattr, t, "_tangents", {}))


def everything(t, u):
    fields.restore(t, fields.state_of(u))


def places(t, u):
    fields.exchange(t, u)


@pytest.mark.parametrize("change", [history, memory, everything, places])
def test_a_tensor_is_as_before_or_as_after(change):
    x = torch.ones(3, requires_grad=True)
    t, u = x * 2, (x + torch.ones(2, 3)).t()
    u.grad_fn, t.grad_fn  # a view brings its history up to date
    states = states_during(lambda: change(t, u), t, u)
    changes = [any(map(is_not, now, then)) for now, then in pairwise(states)]
    assert len(changes) > 3  # Python counts less instructions in newer versions
    assert sum(changes) == 1
