"""``jaxflow.linalg`` beside values and gradients: what it refuses, and when; factors; transforms."""

import numpy as np
import pytest

import jaxflow as torch

L = torch.linalg
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
REGULAR = [[2.0, 1.0], [1.0, 3.0]]
WORDS = "The diagonal element 2 is zero, the inversion could not be completed"


def test_a_singular_matrix_is_refused(executor):
    assert L.LinAlgError.__name__ == "_LinAlgError"
    assert issubclass(L.LinAlgError, RuntimeError)
    one, two = torch.tensor(SINGULAR), torch.tensor([REGULAR, SINGULAR])
    calls = {
        rf"linalg.inv: {WORDS}": lambda: L.inv(one),
        rf"linalg.inv: \(Batch element 1\): {WORDS}": lambda: torch.inverse(two),
        rf"linalg.inv_ex: {WORDS}": lambda: L.inv_ex(one, check_errors=True).inverse,
        "torch.linalg.solve: The solver failed because": lambda: L.solve(one, torch.ones(2)),
        r"torch.linalg.solve: \(Batch element 1\): The solver": lambda: L.solve(two, torch.ones(2, 1)),
        r"inv: The diagonal": lambda: L.tensorinv(one, 1),
    }
    for words, call in calls.items():
        with pytest.raises(L.LinAlgError, match=words):
            call().tolist()
    with pytest.raises(RuntimeError, match=r"torch.linalg.lu_factor: U\[2,2\] is zero") as caught:
        L.lu_factor(one).LU.tolist()
    assert caught.type is RuntimeError
    assert L.inv_ex(two).info.tolist() == L.solve_ex(two, torch.ones(2, 1)).info.tolist() == [0, 2]
    assert L.lu_factor_ex(one).info.item() == 2


def test_deferred_names_the_line_and_a_regular_matrix_is_no_sync_point(deferred):
    bad = L.inv(torch.tensor(SINGULAR) + 0)
    with pytest.raises(L.LinAlgError) as caught:
        bad.sum().item()
    assert any(__file__ in note for note in caught.value.__notes__)
    before = torch.explain()["syncs"]
    x = L.solve(torch.tensor(REGULAR) + 0, torch.ones(2))
    assert torch.explain()["syncs"] == before
    np.testing.assert_allclose(x.numpy(), [0.4, 0.2], rtol=1e-6)


def test_singular_determinants(executor):
    """What PyTorch's own formula makes 0 times infinity is the adjugate."""
    for rows in (SINGULAR, [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 3.0, 5.0]], [[0.0, 0.0], [0.0, 0.0]]):
        A = torch.tensor(rows, requires_grad=True)
        d = torch.det(A)
        d.backward()
        rows = np.asarray(rows)
        n = len(rows)
        minors = [[np.linalg.det(np.delete(np.delete(rows, i, 0), j, 1)) * (-1) ** (i + j) for j in range(n)]
                  for i in range(n)]
        assert d.item() == 0
        np.testing.assert_allclose(A.grad.numpy(), minors, atol=4e-6)  # some float32 rounding of 5
    sign, logabs = torch.slogdet(torch.tensor(SINGULAR))
    assert (sign.item(), logabs.item()) == (0.0, -np.inf)
    assert np.isnan(torch.logdet(torch.tensor([[0.0, 1.0], [1.0, 0.0]])).item())


def test_no_matrices_and_empty_ones(executor):
    empty = torch.zeros(2, 0, 0)
    assert torch.det(empty).tolist() == [1, 1]
    assert L.inv(empty).shape == (2, 0, 0)
    assert L.solve(empty, torch.zeros(2, 0, 3)).shape == (2, 0, 3)
    assert L.solve(torch.zeros(0, 3, 3), torch.zeros(3, 1)).shape == (0, 3, 1)
    P, lower, upper = L.lu(torch.zeros(0, 2, 3))
    assert (P.shape, lower.shape, upper.shape) == ((0, 2, 2), (0, 2, 2), (0, 2, 3))


def test_an_indefinite_matrix_is_refused_and_its_first_bad_minor_told(executor):
    size = 5
    good = np.eye(size) * 4 + 1
    stack = np.stack([good] + [good - np.diag(np.eye(size)[k]) * 9 for k in range(size)])
    A = torch.tensor(stack)
    factor, info = L.cholesky_ex(A)
    assert info.tolist() == list(range(size + 1))
    np.testing.assert_allclose((factor[0] @ factor[0].mT).numpy(), good)
    assert L.cholesky_ex(A, upper=True).info.tolist() == info.tolist()
    order = r"positive-definite \(the leading minor of order 3 is not positive-definite\)"
    with pytest.raises(L.LinAlgError, match=rf"linalg.cholesky: The factorization .* {order}"):
        L.cholesky(A[3]).tolist()
    with pytest.raises(L.LinAlgError, match=r"linalg.cholesky_ex: \(Batch element 1\): The factorization"):
        L.cholesky_ex(A, check_errors=True).L.tolist()
    with pytest.raises(L.LinAlgError, match="cholesky_inverse: The diagonal element 2 is zero"):
        torch.cholesky_inverse(torch.tensor([[1.0, 0.0], [3.0, 0.0]])).tolist()
    assert L.cholesky(torch.zeros(2, 0, 0)).shape == (2, 0, 0)


