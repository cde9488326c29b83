"""Layers and losses under the library's names: values and gradients beside torch's."""

import numpy as np
import pytest

from compat_tests.both import check_both

RNG = np.random.default_rng(3)


def _drawn(*shape):
    return RNG.uniform(0.1, 0.9, shape).astype(np.float32)


X, CHANNEL, TABLE, ROWS = _drawn(2, 4, 3), _drawn(4), _drawn(5, 3), np.array([[0, 3], [3, 1]])
SIGNS = np.array([1.0, -1.0], np.float32)



def _batch_norm(T, x, c):
    mean, var = c.detach() * 0, c.detach() * 0 + 1
    return T.batch_norm(x, c, c * 2, mean, var, True, 0.1, 1e-5, True) + mean.sum() + var.sum()


def _transposed(T, x, c):
    return T.convolution(x, x[:, :, :2].reshape(4, 2, 2), None, (2,), (0,), (1,), True, (1,), 2)


def _cosine(T, x, c):
    return T.cosine_embedding_loss(x[0, :2], x[1, :2], T.tensor(SIGNS), 0.1, 1)


CALLS = {
    "batch_norm": _batch_norm,
    "instance_norm": lambda T, x, c: T.instance_norm(x, c, c, None, None, True, 0.1, 1e-5, True),
    "group_norm": lambda T, x, c: T.group_norm(x, 2, c, c),
    "layer_norm": lambda T, x, c: T.layer_norm(x.mT, (4,), c, c, 1e-3),
    "rms_norm": lambda T, x, c: T.rms_norm(x.mT, (4,), c),
    "bilinear": lambda T, x, c: T.bilinear(x, x, x.reshape(1, 24)[:, :9].reshape(1, 3, 3)),
    "embedding": lambda T, x, c: T.embedding(x[0], T.tensor([[0, 3], [3, 1]]), 3),
    "bce": lambda T, x, c: T.binary_cross_entropy_with_logits(x, x.detach(), None, None, 2),
    "cosine_embedding_loss": _cosine,
    "hinge_embedding_loss": lambda T, x, c: T.hinge_embedding_loss(x[0, 0, :2], T.tensor(SIGNS)),
    "kl_div": lambda T, x, c: T.kl_div(x, x.detach() * 0.5, 2, log_target=True),
    "margin_ranking_loss": lambda T, x, c: T.margin_ranking_loss(c[:2], c[2:], T.tensor(SIGNS), 0.5),
    "poisson_nll_loss": lambda T, x, c: T.poisson_nll_loss(x, x.detach(), True, True, 1e-8, 1),
    "triplet_margin_loss": lambda T, x, c: T.triplet_margin_loss(x[0], x[1], x[0] * 0.5, 0.5, reduction=2),
    "convolution": lambda T, x, c: T.convolution(x, x[:, :, :2], None, (1,), (1,), (1,), False, (0,), 1),
    "transposed": _transposed,
    "conv_tbc": lambda T, x, c: T.conv_tbc(x.mT.contiguous(), x[:, :, :2].contiguous(), c[:2], 1),
}


@pytest.mark.parametrize("case", CALLS)
def test_values_and_gradients(case):
    def program(T):
        x, c = (T.tensor(a, requires_grad=True) for a in (X, CHANNEL))
        out = CALLS[case](T, x, c)
        # Whether an operand that does not matter has a zero gradient or none is a kernel's affair.
        grads = T.autograd.grad((out * out).sum(), (x, c), allow_unused=True, materialize_grads=True)
        return [out, *grads]

    check_both(program)
