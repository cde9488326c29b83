"""Conjugation and negation put off: views of the same memory, writes through them, what is refused."""

import copy
import io
import pickle

import numpy as np
import pytest

import jaxflow as torch

NUMBERS = [[1 + 2j, 3 - 1j], [0.5j, -2 + 1j]]


def fresh(grad=False):
    return torch.tensor(NUMBERS, requires_grad=grad)


def test_a_conjugate_is_a_view_of_the_same_memory(executor):
    x = fresh()
    y = x.conj()
    assert y.tolist() == [[1 - 2j, 3 + 1j], [-0.5j, -2 - 1j]]
    assert (y.is_conj(), y.is_neg(), x.is_conj()) == (True, False, False)
    assert y._is_view() and y._base is x and y.stride() == (2, 1)
    assert y.data_ptr() == x.data_ptr() and y.untyped_storage() == x.untyped_storage()
    assert not y.conj().is_conj() and y.conj().tolist() == NUMBERS
    y.mul_(2j)
    assert x.tolist() == [[4 - 2j, -2 - 6j], [1 - 0j, 2 + 4j]]
    assert x._version == y._version == 1
    y.mul_(0)
    assert x.abs().sum().item() == 0
    real = torch.tensor([1.0, 2.0])
    assert real.conj() is real


WRITES = {
    "index": (lambda x: x.conj().__setitem__(0, 1 + 1j), [[1 - 1j, 1 - 1j], [0.5j, -2 + 1j]]),
    "adjoint": (lambda x: x.mH.fill_(3j), [[-3j, -3j], [-3j, -3j]]),
    "part of adjoint": (lambda x: x.mH[0].fill_(3j), [[-3j, 3 - 1j], [-3j, -2 + 1j]]),
    "H": (lambda x: x.H.t()[1:].mul_(2), [[1 + 2j, 3 - 1j], [1j, -4 + 2j]]),
    "imaginary": (lambda x: x.conj().imag.fill_(5), [[1 - 5j, 3 - 5j], [-5j, -2 - 5j]]),
    "real": (lambda x: x.adjoint().real.mul_(2), [[2 + 2j, 6 - 1j], [0.5j, -4 + 1j]]),
    "set imaginary": (lambda x: setattr(x.conj(), "imag", torch.ones(2, 2)),
                      [[1 - 1j, 3 - 1j], [-1j, -2 - 1j]]),
    "itself": (lambda x: x.copy_(x.conj()), [[1 - 2j, 3 + 1j], [-0.5j, -2 - 1j]]),
    "expanded": (lambda x: x.conj().expand(3, 2, 2)[1].mul_(2), [[2 + 4j, 6 - 2j], [1j, -4 + 2j]]),
    "conjugate of expanded": (lambda x: x.expand(3, 2, 2).conj()[1].fill_(1j), [[-1j, -1j], [-1j, -1j]]),
    "strided": (lambda x: x.conj().as_strided((2,), (1,), 1).fill_(1j), [[1 + 2j, -1j], [-1j, -2 + 1j]]),
    "strided imaginary": (lambda x: x.conj().imag.as_strided((2,), (3,), 0).fill_(7),
                          [[-7 + 2j, 3 - 7j], [0.5j, -2 + 1j]]),
    "windows": (lambda x: x.conj().reshape(4).unfold(0, 2, 2)[1].fill_(1j), [[1 + 2j, 3 - 1j], [-1j, -1j]]),
    "negative": (lambda x: x._neg_view().diagonal().fill_(1), [[-1, 3 - 1j], [0.5j, -1]]),
    "pairs of a negative": (lambda x: torch.view_as_real(x._neg_view())[0].fill_(1),
                            [[-1 - 1j, -1 - 1j], [0.5j, -2 + 1j]]),
    "both": (lambda x: x.conj()._neg_view().imag.mul_(2), [[1 + 4j, 3 - 2j], [1j, -2 + 2j]]),
    "detached": (lambda x: x.conj().detach().imag.mul_(2), [[1 + 4j, 3 - 2j], [1j, -2 + 2j]]),
    "strided of detached": (lambda x: x.mH.detach().as_strided((2,), (1,), 2).zero_(),
                            [[1 + 2j, 3 - 1j], [0, 0]]),
    "conj_physical_": (lambda x: x.conj().conj_physical_(), [[1 - 2j, 3 + 1j], [-0.5j, -2 - 1j]]),
    "out": (lambda x: torch.add(x, 1j, out=x.conj()), [[1 - 3j, 3 + 0j], [-1.5j, -2 - 2j]]),
    "index_put": (lambda x: x.conj().index_put_((torch.tensor([0]),), torch.tensor([5j])),
                  [[-5j, -5j], [0.5j, -2 + 1j]]),
}


