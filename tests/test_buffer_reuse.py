"""NOTE [Spare arrays]: old gradients' memory goes to the new ones, never from under somebody who looks."""

import gc
import threading
import weakref

import jax
import numpy as np
import pytest
from running import executables_of

import jaxflow
from jaxflow._core.state import state

pytestmark = pytest.mark.usefixtures("compiled")

F = jaxflow.nn.functional
SHAPE = (129, 131)  # as a weight large enough


def training(compile=False):
    """A layer, and its step, which returns the loss."""
    layer = jaxflow.nn.Linear(SHAPE[1], SHAPE[0])
    with jaxflow.no_grad():
        for p in layer.parameters():
            p.copy_(jaxflow.from_numpy(np.linspace(-1, 1, p.numel(), dtype=np.float32).reshape(p.shape)))
    optimizer = jaxflow.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    inputs = jaxflow.from_numpy(np.linspace(-1, 1, 4 * SHAPE[1], dtype=np.float32).reshape(4, -1))

    def step():
        optimizer.zero_grad()
        loss = layer(inputs).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return layer, jaxflow.compile(step) if compile else step


def where(layer):
    return layer.weight.grad._storage.value.get().unsafe_buffer_pointer()


@pytest.mark.parametrize("compile", [False, True])
def test_new_gradients_lie_where_the_old_ones_did(deferred, compile):
    layer, step = training(compile)
    for _ in range(3):
        step()
    before = where(layer)
    for _ in range(3):
        step().item()
        assert where(layer) == before
    gc.collect()
    assert sum(a.shape == SHAPE for a in jax.live_arrays()) == 3  # weight, gradient, momentum


def thread_that_holds(grad):
    """What another thread, which looks at the gradient later, will have seen."""
    go, seen = threading.Event(), []

    def work():
        held = holder.pop()
        go.wait()
        seen.append(np.array(held.tolist(), np.float32))

    holder = [grad]
    thread = threading.Thread(target=work)
    thread.start()
    while holder:
        pass

    def look():
        go.set()
        thread.join()
        return seen[0]

    return look


HOLDERS = {
    "the tensor": lambda grad: grad,
    "a weak reference": weakref.ref,
    "detach": lambda grad: grad.detach(),
    "data": lambda grad: grad.data,
    "a view": lambda grad: grad[3:],
    "a transposed view": lambda grad: grad.T,
    "clone": lambda grad: grad.clone(),
    "numpy": lambda grad: grad.detach().numpy(),
    "jax": lambda grad: grad.jax(),
    "dlpack": np.from_dlpack,
    "dlpack to jax": jax.dlpack.from_dlpack,
    "another's .grad": lambda grad: setattr(other := jaxflow.zeros(SHAPE), "grad", grad) or other.grad,
    "something recorded": lambda grad: grad * 2,
    "another thread": thread_that_holds,
}


@pytest.mark.parametrize("compile", [False, True])
def test_whoever_holds_an_old_gradient_keeps_its_numbers(compile):
    def run():
        layer, step = training(compile)
        kept = {}
        for _ in range(3):
            step()
        for name, hold in HOLDERS.items():
            kept[name] = hold(layer.weight.grad)
            step()
            step()
        found = {}
        for name, x in kept.items():
            x = x() if callable(x) else x
            found[name] = None if x is None else np.array(x.tolist(), np.float32)
        return found, np.array(layer.weight.tolist(), np.float32)

    with jaxflow.execution("eager"):
        expected, weight = run()
    with jaxflow.execution("deferred"):
        found, same_weight = run()
    for name in HOLDERS:
        if found[name] is None or expected[name] is None:
            assert name == "a weak reference"
            continue
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-7, err_msg=name)
    np.testing.assert_allclose(same_weight, weight, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Using backward")
def test_hooks_graphs_and_leaves_that_share_a_gradient(executor):
    """A hook keeps what arrives, a graph the gradients of `create_graph`, two leaves one Value."""
    a, b = (jaxflow.ones(SHAPE).requires_grad_() for _ in range(2))
    seen = []
    a.register_hook(seen.append)
    doubles = []
    for k in range(1, 5):
        a.grad = b.grad = None
        loss = ((a + b) * float(k)).sum()
        loss.backward(retain_graph=True)
        jaxflow.flush()
        a.grad = None  # b's lives on, and so does the graph
        loss.backward()
        jaxflow.flush()
        doubles.append((a.grad[0, 0].item(), b.grad[0, 0].item()))
        del loss
    assert doubles == [(k, 2.0 * k) for k in range(1, 5)]
    assert [x[1, 1].item() for x in seen] == [k for k in range(1, 5) for _ in range(2)]
    power = []
    for _ in range(4):
        a.grad = None
        (a * a * a).sum().backward(create_graph=True)
        first = a.grad
        a.grad = None
        jaxflow.flush()
        (first * first).sum().backward()
        power.append(a.grad[2, 2].item())
    assert power == [36.0] * 4  # d(9 x^4) at 1


def test_what_no_program_takes_is_let_go(deferred):
    """Not before a program of another kind, nor in a thread that runs none."""
    layer, step = training()
    for _ in range(3):
        step()
    layer.zero_grad()
    assert len(state.spares) == 1
    (jaxflow.ones(3) + 1).tolist()
    assert not state.spares
    step()  # an array that is missing is made
    np.testing.assert_equal(np.isfinite(layer.weight.grad.tolist()), True)
    layer.zero_grad()
    jaxflow.flush()
    assert not state.spares
    gc.collect()
    assert sum(a.shape == SHAPE for a in jax.live_arrays()) == 2


@pytest.mark.recovers
def test_a_program_that_failed_spoils_no_later_one(deferred):
    fails = [False]

    def checked(x):
        def host(y):
            if fails[0]:
                raise ValueError("refused")
            return y

        return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    through = jax.custom_vjp(checked)
    through.defvjp(lambda x: (checked(x), None), lambda _, g: (checked(g),))
    op = jaxflow.wrap_jax(through)
    a = jaxflow.ones(SHAPE).requires_grad_()

    def step():
        a.grad = None
        loss = (op(a) * 3).sum()
        loss.backward()
        jaxflow.flush()
        return loss

    for _ in range(3):
        step().item()
    fails[0] = True
    with pytest.raises(Exception, match="refused"):
        step().item()
    fails[0] = False
    assert step().item() == pytest.approx(3.0 * SHAPE[0] * SHAPE[1])
    assert a.grad[0, 0].item() == 3.0


def test_results_that_take_spare_memory_are_those_no_leaf_makes_room_for(deferred):
    layer, step = training()
    found = executables_of(lambda: [step() for _ in range(6)])
    assert any(e.spares == (layer.weight._aval,) for e in found)
    assert all(len(e.spares) <= 1 for e in found)
