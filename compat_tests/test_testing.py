"""``torch.testing``: what is close, and the words for what is not."""

import numpy as np
import pytest
import torch

import jaxflow


def _pairs(T):
    a = T.tensor([1.0, 2.0, 3.0])
    nan = float("nan")
    return {
        "close": (a, a + 1e-6),
        "off": (a, a + T.tensor([0, 0, 1.0])),
        "dtype": (a, a.double()),
        "dtype allowed": (a, a.double() + 1, dict(check_dtype=False)),
        "shape": (a, a[:2]),
        "stride": (T.ones(2, 3).t(), T.ones(3, 2), dict(check_stride=True)),
        "integers": (T.tensor([1, 2]), T.tensor([1, 3])),
        "bools": (T.tensor([True, False]), T.tensor([True, True])),
        "half": (T.ones(2, dtype=T.float16), T.ones(2, dtype=T.float16) * 1.1),
        "bfloat16": (T.ones(2, dtype=T.bfloat16), T.ones(2, dtype=T.bfloat16) * 1.1),
        "complex": (a.to(T.complex64), a.to(T.complex64) + 1j),
        "rows": (a.reshape(3, 1), a.reshape(3, 1) + 1, dict(atol=0.1, rtol=0)),
        "scalar": (T.tensor(1.0), T.tensor(2.0)),
        "nan": (T.tensor([1.0, nan]), T.tensor([1.0, nan])),
        "equal nan": (T.tensor([1.0, nan]), T.tensor([1.0, nan]), dict(equal_nan=True)),
        "infinite": (T.tensor([1.0, float("inf")]), T.tensor([1.0, -float("inf")])),
        "parameter": (T.nn.Parameter(a), a),
        "numbers": (1.0, 1.1),
        "integer numbers": (1, 2),
        "types of numbers": (1.0, 1),
        "complex numbers": (1j, 1.0 + 2j),
        "truth": (True, False),
        "none": (a, None),
        "arrays": (np.ones(2), np.ones(2) + 1),
        "sequence": ([a, a], (a, a + 1)),
        "lengths": ([a], [a, a]),
        "nested": ({"x": {"z": [a]}}, {"x": {"z": [a + 1]}}),
        "keys": ({"x": a}, {"y": a}),
        "own words": (a, a + 1, dict(msg="hey")),
        "more words": (a, a + 1, dict(msg=lambda words: "Oh! " + words)),
        "one tolerance": (a, a, dict(rtol=1.0)),
        "strings": ("a", "a"),
        "empty": (T.empty(0), T.empty(0)),
    }


@pytest.mark.parametrize("case", _pairs(torch))
def test_assert_close(case):
    found = []
    for T in (torch, jaxflow):
        actual, expected, *options = _pairs(T)[case]
        try:
            T.testing.assert_close(actual, expected, **(options[0] if options else {}))
        except Exception as error:
            found.append((type(error), str(error)))
        else:
            found.append(None)
    assert found[0] == found[1]


def test_assert_allclose_takes_lists():
    for T in (torch, jaxflow):
        with pytest.warns(FutureWarning, match="deprecated since 1.12"):
            T.testing.assert_allclose(T.tensor([1.0, 2.0]), [1, 2])
        with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="up to 0.0001 allowed"):
            T.testing.assert_allclose(T.tensor([1.0, 2.0]), [1, 3])


def test_make_tensor():
    for T in (torch, jaxflow):
        make = T.testing.make_tensor
        for dtype in (T.float32, T.bfloat16, T.complex64, T.int64, T.uint8, T.bool):
            t = make(40, 5, dtype=dtype, device="cpu", noncontiguous=True)
            assert t.dtype is dtype and tuple(t.shape) == (40, 5) and not t.is_contiguous()
        t = make((100,), dtype=T.int32, device="cpu", low=0, high=2, exclude_zero=True)
        assert t.min() == 1 == t.max()
        t = make(100, dtype=T.float64, device="cpu", low=2, high=3, requires_grad=True)
        assert t.requires_grad and t.is_leaf and t.min() >= 2 and t.max() < 3
