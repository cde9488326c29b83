"""Recurrent layers: what backward takes from forward, also under hooks and in forward mode."""

import itertools

import numpy as np

import jaxflow as torch
from jaxflow._plans.op import OPS


def layer(name, states, gates, steps=3):
    """A call of one layer of size 2, and its operands with a gradient."""
    shapes = ((steps, 1, 2), *((1, 2),) * states, (2 * gates, 2), (2 * gates, 2))
    numbers = np.random.RandomState(3)
    given = [torch.tensor(numbers.uniform(-1, 1, shape)).requires_grad_() for shape in shapes]
    static = (True, False) if states == 2 else (True,)

    def call(*operands):
        rest = (None,) * (len(OPS[name].params) - len(OPS[name].static_names) - len(operands))
        return torch._dispatch.dispatch.apply(OPS[name], (*operands, *rest), static)

    return call, given


LAYERS = [("_lstm_layer", 2, 4), ("_gru_layer", 1, 3), ("_rnn_tanh_layer", 1, 1)]


def test_backward_does_not_run_the_layer_again(executor):
    for (name, states, gates), steps in itertools.product(LAYERS, (3, 17)):
        call, given = layer(name, states, gates, steps)
        every, *_ = call(*given)
        node = every.grad_fn
        (every * every).sum().backward()
        # One for each choice of operands with a gradient, of which other tests may have made some.
        backwards = [vjp.plan.jaxpr.jaxpr.eqns for vjp in node._plan.vjps.values()]
        assert backwards
        for eqns in backwards:
            scans = [eqn.params["reverse"] for eqn in eqns if eqn.primitive.name == "scan"]
            assert scans == [False], (name, steps)  # the layer runs from the end, its backward from the start
        assert all(t.grad is not None for t in given)


def test_second_derivatives_with_hooks_and_forward_over_reverse(executor):
    """Saved-tensor hooks that change nothing, and tangents, go through what the node keeps."""
    for name, states, gates in LAYERS:
        call, given = layer(name, states, gates)

        def gradient(*operands, call=call):
            every = call(*operands)[0]
            return torch.autograd.grad((every * every).sum(), operands, create_graph=True)

        def curvature(call=call, given=given, gradient=gradient):
            first = gradient(*given)
            return torch.autograd.grad(sum((g * g).sum() for g in first), given)

        plain = curvature()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
            hooked = curvature()
        first = [g.detach() for g in gradient(*given)]
        # Half the gradient of |g|^2 is the product of the second derivatives with g.
        _, pushed = torch.func.jvp(gradient, tuple(given), tuple(first))
        for p, h, d in zip(plain, hooked, pushed, strict=True):
            np.testing.assert_allclose(h.numpy(), p.numpy(), rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(2 * d.detach().numpy(), p.numpy(), rtol=1e-10, atol=1e-12)


def test_layers_of_changing_lengths_are_their_cells_step_by_step(executor):
    torch.manual_seed(0)
    for kind, cell_kind in ((torch.nn.LSTM, torch.nn.LSTMCell), (torch.nn.GRU, torch.nn.GRUCell)):
        net, cell = kind(3, 2).double(), cell_kind(3, 2).double()
        pairs = list(zip(net.parameters(), cell.parameters(), strict=True))
        with torch.no_grad():
            for ours, theirs in pairs:
                theirs.copy_(ours)
        for length in (4, 2, 17, 1, 20):
            x = torch.randn(length, 2, 3, dtype=torch.float64)
            whole, _ = net(x)
            state, steps = None, []
            for row in x:
                state = cell(row, state)
                steps.append(state[0] if kind is torch.nn.LSTM else state)
            by_step = torch.stack(steps)
            for total, module in ((whole, net), (by_step, cell)):
                module.zero_grad()
                (total * total).sum().backward()
            values = whole.detach().numpy(), by_step.detach().numpy()
            np.testing.assert_allclose(*values, rtol=1e-10, atol=1e-13)
            for ours, theirs in pairs:
                np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-9, atol=1e-12)
