"""Sparse tensors: what needs no PyTorch to be checked (compat_tests/test_sparse.py compares with it)."""

import copy
import pickle

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.nn import functional as F
from jaxflow.overrides import TorchFunctionMode

INDICES, VALUES = torch.tensor([[0, 2, 0], [1, 0, 1]]), torch.tensor([1.0, 2.0, 3.0])


def made(**kwargs):
    return torch.sparse_coo_tensor(INDICES, VALUES.clone(), (3, 3), **kwargs)


def test_dense_tensors_have_their_part(executor):
    x, y = torch.arange(6.0).reshape(2, 3), torch.ones(3, 2)
    assert x.to_dense() is x and x.to_dense(torch.float64).dtype is torch.float64
    assert (x.sparse_dim(), x.dense_dim()) == (0, 2)
    for product in (torch.sparse.mm, torch.spmm, torch.dsmm):
        assert product(x, y).tolist() == [[3, 3], [12, 12]]
    assert torch.sparse.addmm(torch.ones(2, 2), x, y, beta=2).tolist() == [[5, 5], [14, 14]]


def test_what_needs_a_sparse_layout_is_refused():
    x = torch.ones(2, 3)
    for error, words, call in (
        (RuntimeError, "coalesce expected sparse coordinate tensor layout but got Strided", x.coalesce),
        (RuntimeError, "values expected sparse tensor layout", x.values),
        (RuntimeError, "crow_indices expected sparse row compressed", x.crow_indices),
        (NotImplementedError, "sparse_coo is not supported", lambda: torch.rand(2, layout=torch.sparse_coo)),
        (NotImplementedError, "Could not run 'aten::_nnz' with arguments from the 'CPU'", x._nnz),
        (NotImplementedError, "aten::sparse_sampled_addmm", lambda: torch.sparse.sampled_addmm(x, x, x.T)),
    ):
        with pytest.raises(error, match=words):
            call()


def test_no_operation_takes_one_for_a_dense_tensor():
    """Whatever is not in the table is refused by its name; what reads values below it is, too."""
    s = made()
    for call in (s.exp, lambda: torch.cos(s), lambda: F.gelu(s), lambda: torch.fft.fft(s),
                 lambda: s.view(9), lambda: torch.linalg.inv(s), lambda: s > 0, s.max,
                 lambda: torch.where(s.to_dense() > 0, s, s), lambda: nn.Linear(3, 3)(s).clamp_(s, s),
                 lambda: F.conv1d(s, s), lambda: torch.utils.dlpack.to_dlpack(s), lambda: s.cumsum(0)):
        with pytest.raises(NotImplementedError, match="Could not run .*arguments from the 'SparseCPU'"):
            call()
    with pytest.raises(NotImplementedError, match="takes strided tensors, and got one of layout"):
        s._storage.value  # noqa: B018
    with pytest.raises(TypeError, match="Sparse layout tensor to numpy"):
        s.numpy()
    with pytest.raises(NotImplementedError, match="out= is not taken"):
        torch.sin(s, out=torch.zeros(3, 3))


def test_values_and_their_sums(executor):
    s = made()
    assert (s.layout, s.is_sparse, s.shape, s._nnz()) == (torch.sparse_coo, True, (3, 3), 3)
    assert type(s) is torch.Tensor and not s.is_coalesced()
    c = s.coalesce()
    assert c.indices().tolist() == [[0, 2], [1, 0]] and c.values().tolist() == [4, 2]
    assert s.to_dense().tolist() == [[0, 4, 0], [0, 0, 0], [2, 0, 0]]
    assert (s @ torch.eye(3)).tolist() == s.to_dense().tolist()
    assert torch.sparse.mm(s, s).to_dense().tolist() == (s.to_dense() @ s.to_dense()).tolist()
    for compressed in (s.to_sparse_csr(), s.to_sparse_csc(), s.to_dense().to_sparse_bsr((3, 1))):
        assert compressed.to_dense().tolist() == s.to_dense().tolist()