@pytest.mark.parametrize("write, expected", WRITES.values(), ids=WRITES)
def test_writes_through_conjugates_and_negatives_reach_the_memory(write, expected, executor):
    x = fresh()
    write(x)
    assert x.tolist() == expected
    assert x._version == 1


@pytest.mark.parametrize("make, conj, neg", [
    (lambda x: x.mH, True, False), (lambda x: x.conj()[0], True, False),
    (lambda x: x.conj().imag, False, True), (lambda x: x.conj().real, False, False),
    (lambda x: x.conj()._neg_view().imag, False, False), (lambda x: x._neg_view().real, False, True),
    (lambda x: torch.view_as_complex(torch.view_as_real(x._neg_view())), False, True),
    (lambda x: x.conj().contiguous(), True, False), (lambda x: x.mH.contiguous(), False, False),
    (lambda x: x.conj().detach(), True, False), (lambda x: x.conj().data, True, False),
    (lambda x: x.conj().clone(), False, False), (lambda x: x.conj() + 1, False, False),
    (lambda x: x.conj().conj_physical(), False, False), (lambda x: x.conj().resolve_neg(), True, False),
    (lambda x: x.conj()._neg_view().resolve_conj(), False, False),
    (lambda x: x.conj().as_strided((2,), (1,)), True, False), (lambda x: x.conj().reshape(4), True, False),
    (lambda x: torch.nn.Parameter(x.conj()), True, False), (lambda x: torch.empty_like(x.mH), False, False),
    (lambda x: copy.deepcopy(x.conj()), False, False), (lambda x: copy.copy(x.conj()), True, False),
    (lambda x: x.clone().set_(x.conj()), False, False), (lambda x: x.conj().set_(x), True, False),
])
def test_what_is_marked(make, conj, neg, executor):
    t = make(fresh())
    assert (t.is_conj(), t.is_neg()) == (conj, neg)
    assert (torch.is_conj(t), torch.is_neg(t)) == (conj, neg)


def test_what_is_resolved_is_a_copy(executor):
    x = fresh()
    assert x.resolve_conj() is x and x.resolve_neg() is x
    for view in (x.conj(), x._neg_view(), x.mH):
        expected = view.tolist()
        copied = view.resolve_conj().resolve_neg()
        assert not (copied.is_conj() or copied.is_neg() or copied._is_view())
        assert copied.tolist() == expected and copied.stride() == view.stride()
        copied.zero_()
        assert view.tolist() == expected


def test_what_memory_cannot_show_is_refused():
    x = fresh()
    for call, phrase in [
        (lambda: x.conj().numpy(), r"numpy\(\) on Tensor that has conjugate bit set. Use tensor.resolve_c"),
        (lambda: np.asarray(x.conj().imag), r"numpy\(\) on Tensor that has negative bit set"),
        (lambda: torch.view_as_real(x.conj()), "doesn't work on unresolved conjugated tensors"),
        (lambda: x.conj().view(torch.complex64), "not supported for conjugate view tensors"),
        (lambda: x._neg_view().view(torch.float32), "not supported for tensors with negative bit set"),
        (lambda: torch.ones(2)._conj(), "has no conjugate view"),
    ]:
        with pytest.raises(RuntimeError, match=phrase):
            call()
    for export in (lambda: x.conj().__dlpack__(), lambda: torch.from_dlpack(x.conj())):
        with pytest.raises(BufferError, match="conjugate bit"):
            export()
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        torch.tensor([True])._neg_view()
    np.testing.assert_array_equal(x.conj().numpy(force=True), np.conj(np.array(NUMBERS, np.complex64)))
    assert torch.view_as_real(x.conj().detach().conj()).tolist()[0] == [[1, 2], [3, -1]]


