"""Linear algebra on PyTorch's own samples."""

import pytest

from compat_tests import sweep

NAMES = "linalg.norm linalg.vector_norm linalg.matrix_norm linalg.svdvals"

KEYS = sweep.records(NAMES)
DTYPES = ("float32", "float64", "bfloat16", "complex64")


@pytest.mark.parametrize(("key", "dtype"), sweep.cases(KEYS, DTYPES))
def test_values(executor, key, dtype):
    sweep.check_values(key, dtype)


@pytest.mark.parametrize(("key", "dtype"), sweep.out_cases(KEYS, ("float32",)))
def test_out(executor, key, dtype):
    sweep.check_out(key, dtype)
