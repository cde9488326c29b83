"""Sorting, joining, rearranging, gathering and scattering on PyTorch's own samples."""

import pytest

from compat_tests import sweep

NAMES = (
    "sort argsort msort topk unique unique_consecutive searchsorted bucketize bincount histc "
    "isin cat stack hstack vstack dstack column_stack block_diag tile repeat "
    "repeat_interleave roll flip fliplr flipud rot90 tril triu diag diag_embed diagflat "
    "gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill "
    "index_reduce take take_along_dim masked_select nonzero masked_scatter put "
    "nn.functional.one_hot meshgrid cartesian_prod combinations outer kron cross linalg.cross "
    "argwhere"
)

KEYS = sweep.records(NAMES)
DTYPES = ("float32", "float64", "bfloat16", "int64", "bool", "complex64")


@pytest.mark.parametrize(("key", "dtype"), sweep.cases(KEYS, DTYPES))
def test_values(executor, key, dtype):
    sweep.check_values(key, dtype)


@pytest.mark.parametrize(("key", "dtype"), sweep.inplace_cases(KEYS, ("float32", "int64")))
def test_inplace(executor, key, dtype):
    sweep.check_inplace(key, dtype)


@pytest.mark.parametrize(("key", "dtype"), sweep.out_cases(KEYS, ("float32",)))
def test_out(executor, key, dtype):
    sweep.check_out(key, dtype)


@pytest.mark.parametrize("key", sweep.error_cases(KEYS))
def test_errors(executor, key):
    sweep.check_errors(key)