def test_a_tensor_on_the_host_is_read_negated(executor):
    lengths = torch.tensor([-3, -2])._neg_view()
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), lengths)
    assert packed.batch_sizes.tolist() == [2, 2, 1]


def test_storages_hold_what_is_in_memory(executor):
    x = fresh()
    assert x.conj()._typed_storage().tolist() == [1 + 2j, 3 - 1j, 0.5j, -2 + 1j]
    assert list(x.conj().untyped_storage()) == list(x.untyped_storage())
    assert x.is_set_to(x.conj().conj())
    assert not x.conj().is_set_to(x) and not x.conj().is_set_to(x.conj())


@pytest.mark.parametrize("make", [
    lambda x: x.conj(), lambda x: x.mH, lambda x: x.conj().imag, lambda x: x.conj()._neg_view()[1],
])
def test_what_is_saved_comes_back_marked(make, executor):
    t = make(fresh())
    file = io.BytesIO()
    torch.save(t, file)
    file.seek(0)
    for back in (torch.load(file), pickle.loads(pickle.dumps(t))):
        assert (back.is_conj(), back.is_neg()) == (t.is_conj(), t.is_neg())
        assert back.tolist() == t.tolist() and not back._is_view()


def test_what_shares_memory_in_a_checkpoint_does_so_again(executor):
    x = fresh()
    file = io.BytesIO()
    torch.save([x, x.conj()], file)
    file.seek(0)
    x, y = torch.load(file)
    y.zero_()
    assert x.tolist() == [[0, 0], [0, 0]]


