"""Sparse layouts: what dense tensors do of theirs, and that the rest is refused with advice."""

import pytest

import jaxflow as torch


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
        (RuntimeError, "torch.sparse_csr is not supp", lambda: torch.zeros_like(x, layout=torch.sparse_csr)),
        (NotImplementedError, r"^to_sparse\(\) needs a sparse layout.*index_put", x.to_sparse),
        (NotImplementedError, "sparse_coo_tensor", lambda: torch.sparse_coo_tensor([[0], [1]], [1.0])),
        (NotImplementedError, r"^sparse.sampled_addmm\(\)", lambda: torch.sparse.sampled_addmm(x, x, x.T)),
    ):
        with pytest.raises(error, match=words):
            call()
