"""Type promotion: the lattice of dtypes, the three strengths of operands, the named kinds."""

import itertools

import numpy as np
import pytest

from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion
from jaxflow._core.dtype import ALL
from jaxflow._core.promotion import SCALAR, TENSOR, ZERODIM

LATTICE = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
LATTICE = [ALL[name] for name in LATTICE.split()]


@pytest.fixture
def float64_default():
    dtypes.set_default_dtype(dtypes.float64)
    yield
    dtypes.set_default_dtype(dtypes.float32)


def operands(text):
    """Read "float32[] int64" as operands: [] marks a 0-d tensor, a leading = a Python number."""
    for word in text.split():
        if word.startswith("="):
            yield ALL[word[1:]], SCALAR
        elif word.endswith("[]"):
            yield ALL[word[:-2]], ZERODIM
        else:
            yield ALL[word], TENSOR


PAIRS = list(itertools.combinations_with_replacement(LATTICE, 2))


@pytest.mark.parametrize("a, b", PAIRS, ids=repr)
def test_promotion_commutes_and_loses_no_category(a, b):
    found = promotion.promote_types(a, b)
    assert found is promotion.promote_types(b, a)
    assert found.category == max(a.category, b.category)
    assert promotion.promote_types(found, a) is found
    assert promotion.can_cast(a, found)


def test_promotion_is_associative():
    promote = promotion.promote_types
    for a, b, c in itertools.product(LATTICE, repeat=3):
        left, right = promote(promote(a, b), c), promote(a, promote(b, c))
        assert left is right, (a, b, c)


@pytest.mark.parametrize(
    "given, result",
    [
        ("uint8 int8", "int16"),
        ("float16 bfloat16", "float32"),
        ("float64 complex64", "complex128"),
        ("int64 float16", "float16"),
        ("uint16 float32", "float32"),
        ("float32 float64[]", "float32"),
        ("int32 float64[]", "float64"),
        ("bool int64[]", "int64"),
        ("int8 int64[]", "int8"),
        ("uint16 uint64[]", "uint16"),
        ("int64 =float64", "float32"),
        ("float16 =float64", "float16"),
        ("float64[] =complex128", "complex128"),
        ("int32[] =int64", "int32"),
        ("bool[] =int64", "int64"),
        ("int8[] bool", "int8"),
        ("=int64 =bool", "int64"),
        ("=float64", "float32"),
        ("float8_e5m2 =float64", "float8_e5m2"),
    ],
)
def test_result_type(given, result):
    assert promotion.result_type(operands(given)) is ALL[result]


def test_default_dtype_decides_python_numbers(float64_default):
    assert promotion.result_type(operands("int32 =float64")) is dtypes.float64
    assert promotion.result_type(operands("int32 =complex128")) is dtypes.complex128
    assert promotion.result_type(operands("float32 =complex128")) is dtypes.complex64


@pytest.mark.parametrize(
    "given, message",
    [
        ("float32 float8_e4m3fn", "Float8 Types is not supported, .* Float and Float8_e4m3fn$"),
        ("uint16 int8", "uint16, uint32, uint64 types is not supported, .* UInt16 and Char$"),
    ],
)
def test_types_that_do_not_mix(given, message):
    with pytest.raises(RuntimeError, match=message):
        promotion.result_type(operands(given))


def test_half_with_a_complex_number_names_the_missing_type():
    with pytest.raises(RuntimeError, match="torch.complex32"):
        promotion.result_type(operands("float16 =complex128"))


@pytest.mark.parametrize(
    "kind, given, compute, result",
    [
        ("default", "bfloat16 bfloat16", "float32", "bfloat16"),
        ("no_opmath", "bfloat16 bfloat16", "bfloat16", "bfloat16"),
        ("default", "int32 =float64", "float32", "float32"),
        ("int_to_float", "int64", "float32", "float32"),
        ("int_to_float", "bool", "float32", "float32"),
        ("int_to_float", "float16", "float32", "float16"),
        ("int_to_float", "complex64", "complex64", "complex64"),
        ("always_bool", "int64 float64", "float64", "bool"),
        ("always_bool", "float16 =float64", "float16", "bool"),
        ("always_bool", "float16 =complex128", "complex64", "bool"),
        ("complex_to_float", "complex128", "complex128", "float64"),
        ("complex_to_float", "int8", "int8", "int8"),
        ("bool_to_long", "bool", "int64", "int64"),
        ("bool_to_long", "int8", "int8", "int8"),
    ],
)
def test_elementwise_kinds(kind, given, compute, result):
    assert promotion.elementwise(kind, operands(given)) == (ALL[compute], ALL[result])


def test_can_cast_looks_at_categories():
    assert promotion.can_cast(dtypes.float64, dtypes.float16)
    assert promotion.can_cast(dtypes.int64, dtypes.uint8)
    assert not promotion.can_cast(dtypes.float32, dtypes.int64)
    assert not promotion.can_cast(dtypes.int64, dtypes.bool)
    assert not promotion.can_cast(dtypes.complex64, dtypes.float64)
    with pytest.raises(TypeError, match="argument 'to' .* must be torch.dtype, not str"):
        promotion.can_cast(dtypes.int8, "float32")


def test_scalar_dtype():
    assert promotion.scalar_dtype(True) is dtypes.bool
    assert promotion.scalar_dtype(2) is dtypes.int64
    # A NumPy scalar counts as the Python number it stands for.
    assert promotion.scalar_dtype(np.float32(2)) is dtypes.float64
    with pytest.raises(TypeError, match="expected a Python number, but got str"):
        promotion.scalar_dtype("2")