def test_exponentials(executor):
    """Rotations by small and by large angles, diagonal matrices, half precision, an infinite norm."""
    spin = np.array([[0.0, -1.0], [1.0, 0.0]])
    for angle in (1e-3, 1.0, 300.0, 1e5):
        got = torch.matrix_exp(torch.tensor(spin * angle)).numpy()
        expected = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        np.testing.assert_allclose(got, expected, atol=3e-15 * max(1, angle))
    A = torch.tensor(np.diag([0.0, -2.0, 3.0]))
    np.testing.assert_allclose(torch.matrix_exp(torch.stack((A, -A)))[1].numpy(), np.diag(np.exp([0, 2, -3])),
                               rtol=1e-13, atol=1e-14)
    half = L.matrix_exp(torch.eye(2, dtype=torch.bfloat16))
    assert half.dtype is torch.bfloat16
    assert half[0, 0].item() == 2.71875
    assert torch.matrix_exp(torch.full((2, 2), np.inf)).isnan().all()


def test_least_squares(executor):
    """Residuals, ranks and singular values come with the drivers that have them."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 1))
    A[1, :, 2] = A[1, :, 0] + A[1, :, 1]
    expected = [np.linalg.lstsq(a, b, rcond=1e-12) for a, b in zip(A, B)]
    A, B = torch.tensor(A), torch.tensor(B)
    for driver in ("gelsy", "gelsd"):
        X, residuals, rank, values = L.lstsq(A, B, driver=driver)
        np.testing.assert_allclose(X.numpy(), np.stack([e[0] for e in expected]), rtol=1e-9)
        assert rank.tolist() == [3, 2]
        assert residuals.shape == (0,)
        if driver == "gelsd":
            np.testing.assert_allclose(values.numpy(), np.stack([e[3] for e in expected]), atol=1e-12)
    for driver in ("gels", "gelss"):
        np.testing.assert_allclose(L.lstsq(A[0], B[0], driver=driver).residuals.numpy(), expected[0][1])
    assert L.lstsq(A, B[:, :, 0]).solution.shape == (2, 3)
    assert L.lstsq(A[:1], B).rank.shape == (1,)


def test_symmetric_factors_run_on_the_host(executor):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(2, 40, 40)) + 1j * rng.normal(size=(2, 40, 40))
    B = torch.tensor(rng.normal(size=(40, 3)) + 0j)
    for hermitian, whole in ((True, A + A.conj().mT), (False, A + A.mT)):
        whole = torch.tensor(whole)

        def solve(whole, B, hermitian=hermitian):
            return L.ldl_solve(*L.ldl_factor(whole + 0, hermitian=hermitian), B, hermitian=hermitian)

        for X in (solve(whole, B), torch.vmap(solve, (0, None))(whole, B), torch.compile(solve)(whole, B)):
            np.testing.assert_allclose((whole @ X).numpy(), B.expand(2, 40, 3).numpy(), atol=1e-10)
    with pytest.raises(RuntimeError, match="torch.linalg.ldl_factor: The diagonal element 2 of D is zero"):
        L.ldl_factor(torch.diag(torch.tensor([1.0, 0.0, 2.0]))).LD.tolist()
    large = torch.eye(600) * 2  # more than a callback is handed in place
    assert (L.ldl_factor(large * 1).LD.diagonal() == 2).all()
    LD, _, _ = L.ldl_factor_ex(torch.eye(2, requires_grad=True))
    assert LD.grad_fn.name() == "torch::autograd::NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        LD.sum().backward()


def test_removed_names_say_what_to_call():
    A = torch.eye(2)
    calls = {"linalg.solve": lambda: A.solve(A), "linalg.lstsq": lambda: torch.lstsq(A, A),
             "linalg.eigh": A.symeig, "linalg.eig": lambda: torch.eig(A),
             "linalg.matrix_rank": lambda: torch.matrix_rank(A)}
    for name, call in calls.items():
        with pytest.raises(RuntimeError, match=rf"removed\.[\s\S]*torch\.{name}"):
            call()


@pytest.mark.filterwarnings("ignore:at...*_norm is deprecated")
def test_norms_by_their_older_names():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 3, 4))
    x = torch.tensor(a)
    for got, expected in (
        (torch.frobenius_norm(x, (0, 2)), np.sqrt((a * a).sum((0, 2)))),
        (torch.frobenius_norm(x, ()), np.sqrt((a * a).sum())),
        (torch.nuclear_norm(x), np.linalg.svd(a, compute_uv=False).sum(-1)),
        (torch.nuclear_norm(x[0], True), np.linalg.svd(a[0], compute_uv=False).sum().reshape(1, 1)),
        (torch.norm_except_dim(x, 1, 1), np.abs(a).sum((0, 2), keepdims=True)),
        (torch.norm_except_dim(x, 2, -1), np.sqrt((a * a).sum())),
    ):
        np.testing.assert_allclose(got.numpy(), expected)
    with pytest.raises(RuntimeError, match="Expected at most 2 dimensions, but got 3 dimensions instead"):
        torch.frobenius_norm(x, (0, 1, 2))
