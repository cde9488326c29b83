"""Type promotion against PyTorch's: every pair of dtypes, as tensors, 0-d tensors and numbers."""

import itertools
import operator

import pytest
import torch

import jaxflow
from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion

NAMES = sorted({d.name for d in dtypes.ALL.values()})
DEFAULTS = ["float32", "float64", "float16", "bfloat16"]
NUMBERS = [True, 2, 2.5, 1j]

OPERANDS = [
    (torch.empty(shape, dtype=getattr(torch, name)), (dtypes.ALL[name], kind))
    for shape, kind in (((2,), promotion.TENSOR), ((), promotion.ZERODIM))
    for name in NAMES
] + [(number, (promotion.scalar_dtype(number), promotion.SCALAR)) for number in NUMBERS]


@pytest.fixture(params=DEFAULTS)
def default_dtype(request):
    torch.set_default_dtype(getattr(torch, request.param))
    dtypes.set_default_dtype(dtypes.ALL[request.param])
    yield request.param
    torch.set_default_dtype(torch.float32)
    dtypes.set_default_dtype(dtypes.float32)


def answer(call, *args):
    """The text of the result, or the error's class and first line."""
    try:
        return str(call(*args))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def assert_same(expected, actual, *what):
    if expected == "torch.complex32":
        # The one type of PyTorch's that XLA lacks: whatever would need it says so.
        assert actual.startswith("RuntimeError: torch.float16 has no complex counterpart"), what
    else:
        assert actual == expected, what


@pytest.mark.parametrize("a", NAMES)
def test_pairs_of_dtypes(a):
    for b in NAMES:
        for name in ("promote_types", "can_cast"):
            expected = answer(getattr(torch, name), getattr(torch, a), getattr(torch, b))
            assert_same(expected, answer(getattr(promotion, name), dtypes.ALL[a], dtypes.ALL[b]), b)


def test_what_is_no_dtype():
    for name in ("promote_types", "can_cast"):
        for args in [(1, "int8"), ("int8", 1), ("int8", None)]:
            theirs = [getattr(torch, a) if isinstance(a, str) else a for a in args]
            ours = [dtypes.ALL[a] if isinstance(a, str) else a for a in args]
            expected = answer(getattr(torch, name), *theirs)
            assert_same(expected, answer(getattr(promotion, name), *ours), name, args)


def test_result_type(default_dtype):
    for (theirs, ours), (their_other, our_other) in itertools.product(OPERANDS, repeat=2):
        expected = answer(torch.result_type, theirs, their_other)
        actual = answer(promotion.result_type, (ours, our_other))
        assert_same(expected, actual, ours, our_other)


def test_public_result_type(default_dtype):
    """The same through `jaxflow.result_type`, of tensors."""
    tensors = [
        jaxflow.empty(shape, dtype=dtypes.ALL[name]) for shape in ((2,), ()) for name in NAMES
    ]
    pairs = itertools.product(zip([theirs for theirs, _ in OPERANDS], tensors + NUMBERS), repeat=2)
    for (theirs, ours), (their_other, our_other) in pairs:
        expected = answer(torch.result_type, theirs, their_other)
        assert_same(expected, answer(jaxflow.result_type, ours, our_other), theirs, their_other)


# --- what operations return ----------------------------------------------------------------------

BINARY = "add sub mul truediv eq lt pow floordiv mod".split()
UNARY = "sqrt sin abs neg reciprocal floor sum mean prod cumsum logical_not isfinite square".split()
FEW = "bool int64 float16 complex64".split()


def result_dtype(call, *args):
    return answer(lambda: call(*args).dtype)


def assert_same_result(expected, actual, *what):
    if "complex32" in expected or "ComplexHalf" in expected:
        assert "torch.complex32" in actual or actual.startswith("NotImplementedError"), what
    elif "not implemented for" in expected and actual != expected:
        # PyTorch has no kernel of its own for this type; XLA may have one, or its own reason.
        assert actual.startswith(("torch.", "NotImplementedError", "RuntimeError")), what
    else:
        assert actual == expected, what


def operands_of(T, names):
    tensors = [T.tensor(v).to(getattr(T, name)) for v in ([1, 1], 1) for name in names]
    return tensors + NUMBERS


@pytest.mark.parametrize("name", BINARY)
def test_binary_operations(name, executor):
    # Eager compiles every pair, deferred only infers its type: it takes the whole table.
    names = NAMES if executor == "deferred" else FEW
    call = getattr(operator, name)
    pairs = list(zip(operands_of(torch, names), operands_of(jaxflow, names)))
    for (theirs, ours), (their_other, our_other) in itertools.product(pairs, repeat=2):
        if not (isinstance(theirs, torch.Tensor) or isinstance(their_other, torch.Tensor)):
            continue
        expected = result_dtype(call, theirs, their_other)
        actual = result_dtype(call, ours, our_other)
        assert_same_result(expected, actual, name, theirs, their_other)


@pytest.mark.parametrize("name", UNARY)
def test_unary_operations(name, executor):
    args = (0,) if name == "cumsum" else ()
    for dtype in NAMES:
        theirs, ours = (T.tensor([1, 1]).to(getattr(T, dtype)) for T in (torch, jaxflow))
        expected = result_dtype(getattr(torch, name), theirs, *args)
        actual = result_dtype(getattr(jaxflow, name), ours, *args)
        assert_same_result(expected, actual, name, dtype)
