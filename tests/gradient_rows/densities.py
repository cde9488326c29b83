"""Log densities."""

import jaxflow as torch
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS

from .row import row

X = (2, 3)


def _density(name):
    return lambda *tensors: apply(OPS[name], tensors)


ROWS = {
    "_bernoulli_log_prob": row(_density("_bernoulli_log_prob"), X, X),
    "_beta_log_prob": row(lambda x, c: apply(OPS["_beta_log_prob"], (x / 3, c)), (3,), (2, 3, 2)),
    "_categorical_log_prob": row(
        lambda x: apply(OPS["_categorical_log_prob"], (x, torch.tensor([[0, 2], [1, 1]]))), X),
    "_gamma_log_prob": row(_density("_gamma_log_prob"), X, (3,), X),
    "_normal_log_prob": row(_density("_normal_log_prob"), X, (3,), X),
}
