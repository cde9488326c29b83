"""Views of views of views (NOTE [Views of views of views]), and lists in lists: no end, and no recursion."""

import numpy as np
import pytest

import jaxflow as torch

STEPS = {
    "view": lambda v, i: v.view(4, 6) if i % 2 else v.view(24),
    "slice": lambda v, i: v[1:] if len(v) > 9 else v[:],
    "select": lambda v, i: v.unsqueeze(0)[0],
    "expand": lambda v, i: v.expand(2, *v.shape)[1],
}


@pytest.mark.parametrize("name", ["view", "slice", "select", "expand"])
def test_a_long_chain_of_views(name, executor):
    x = torch.arange(24.0)
    v = x
    for i in range(1500):
        v = STEPS[name](v, i)
    shown = v.flatten().tolist()
    assert shown == list(range(24))[24 - len(shown):]
    if name != "expand":
        v.mul_(2)
        assert x.tolist() == [*range(24 - len(shown)), *(2.0 * n for n in shown)]


def test_a_long_chain_of_transposes_and_its_gradient(executor):
    w = torch.arange(24.0, requires_grad=True)
    x = w * 1
    v = x.view(2, 3, 4)
    for i in range(120):
        v = v.transpose(i % 3, (i + 1) % 3)
    assert v.is_contiguous() == (v.stride() == (12, 4, 1))
    v.add_(1)
    v[1:].mul_(3)
    changed = (x.detach() - torch.arange(24.0) != 1).tolist()
    (x * torch.arange(24.0)).sum().backward()
    assert sum(changed) == v[1:].numel()
    assert w.grad.tolist() == [n * (3.0 if c else 1.0) for n, c in enumerate(changed)]


def test_a_long_chain_of_conjugates(executor):
    x = torch.complex(torch.arange(3.0), torch.ones(3))
    v = x
    for _ in range(101):
        v = v.conj().view(3)
    v.mul_(2j)
    assert x.tolist() == [(n + 1j) * -2j for n in range(3)]


def itself():
    m: list = []
    m.append(m)
    return m


def one_in_the_other():
    a: list = []
    a.append([a])
    return a


@pytest.mark.parametrize("make", [
    torch.tensor, torch.as_tensor, torch.Tensor, torch.LongTensor, torch.ones(1).new_tensor,
])
def test_lists_without_an_end(make):
    for data in (itself(), one_in_the_other()):
        with pytest.raises(ValueError, match="too many dimensions 'list'"):
            make(data)


def test_a_list_that_has_itself_among_numbers():
    data = [1.0]
    data.append(data)
    for make in (torch.tensor, torch.as_tensor):
        with pytest.raises(TypeError, match="self-referential lists are incompatible"):
            make(data)
    with pytest.raises(TypeError, match="self-referential lists are incompatible"):
        torch.ones(3, 3)[torch.arange(1), data]
    with pytest.raises(TypeError):
        torch.ones(3).view(data)


def test_deeply_nested_numbers():
    data = 1.0
    for _ in range(64):
        data = [data]
    assert torch.tensor(data).dim() == 64
    for _ in range(100_000):
        data = [data]
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        torch.tensor(data)


@pytest.mark.parametrize(("mode", "pad", "shown"), [
    ("replicate", (2, 1), [0, 0, 0, 1, 2, 3, 3]), ("replicate", (-2, 3), [2, 3, 3, 3, 3]),
    ("replicate", (3, -3), [0, 0, 0, 0]), ("replicate", (-5, 4), [3, 3, 3]),
    ("reflect", (2, 3), [2, 1, 0, 1, 2, 3, 2, 1, 0]), ("reflect", (3, -2), [3, 2, 1, 0, 1]),
    ("reflect", (3, -5), [3, 2]), ("reflect", (-1, 2), [1, 2, 3, 2, 1]),
    ("circular", (2, 1), [2, 3, 0, 1, 2, 3, 0]), ("circular", (-1, 1), [1, 2, 3, 1]),
    ("circular", (4, 4), [0, 1, 2, 3] * 3), ("circular", (0, -1), [0, 1, 2]),
])
def test_padding_by_pieces(mode, pad, shown, executor):
    x = torch.arange(4.0).view(1, 1, 4).requires_grad_()
    found = torch.nn.functional.pad(x, pad, mode=mode)
    assert found.flatten().tolist() == shown
    (found * torch.arange(1.0, 1 + len(shown))).sum().backward()
    assert x.grad.flatten().tolist() == [sum(k + 1 for k, n in enumerate(shown) if n == i) for i in range(4)]


class Broken:
    """A sequence whose elements cannot be had."""

    def __len__(self):
        return 2

    def __getitem__(self, at):
        raise KeyError(at)


@pytest.mark.parametrize("data", [Broken(), [Broken()], memoryview(np.zeros((2, 3)))])
def test_sequences_whose_elements_cannot_be_had(data):
    with pytest.raises(ValueError, match="determine the shape of object type '(Broken|memoryview)'"):
        torch.tensor(data)
