"""Decompositions, distances and histograms against NumPy: in both executors, compiled, mapped."""

import math
import warnings

import numpy as np
import pytest

import jaxflow as torch

L = torch.linalg
RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 4, 3))
S = A[:, :3] @ A[:, :3].swapaxes(-1, -2) + np.eye(3)


def close(actual, expected):
    np.testing.assert_allclose(actual.detach().numpy(), expected, rtol=1e-9, atol=1e-9)


def test_parts_make_the_matrix(executor):
    a, s = torch.tensor(A), torch.tensor(S)
    values, vectors = L.eigh(s)
    close(vectors * values.unsqueeze(-2) @ vectors.mT, S)
    close(L.eigvalsh(s, UPLO="U"), np.linalg.eigvalsh(S))
    values, vectors = L.eig(a[:, :3])
    close(a[:, :3].to(torch.complex128) @ vectors, (vectors * values.unsqueeze(-2)).numpy())
    close(L.eigvals(a[:, :3]).abs().sort()[0], np.sort(np.abs(np.linalg.eigvals(A[:, :3]))))
    u, d, vh = L.svd(a, full_matrices=False)
    close(u * d.unsqueeze(-2) @ vh, A)
    u, d, v = torch.svd(a)
    close(u * d.unsqueeze(-2) @ v.mT, A)
    for mode in ("reduced", "complete"):
        q, r = L.qr(a, mode)
        close(q @ r, A)
        close(q.mT @ q, np.broadcast_to(np.eye(q.shape[-1]), (2, q.shape[-1], q.shape[-1])))
    packed, tau = torch.geqrf(a)
    close(torch.orgqr(packed, tau), L.qr(a)[0].numpy())
    close(packed.ormqr(tau, a, transpose=True)[:, :3], L.qr(a)[1].numpy())
    close(L.pinv(a), np.linalg.pinv(A))
    close(L.pinv(s, hermitian=True), np.linalg.inv(S))
    assert L.matrix_rank(torch.cat([a, a], 1).mT @ torch.cat([a, a], 1)).tolist() == [3, 3]
    for order in (None, -2, 1, "fro", "nuc"):
        close(L.cond(s, order), np.linalg.cond(S, order))
    u, d, v = torch.svd_lowrank(a @ a.mT, q=3)
    close(u * d.unsqueeze(-2) @ v.mT, A @ A.swapaxes(-1, -2))
    u, d, v = torch.pca_lowrank(a, q=3)
    close(u * d.unsqueeze(-2) @ v.mT, A - A.mean(-2, keepdims=True))


LSTSQ = (torch.float32, torch.float32, torch.int64, torch.float32)  # dtypes of its results


