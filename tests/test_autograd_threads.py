"""Autograd from several threads: modes are a thread's own, values and leaves may be shared."""

import threading

import numpy as np
import pytest

import jaxflow as torch


def in_threads(*jobs):
    """Run the jobs at once, each in its thread, and return their results in order."""
    results, errors = [None] * len(jobs), []
    start = threading.Barrier(len(jobs))

    def run(i, job):
        try:
            start.wait()
            results[i] = job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=item) for item in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


pytestmark = pytest.mark.usefixtures("executor")


def test_modes_do_not_leak():
    inside, checked = threading.Event(), threading.Event()

    def off():
        with torch.no_grad():
            inside.set()
            checked.wait(10)
            return torch.is_grad_enabled()

    def on():
        inside.wait(10)
        seen = torch.is_grad_enabled()
        checked.set()
        return seen

    assert in_threads(off, on) == [False, True]


def test_separate_graphs():
    def work(seed):
        rng = np.random.default_rng(seed)
        w = torch.tensor(rng.normal(size=(3, 3)), requires_grad=True)
        x = torch.tensor(rng.normal(size=(4, 3)))
        for _ in range(5):
            loss = ((x @ w).tanh() ** 2).sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
        return w.detach().numpy()

    alone = [work(seed) for seed in range(4)]
    together = in_threads(*(lambda seed=seed: work(seed) for seed in range(4)))
    for a, b in zip(alone, together):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_one_leaf_many_backwards():
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def work():
        for _ in range(20):
            (x * 3.0).sum().backward()

    in_threads(*[work] * 4)
    assert x.grad.tolist() == [240.0, 240.0]


def test_a_graph_made_here_and_walked_there():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    in_threads(y.backward)
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_value_owed_by_another_thread():
    made = in_threads(lambda: torch.tensor([1.0, 2.0]) * 3.0)[0]
    assert (made + 1.0).tolist() == [4.0, 7.0]


def test_one_graph_walked_by_two_threads():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x.exp() * x).sum()
    in_threads(*[lambda: y.backward(retain_graph=True)] * 2)
    expected = 2 * (np.exp([1.0, 2.0]) * (1 + np.array([1.0, 2.0])))
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)


def test_hooks_run_in_the_thread_of_the_backward():
    x = torch.tensor(1.0, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(threading.get_ident()))
    ident = in_threads(lambda: (x * 2.0).backward() or threading.get_ident())[0]
    assert seen == [ident]


def test_backward_inside_a_thread_inside_a_hook():
    x = torch.tensor(1.0, requires_grad=True)
    w = torch.tensor(2.0, requires_grad=True)
    y = x * 3.0

    def work():
        (w * w).backward()

    def hook(g):
        in_threads(work)

    y.register_hook(hook)
    y.backward()
    assert (x.grad.item(), w.grad.item()) == (3.0, 4.0)


def test_a_leaf_with_two_accumulators_gets_both_gradients(executor):
    """As when two threads use it for the first time at once."""
    w = torch.ones(2, requires_grad=True)
    first = w * 2
    w._accumulator = None
    (first + w * 3).sum().backward()
    assert w.grad.tolist() == [5.0, 5.0]
