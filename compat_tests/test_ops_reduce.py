"""Reductions and scans on PyTorch's own samples."""

import pytest

from compat_tests import sweep

NAMES = (
    "sum mean prod var std var_mean std_mean amax amin max min argmax argmin all any "
    "logsumexp norm nansum nanmean median nanmedian mode quantile nanquantile count_nonzero "
    "aminmax cumsum cumprod cummax cummin logcumsumexp trace dist cov corrcoef diff trapezoid "
    "trapz cumulative_trapezoid renorm kthvalue"
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
