"""NOTE [A pass publishes at its end]: a look at a .grad in the middle of a pass loses nothing of it."""

import sys

import pytest

import jaxflow as torch
from jaxflow.autograd import accumulate, engine


def looking_at(number, run):
    """Whether ``run()`` gets to instruction ``number`` of Publication; open passes are published there."""
    left, where = [number], []

    def look(frame, event, argument):
        if event == "opcode":
            left[0] -= 1
            if left[0] == -1:
                sys.settrace(None)
                where.append(frame.f_lasti)
                engine.publish_open()
        return look

    def enter(frame, event, argument):
        code = frame.f_code
        if code.co_filename != accumulate.__file__ or not code.co_qualname.startswith("Publication."):
            return None
        frame.f_trace_opcodes = True
        return look

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        run()
    finally:
        sys.settrace(before)
    return bool(where)


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_survives_a_look_at_any_instruction(create_graph):
    for number in range(10_000):
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        y = a * b
        y.retain_grad()
        z = (y * 2 + a).sum()
        reached = looking_at(number, lambda: z.backward(create_graph=create_graph))  # noqa: B023
        assert [t.grad.tolist() for t in (a, b, y)] == [[3, 3], [2, 2], [2, 2]], number
        if not create_graph:
            with pytest.raises(RuntimeError, match="second time"):
                z.backward()
        if not reached:
            break
    assert number > 50