def test_matrices_lie_column_by_column(executor):
    a = torch.tensor(A)
    q, r = L.qr(a)
    assert q.stride() == (12, 1, 4) and r.stride() == (9, 1, 3) and not q.is_contiguous()
    assert q.mT.is_contiguous() and (q * 2).stride() == q.stride()
    u, d, vh = L.svd(a)
    assert (u.stride(), d.stride(), vh.stride()) == ((16, 1, 4), (3, 1), (9, 1, 3))
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        u.view(-1)
    out = torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.float64)
    torch.linalg.qr(a, out=out)
    assert out[0].stride() == q.stride()
    many, vectors = torch.eye(3).expand(2, 3, 3), torch.ones(2, 3)
    assert L.solve(many, vectors).stride() == (1, 2)
    assert L.solve(many, vectors.unsqueeze(-1).mT, left=False).is_contiguous()
    assert L.tensorinv(torch.eye(6).reshape(6, 2, 3), ind=1).stride() == (3, 1, 6)
    tall, out = torch.randn(2, 4, 3), [torch.empty(7, dtype=dtype) for dtype in LSTSQ]
    solved = L.lstsq(tall, vectors.new_ones(2, 4))[0]
    assert solved.stride() == (4, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = L.lstsq(tall, vectors.new_ones(2, 4), out=tuple(out))[0]
        assert again is out[0] and again.is_contiguous() and torch.equal(again, solved)
        assert L.matrix_power(many[0], -1, out=torch.empty(2)).is_contiguous()
    # An ``out=`` of another shape that the result is copied to lies row by row.
    for copies, into in ((torch.cholesky, 0), (torch.cholesky_inverse, 1), (L.tensorinv, 0)):
        given = (torch.eye(4).reshape(2, 2, 2, 2) if copies is L.tensorinv else torch.eye(3),)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert copies(*given, out=torch.empty(into)).is_contiguous(), copies

def test_compiled_and_mapped():
    """Library calls on the host in compiled code, forward and backward, and under a mapped axis."""

    def loss(x):
        values, vectors = L.eig(x)
        return values.abs().sum() + (vectors.abs() * L.svdvals(x)).sum()

    step = torch.compile(torch.func.grad(loss))
    a = torch.tensor(A[:, :3])
    expected = torch.stack([torch.func.grad(loss)(x) for x in a])
    for _ in range(3):
        close(torch.stack([step(x) for x in a]), expected.numpy())
    close(torch.vmap(torch.func.grad(loss))(a), expected.numpy())


def test_what_is_not_decided_has_no_gradient(executor):
    """Modes of QR without a derivative say so in backward; more singular vectors change no gradient."""
    a = torch.tensor(A[0], requires_grad=True)
    for mode, words in (("r", "is not computed when mode='r'"), ("complete", "is not differentiable")):
        with pytest.raises(RuntimeError, match=words):
            L.qr(a, mode)[1].sum().backward()
    full, _, _ = L.svd(a)
    thin, _, _ = L.svd(a, full_matrices=False)
    grads = [torch.autograd.grad(u[:, :3].abs().sum(), a)[0] for u in (full, thin)]
    close(grads[0], grads[1].numpy())


def test_symmetric_gradients(executor):
    """Of a Hermitian matrix one triangle is read, and both share the gradient."""
    s = torch.tensor(np.tril(S[0]), requires_grad=True)
    close(L.eigvalsh(s), np.linalg.eigvalsh(S[0]))
    (L.eigh(s)[1].abs() * torch.arange(9.0).reshape(3, 3)).sum().backward()
    close(s.grad, s.grad.mT.numpy())


def test_distances(executor):
    x, y = A[0], A[1]
    for p in (0, 1, 1.5, 2, 3, np.inf):
        expected = np.array([[np.linalg.norm(a - b, p) for b in y] for a in x])
        close(torch.cdist(torch.tensor(x), torch.tensor(y), float(p)), expected)
        pairs = [np.linalg.norm(x[i] - x[j], p) for i in range(4) for j in range(i + 1, 4)]
        close(torch.pdist(torch.tensor(x), float(p)), pairs)
    close(torch.cdist(torch.tensor(x), torch.tensor(y), compute_mode="use_mm_for_euclid_dist"),
          np.sqrt(((x[:, None] - y) ** 2).sum(-1)))
    for mode in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        same = torch.tensor(np.ones((2, 2)), requires_grad=True)
        torch.cdist(same, same.detach(), compute_mode=mode).sum().backward()
        assert same.grad.tolist() == [[0, 0], [0, 0]]


def test_histograms_and_gradients(executor):
    x = np.random.default_rng(1).normal(size=50)
    t = torch.tensor(x)
    for bins in (4, np.array([-1.0, 0.0, 0.5, 2.0])):
        counts, edges = torch.histogram(t, bins if isinstance(bins, int) else torch.tensor(bins))
        expected = np.histogram(x, bins)
        close(counts, expected[0])
        close(edges, expected[1])
    counts, _ = t.histogram(3, range=(-1, 1), weight=t.abs(), density=True)
    close(counts, np.histogram(x, 3, (-1, 1), True, abs(x))[0])
    points = x.reshape(25, 2)
    counts, edges = torch.histogramdd(torch.tensor(points), [2, 3])
    expected = np.histogramdd(points, [2, 3])
    close(counts, expected[0])
    close(edges[1], expected[1][1])
    for order in (1, 2):
        for spacing in (0.5, [np.array([0.0, 1, 3, 4]), 2.0]):
            steps = [spacing] * 2 if isinstance(spacing, float) else spacing
            mine = torch.gradient(torch.tensor(A[0]), edge_order=order, spacing=[
                torch.tensor(s) if isinstance(s, np.ndarray) else torch.arange(3.0) * s for s in steps
            ] if isinstance(spacing, list) else spacing)
            for g, e in zip(mine, np.gradient(A[0], *steps, edge_order=order), strict=True):
                close(g, e)


def test_positions_of_another_number(executor):
    """One weight of three samples serves every place inside, and one place takes every weight."""
    squares, places = (torch.tensor(x, dtype=torch.float64) for x in ([0, 1, 4, 9], [0, 2, 6, 12]))
    (few,) = torch.gradient(squares, spacing=[places[:3]])
    close(few, np.array([0.5, 7 / 12, 17 / 12, 1.25]))
    for order, ends in ((1, (0.5, 0.5)), (2, (5 / 12, 0.65))):
        (many,) = torch.gradient(squares[:3], spacing=[places], edge_order=order)
        close(many, np.array([ends[0], 7 / 12, 0.35, ends[1]]))
    for count, error, words in (
        (4, RuntimeError, "size of tensor a \\(2\\) must match the size of tensor b \\(3\\)"),
        (0, RuntimeError, "size of tensor a \\(0\\) must match the size of tensor b \\(3\\)"),
    ):
        with pytest.raises(error, match=words):
            torch.gradient(torch.arange(5.0), spacing=[torch.arange(float(count))])
    for x, order, index in ((squares[:3], 1, 0), (squares[:3], 2, 1), (squares[:2], 1, 0)):
        with pytest.raises(IndexError, match=f"index {index} out of range for tensor of size \\[0\\]"):
            torch.gradient(x, spacing=[torch.ones(1)], edge_order=order)
    for spacing, error, words in (
        ([torch.tensor(2.0)], RuntimeError, "to have one dimension, but got an element with 0 dimensions"),
        ([torch.ones(2, 4)], RuntimeError, "to have one dimension, but got an element with 2 dimensions"),
        ([1.0, torch.ones(4)], TypeError, "expected Tensor as element 0 in argument 1, but got float"),
    ):
        with pytest.raises(error, match=words):
            torch.gradient(squares, spacing=spacing)


def test_refusals():
    square, wide, whole = torch.eye(3), torch.ones(2, 3), torch.ones(3, 3, dtype=torch.int64)
    for call, words in (
        (lambda: L.eigh(wide), "linalg.eigh: A must be batches of square matrices, but they are 2 by 3"),
        (lambda: L.eig(whole), "Unknown Complex ScalarType for Long"),
        (lambda: L.svd(torch.ones(3)), "linalg.svd: The input tensor A must have at least 2 dimensions"),
        (lambda: L.eigvalsh(square, "X"), "Expected UPLO argument to be 'L' or 'U', but got X"),
        (lambda: L.cond(square, "abc"), "linalg.cond got an invalid norm type: abc"),
        (lambda: torch.cdist(wide, torch.ones(2, 4)), "X1 and X2 must have the same number of columns"),
        (lambda: torch.ormqr(square, torch.ones(4), square), "tau.shape"),
        (lambda: torch.histogram(torch.ones(3), 0), "bins must be > 0, but got 0 for dimension 0"),
        (lambda: torch.histc(torch.ones(3), 4, 2, 1), "max must be larger than min"),
        (lambda: torch.gradient(torch.ones(2, 2), edge_order=2), "to be at least edge_order\\+1"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


def test_numbers_that_are_not_finite(executor):
    """Refused at the call, or when a pending number is read."""
    wrong, below = (torch.tensor(x) for x in ([[1.0, math.nan], [0.0, 1.0]], [[1.0, 0.0], [math.nan, 1.0]]))
    for name in ("svd", "svdvals"):
        with pytest.raises(L.LinAlgError, match="failed to converge"):
            getattr(L, name)(wrong)
    for name in ("eigh", "eigvalsh"):  # they read one triangle
        with pytest.raises(L.LinAlgError, match="failed to converge"):
            getattr(L, name)(wrong, UPLO="U")
        with pytest.raises(L.LinAlgError, match="failed to converge"):
            getattr(L, name)(below)
    assert L.eigvalsh(wrong).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
        L.eig(wrong)
    for call in (L.pinv, L.cond, L.matrix_rank, lambda x: L.matrix_norm(x, 2), lambda x: x.norm("nuc")):
        for dtype in (torch.float64, torch.complex64):
            with pytest.raises(L.LinAlgError, match="non-finite values"):
                call(wrong.to(dtype)).tolist()
    with pytest.raises(L.LinAlgError, match="ill-conditioned"):
        L.pinv(below, hermitian=True)
    assert L.pinv(wrong, hermitian=True).allclose(torch.eye(2))
    pending = torch.zeros(2, 2) / torch.zeros(2, 2)
    with pytest.raises(L.LinAlgError, match="non-finite values"):
        L.svdvals(pending).tolist()


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 4), (5, 3)])
def test_singular_values_of_infinities(executor, shape):
    """The library that computes them never came back for some such matrices."""
    for dtype in (torch.float32, torch.float64, torch.complex64):
        x = torch.arange(float(math.prod(shape))).reshape(shape).sin().to(dtype)
        x[0, 0] = math.inf
        both = torch.stack([x, torch.ones(shape, dtype=dtype)])
        assert L.svdvals(x).isnan().all() and L.svd(x).S.isnan().all()
        assert L.svdvals(both).isnan().tolist() == [[True] * min(shape), [False] * min(shape)]
        assert L.pinv(x).isnan().all()
        assert L.matrix_rank(both).tolist() == [0, 1]
        assert math.isnan(L.matrix_norm(x, 2).item()) and math.isnan(L.matrix_norm(x, "nuc").item())
        assert L.lstsq(x, torch.ones(shape[0], 1, dtype=dtype)).solution.isnan().all()
