"""NOTE [Siblings] and NOTE [Read where it lies]: many views of one tensor, made and read one by one."""

import gc
import itertools

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.state import state
from jaxflow._dispatch import viewing
from jaxflow._views import chain
from jaxflow._views.reading import number_on_host, shown_on_host

N = 40  # more than are made each by itself, and less than are remembered


def base():
    x = torch.arange(3.0 * N).reshape(N, 3).clone()
    x.sum().item()
    return x


SOURCES = {
    "a base": base,
    "a transposed base": lambda: torch.arange(3.0 * N).reshape(3, N).clone().t(),
    "a view with an offset": lambda: torch.arange(4.0 * N + 5)[5:].view(N, 4)[:, 1:],
    "an expanded one": lambda: torch.arange(3.0).expand(N, 3),
    "windows that overlap": lambda: torch.arange(N + 2.0).unfold(0, 3, 1),
    "a detached one": lambda: base().view(N, 3).detach(),
    "conjugates": lambda: torch.complex(base(), base() + 1).conj(),
    "imaginary parts": lambda: torch.complex(base(), base() + 1).conj().imag,
    "another dtype": lambda: torch.arange(3 * N, dtype=torch.int32).view(torch.float32).view(N, 3),
    "columns of memory": lambda: torch.ones(2, 4, 5, N).to(memory_format=torch.channels_last)[0].mT[0],
    "bfloat16": lambda: base().bfloat16(),
    "booleans": lambda: base() > 50,
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", SOURCES)
def test_rows_show_what_selections_do(name, known, executor):
    x = SOURCES[name]()
    if known:
        x.clone().sum().item()
    whole = x.clone().tolist()
    rows = list(x)
    assert len(rows) == N
    assert [r.tolist() for r in rows] == whole
    assert [[v.item() for v in r.flatten()] for r in x] == [np.ravel(r).tolist() for r in whole]
    assert [r.tolist() for r in x.unbind(0)] == whole
    for i in (0, 1, N - 1):
        chosen = x.select(0, i)
        assert (rows[i].shape, rows[i].stride(), rows[i].storage_offset()) == (
            chosen.shape, chosen.stride(), chosen.storage_offset())
        assert rows[i]._view.plan.geometry == chosen._view.plan.geometry


@pytest.mark.parametrize("many", [lambda x: x, lambda x: x.unbind(), lambda x: x.split(1),
                                  lambda x: [x[i] for i in range(N)], lambda x: x.chunk(N)])
def test_what_is_written_to_rows_is_in_the_whole(many, executor):
    x = base()
    for i, row in enumerate(many(x)):
        row.mul_(2)
        row.view(-1)[0] = float(i)
    expected = np.arange(3.0 * N).reshape(N, 3) * 2
    expected[:, 0] = np.arange(N)
    assert x.tolist() == expected.tolist()
    assert x._version == 2 * N


def test_rows_are_those_of_the_tensor_as_it_was_when_it_was_asked(executor):
    x = base()
    rows = iter(x)
    next(rows)
    x.t_()
    x.add_(1)
    assert next(rows).tolist() == [4, 5, 6]
    x.resize_(2)
    assert next(rows).tolist() == [7, 8, 9]


def test_a_row_follows_its_base(executor):
    w = torch.ones(3, requires_grad=True)
    x = torch.zeros(N, 3)
    rows = iter(x)
    first = next(rows)
    x.add_(w)
    for row in (first, next(rows)):
        with pytest.raises(RuntimeError, match="is a view and is being modified inplace|output of a func"):
            row.mul_(2)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_rows_made_where_nothing_is_recorded(mode, executor):
    x = base().requires_grad_()
    with mode():
        lazily, at_once = list(x), x.unbind()
    for a, b in zip(lazily, at_once):
        assert (a.requires_grad, a.grad_fn, a.is_leaf) == (b.requires_grad, b.grad_fn, b.is_leaf)
        assert a._view.origin == b._view.origin


def test_rows_of_one_node(executor):
    w = torch.arange(3.0 * N).reshape(N, 3).requires_grad_()
    rows = list(w)
    assert {id(r.grad_fn) for r in rows} == {id(rows[0].grad_fn)}
    assert rows[0].grad_fn.name() == "UnbindBackward0"
    sum(i * r.sum() for i, r in enumerate(rows)).backward()
    assert w.grad.tolist() == [[i] * 3 for i in range(N)]


def test_a_loop_holds_no_rows(deferred, monkeypatch):
    monkeypatch.setattr(viewing, "MET", [])  # as where no tensor has met a tracer
    x = base()
    seen = list(itertools.islice(x, 2))  # what is made once
    gc.collect()
    # Not by iter(), which is another one where tests before this one have made subclasses that override it.
    there = {id(y) for y in gc.get_objects() if isinstance(y, torch.Tensor)}
    row = next(viewing.rows(x))
    more = [y for y in gc.get_objects()  # of this tensor: a thread that is left may make others
            if isinstance(y, torch.Tensor) and id(y) not in there and y._base is x]
    assert len(more) == 1 and more[0] is row
    assert [r.tolist() for r in seen] == [[0, 1, 2], [3, 4, 5]]


def test_more_rows_than_are_remembered(deferred, monkeypatch):
    monkeypatch.setattr(chain, "_MAX_CHILDREN", 8)
    x = torch.arange(100)
    assert [x[i].item() for i in range(100)] == list(range(100))
    assert [x[-i - 1].item() for i in range(100)] == list(range(99, -1, -1))
    for i in range(100):
        x[i] += i
    assert x.tolist() == list(range(0, 200, 2))
    with pytest.raises(IndexError, match="out of (range|bounds)"):
        x[100]


def test_a_known_view_is_read_without_an_operation(deferred):
    x = base()
    row = x[2]
    assert number_on_host(row[1]) == 7.0
    assert shown_on_host(row).tolist() == [6, 7, 8]
    torch.flush()
    before = torch.explain()["operations"] if "operations" in torch.explain() else None
    assert bool(row[1]) and float(row[2]) == 8 and int(row[0]) == 6 and row.numpy().tolist() == [6, 7, 8]
    assert state.programs == {} or all(p.ops == 0 for p in state.programs.values())
    assert before is None or torch.explain()["operations"] == before
    x.mul_(2)  # pending now
    assert number_on_host(row[1]) is None
    assert row[1].item() == 14


def test_a_number_on_the_meta_device_cannot_be_had():
    x = torch.ones(4, device="meta")
    for read in (bool, float, lambda v: v.item(), lambda v: v.tolist()):
        with pytest.raises((RuntimeError, NotImplementedError)):
            read(x[1])


def test_a_compiled_function_reads_what_is_there_at_the_call(deferred):
    @torch.compile
    def f(x):
        return x * (2.0 if x[1].item() > 0 else 3.0)

    for sign in (1.0, -1.0, 1.0, -1.0):
        assert f(torch.full((3,), sign)).tolist() == [(2.0 if sign > 0 else 3.0) * sign] * 3


def test_an_array_of_a_view_goes_with_the_tensor(executor):
    x = torch.arange(1 << 16).float().reshape(256, 256).clone()
    x.sum().item()
    small, large = x[3].numpy(), x[:, :200].numpy()
    assert small[1] == 3 * 256 + 1 and large[255, 199] == 255 * 256 + 199
    x.mul_(0)
    assert x.sum().item() == 0 and small[1] == 0 and large[255, 199] == 0
    small[1] = large[0, 0] = 2
    assert x.sum().item() == 4 and x[3, 1] == 2


def test_stacking_many_is_linear(deferred):
    x = torch.arange(3000.0)
    assert torch.equal(torch.stack(list(x)), x)
    assert torch.cat([v.view(1) for v in x]).sum().item() == x.sum().item()


#: What is taken of a row: the operations on a tensor, and their like on an array.
PIECES = {
    "a number": lambda r: r[2], "the last number": lambda r: r[-1], "a slice": lambda r: r[1:4:2],
    "a slice of a slice": lambda r: r[1:][1:3], "a number of a slice": lambda r: r[1:][2],
    "a slice of nothing": lambda r: r[4:4],
}


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("base", [
    lambda x: x, lambda x: x.T, lambda x: x[3:], lambda x: x[::2], lambda x: x[:, 2:]])
def test_what_is_taken_of_a_row_shows_what_an_array_shows(name, base, executor):
    piece, array = PIECES[name], np.arange(200, dtype=np.float32).reshape(20, 10)
    expected = [piece(row) for row in base(array)]
    rows = [*base(torch.tensor(array))]
    for order in (range(len(rows)), reversed(range(len(rows)))):  # the first one's plan is not always first
        for i in order:
            found = piece(rows[i])
            assert found.tolist() == expected[i].tolist()
            assert (found + 0).tolist() == expected[i].tolist()
    for found, row in zip(map(piece, rows), expected, strict=True):
        assert found.shape == row.shape
        if row.size:
            assert 4 * found.storage_offset() == found.data_ptr() - found.untyped_storage().data_ptr()


def test_what_is_written_to_a_piece_of_a_row_reaches_the_base(executor):
    array = np.arange(120, dtype=np.float32).reshape(12, 10)
    x = torch.tensor(array)
    for i, (row, mine) in enumerate(zip(x, array)):
        row[1:][2].mul_(-1)
        mine[3] *= -1
        row[4:8][::2].fill_(i)
        mine[4:8:2] = i
        row[0] = 5.0
        mine[0] = 5
        assert row[1:][2].item() == mine[3]
    assert x.tolist() == array.tolist()


def test_gradients_of_pieces_of_rows(executor):
    x = torch.arange(40.0).reshape(10, 4).requires_grad_()
    total = sum(row[1:][1] * i + row[3] for i, row in enumerate(x * 1.0))
    total.backward()
    assert x.grad.tolist() == [[0, 0, i, 1] for i in range(10)]
    with pytest.raises(IndexError):
        [row[4] for row in x.detach()]


def test_pieces_of_rows_of_rows(executor):
    array = np.arange(10 * 10 * 5, dtype=np.float32).reshape(10, 10, 5)
    for plane, own in zip(torch.tensor(array), array):
        for row, mine in zip(plane, own):
            assert (row[4].item(), row[1:3].tolist()) == (mine[4], mine[1:3].tolist())
            assert row[1:3][1].item() == mine[2]
