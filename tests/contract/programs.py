"""What the programs of the contract tests share: numbers, leaves, comparing."""

import contextlib

import numpy as np

import jaxflow

A, B = np.array([1.0, 2.0, 3.0], "float32"), np.array([4.0, 5.0, 6.0], "float32")
ONES = np.ones(3, "float32")


def leaf(t):
    """A fresh leaf with these numbers."""
    return t.detach().clone().requires_grad_()


def same(found, *expected):
    """Assert that these arrays were found."""
    assert len(found) == len(expected)
    for f, e in zip(found, expected):
        np.testing.assert_allclose(f, e, rtol=2e-5, atol=1e-6)


@contextlib.contextmanager
def every_warning():
    """Warnings that are given once a process are given each time."""
    before = jaxflow.is_warn_always_enabled()
    jaxflow.set_warn_always(True)
    try:
        yield
    finally:
        jaxflow.set_warn_always(before)
