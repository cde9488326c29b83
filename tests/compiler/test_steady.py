"""Which way a quick call goes: NOTE [Steady state], and calls that only read.

Numbers are those of a function that is not compiled.
"""

import weakref

import numpy as np
import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow._core.commit import commit_parts, commit_results
from jaxflow._exec import handover
from jaxflow.compiler import _specialisation, _steady
from jaxflow.compiler._specialisation import Specialisation

F = torch.nn.functional


def nothing(model, held):
    pass


def a_clone_of_a_parameter_is_kept(model, held):
    held.append(model.weight.clone())


def a_gradient_is_kept(model, held):
    held.append(model.weight.grad)


def somebody_watches_a_gradient(model, held):
    held.append(weakref.ref(model.weight.grad))


def memory_of_a_gradient_is_kept(model, held):
    held.append(model.weight.grad.detach())


def a_parameter_was_written_to(model, held):
    with torch.no_grad():
        model.weight.mul_(0.5)


def numbers_of_a_parameter_were_handed_out(model, held):
    held.append(torch.from_numpy(model.weight.detach().numpy().copy()))
    held.append(model.weight.detach().jax())


def a_parameter_has_another_name(model, held):
    held.append(model.weight.detach())


def a_gradient_was_written_to(model, held):
    model.bias.grad.zero_()


def random_numbers_were_drawn(model, held):
    held.append(torch.rand(2))


