"""Pieces of a dimension, copies of views, and how tensors get more or fewer dimensions."""

import numpy as np
import pytest

import jaxflow as torch

ARRAY = np.arange(12.0, dtype=np.float32).reshape(3, 4)


def fresh():
    return torch.tensor(ARRAY)


def test_pieces_are_those_of_numpy_and_views(executor):
    cases = [
        (torch.tensor_split, np.array_split, (2, 1)),
        (torch.tensor_split, np.array_split, (5, 0)),
        (torch.tensor_split, np.array_split, ((1, -1, 9), 1)),
        (torch.hsplit, np.hsplit, (2,)),
        (torch.hsplit, np.hsplit, ([1, 3],)),
        (torch.vsplit, np.vsplit, ((2,),)),
    ]
    for fn, oracle, args in cases:
        x = fresh()
        found = fn(x, *args)
        for piece, expected in zip(found, oracle(ARRAY, *args), strict=True):
            np.testing.assert_array_equal(piece.numpy(), expected)
            assert piece._base is x
    x = fresh()
    x.hsplit(2)[1].zero_()
    assert x[:, 2:].sum() == 0 and x[:, :2].sum() == ARRAY[:, :2].sum()
    by_tensor = x.tensor_split(torch.tensor([1]), dim=1)
    assert [tuple(p.shape) for p in by_tensor] == [(3, 1), (3, 3)]


def test_copies_share_nothing(executor):
    copies = [
        torch.t_copy, torch.alias_copy, lambda x: torch.narrow_copy(x, 0, 1, 2),
        lambda x: torch.unbind_copy(x)[0], lambda x: torch.split_copy(x, 2, 1)[1],
        lambda x: torch.expand_copy(x, (2, 4, 3)), lambda x: torch.view_copy(x, (3, 4)),
        lambda x: torch.view_copy(x, torch.int32), lambda x: torch.as_strided_copy(x, (2, 2), (1, 4)),
    ]
    for copied in copies:
        x = fresh()
        copy = copied(x.t()).zero_()
        assert copy.is_contiguous() and copy._base is None
        np.testing.assert_array_equal(x.numpy(), ARRAY)
    out = torch.empty(0)
    assert torch.permute_copy(fresh(), (1, 0), out=out) is out and out.shape == (4, 3)


def test_unsafe_pieces_share_memory_and_no_history(executor):
    whole = fresh().requires_grad_() * 1
    first, second = whole.unsafe_chunk(2, 1)
    assert not first._is_view() and first.grad_fn.name() == "UnsafeSplitBackward0"
    first.exp_()
    assert (first._version, second._version, whole._version) == (1, 0, 0)
    np.testing.assert_allclose(whole.detach()[:, :2].numpy(), np.exp(ARRAY[:, :2]), rtol=1e-6)
    out = [torch.empty(0), torch.empty(0)]
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.split_copy(fresh(), 2, 1, out=out)
    assert torch.split_with_sizes_copy(fresh(), (2, 2), 1, out=out) is None
    assert out[1].tolist() == ARRAY[:, 2:].tolist()
    assert torch.split_copy(fresh() + 1, 2, 1, out=out) is None
    assert out[1].tolist() == (ARRAY[:, 2:] + 1).tolist()
    with pytest.raises(RuntimeError, match="expected an out= argument of size 2, got size 1"):
        torch.split_copy(fresh(), 2, 1, out=out[:1])


def test_dimensions_come_and_go(executor):
    scalar, line = torch.tensor(2.0), torch.tensor([1.0, 2.0])
    assert [tuple(f(scalar).shape) for f in (torch.atleast_1d, torch.atleast_2d, torch.atleast_3d)] == [
        (1,), (1, 1), (1, 1, 1)]
    assert [tuple(t.shape) for t in torch.atleast_3d(line, fresh())] == [(1, 2, 1), (3, 4, 1)]
    assert torch.atleast_1d() == ()
    total = fresh().sum_to_size(1, 4)
    np.testing.assert_array_equal(total.numpy(), ARRAY.sum(0, keepdims=True))
    assert fresh().sum_to_size((4,)).shape == (4,) and fresh().sum_to_size(()).item() == ARRAY.sum()
    with pytest.raises(RuntimeError, match=r"size \{\[2, 4\]\} is not expandable to size \{\[3, 4\]\}"):
        fresh().sum_to_size(2, 4)
    rows, columns = torch.unravel_index(torch.tensor([4, 11]), (3, 4))
    assert rows.tolist() == [1, 2] and columns.tolist() == [0, 3]
    assert torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    assert line.resize_as_(fresh()).shape == (3, 4) and line[0, :2].tolist() == [1.0, 2.0]


def test_complex_matrices_have_an_adjoint(executor):
    x = torch.tensor([[1 + 2j, 3j], [4, 5 - 1j]])
    for adjoint in (x.H, x.mH, x.adjoint()):
        np.testing.assert_array_equal(adjoint.resolve_conj().numpy(), x.numpy().conj().T)
    assert fresh().H._is_view()
    with pytest.raises(RuntimeError, match="only supported on matrices"):
        fresh().unbind(0)[0].mH


def test_positions_and_hashes_need_no_number_of_the_data(executor):
    x = torch.tensor([[0, 5], [7, 0]])
    assert torch.nonzero_static(x, size=3).tolist() == [[0, 1], [1, 0], [-1, -1]]
    assert x.hash_tensor().item() == 5 ^ 7 and x.hash_tensor(1).tolist() == [5, 7]
    bits = np.array([1.5, -2.0]).view(np.uint64)
    assert torch.tensor([1.5, -2.0]).hash_tensor().item() == int(bits[0] ^ bits[1])


def test_a_view_is_resized_as_far_as_its_storage_goes(executor):
    x = fresh()
    row = x[1]
    assert row.resize_(2, 4) is row and row.tolist() == ARRAY[1:].tolist()
    row.zero_()
    assert x.sum() == ARRAY[0].sum() and x.shape == (3, 4)
    alone = fresh() * 2
    flat = alone.view(-1)
    del flat
    assert alone.resize_(4, 4)[:3].tolist() == (ARRAY * 2).tolist() and alone[3].tolist() == [0.0] * 4
    empty = torch.empty(0)
    line = empty[:]
    assert empty.resize_(2).shape == (2,) and line.shape == (0,)
    for n in (1, 2, 3):
        torch.cat([torch.ones(n), torch.zeros(n)], out=line.resize_(0))
        assert line.tolist() == [1.0] * n + [0.0] * n
    with pytest.raises(RuntimeError, match=r"repeated dim in `source` \(\[0, -2\]\)"):
        torch.movedim(x, (0, -2), (0, 1))
    assert torch.ones(2, dtype=torch.float16).dequantize().dtype is torch.float32


def test_strides_of_a_view_whose_base_has_another_shape_by_now(executor):
    t = torch.ones(2, 3, 4)[:, 1].detach()
    t.resize_(1)
    u = t[-1]
    t.squeeze_()
    assert u.as_strided((2,), (12,), 4).tolist() == [1, 1]
    u.resize_(1)
    u.add_(1)
    assert u.tolist() == [2] and t.item() == 2
