"""Memory of bools that is written to as numbers of another type: NOTE [Bools as bytes]."""

import numpy as np
import pytest

import jaxflow as torch


def test_bytes_written_through_a_view_are_kept_and_read_as_true(executor):
    m = torch.tensor([True, False, True, True])
    v = m.view(torch.uint8)
    v.add_(1)
    assert v.tolist() == [2, 1, 2, 2] and m.tolist() == [True] * 4 and (~m).tolist() == [False] * 4
    assert m.sum().item() == 4 and m.long().tolist() == [1] * 4
    v.sub_(1)
    assert v.tolist() == [1, 0, 1, 1] and m.tolist() == [True, False, True, True]
    m.view(torch.int32).fill_(7)
    assert v.tolist() == [7, 0, 0, 0] and m.tolist() == [True, False, False, False]
    m[1] = True
    assert v.tolist() == [7, 1, 0, 0]


def test_a_view_of_a_wider_type_keeps_its_numbers(executor):
    m = torch.zeros(2, 4, dtype=torch.bool)
    h = m.view(torch.float16)
    h[0] = 1.5
    assert h.tolist() == [[1.5, 1.5], [0, 0]] and m.tolist() == [[False, True] * 2, [False] * 4]
    m = torch.ones(3, 4, dtype=torch.bool).t()
    w = m.t().view(torch.int32)
    w.mul_(2)
    assert w.tolist() == [[33686018]] * 3 and m.stride() == (1, 4) and m.all().item()


def together(u):
    torch._foreach_add_([u, torch.ones(2)], 3)
    u[1:].add_(1)


@pytest.mark.parametrize("write", [
    lambda u: u.copy_(torch.tensor([3, 4])),
    lambda u: torch.add(torch.tensor([1, 2], dtype=torch.uint8), 2, out=u), together,
    lambda u: u.__setitem__(slice(None), torch.tensor([3, 4])),
    lambda u: u.index_add_(0, torch.tensor([0, 1]), torch.tensor([3, 4], dtype=torch.uint8)),
], ids=("copy", "out", "foreach", "setitem", "index_add"))
def test_every_way_of_writing_keeps_the_bytes(executor, write):
    m = torch.zeros(2, dtype=torch.bool)
    u = m.view(torch.uint8)
    before = u.clone()
    write(u)
    assert u.tolist() == [3, 4] and m.tolist() == [True, True] and before.tolist() == [0, 0]
    assert m.numpy().tolist() == [True, True] and u.numpy().tolist() == [3, 4]


def test_a_compiled_function_keeps_the_bytes():
    @torch.compile
    def masks(x):
        m = x > 0
        u = m.view(torch.uint8)
        u.add_(3)
        return m, u

    for _ in range(4):
        m, u = masks(torch.tensor([1.0, -1.0]))
        assert u.tolist() == [4, 3] and m.tolist() == [True, True]


def test_an_argument_of_a_compiled_function_keeps_the_bytes():
    @torch.compile
    def add(u):
        u.add_(3)

    m = torch.tensor([True, False])
    for _ in range(4):
        add(m.view(torch.uint8))
    assert m.view(torch.uint8).tolist() == [13, 12] and m.tolist() == [True, True]


def test_a_write_of_bools_leaves_an_ordinary_storage():
    m = torch.tensor([True, False])
    m.view(torch.uint8).view(torch.bool).logical_not_()
    assert m.tolist() == [False, True] and np.asarray(m).tolist() == [False, True]


def test_bytes_of_bools_inside_vmap_are_refused_by_name():
    def body(x):
        m = x > 0
        m.view(torch.uint8).add_(1)
        return m

    with pytest.raises(NotImplementedError, match="array of bools holds 0 and 1 only"):
        torch.vmap(body)(torch.ones(3, 2))
