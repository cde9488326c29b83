"""Activations and softmax on PyTorch's own samples."""

import pytest

from compat_tests import sweep

NAMES = (
    "nn.functional.relu nn.functional.relu6 nn.functional.leaky_relu nn.functional.elu "
    "nn.functional.selu nn.functional.celu nn.functional.gelu nn.functional.silu "
    "nn.functional.mish nn.functional.softplus nn.functional.softsign nn.functional.hardtanh "
    "nn.functional.hardswish nn.functional.hardsigmoid nn.functional.softshrink "
    "nn.functional.hardshrink nn.functional.tanhshrink nn.functional.threshold "
    "nn.functional.logsigmoid nn.functional.glu nn.functional.prelu softmax log_softmax "
    "nn.functional.softmin"
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
