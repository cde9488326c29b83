"""The CTC loss against its definition: the sum over all ways to emit the target."""

import itertools
import math

import numpy as np
import pytest
from nearness import close, tensor

import jaxflow as torch

F = torch.nn.functional

pytestmark = pytest.mark.usefixtures("executor")

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(4, 3, 3))  # steps, samples, classes
LABELS, STEPS, LENGTHS = [[1, 1], [2, 1], [1, 0]], [4, 3, 2], [2, 2, 1]


def emitted(path):
    return [c for c, _ in itertools.groupby(path) if c != 0]


def losses(scores, labels, steps, lengths):
    """One a sample, path by path."""
    p = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    found = []
    for n, (label, t, length) in enumerate(zip(labels, steps, lengths)):
        paths = [path for path in itertools.product(range(3), repeat=t) if emitted(path) == label[:length]]
        chance = sum(math.prod(p[i, n, c] for i, c in enumerate(path)) for path in paths)
        found.append(-math.log(chance) if chance else math.inf)
    return np.array(found)


EXPECTED = losses(SCORES, LABELS, STEPS, LENGTHS)


def test_values_by_every_path():
    log_probs = tensor(SCORES).log_softmax(-1)
    close(F.ctc_loss(log_probs, torch.tensor(LABELS), STEPS, LENGTHS, reduction="none"), EXPECTED)
    close(F.ctc_loss(log_probs, torch.tensor(LABELS), STEPS, LENGTHS), (EXPECTED / LENGTHS).mean())
    in_a_row = torch.tensor([1, 1, 2, 1, 1])
    close(F.ctc_loss(log_probs, in_a_row, torch.tensor(STEPS), torch.tensor(LENGTHS), reduction="sum"),
          EXPECTED.sum())
    # Lengths that are still to be computed.
    ones = torch.ones(3, dtype=torch.int64)
    close(F.ctc_loss(log_probs, in_a_row, torch.tensor(STEPS) * ones, torch.tensor(LENGTHS) * ones,
                     reduction="sum"), EXPECTED.sum())
    close(F.ctc_loss(log_probs[:, 0], torch.tensor(LABELS[0]), torch.tensor(4), torch.tensor(2),
                     reduction="none"), EXPECTED[0])
    layer = torch.nn.CTCLoss(reduction="sum")
    close(layer(log_probs, torch.tensor(LABELS), torch.tensor(STEPS), torch.tensor(LENGTHS)), EXPECTED.sum())


def test_without_an_alignment():
    """Two equal labels need three steps; the third sample has enough."""
    scores = tensor(SCORES).requires_grad_()
    given = scores.log_softmax(-1), torch.tensor(LABELS), [2, 0, 2], [2, 0, 1]
    close(F.ctc_loss(*given, reduction="none"), [math.inf, 0, EXPECTED[2]])
    loss = F.ctc_loss(*given, reduction="none", zero_infinity=True)
    close(loss, [0, 0, EXPECTED[2]])
    loss.sum().backward()
    gradient = scores.grad.numpy()
    assert not gradient[:, :2].any()
    assert not gradient[2:].any()
    assert np.isfinite(gradient).all()
    assert gradient[:2, 2].all()


def test_gradient_of_log_probabilities():
    """``exp(log_prob)`` less the chance that the step emits the class, given the target."""
    log_probs = tensor(SCORES).log_softmax(-1).detach().requires_grad_()
    F.ctc_loss(log_probs, torch.tensor(LABELS), STEPS, LENGTHS, reduction="sum").backward()
    sums = log_probs.grad.sum(-1).numpy()
    np.testing.assert_allclose(sums, 0, atol=1e-12)


def test_masked_classes():
    """A class of probability zero takes no part."""
    log_probs = tensor(SCORES).index_fill(2, torch.tensor([2]), -math.inf).log_softmax(-1)
    log_probs = log_probs.detach().requires_grad_()
    loss = F.ctc_loss(log_probs, torch.tensor(LABELS), STEPS, LENGTHS, reduction="none")
    assert np.isfinite(loss.detach().numpy()[[0, 2]]).all()
    assert loss[1].item() == math.inf
    loss[0].backward()
    gradient = log_probs.grad.numpy()[:, 0]
    assert np.isfinite(gradient).all()
    assert not gradient[:, 2].any()


def test_refused():
    log_probs = tensor(SCORES).log_softmax(-1)
    labels = torch.tensor(LABELS)
    with pytest.raises(RuntimeError, match="Expected input_lengths to have value at most 4, but got value 5"):
        F.ctc_loss(log_probs, labels, [5, 3, 2], LENGTHS)
    with pytest.raises(RuntimeError, match="size at least 3 at dimension 1, but got size 2 for argument #2"):
        F.ctc_loss(log_probs, labels, STEPS, [3, 2, 1])
    with pytest.raises(RuntimeError, match="size 5 at dimension 0, but got size 4"):
        F.ctc_loss(log_probs, torch.tensor([1, 1, 2, 1]), STEPS, LENGTHS)
    with pytest.raises(RuntimeError, match="blank must be in label range"):
        F.ctc_loss(log_probs, labels, STEPS, LENGTHS, blank=3)
    with pytest.raises(RuntimeError, match="at least 0, but got value -1"):
        pending = torch.tensor(STEPS) * torch.tensor([-1, 1, 1]) + torch.tensor([3, 0, 0])
        F.ctc_loss(log_probs, labels, pending, torch.tensor(LENGTHS), reduction="sum").item()
