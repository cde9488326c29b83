"""Optimizers by themselves: recording, sharing, failing whole, and rules against NumPy."""

import copy
import gc

import numpy as np
import pytest

import jaxflow
from jaxflow import optim
from jaxflow._exec import program_cache

NAMES = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam",
         "ASGD", "Rprop", "Adafactor"]


def parameters(*shapes):
    rng = np.random.default_rng(0)
    return [
        jaxflow.tensor(rng.normal(size=shape).astype(np.float32), requires_grad=True)
        for shape in shapes
    ]


def give_grads(params, seed=1):
    rng = np.random.default_rng(seed)
    for param in params:
        param.grad = jaxflow.tensor(rng.normal(size=tuple(param.shape)).astype(np.float32))


def sgd(p, g, state, t, lr=0.1, momentum=0.9):
    state["b"] = g if t == 1 else momentum * state["b"] + g
    return p - lr * state["b"]


def adamw(p, g, state, t, lr=0.01, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    p = p * (1 - lr * decay)
    m = state["m"] = b1 * state.get("m", 0) + (1 - b1) * g
    v = state["v"] = b2 * state.get("v", 0) + (1 - b2) * g * g
    return p - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)


def adagrad(p, g, state, t, lr=0.1):
    state["s"] = state.get("s", 0) + g * g
    return p - lr * g / (np.sqrt(state["s"]) + 1e-10)


