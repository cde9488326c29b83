"""Warnings of calls name the line of the user's that led to them, wherever in the library they are given."""

import warnings

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.warning import is_warn_always_enabled


@pytest.fixture(autouse=True)
def _every_warning():
    before = is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


X = torch.ones(3, 4)
CALLS = {
    "old overload": lambda: torch.addcmul(X, 1.0, X, X),
    "imaginary parts": lambda: X.to(torch.complex64).float(),
    "read-only array": lambda: torch.from_numpy(np.broadcast_to(1.0, (2, 2))),
    "write into expanded": lambda: torch.ones(1, 4).expand(3, 4).masked_fill_(torch.ones(3, 4) > 0, 1),
    "uneven padding": lambda: torch.conv2d(X[None, None], torch.ones(1, 1, 2, 2), padding="same"),
    "dropout of one layer": lambda: torch.nn.GRU(2, 2, dropout=0.5),
    "implicit dimension": lambda: torch.nn.Softmax()(X),
    "implicit dimension of a function": lambda: torch.nn.functional.softmax(X),
    "broadcast loss": lambda: torch.nn.MSELoss()(X, X[:1]),
    "old reduction": lambda: torch.nn.CrossEntropyLoss(reduce=False),
    "mean divergence": lambda: torch.nn.KLDivLoss()(X, X),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_line_is_the_users(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    here = (__file__, call.__code__.co_firstlineno)
    assert {(w.filename, w.lineno) for w in caught} == {here}
