"""``jaxflow.masked`` held against the same operation on the unmasked elements alone."""

import numpy as np
import pytest

import jaxflow as torch

X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
MASK = np.random.default_rng(1).random((4, 5)) < 0.5
MASK[0], MASK[1] = True, False  # a row with everything, a row with nothing
NOTHING = dict(sum=0, prod=1, amax=-np.inf, amin=np.inf, mean=np.nan, median=np.nan, norm=0, var=np.nan,
               std=np.nan, logsumexp=-np.inf)


def _lower_median(row):
    return np.sort(row)[(len(row) - 1) // 2]


ORACLES = dict(
    sum=np.sum, prod=np.prod, amax=np.max, amin=np.min, mean=np.mean, median=_lower_median,
    norm=np.linalg.norm, logsumexp=lambda row: np.log(np.sum(np.exp(row))),
    var=lambda row: np.var(row, ddof=1) if len(row) > 1 else np.nan,
    std=lambda row: np.std(row, ddof=1) if len(row) > 1 else np.nan,
)


def test_reductions_are_those_of_what_the_mask_shows(executor):
    x, mask = torch.tensor(X), torch.tensor(MASK)
    for name, oracle in ORACLES.items():
        found = getattr(torch.masked, name)(x, dim=1, mask=mask)
        expected = [oracle(row[m]) if m.any() else NOTHING[name] for row, m in zip(X, MASK, strict=True)]
        np.testing.assert_allclose(found.numpy(), expected, 1e-5, err_msg=name)
        if name != "median":
            whole = getattr(torch.masked, name)(x, keepdim=True, mask=mask)
            assert whole.shape == (1, 1), name
            np.testing.assert_allclose(whole.item(), oracle(X[MASK]), 1e-5, err_msg=name)
    best = torch.masked.argmax(x, 1, mask=mask)
    assert best.dtype is torch.float32
    for i in (0, 2, 3):
        assert X[i, int(best[i])] == X[i][MASK[i]].max()


def test_what_is_hidden_has_no_gradient(executor):
    x, mask = torch.tensor(X, requires_grad=True), torch.tensor(MASK)
    for result in (
        torch.masked.softmax(x[2:], 1, mask=mask[2:])[:, 1], torch.masked.cumsum(x, 0, mask=mask),
        torch.masked.norm(x, 3, 1, mask=mask)[2:], torch.masked.var(x[2:], 1, mask=mask[2:]),
    ):
        (gradient,) = torch.autograd.grad(result.sum(), x)
        assert gradient.abs().sum() > 0 and not gradient[~mask].any()
    shares = torch.masked.softmax(x, 1, mask=mask)
    np.testing.assert_allclose(shares.sum(1).detach().numpy()[[0, 2, 3]], 1, 1e-6)
    unit = torch.masked.normalize(x, 2.0, 1, mask=mask).detach().numpy()
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), MASK.any(1), 1e-6)


def test_masks_broadcast_and_integers_keep_their_rules(executor):
    counts = torch.arange(6, dtype=torch.int8).reshape(2, 3)
    mask = torch.tensor([True, False, True])
    assert torch.masked.sum(counts, 1, mask=mask).tolist() == [2, 8]
    assert torch.masked.sum(counts, 1, mask=mask).dtype is torch.int64
    assert torch.masked.amax(counts, 0, mask=mask).tolist() == [3, -128, 5]
    assert torch.masked.cumprod(counts + 1, 1, mask=mask).tolist() == [[1, 1, 3], [4, 4, 24]]
    assert torch.masked.logaddexp(
        torch.zeros(3), torch.zeros(3), input_mask=mask, other_mask=~mask).tolist() == [0, 0, 0]
    for error, words, call in (
        (IndexError, "dimensionality higher", lambda: torch.masked.sum(counts, 1, mask=mask[None, None])),
        (RuntimeError, "appears multiple times", lambda: torch.masked.sum(counts, (0, 0))),
        (ValueError, "Could not infer output dtype", lambda: torch.masked.mean(counts, 0)),
        (ValueError, "no fully masked out rows", lambda: torch.masked.median(counts, 0, mask=mask)),
        (NotImplementedError, "identity of amin", lambda: torch.masked.amin(mask, 0, mask=mask)),
    ):
        with pytest.raises(error, match=words):
            call()


def test_masked_operations_compile():
    def step(x, mask):
        return torch.masked.softmax(x, 1, mask=mask), torch.masked.mean(x, 1, mask=mask)

    x, mask = torch.tensor(X[2:]), torch.tensor(MASK[2:])
    for found, expected in zip(torch.compile(step)(x, mask), step(x, mask), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-6)


def test_slopes_of_logaddexp_where_an_operand_is_infinite(executor):
    for name in ("logaddexp", "logaddexp2"):
        for a, b, expected in ((-np.inf, 1.0, (0, 1)), (np.inf, 1.0, (1, 0)), (2.0, 2.0, (0.5, 0.5))):
            x, y = (torch.tensor(v, requires_grad=True) for v in (a, b))
            getattr(torch, name)(x, y).backward()
            assert (x.grad.item(), y.grad.item()) == expected, (name, a)
