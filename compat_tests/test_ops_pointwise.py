"""Pointwise operations on PyTorch's own samples: values, gradients, in-place and ``out=`` forms, errors."""

import pytest

from compat_tests import sweep

UNARY = (
    "abs neg sign sgn reciprocal sqrt rsqrt square exp exp2 expm1 log log2 log10 log1p sin "
    "cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid floor ceil round trunc "
    "frac erf erfc erfinv lgamma digamma logit sinc deg2rad rad2deg i0 special.entr "
    "special.i0e special.i1 special.i1e special.ndtr special.ndtri special.log_ndtr polygamma "
    "mvlgamma positive conj conj_physical angle nan_to_num isnan isinf isfinite isposinf "
    "isneginf isreal signbit logical_not bitwise_not frexp"
)

OTHERS = (
    "add sub rsub mul div true_divide floor_divide remainder fmod pow float_power maximum "
    "minimum fmax fmin atan2 hypot copysign ldexp logaddexp logaddexp2 xlogy special.xlog1py "
    "special.zeta heaviside nextafter clamp clamp_min clamp_max lerp addcmul addcdiv where "
    "masked_fill eq ne lt le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or "
    "bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm complex polar isclose "
    "allclose equal"
)

KEYS = sweep.records(UNARY + " " + OTHERS)
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
