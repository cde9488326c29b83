"""Double precision tensors, and what counts as equal to a formula written out in NumPy."""

import numpy as np

import jaxflow as torch


def tensor(a):
    return torch.tensor(a, dtype=torch.float64)


def close(t, expected):
    expected = np.asarray(expected)
    assert tuple(t.shape) == expected.shape
    np.testing.assert_allclose(t.detach().numpy(), expected, rtol=1e-9, atol=1e-12)
