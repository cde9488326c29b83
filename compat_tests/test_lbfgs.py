"""L-BFGS finds in jaxflow what it finds in PyTorch, step by step: values, counts, states, refusals."""

import copy

import pytest

import jaxflow
from compat_tests.harness import Case, check, raises

OPTIONS = [{}, dict(lr=0.1, max_iter=3), dict(line_search_fn="strong_wolfe"), dict(history_size=2, lr=0.3),
           dict(line_search_fn="strong_wolfe", history_size=3, max_iter=6), dict(max_eval=4),
           dict(line_search_fn="strong_wolfe", lr=5.0, max_iter=4), dict(tolerance_grad=10.0)]


def problem(T, dtype, kind):
    a = T.tensor([1.2, -0.5], dtype=dtype, requires_grad=True)
    b = T.tensor([[0.3], [0.7]], dtype=dtype, requires_grad=True)
    unused = T.ones(2, dtype=dtype, requires_grad=True)

    def loss():
        x = T.cat([a, b.flatten()])
        if kind == "valley":
            return (10 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        return ((x - T.arange(4, dtype=dtype)) ** 2 * T.tensor([1.0, 2, 3, 4], dtype=dtype)).sum()

    return [a, unused, b], loss


def state_of(optimizer):
    state = dict(optimizer.state_dict()["state"][0])
    lists = {name: list(state.pop(name)) for name in ("old_dirs", "old_stps", "ro", "al") if name in state}
    numbers = {name: float(state.pop(name)) for name in ("t", "H_diag", "prev_loss") if name in state}
    return sorted(state), state, {k: [x is None for x in v] for k, v in lists.items()}, len(numbers)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("kind", ["valley", "bowl"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_steps(options, kind):
    def case(T):
        params, loss_of = problem(T, T.float64, kind)
        optimizer = T.optim.LBFGS(params, **options)
        losses = []
        calls = 0

        def closure():
            nonlocal calls
            calls += 1
            optimizer.zero_grad()
            loss = loss_of()
            loss.backward()
            return loss

        for step in range(3):
            losses.append(optimizer.step(closure).detach())
            if step == 1:
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = T.optim.LBFGS(params, **options)
                optimizer.load_state_dict(saved)
        return [p.detach() for p in params], losses, calls, state_of(optimizer)

    check(Case("steps", case), jaxflow)


@pytest.mark.usefixtures("executor")
def test_refusals():
    def case(T):
        p, q = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
        make = T.optim.LBFGS

        def closure():
            loss = (p * p).sum()
            loss.backward()
            return loss

        return (raises(lambda: make([p], lr=-1.0)), raises(lambda: make([{"params": [p]}, {"params": [q]}])),
                raises(lambda: make([p], lr=T.ones(2))),
                raises(lambda: make([p], line_search_fn="other").step(closure)), repr(make([p])))

    check(Case("refusals", case), jaxflow)


def test_a_failed_step_changes_nothing():
    p = jaxflow.ones(2, requires_grad=True)
    optimizer = jaxflow.optim.LBFGS([p])
    calls = []

    def closure():
        calls.append(p.tolist())
        if len(calls) == 3:
            raise KeyError("stop")
        optimizer.zero_grad()
        loss = (p ** 4).sum()
        loss.backward()
        return loss

    with pytest.raises(KeyError):
        optimizer.step(closure)
    assert p.tolist() == [1.0, 1.0] != calls[2] and not optimizer.state