def test_gradients_of_values_and_of_gradients(executor):
    v, d = VALUES.clone().requires_grad_(), torch.arange(9.0).reshape(3, 3).requires_grad_()
    s = torch.sparse_coo_tensor(INDICES, v, (3, 3))
    out = torch.sparse.mm(s * 2, d).sum()
    dv, dd = torch.autograd.grad(out, (v, d), create_graph=True)
    assert dv.tolist() == [24, 6, 24]
    assert dd.tolist() == [[4] * 3, [8] * 3, [0] * 3]
    (dv * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert d.grad.tolist() == [[4] * 3, [8] * 3, [0] * 3]
    assert torch.autograd.gradcheck(
        lambda x: torch.sparse.softmax(torch.sparse_coo_tensor(INDICES, x, (3, 3)), 1).to_dense(),
        torch.tensor([0.3, -1.0, 0.5], dtype=torch.float64, requires_grad=True))


def test_a_leaf_gets_a_sparse_gradient_each_place_once():
    s = made().requires_grad_()
    (s.to_dense() * torch.arange(9.0).reshape(3, 3)).sum().backward()
    assert s.grad.layout is torch.sparse_coo and s.grad.to_dense().tolist() == [[0, 1, 0], [0, 0, 0], [6,
                                                                                                       0, 0]]
    kept = s.grad
    s.to_dense().sum().backward()
    assert s.grad is kept and kept.to_dense()[0, 1] == 2
    s.grad = None
    hooked = []
    s.register_hook(lambda grad: hooked.append(grad.layout))
    torch.sparse.sum(s).backward()
    assert hooked == [torch.sparse_coo]


def test_writes_change_all_parts_at_once():
    s = made()
    same = s.detach()
    version = s._version
    s.mul_(2)
    assert same.to_dense()[0, 1] == 8 and s._version == version + 1
    s._values().zero_()
    assert s.to_dense().abs().sum() == 0
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        made().requires_grad_().mul_(2)
    d = torch.ones(3, 3)
    d.add_(made(), alpha=2)
    assert d[0].tolist() == [1, 9, 1]
    v = VALUES.clone().requires_grad_()
    t = torch.sparse_coo_tensor(INDICES, v, (3, 3))
    t.mul_(3)
    torch.sparse.sum(t).backward()
    assert v.grad.tolist() == [3, 3, 3]


def test_what_a_product_saved_may_not_be_overwritten():
    s, d = made().requires_grad_(), torch.ones(3, 3)
    out = torch.sparse.mm(s, d)
    d.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_copies_pickles_and_modules():
    for t in (made(), made(requires_grad=True), made().to_sparse_csr(), nn.Parameter(made())):
        for twin in (copy.deepcopy(t), pickle.loads(pickle.dumps(t)), copy.copy(t)):
            assert (type(twin), twin.layout, twin.requires_grad) == (type(t), t.layout, t.requires_grad)
            assert twin.to_dense().tolist() == t.to_dense().tolist()
    module = nn.Module()
    module.register_buffer("adjacency", made())
    module.double()
    assert module.state_dict()["adjacency"].dtype is torch.float64
    module.load_state_dict({"adjacency": made() * 2})
    assert module.adjacency.to_dense()[0, 1] == 8


def test_tensors_made_in_inference_mode():
    with torch.inference_mode():
        s = made()
        assert s.is_inference() and (s * 2).is_inference()
        s.mul_(2)
    assert s.is_inference() and s.to_dense()[0, 1] == 8 and not made().is_inference()
    with pytest.raises(RuntimeError, match="inference tensor"):
        s.requires_grad_()


def test_modes_and_subclasses_see_the_functions():
    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    seen = []
    s = made()
    with Mode():
        assert torch.sparse.mm(s, torch.eye(3)).tolist() == s.to_dense().tolist()
    assert "mm" in seen


def test_vmap_forward_mode_and_jax_are_refused_by_name():
    s = made()
    with pytest.raises(NotImplementedError, match="vmap"):
        torch.vmap(lambda x: torch.mv(s, x))(torch.ones(2, 3))
    with pytest.raises(NotImplementedError, match="forward mode"):
        torch.func.jvp(lambda x: torch.mv(s, x), (torch.ones(3),), (torch.ones(3),))
    index, table = torch.tensor([1, 1]), torch.ones(3, 2)
    looked_up = lambda w: F.embedding(index, w, sparse=True).pow(2).sum()  # noqa: E731
    assert torch.func.jvp(looked_up, (table,), (table,))[1] == 8
    assert torch.func.grad(looked_up)(table).to_dense().tolist() == [[0, 0], [4, 4], [0, 0]]
    import jax

    def loss(x):
        return torch.sparse_coo_tensor(INDICES, torch.from_jax(x), (3, 3)).to_dense().sum().jax()

    with pytest.raises(NotImplementedError, match=r"inside of jax\.jit"):
        jax.grad(loss)(VALUES.jax())


def test_sparse_gradients_of_look_ups_and_their_optimizers(executor):
    for make in (lambda ps: torch.optim.SGD(ps, lr=0.5), lambda ps: torch.optim.SparseAdam(ps, lr=0.1),
                 lambda ps: torch.optim.Adagrad(ps, lr=0.1),
                 lambda ps: torch.optim.SGD(ps, lr=0.5, momentum=0.9)):
        table = nn.Embedding(5, 2, sparse=True)
        optimizer, before = make(table.parameters()), table.weight.detach().clone()
        for _ in range(3):
            optimizer.zero_grad()
            table(torch.tensor([[1, 3], [1, 0]])).sum().backward()
            assert table.weight.grad.is_sparse
            optimizer.step()
        moved = (table.weight.detach() != before).any(1)
        assert moved.tolist() == [True, True, False, True, False]
        again = make(table.parameters())
        again.load_state_dict(optimizer.state_dict())


def test_indices_are_looked_at_where_a_program_wants_it():
    assert torch.sparse_coo_tensor([[5]], [1.0], (3,)).shape == (3,)
    check = torch.sparse.check_sparse_tensor_invariants
    for call in (lambda: torch.sparse_coo_tensor([[5]], [1.0], (3,)),
                 lambda: torch.sparse_csr_tensor([0, 1], [7], [1.0], (1, 3)),
                 lambda: torch.sparse_coo_tensor([[1, 0]], [1.0, 1.0], (3,), is_coalesced=True)):
        with check(), pytest.raises(RuntimeError):
            call()
    assert not check.is_enabled()
    with pytest.raises(RuntimeError, match="found index 5"):
        torch.sparse_coo_tensor([[5]], [1.0], (3,), check_invariants=True)
    with pytest.raises(IndexError):
        torch.sparse_coo_tensor([[5]], [1.0], (3,)).to_dense().tolist()


def test_a_large_table_drops_its_gradient():
    table = nn.Embedding(3000, 16, sparse=True)
    optimizer = torch.optim.SGD(table.parameters(), lr=1.0)
    before = table.weight.detach().clone()
    for _ in range(3):
        optimizer.zero_grad()
        table(torch.tensor([5, 5, 2999])).sum().backward()
        optimizer.step()
    moved = before - table.weight.detach()
    assert moved[5].allclose(torch.tensor(6.0)) and moved[2999].allclose(torch.tensor(3.0))
    assert not moved[:5].any()


def drawn(seed):
    """A tensor in coordinates with places that come twice, of some shape."""
    draw = np.random.RandomState(seed)
    sparse, dense = [int(n) for n in draw.randint(1, 4, draw.randint(1, 4))], [2] * draw.randint(0, 2)
    nnz = int(draw.randint(0, 9))
    indices = np.stack([draw.randint(0, n, nnz) for n in sparse]).reshape(len(sparse), nnz)
    values = draw.standard_normal((nnz, *dense)).astype(np.float32)
    want = np.zeros((*sparse, *dense), np.float32)
    np.add.at(want, tuple(indices), values)
    return torch.sparse_coo_tensor(torch.tensor(indices), torch.tensor(values),
                                   want.shape), torch.tensor(want)


@pytest.mark.parametrize("seed", range(12))
def test_random_tensors_are_what_their_dense_ones_are(seed):
    s, d = drawn(seed)
    count, rank = s.sparse_dim(), s.dim()
    near = torch.testing.assert_close
    near(s.to_dense(), d)
    c = s.coalesce()
    assert c.is_coalesced() and (c.indices().shape[1] < 2 or torch.unique(c.indices(),
                                                                          dim=1).shape[1] == c._nnz())
    for dim in range(rank):
        found = torch.sparse.sum(s, dim)
        near(found.to_dense(), d.sum(dim))
        near(s.select(dim, 0).to_dense(), d.select(dim, 0))
        index = torch.tensor([0, d.shape[dim] - 1, 0])
        near(s.index_select(dim, index).to_dense(), d.index_select(dim, index))
        near(torch.cat([s, c], dim).to_dense(), torch.cat([d, d], dim))
        near(s.unsqueeze(dim).to_dense(), d.unsqueeze(dim))
        near(s.narrow_copy(dim, 0, 1).to_dense(), d.narrow(dim, 0, 1))
        near(torch.sparse.softmax(s, dim).to_dense(), torch.where(
            masked(s) == 0, 0.0, torch.softmax(torch.where(masked(s) == 0, -float("inf"), d), dim)))
    if count > 1:
        near(s.transpose(0, count - 1).to_dense(), d.transpose(0, count - 1))
    other = torch.arange(float(d.numel())).reshape(d.shape)
    near((s * other).to_dense(), d * other)
    near((s * c).to_dense(), d * d)
    near((s + c - s * 3).to_dense(), -d)
    near(other + s, other + d)
    near(s.tanh().to_dense(), d.tanh())
    v = s._values().clone().requires_grad_()
    made = torch.sparse_coo_tensor(s._indices(), v, s.shape)
    ((made * other).to_dense() * other).sum().backward()
    near(v.grad, (other * other)[tuple(s._indices())] if v.numel() else torch.zeros_like(v))


def masked(s):
    """1 where a sparse tensor has an entry, else 0."""
    ones = torch.ones_like(s._values())
    return torch.sparse_coo_tensor(s._indices(), ones, s.shape).to_dense()
