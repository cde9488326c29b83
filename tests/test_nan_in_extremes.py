"""Maxima and minima keep a nan, however large the operand is and on each executor.

XLA's CPU compiler hands reductions of more than a few elements to a library that drops nan from maxima and
minima: see ``_ops/_xla.py``.
"""

import numpy as np
import pytest

import jaxflow as torch

ARRAY = np.random.default_rng(0).normal(size=(60, 30, 33))
ARRAY[np.random.default_rng(1).random(ARRAY.shape) < 0.02] = np.nan
CALLS = {
    "amax": (lambda t: t.amax(-1), lambda a: a.max(-1)),
    "amax of two": (lambda t: t.amax((0, 2), keepdim=True), lambda a: a.max((0, 2), keepdims=True)),
    "amin": (lambda t: t.amin(1), lambda a: a.min(1)),
    "amin of all": (lambda t: t.amin(), lambda a: a.min()),
    "max": (lambda t: t.max(), lambda a: a.max()),
    "min": (lambda t: t.min(), lambda a: a.min()),
    "max along": (lambda t: t.max(0).values, lambda a: a.max(0)),
    "aminmax": (lambda t: torch.aminmax(t, dim=0).max, lambda a: a.max(0)),
    "norm": (lambda t: torch.linalg.vector_norm(t, float("inf"), dim=2), lambda a: np.abs(a).max(2)),
    "smallest norm": (lambda t: torch.linalg.vector_norm(t, -float("inf"), dim=2),
                      lambda a: np.abs(a).min(2)),
    "matrix norm": (lambda t: torch.linalg.matrix_norm(t, float("inf")), lambda a: np.abs(a).sum(2).max(1)),
    "cummax": (lambda t: t.cummax(0).values[-1], lambda a: a.max(0)),
    "maximum": (lambda t: torch.maximum(t[0], t[1]), lambda a: np.maximum(a[0], a[1])),
    "max_pool": (lambda t: torch.nn.functional.max_pool2d(t, (30, 33))[:, 0, 0], lambda a: a.max((1, 2))),
    "cdist": (lambda t: torch.cdist(t[:, 0], t[:, 1], p=float("inf")),
              lambda a: np.abs(a[:, None, 0] - a[None, :, 1]).max(-1)),
}


@pytest.mark.parametrize("mode", ["eager", "deferred", "compile"])
@pytest.mark.parametrize("name", CALLS)
def test_nan_is_kept(name, mode):
    call, expected = CALLS[name]
    dtype = "float64" if name in ("amin", "max", "cdist") else "float32"
    array = ARRAY.astype(dtype)
    with torch.execution("deferred" if mode == "compile" else mode):
        t = torch.tensor(array)
        found = (torch.compile(call) if mode == "compile" else call)(t).numpy()
    wanted = expected(array)
    assert np.isnan(wanted).any()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("mode", ["eager", "deferred"])
def test_clipping_by_the_largest_gradient_sees_nan(mode):
    with torch.execution(mode):
        p = torch.nn.Parameter(torch.zeros(60, 300))
        p.grad = torch.tensor(ARRAY[0, 0, 0] * np.ones((60, 300)), dtype=torch.float32)
        p.grad[7, 9] = float("nan")
        total = torch.nn.utils.clip_grad_norm_([p], 1.0, norm_type=float("inf"))
        assert torch.isnan(total).item()


def test_half_precision_and_integers(executor):
    half = torch.tensor(ARRAY, dtype=torch.bfloat16)
    assert half.amax(-1).isnan().tolist() == np.isnan(ARRAY.max(-1)).tolist()
    whole = torch.arange(6000).reshape(60, 100)
    assert whole.amax().item() == 5999 and whole.amin(1).tolist() == list(range(0, 6000, 100))
