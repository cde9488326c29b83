"""Functions that make tensors, on PyTorch's own samples."""

import pytest

from compat_tests import sweep

NAMES = (
    "zeros ones full arange linspace logspace eye empty empty_strided zeros_like ones_like "
    "full_like empty_like new_zeros new_ones new_full new_empty tril_indices triu_indices "
    "scalar_tensor fill"
)

KEYS = sweep.records(NAMES)
DTYPES = ("float32", "float64", "bfloat16", "int64", "bool", "complex64")


@pytest.mark.parametrize(("key", "dtype"), sweep.cases(KEYS, DTYPES))
def test_values(executor, key, dtype):
    sweep.check_values(key, dtype)


@pytest.mark.parametrize(("key", "dtype"), sweep.out_cases(KEYS, ("float32",)))
def test_out(executor, key, dtype):
    sweep.check_out(key, dtype)


@pytest.mark.parametrize("key", sweep.error_cases(KEYS))
def test_errors(executor, key):
    sweep.check_errors(key)