def rmsprop(p, g, state, t, lr=0.01, alpha=0.99):
    state["s"] = alpha * state.get("s", 0) + (1 - alpha) * g * g
    return p - lr * g / (np.sqrt(state["s"]) + 1e-8)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize(
    "make, rule",
    [
        (lambda p: optim.SGD(p, lr=0.1, momentum=0.9), sgd),
        (lambda p: optim.AdamW(p, lr=0.01), adamw),
        (lambda p: optim.Adagrad(p, lr=0.1), adagrad),
        (lambda p: optim.RMSprop(p, lr=0.01), rmsprop),
    ],
    ids=["sgd", "adamw", "adagrad", "rmsprop"],
)
def test_rule_against_numpy(make, rule):
    params = parameters((3,), (2, 2), ())
    expected = [p.detach().numpy().astype(np.float64) for p in params]
    states = [{} for _ in params]
    optimizer = make(params)
    for t in range(1, 6):
        give_grads(params, seed=t)
        expected = [
            rule(p, param.grad.numpy().astype(np.float64), state, t)
            for p, param, state in zip(expected, params, states, strict=True)
        ]
        optimizer.step()
    for p, param in zip(expected, params, strict=True):
        np.testing.assert_allclose(param.detach().numpy(), p, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", NAMES)
def test_reaches_the_minimum(name):
    target = jaxflow.tensor([1.0, -2.0, 0.5])
    p = jaxflow.zeros(3, requires_grad=True)
    optimizer = getattr(optim, name)([p], lr={"Adadelta": 20.0}.get(name, 0.1))
    first = last = None
    for _ in range(120):
        optimizer.zero_grad()
        loss = ((p - target) ** 2).sum()
        loss.backward()
        optimizer.step()
        first = loss.item() if first is None else first
        last = loss
    assert last.item() < 0.2 * first


def syncs():
    return sum(jaxflow.explain()["syncs"].values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("compiled")
def test_one_program_from_the_first_step_on(name):
    """State begins as known arrays, rates are leaves, and no step waits for a number."""
    with jaxflow.execution("deferred"):
        params = parameters((4, 3), (3,))
        optimizer = getattr(optim, name)(params, lr=0.1)
        scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        x = jaxflow.ones(2, 4)
        jaxflow.flush()

        def step():
            optimizer.zero_grad()
            ((x @ params[0] + params[1]) ** 2).mean().backward()
            optimizer.step()
            scheduler.step()

        step()
        # explain() counts what is compiled for earlier tests, too.
        compiled, waited = set(program_cache.executables()), syncs()
        for _ in range(4):
            step()
        assert syncs() == waited
        # The momentum buffer of SGD is a new leaf in its second step, as in its first: one program.
        assert set(program_cache.executables()) <= compiled


@pytest.mark.usefixtures("compiled")
def test_old_parameters_and_states_are_donated():
    with jaxflow.execution("deferred"):
        params = parameters((64, 3), (5,))
        optimizer = optim.AdamW(params)
        give_grads(params)
        jaxflow.flush()
        known = set(program_cache.executables())
        for _ in range(3):
            optimizer.step()
        new = set(program_cache.executables()) - known
    # One step count, and three arrays of each of two parameters; the gradients stay.
    assert max(len(e.donated) for e in new) == 1 + 3 * 2


@pytest.mark.usefixtures("executor")
def test_steps_share_one_value_but_are_separate_tensors():
    a, b = params = parameters((2,), (3,))
    optimizer = optim.Adam(params)
    give_grads(params)
    optimizer.step()
    steps = [optimizer.state[p]["step"] for p in params]
    assert steps[0]._storage is not steps[1]._storage
    assert steps[0]._storage.value is steps[1]._storage.value
    steps[0].fill_(10)
    give_grads(params)
    optimizer.step()
    assert [step.item() for step in steps] == [11, 2]


@pytest.mark.usefixtures("executor")
def test_loaded_steps_are_shared_again():
    params = parameters((2,), (3,))
    optimizer = optim.Adam(params)
    give_grads(params)
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    other = optim.Adam(parameters((2,), (3,)))
    other.load_state_dict(state)
    params = other.param_groups[0]["params"]
    give_grads(params)
    other.step()
    values = {id(other.state[p]["step"]._storage.value) for p in params}
    assert len(values) == 1
    assert [other.state[p]["step"].item() for p in params] == [2, 2]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", NAMES)
def test_a_failing_step_changes_nothing(name):
    good, bad = params = parameters((3,), (3,))
    optimizer = getattr(optim, name)([{"params": [good]}, {"params": [bad]}], lr=0.1)
    give_grads(params)
    optimizer.step()
    before = copy.deepcopy((good.detach(), bad.detach(), optimizer.state_dict()))
    give_grads(params)
    bad.grad = None
    bad.data = jaxflow.zeros(4)
    bad.grad = jaxflow.ones(4)
    with pytest.raises(RuntimeError, match="cannot update|shape"):
        bad_state(optimizer, bad)
        optimizer.step()
    bad.grad = None
    bad.data = before[1]
    assert jaxflow.equal(good.detach(), before[0])
    for key, state in before[2]["state"].items():
        for field, value in state.items():
            assert jaxflow.equal(optimizer.state_dict()["state"][key][field], value), field


def bad_state(optimizer, param):
    """Rules without state have nothing that could disagree with the new shape."""
    if not optimizer.state[param]:
        raise RuntimeError("shape")


@pytest.mark.usefixtures("executor")
def test_no_grad_mode_and_version():
    (p,) = parameters((3,))
    optimizer = optim.SGD([p], lr=0.1)
    give_grads([p])
    version = p._version
    optimizer.step()
    assert p._version == version + 1
    assert p.is_leaf
    assert p.requires_grad
    assert jaxflow.is_grad_enabled()


@pytest.mark.usefixtures("executor")
def test_saved_values_do_not_see_the_update():
    """A graph recorded before a step gives the gradient of the old weights, or says it cannot."""
    (p,) = parameters((3,))
    optimizer = optim.SGD([p], lr=0.1)
    loss = (p * p).sum()
    give_grads([p])
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_state_is_freed_with_the_optimizer():
    (p,) = parameters((3,))
    optimizer = optim.Adam([p])
    give_grads([p])
    optimizer.step()
    import weakref

    state = weakref.ref(optimizer.state[p]["exp_avg"])
    gc.disable()
    try:
        del optimizer
        assert state() is None  # no reference cycle keeps it until the collector runs
    finally:
        gc.enable()


def test_sparse_gradients_are_refused():
    (p,) = parameters((3,))
    p.grad = jaxflow.sparse_coo_tensor([[1]], [1.0], (3,))
    before = p.tolist()
    for make, words in ((optim.Adam, "Adam does not support sparse gradients"),
                        (optim.RMSprop, "RMSprop does not support sparse gradients"),
                        (lambda ps: optim.SGD(ps, weight_decay=0.1), "weight_decay")):
        with pytest.raises(RuntimeError, match=words):
            make([p]).step()
    assert p.tolist() == before