def test_gradients_pass_conjugates_and_negatives(executor):
    given = torch.tensor([[1 + 1j, 2j], [3 + 0j, 1j]])
    for make, name, expected in [
        (lambda x: x.conj(), "ConjBackward0", [[1 - 1j, -2j], [3, -1j]]),
        (lambda x: x.mH, "ConjBackward0", [[1 - 1j, 3], [-2j, -1j]]),
        (lambda x: x._neg_view(), "NegViewBackward0", [[-1 - 1j, -2j], [-3, -1j]]),
    ]:
        x = fresh(True)
        y = make(x)
        assert y.grad_fn.name() == name and y.requires_grad
        y.backward(given)
        assert x.grad.tolist() == expected
    x = fresh(True)
    x.conj().imag.backward(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert x.grad.tolist() == [[-1j, -2j], [-3j, -4j]]
    x = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    torch.autograd.gradgradcheck(lambda x: (x.conj() * x * x).imag, (x,))


def test_writes_through_conjugates_have_gradients(executor):
    w = torch.tensor(2 + 1j, requires_grad=True)
    x = fresh(True)
    y = x * 1
    z = y.mH
    z[0].mul_(w)
    assert y.grad_fn.name().endswith("CopySlices") and z.grad_fn.name() == "ConjBackward0"
    # the loss is |x00 w|^2 + |x10 w|^2 + |x01|^2 + |x11|^2
    (y * y.conj()).real.sum().backward()
    assert x.grad.tolist() == [[10 + 20j, 6 - 2j], [5j, -4 + 2j]]
    assert w.grad.item() == 2 * (2 + 1j) * 5.25
    x = fresh(True)
    y = x * 1
    z, part = y.conj(), y.conj().imag
    y.mul_(2)
    assert (z.grad_fn.name(), part.grad_fn.name()) == ("ConjBackward0", "AsStridedBackward0")
    (part * part).sum().backward()
    assert x.grad.tolist() == [[16j, -8j], [4j, 8j]]
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        fresh(True).conj().mul_(2)
    z = (fresh(True) * 1).conj()
    product = z * z
    z._base.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().abs().backward()


def test_a_leaf_may_be_a_detached_conjugate(executor):
    y = fresh().conj().detach().requires_grad_()
    parts = [y.conj(), y.imag, y.as_strided((2,), (1,), 1), y.conj().as_strided((2,), (1,), 0)]
    assert [p.tolist() for p in parts[1:]] == [[[-2, 1], [-0.5, -1]], [3 + 1j, -0.5j], [1 + 2j, 3 - 1j]]
    sum((p * p).real.sum() if p.is_complex() else p.sum() for p in parts).backward()
    # 2 conj(y) of y * y, of y + conj(y) where both are; i of the imaginary part
    assert y.grad.tolist() == [[4 + 9j, 18 - 5j], [3j, -4 + 3j]]


@pytest.mark.parametrize("make, gradient", [
    (lambda y: y[0], [[-8 + 16j, -24 - 8j], [0, 0]]),
    (lambda y: y.conj()[0], [[-8 + 16j, -24 - 8j], [0, 0]]),
    (lambda y: y.imag, [[8, 24], [0, -16]]),
    (lambda y: y.conj().imag, [[8, 24], [0, -16]]),
    (lambda y: torch.view_as_real(y)[0], [[8 + 16j, 24 - 8j], [0, 0]]),
    (lambda y: torch.view_as_complex(torch.view_as_real(y))[0], [[-8 + 16j, -24 - 8j], [0, 0]]),
])
def test_views_follow_a_base_that_was_transposed_in_place(make, gradient, executor):
    """A square matrix transposed has the same shape, yet other strides."""
    x = fresh(True)
    y = x * 1
    view = make(y)
    y.t_()
    y.mul_(2j)
    product = view * view
    (product.real if product.is_complex() else product).sum().backward()
    assert x.grad.tolist() == gradient
    assert view.is_conj() == make(fresh()).is_conj() and view.is_neg() == make(fresh()).is_neg()


def test_transforms_of_functions(executor):
    x = fresh()
    assert torch.func.vmap(lambda row: row.conj())(x).tolist() == x.conj().tolist()
    assert torch.func.vmap(lambda row: row.conj().imag)(x).tolist() == [[-2, 1], [-0.5, -1]]
    gradient = torch.func.grad(lambda x: (x.conj() * x).real.sum())(x)
    assert gradient.tolist() == [[2 + 4j, 6 - 2j], [1j, -4 + 2j]]
    value, tangent = torch.func.jvp(lambda x: x.mH, (x,), (x * 2,))
    assert value.tolist() == x.mH.tolist() and tangent.tolist() == (x.mH * 2).tolist()

    def written(x):
        y = x * 1
        y.conj().imag.mul_(3)
        return (y.imag * y.real).sum()

    assert torch.func.grad(written)(x).tolist() == [[6 + 3j, -3 + 9j], [1.5, 3 - 6j]]
    assert torch.func.vmap(torch.func.grad(written))(x).tolist() == torch.func.grad(written)(x).tolist()
    torch.func.vmap(lambda row: row.conj().mul_(2))(x)
    assert x.tolist() == [[2 + 4j, 6 - 2j], [1j, -4 + 2j]]


def test_all_are_compiled_on_an_accelerator(compiled, deferred):
    x = fresh()
    x.conj()[0].mul_(2j)
    x.mH.imag.add_(1)
    assert x.tolist() == [[4 - 3j, -2 - 7j], [-0.5j, -2]]
    assert x.conj().imag.as_strided((2,), (1,), 0).tolist() == [-4, 3]


def test_what_is_conjugated_may_overlap_what_is_written(executor):
    """PyTorch copies such operands before it looks."""
    x = fresh()
    y = x.conj()
    y.mul_(y.mH)
    assert x.tolist() == [[5, -0.5 - 1.5j], [-0.5 + 1.5j, 5]]
    x = fresh()
    torch.add(x.mH.t(), 1, out=x)
    assert x.tolist() == [[2 - 2j, 4 + 1j], [1 - 0.5j, -1 - 1j]]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        fresh().conj().expand(3, 2, 2).zero_()
