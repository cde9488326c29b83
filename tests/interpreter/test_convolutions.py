"""Convolutions without groups: the interpreter's, a part of the windows at a time, beside XLA's."""

import jax
import numpy as np
import pytest

from jaxflow._interpreter import lower, windows

# (shape of the input, shape of the kernel, how): large and small results, few and many images
CASES = {
    "plain": ((2, 3, 11, 9), (4, 3, 3, 3), {}),
    "padded, strided": ((2, 3, 11, 9), (4, 3, 3, 2), dict(window_strides=(2, 3), padding=[(1, 2), (0, 1)])),
    "dilated": ((2, 2, 13, 9), (3, 2, 3, 3), dict(rhs_dilation=(2, 1), lhs_dilation=(1, 2))),
    "pointwise": ((3, 5, 7, 8), (4, 5, 1, 1), dict(window_strides=(2, 1))),
    "pointwise and padded": ((3, 5, 7, 8), (4, 5, 1, 1), dict(padding=[(1, 1), (2, 0)])),
    "many small images": ((9, 4, 3, 3), (5, 4, 2, 2), {}),
    "a large window": ((3, 2, 9, 9), (4, 2, 8, 8), {}),
    "one dimension": ((2, 3, 40), (4, 3, 5), dict(window_strides=(2,))),
    "three dimensions": ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), {}),
    "no dimension": ((6, 3), (4, 3), {}),
    "the gradient of a kernel": ((2, 3, 9, 9), (2, 4, 7, 7), dict(
        dimension_numbers=(("CNHW"), ("IOHW"), ("CNHW")))),
    "channels last": ((2, 9, 8, 3), (3, 3, 3, 4), dict(dimension_numbers=("NHWC", "HWIO", "NHWC"))),
}


@pytest.mark.parametrize("at_a_time", [windows.AT_A_TIME, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, "bfloat16"], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_as_xla_has_it(case, dtype, at_a_time, monkeypatch):
    monkeypatch.setattr(windows, "AT_A_TIME", at_a_time)
    size, kernel, how = CASES[case]
    rng = np.random.default_rng(4)
    x, w = (rng.standard_normal(s).astype(jax.numpy.dtype(dtype)) for s in (size, kernel))
    spaces = len(size) - 2
    how = {"window_strides": (1,) * spaces, "padding": [(0, 0)] * spaces, **how}

    def convolved(x, w):
        return jax.lax.conv_general_dilated(x, w, **how, precision="highest")

    run = lower(jax.make_jaxpr(convolved)(x, w))
    assert run.fallbacks == ()
    found, want = run(x, w)[0], np.asarray(convolved(x, w))
    assert found.dtype == want.dtype and found.shape == want.shape
    bound = {"float32": 1e-4, "float64": 1e-10}.get(found.dtype.name, 0.1)
    np.testing.assert_allclose(found.astype(float), want.astype(float), rtol=bound, atol=bound)
