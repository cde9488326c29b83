"""``view(dtype)`` followed by ``as_strided``: memory of each dtype read and written as each other one."""

import pytest
import torch

import jaxflow

DTYPES = "float16 bfloat16 float32 float64 complex64 complex128 uint8 int8 int16 int32 int64".split()


def _shown(T, own, other):
    x = T.arange(1, 97, dtype=T.float32).to(getattr(T, own))
    v = x.view(getattr(T, other))
    w = v.as_strided((2, 3), (3, 1), v.numel() - 6)
    before = w.view(T.uint8).tolist()
    w[0, 1] = 3
    v.as_strided((2,), (2,), 1).fill_(1)
    return before, x.view(T.uint8).tolist(), w.storage_offset(), x._version


@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("own", DTYPES)
def test_as_strided(executor, own, other):
    assert _shown(jaxflow, own, other) == _shown(torch, own, other)
