"""NOTE [A pass publishes at its end]: a look at a .grad in the middle of a pass loses nothing of it."""

import contextlib

import pytest

import jaxflow as torch
from jaxflow.autograd import accumulate, engine
from tests.hazards import tracing


def graph():
    """Leaves, and a tensor between that retains its gradient; and the result."""
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = a * b
    y.retain_grad()
    return (a, b, y), (y * 2 + a).sum()


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_survives_a_look_at_any_instruction(create_graph):
    _, z = graph()
    points = [
        (code, offset) for code, offset in tracing.profile(lambda: z.backward(create_graph=create_graph))
        if code.co_filename == accumulate.__file__ and code.co_qualname.startswith("Publication.")
    ]
    assert len(points) > 50
    for code, offset in points:
        for execution in range(2):
            tensors, z = graph()
            backward = lambda: z.backward(create_graph=create_graph)  # noqa: B023, E731
            tracing.disturb(backward, code, offset, execution, engine.publish_open)
            assert [t.grad.tolist() for t in tensors] == [[3, 3], [2, 2], [2, 2]], (code, offset, execution)
            if not create_graph:
                with pytest.raises(RuntimeError, match="second time"):
                    z.backward()


def test_a_hook_that_survives_an_interrupt_of_its_look_loses_nothing():
    def backward(disturb):
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        y = a * b

        def hook(_):
            with contextlib.suppress(tracing.Interrupt):
                a.grad  # noqa: B018

        y.register_hook(hook)
        z = (a * 3).sum() + (y * 2).sum()
        return disturb(z.backward), [None if t.grad is None else t.grad.tolist() for t in (a, b)]

    points = [(code, offset) for code, offset in backward(tracing.profile)[0]
              if code.co_filename == accumulate.__file__]
    survived = 0
    for code, offset in points:
        outcome, grads = backward(lambda run: tracing.disturb(run, code, offset, 0))  # noqa: B023
        if outcome.raised is None:
            survived += 1
            assert grads == [[5, 5], [2, 2]], (code, offset)
    assert survived > 50