def training(compiler, optimizer, disturb, counts):
    """What each step and ``held`` come to; ``counts`` is asked for before and after each call."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 4)
    update = getattr(torch.optim, optimizer)(model.parameters(), lr=0.1)
    inputs, targets = torch.randn(5, 3), torch.tensor([0, 1, 2, 3, 1])
    held, losses, ways = [], [], []

    @compiler
    def step(x):
        update.zero_grad()
        loss = F.cross_entropy(F.dropout(model(x), 0.25), targets)
        loss.backward()
        update.step()
        return loss

    for k in range(9):
        if k in (5, 7):
            disturb(model, held)
        before = len(counts)
        losses.append(step(inputs).detach())
        ways.append(len(counts) - before)
    versions = [p._version for p in model.parameters()]
    parameters = [x for p in model.parameters() for x in (p, p.grad)]
    tensors = [x for x in (*losses, *parameters, *held) if isinstance(x, (torch.Tensor, np.ndarray))]
    return [np.asarray(x.detach() if isinstance(x, torch.Tensor) else x) for x in tensors], versions, ways


def counted_general(monkeypatch):
    """A list that grows with each quick call that takes the general way."""
    counts, general_way = [], Specialisation._general

    def counted(self, *arguments):
        counts.append(self)
        return general_way(self, *arguments)

    monkeypatch.setattr(Specialisation, "_general", counted)
    return counts


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
@pytest.mark.parametrize(("disturb", "general"), [
    (nothing, False),
    (a_clone_of_a_parameter_is_kept, True),
    (a_gradient_is_kept, True),
    (somebody_watches_a_gradient, True),
    (memory_of_a_gradient_is_kept, True),
    (a_parameter_was_written_to, True),
    (numbers_of_a_parameter_were_handed_out, True),
    (a_parameter_has_another_name, False),
    (a_gradient_was_written_to, None),  # as it is pending or not
    (random_numbers_were_drawn, False),
])
def test_whatever_refers_to_what_a_step_reads(optimizer, disturb, general, deferred, monkeypatch):
    expected, versions, _ = training(lambda f: f, optimizer, disturb, [])
    counts = counted_general(monkeypatch)
    found, found_versions, ways = training(torch.compile, optimizer, disturb, counts)
    assert len(found) == len(expected) and found_versions == versions
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert ways[4] == ways[6] == ways[8] == 0
    assert general is None or (ways[5], ways[7]) == (general, general)


def test_numbers_on_the_host_are_another_way_into_a_program(deferred, compiled, monkeypatch):
    """A changed learning rate is handed over from the host: what is given away then is copied first, once."""
    copies, copied = [], handover.copied

    def counted(array):
        copies.append(array.shape)
        return copied(array)

    monkeypatch.setattr(handover, "copied", counted)
    weight = torch.ones(7, requires_grad=True)
    update = torch.optim.SGD([weight], lr=0.25)

    @torch.compile
    def step():
        update.zero_grad()
        (weight * weight).sum().backward()
        update.step()

    def made():
        copies.clear()
        step()
        return len(copies)

    for _ in range(4):
        step()
    before, counts = weight.tolist(), []
    for rate in (0.25, 0.125, 0.125, 0.0625, 0.0625):
        update.param_groups[0]["lr"] = rate
        counts.append(made())
    assert counts == [0, 1, 0, 0, 0]
    assert weight.tolist() == [x * 0.5 * 0.75 * 0.75 * 0.875 * 0.875 for x in before]


def a_settled_one(x):
    x.tolist()
    return x


def a_pending_one(x):
    return x + 1.0


def one_on_the_host(x):
    return torch.from_numpy(x.numpy().copy())


def one_unchecked(x):
    return x[torch.tensor([1, 0, 2])]


@pytest.mark.parametrize(("made", "general"), [
    (a_settled_one, 0), (a_pending_one, 1), (one_on_the_host, 1), (one_unchecked, 1)])
def test_a_call_that_only_reads(made, general, deferred, compiled, monkeypatch):
    def predicted(compiler):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        inputs = [torch.randn(3, 3) for _ in range(6)]
        kept, ways = [], []

        @compiler
        def forward(x):
            with torch.no_grad():
                y = model(x)
            return {"scores": y, "best": y.argmax(1), "row": y[0], "given": x}

        for k, x in enumerate(inputs):
            given = made(x) if k == 4 else a_settled_one(x)
            if k == 5:
                with torch.no_grad():
                    model[0].weight.mul_(0.5)
                model[0].weight.tolist()
            before = len(counts)
            found = forward(given)
            ways.append(len(counts) - before)
            assert found["given"] is given and found["row"]._base is found["scores"]
            found["scores"][1].add_(1.0)  # what was returned is the caller's
            kept += found["scores"], found["best"], found["row"]
        return numbers(kept), ways

    counts = []
    expected, _ = predicted(lambda f: f)
    counts = counted_general(monkeypatch)
    found, ways = predicted(torch.compile)
    check_same(found, expected)
    assert ways[2:] == [0, 0, general, 0]


@pytest.mark.parametrize("change", ["the weight", "the weight and the gradient", "the gradient"])
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("before", ["numbers", "publishing", "hand-over"])
def test_who_comes_in_between_is_not_overwritten(before, change, kept, deferred, monkeypatch):
    """What changes before the call's Values are published counts as changed before, else as changed after.

    Where nobody else refers to what a step reads, it publishes and hands over at once.
    """

    def trained(compiler, interfere):
        weight = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
        update = torch.optim.SGD([weight], lr=0.125, momentum=0.25)
        held, found = [], []

        @compiler
        def step():
            loss = (weight * weight).sum()
            update.zero_grad()
            loss.backward()
            update.step()
            return loss

        def changed():
            with torch.no_grad():
                if "weight" in change:
                    weight.mul_(0.5)
                if "gradient" in change:
                    weight.grad = None if "weight" in change and before != "hand-over" else torch.ones(3)

        for k in range(8):
            if kept and k == 5:
                held.append(weight.clone())  # the general way
            loss = interfere(step, changed) if k == 5 else step()
            found += loss.item(), *weight.tolist(), *weight.grad.tolist()  # numpy() would share them
        return [np.array(found), *numbers(held)]

    def in_order(step, changed):
        if before == "hand-over" and kept:
            loss = step()
            changed()
            return loss
        changed()
        return step()

    def in_between(step, changed):
        waiting = [changed]

        def after(asked):
            def asked_after(*arguments):
                if waiting:
                    waiting.pop()()
                return asked(*arguments)

            return asked_after

        with monkeypatch.context() as patch:
            if before == "numbers":
                patch.setattr(Specialisation, before, after(Specialisation.numbers))
            elif before == "publishing" or not kept:
                patch.setattr(_specialisation, "commit_parts", after(commit_parts))
                patch.setattr(_steady, "commit_results", after(commit_results))
            else:
                patch.setattr(handover.Entrance, "run", after(handover.Entrance.run))
            loss = step()
        assert not waiting
        return loss

    check_same(trained(torch.compile, in_between), trained(lambda f: f, in_order))


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@pytest.mark.parametrize("change", [None, "a gradient", "its numbers", "between"])
def test_an_update_alone_reads_the_gradients(optimizer, change, deferred, compiled, monkeypatch):
    def updated(compiler):
        weights = [torch.full((3,), 1.0 + k, requires_grad=True) for k in range(4)]
        for k, weight in enumerate(weights):
            weight.grad = torch.full((3,), 0.5 * k)
        update = getattr(torch.optim, optimizer)(weights, lr=0.125)
        found, ways, waiting = [], [], []

        @compiler
        def step():
            update.step()

        def another_gradient():
            weights[1].grad = torch.full((3,), 3.0)
            weights[1].grad.tolist()

        def disturbed(*arguments):
            if waiting:
                waiting.pop()()
            return commit_results(*arguments)

        for k in range(7):
            if k == 4 and change == "its numbers":
                weights[1].grad.mul_(0.5)
                weights[1].grad.tolist()
            elif k == 4 and change == "between" and compiler is torch.compile:
                waiting.append(another_gradient)
            elif k == 4 and change:
                another_gradient()
            before = len(counts)
            with monkeypatch.context() as patch:
                patch.setattr(_steady, "commit_results", disturbed)
                step()
            assert not waiting
            ways.append(len(counts) - before)
            found += [*weights[0].tolist(), *weights[1].tolist(), *weights[3].tolist()]
        return [np.array(found), [w._version for w in weights]], ways

    counts = []
    expected, _ = updated(lambda f: f)
    counts = counted_general(monkeypatch)
    found, ways = updated(torch.compile)
    check_same(found, expected)
    assert ways[2:] == [0, 0, change == "between", 0, 0]


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_a_first_call_with_arguments_of_a_kind_overwrites_nobody(optimizer, deferred, compiled, monkeypatch):
    """Such a call goes through Python, where another thread may write to what the call has changed."""

    def trained(compiler, interfere):
        weight = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
        update = getattr(torch.optim, optimizer)([weight], lr=0.125)
        found = []

        @compiler
        def step():
            update.zero_grad()
            (weight * weight).sum().backward()
            update.step()

        def changed():
            with torch.no_grad():
                weight.mul_(0.5)

        for k in range(8):
            if k == 5:
                update.param_groups[0]["lr"] = 0.25  # the numbers come from the host now
                interfere(step, changed)
            else:
                step()
            found += weight.tolist()
        return [np.array(found)]

    def one_by_one(step, changed):
        step()
        changed()

    def meanwhile(step, changed):
        hand_over, waiting = handover.hand_over, [changed]

        def interrupted(function, *rest):
            def run(*arguments):
                results = function(*arguments)
                if waiting:
                    waiting.pop()()
                return results

            return hand_over(run, *rest)

        with monkeypatch.context() as patch:
            patch.setattr(handover, "hand_over", interrupted)
            step()
        assert not waiting

    check_same(trained(torch.compile, meanwhile), trained(lambda f: f, one_by_one))


@pytest.mark.usefixtures("deferred", "compiled")
def test_a_call_after_one_that_was_overtaken_looks_before_it_prepares(monkeypatch):
    prepared, held = [], []
    monkeypatch.setattr(_steady, "commit_results",
                        lambda *parts: prepared.append(1) or commit_results(*parts))
    c = torch.zeros(300)

    @torch.compile
    def count():
        c.add_(1.0)

    def prepares(hold):
        held[:] = [c * 2] if hold else []  # pending, so it refers to what c shows
        prepared.clear()
        count()
        return len(prepared)

    for _ in range(5):
        count()
    assert [prepares(hold) for hold in (False, True, True, True, False, False, True)] == [1, 1, 0, 0, 1, 1, 1]
    assert c.tolist() == [12.0] * 300 and held[0].tolist() == [22.0] * 300
