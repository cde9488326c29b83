"""The engine does not recurse: long chains, many leaves, wide and deep graphs."""

import sys

import numpy as np
import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")


@pytest.fixture
def shallow_stack():
    """A recursion limit that a walk recursing once per node would exceed at once."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 200)
    yield
    sys.setrecursionlimit(before)


def test_a_chain_of_20_000_ops():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert y.tolist() == [20_001.0, 20_002.0]


def test_a_chain_is_freed_without_recursion(shallow_stack):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    y.backward()
    del y
    y = x
    for _ in range(20_000):
        y = y * 1.0
    del y  # never walked
    assert x.grad.item() == 1.0


def test_a_chain_of_functions_whose_backward_is_python(shallow_stack):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return g * 1.0

    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(2_000):
        y = Twice.apply(y)
    y.backward()
    assert x.grad.item() == 1.0


def test_a_chain_in_place():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    for _ in range(5_000):
        y.add_(1.0)
        y[0] = y[1] * 1.0
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0]


def test_10_000_leaves():
    leaves = [torch.tensor(float(i), requires_grad=True) for i in range(10_000)]
    total = leaves[0] * 0.0
    for i, leaf in enumerate(leaves):
        total = total + leaf * float(i % 7)
    total.backward()
    expected = [float(i % 7) for i in range(0, 10_000, 500)]
    assert [leaf.grad.item() for leaf in leaves[::500]] == expected
    # One op of very many operands is one kernel: XLA compiles it ever more slowly (500: seconds, and 400 MB).
    grads = torch.autograd.grad(torch.stack(leaves[:40]).sum(), leaves[:40])
    assert len(grads) == 40 and all(g.item() == 1.0 for g in grads[::9])


def test_a_graph_as_wide_as_deep():
    size = 30
    x = torch.tensor(np.ones(size, np.float64), requires_grad=True)
    row = list(x.unbind())
    for _ in range(size):
        row = [(row[i - 1] + row[i]) * 0.5 for i in range(size)]
    torch.stack(row).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.ones(size))


def test_a_diamond_of_diamonds_takes_linear_time():
    # every node has two paths to the next: 2 ** 200 paths in all
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(200):
        y = y * 0.5 + y * 0.5
    y.backward()
    assert x.grad.item() == 1.0


def test_a_deep_graph_differentiated_twice(shallow_stack):
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(1_000):
        y = y * 1.0 + x
    (g,) = torch.autograd.grad(y * y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert g.item() == 2 * 1_001**2 and h.item() == 2 * 1_001**2


def test_one_node_many_consumers():
    x = torch.tensor(2.0, requires_grad=True)
    hub = x * x
    total = hub * 0.0
    for i in range(2_000):
        total = total + hub * float(i % 3)
    total.backward()
    assert x.grad.item() == 4.0 * sum(i % 3 for i in range(2_000))
