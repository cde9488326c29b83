"""Arguments of compiled functions whose memory NumPy shares: NOTE [Shared arguments]."""

import numpy as np
import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow._core.shared import HostValue
from jaxflow.compiler import _shared_arguments


def batches(step, *, into=None, number=6):
    """What ``step`` returns of batches that NumPy writes into one array, and what is in that afterwards."""
    array = np.zeros((4, 3), np.float32)
    x = torch.from_numpy(array)
    given, found = x if into is None else into(x), []
    for i in range(number):
        array[:] = np.arange(12).reshape(4, 3) + i
        found.append(step(given))
        found += [array.tolist(), x._version]
        assert x._storage.value.__class__ is HostValue
    return found


READING = {
    "a product": lambda x: (x.T @ x).sum(),
    "itself": lambda x: (x, x + 1),
    "a part of it": lambda x: (x[1:], x * 2),
}
WRITING = {
    "a write": lambda x: x.add_(1),
    "a write to a part": lambda x: x[1:].mul_(2) + x[:-1],
    "a number after a write": lambda x: (x.add_(1), x.sum().item()),
}
NEEDING = {
    "a number": lambda x: x * x.sum().item(),
    "an array": lambda x: x + float(x.numpy()[0, 0]),
    "a write to its array": lambda x: (x.numpy().fill(2), x + 1)[1],
    "a condition": lambda x: x * 2 if x.sum() > 70 else x + 1,
}
EVERY = READING | WRITING | NEEDING


@pytest.mark.parametrize("into", [None, lambda x: x[1:], lambda x: x.T], ids=["all", "part", "transposed"])
@pytest.mark.parametrize("way", EVERY)
def test_calls_see_what_numpy_has_written_and_numpy_sees_what_they_write(way, into, deferred):
    found = numbers(batches(torch.compile(EVERY[way]), into=into))
    check_same(found, numbers(batches(EVERY[way], into=into)))


@pytest.mark.parametrize("way", READING)
def test_who_only_reads_is_served(way, deferred):
    step = torch.compile(READING[way])
    batches(step)
    report = step.explain()
    assert (report["hits"], report["specialisations"], report["python"]) == (5, 1, []), report


def test_the_same_program_serves_shared_arguments_and_others(deferred):
    step = torch.compile(READING["a product"])
    array = np.ones((4, 3), np.float32)
    for x in (torch.ones(4, 3), torch.from_numpy(array), torch.ones(4, 3), torch.from_numpy(array)):
        assert step(x).item() == 36
    assert step.explain()["hits"] == 3


@pytest.mark.parametrize("way", WRITING)
def test_what_is_written_to_is_left_to_python(way, deferred):
    step = torch.compile(WRITING[way])
    batches(step)
    assert step.explain()["hits"] == 0


def test_a_step_of_training_on_batches_of_numpy(deferred):
    def trained(compiler):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

        @compiler
        def step(x):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return step, [*batches(step), *model.parameters()]

    step, found = trained(torch.compile)
    check_same(numbers(found), numbers(trained(lambda f: f)[1]))
    assert step.explain()["hits"] == 4  # the first two make the gradients


@pytest.mark.parametrize("loss", [
    lambda w, x: (w * x).sum(), lambda w, x: torch.exp(w * x * 0).sum(), lambda w, x: (w * x).pow(2).sum(),
], ids=["operand", "result", "both"])
@pytest.mark.parametrize("into", [None, lambda x: x[1:], lambda x: x.data], ids=["all", "part", "data"])
def test_a_backward_after_the_call_finds_operands_as_they_are_then(loss, into, deferred):
    def found(compiler):
        array = np.zeros((4, 3), np.float32)
        x = torch.from_numpy(array)
        x = x if into is None else into(x)
        w = torch.full(x.shape, 2.0).requires_grad_()
        f, grads = compiler(lambda x: loss(w, x)), []
        for i in range(5):
            array[:] = i + 1
            w.grad = None
            value = f(x)
            array[2] = 10 * i
            value.backward()
            grads += [value.item(), w.grad]
        return numbers(grads)

    check_same(found(torch.compile), found(lambda f: f))


def test_large_memory_is_left_to_python(deferred, monkeypatch):
    monkeypatch.setattr(_shared_arguments, "_LARGEST", 16)
    array = np.arange(12, dtype=np.float32)
    x = torch.from_numpy(array)
    step = torch.compile(lambda x: x * 2)
    assert [step(x)[3].item() for _ in range(5)] == [6.0] * 5
    assert step.explain()["hits"] == 0


def test_a_call_that_fails_leaves_the_memory_shared(deferred):
    array = np.zeros((4, 3), np.float32)
    x = torch.from_numpy(array)

    @torch.compile
    def step(x, fail):
        x.add_(1)
        if fail:
            raise ValueError("the user's")
        return x.sum()

    for fail in (True, False, True):
        if fail:
            with pytest.raises(ValueError, match="the user's"):
                step(x, fail)
        else:
            step(x, fail)
    assert array.tolist() == x.tolist() == [[3.0] * 3] * 4
    array[0] = 7
    assert x[0].tolist() == [7.0] * 3


def test_memory_is_given_back_once_whoever_else_does_it_meanwhile(deferred):
    array = np.zeros(3, np.float32)
    x = torch.from_numpy(array)
    storage = x._storage
    shared, leaf = storage.value, storage.value.known()

    class Disturbed(list):
        """Whoever looks at it finds that another thread has been quicker, and the array is gone since."""

        def __getitem__(self, at):
            nonlocal array
            found = list.__getitem__(self, at)
            if array is not None:
                array = None
                borrowed.give_back()
                (x + 1).tolist()
            return found

    borrowed = _shared_arguments.Borrowed()
    borrowed.take(Disturbed([(storage, shared, leaf)]))
    storage.value = leaf
    borrowed.give_back()
    assert storage.value.__class__ is not HostValue and x.tolist() == [0.0] * 3
