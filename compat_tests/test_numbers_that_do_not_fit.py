"""Python numbers that a dtype cannot hold: which are refused, which overflow, as PyTorch does."""

import math
import warnings

import pytest
import torch

import jaxflow

DTYPES = "float16 bfloat16 float32 complex64 uint8 int64 bool".split()
NUMBERS = (1e39, 70000.0, math.inf, math.nan, 2j, 1e39j, 1 + 1e39j, 300, -1, -300,
           2**63, 2**64, -(2**63) - 1, True)


def _set(x, place, value):
    x[place] = value
    return x


#: Fillings of ``x``, whose elements are zeros, with the number ``v``. One element is a way of its own.
FILLINGS = {
    "fill_": lambda T, x, v: x.fill_(v),
    "fill": lambda T, x, v: T.fill(x, v),
    "full": lambda T, x, v: T.full(x.shape, v, dtype=x.dtype),
    "full_like": lambda T, x, v: T.full_like(x, v),
    "new_full": lambda T, x, v: x.new_full(x.shape, v),
    "full_out": lambda T, x, v: T.full(x.shape, v, out=x),
    "scalar_tensor": lambda T, x, v: T.scalar_tensor(v, dtype=x.dtype),
    "masked_fill_": lambda T, x, v: x.masked_fill_(x == 0, v),
    "slice": lambda T, x, v: _set(x, slice(None), v),
    "mask": lambda T, x, v: _set(x, x == 0, v),
    "indices": lambda T, x, v: _set(x, T.zeros(1, dtype=T.int64)[:len(x)], v),
    "index_fill_": lambda T, x, v: x.index_fill_(0, T.zeros(1, dtype=T.int64)[:len(x)], v),
}


def _outcome(call, T, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of imaginary parts that are dropped
        try:
            found = call(T, *args)
            return str(found.dtype).rpartition(".")[2], found.tolist()
        except (NotImplementedError, OverflowError, RuntimeError, ValueError) as error:
            return type(error), str(error).splitlines()[0]


def _same(got, want):
    if got[0] != want[0] or isinstance(want[1], str):
        return got == want
    return got[1] == pytest.approx(want[1], rel=1e-3, nan_ok=True) if want[1] else got == want


def _filling(T, name, dtype, size, number):
    return FILLINGS[name](T, T.zeros(size, dtype=getattr(T, dtype)), number)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FILLINGS)
def test_filling(executor, name, dtype):
    wrong = []
    for number in NUMBERS:
        if dtype == "bool" and number == 2**63:
            continue  # an integer for uint64 alone: which words depends on the function
        for size in (0, 1, 2):
            want, got = (_outcome(_filling, T, name, dtype, size, number) for T in (torch, jaxflow))
            if not _same(got, want):
                wrong.append((number, size, want, got))
    assert not wrong


#: Calls with two numbers, into results of a dtype.
LINES = {
    "linspace": lambda T, a, b, n, dtype: T.linspace(a, b, n, dtype=dtype),
    "logspace": lambda T, a, b, n, dtype: T.logspace(a, b, n, dtype=dtype),
    "linspace_out": lambda T, a, b, n, dtype: T.linspace(a, b, n, out=T.zeros(n, dtype=dtype)),
    "logspace_out": lambda T, a, b, n, dtype: T.logspace(a, b, n, out=T.zeros(n, dtype=dtype)),
}
ENDS = ((0, 300), (300, 0), (0, -1), (0, 70000.0), (0, 1e39), (1e39, 2), (0, 2j), (2j, 0), (0.5, True),
        (-300, -300), (0, 2**40))


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "complex64"])
@pytest.mark.parametrize("name", LINES)
def test_line(executor, name, dtype):
    wrong = []
    for a, b in ENDS:
        for steps in range(4):
            want, got = (_outcome(LINES[name], T, a, b, steps, getattr(T, dtype)) for T in (torch, jaxflow))
            if not _same(got, want):
                wrong.append((a, b, steps, want, got))
    assert not wrong


def _line_to_tensor(T, end, pending, dtype):
    return T.linspace(0, T.tensor(end - pending) + pending, 2, dtype=getattr(T, dtype))


@pytest.mark.parametrize("end", [300, 2.5, 2j])
def test_line_to_a_tensor(executor, end):
    for dtype in DTYPES:
        for pending in (0, 1):
            want, got = (_outcome(_line_to_tensor, T, end, pending, dtype) for T in (torch, jaxflow))
            assert _same(got, want), dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_where(executor, dtype):
    for number in (*NUMBERS[:-5], 127, -127, 128):
        for swap in (False, True):
            if isinstance(number, complex) and dtype in ("float16", "bfloat16"):
                continue  # complex halves: no dtype of XLA's
            want, got = (_outcome(_where, T, number, dtype, swap) for T in (torch, jaxflow))
            assert _same(got, want), number


def _where(T, number, dtype, swap):
    sides = (T.zeros(2, dtype=getattr(T, dtype)), number)
    return T.where(T.tensor([True, False]), *(sides[::-1] if swap else sides))
