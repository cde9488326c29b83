"""Half precisions among numbers and tensors of other dtypes: what is rounded before they are computed."""

import functools

import pytest
import torch

import jaxflow

DTYPES = ("float16", "bfloat16")
VALUES = (1e-3, -65504.0, 0.0, 1.0, -1.0, 3.140625, 100.0, 2049, -0.3333, 60000, 5e-3)
NUMBERS = (70000, 70001.5, 1e-9, 1.0001, 2049, 3.3333333, -70000.0, 3, 0.1, -1.0001)
INTEGERS = (70000, 2049, 3, -70001, 33333, 1)

_NAMES = ("add sub mul div true_divide pow atan2 remainder fmod maximum fmax eq lt copysign floor_divide "
          "xlogy rsub float_power heaviside")
OPS = {
    **{name: lambda T, a, b, name=name: getattr(T, name)(a, b) for name in _NAMES.split()},
    "floor": lambda T, a, b: T.div(a, b, rounding_mode="floor"),
    "trunc": lambda T, a, b: T.div(a, b, rounding_mode="trunc"),
    "alpha": lambda T, a, b: T.add(a, a, alpha=b),
    "outer": lambda T, a, b: T.outer(a, b.reshape(-1)) if isinstance(b, T.Tensor) else a,
    "value": lambda T, a, b: T.addcmul(a, a, a, value=b),
    "addcmul": lambda T, a, b: T.addcmul(a, b, b),
    "lerp": lambda T, a, b: T.lerp(a, a + 1, b),
    "where": lambda T, a, b: T.where(a > 0, a, b),
    "clamp": lambda T, a, b: T.clamp(a, max=b),
    "divided": lambda T, a, b: b / a,
    "subtracted": lambda T, a, b: b - a,
    "power": lambda T, a, b: b ** a,
    "add_": lambda T, a, b: a.clone().add_(b),
    "sub_": lambda T, a, b: a.clone().sub_(b),
    "mul_": lambda T, a, b: a.clone().mul_(b),
    "div_": lambda T, a, b: a.clone().div_(b),
}


def _others(T):
    for x in NUMBERS:
        yield x
        yield T.tensor(float(x))
        yield T.tensor([float(x)], dtype=T.float64)[0]
        yield T.tensor(float(x), dtype=T.bfloat16)
    for x in INTEGERS:
        yield T.tensor(x)
        yield T.tensor([x])
        yield T.tensor([x] * len(VALUES), dtype=T.int32)


def _outcome(call):
    try:
        found = call()
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, "overflow" in str(error)
    values = torch.tensor(found.double().flatten().tolist())
    return str(found.dtype).rpartition(".")[2], [*found.shape], values


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_with(executor, dtype, name):
    operands = [(T, T.tensor(VALUES).to(getattr(T, dtype))) for T in (torch, jaxflow)]
    for rows in zip(*(_others(T) for T in (torch, jaxflow)), strict=True):
        if name == "alpha" and isinstance(rows[0], torch.Tensor) and abs(rows[0].max()) > 65504:
            continue  # a factor whose value is not known yet is not refused
        want, got = (_outcome(lambda T=T, a=a, b=b: OPS[name](T, a, b))
                     for (T, a), b in zip(operands, rows, strict=True))
        assert got[:2] == want[:2], rows[0]
        if len(want) == 3:
            close = 2 * torch.finfo(getattr(torch, dtype)).eps if want[0] in DTYPES else 1e-5
            torch.testing.assert_close(got[2], want[2], rtol=close, atol=1e-7, equal_nan=True,
                                       msg=lambda text, rows=rows: f"{rows[0]}: {text}")


@pytest.mark.parametrize("power", (*DTYPES, "float32", "float64", "int64"))
@pytest.mark.parametrize("dtype", (*DTYPES, "float32", "float64", "int64"))
def test_powers_of_two_have_the_dtype_of_the_exponent(executor, dtype, power):
    want, got = (_outcome(functools.partial(
        T.ldexp, T.tensor([1.5, -3, 7, 1000, 0.1]).to(getattr(T, dtype)),
        T.tensor([3.3333, 1.25, -2, 8, 4.5]).to(getattr(T, power)))) for T in (torch, jaxflow))
    assert got[:2] == want[:2]
    close = 1e-3 if dtype == "float16" else 1e-2 if dtype == "bfloat16" else 1e-6
    torch.testing.assert_close(got[2], want[2], rtol=close, atol=0)


SHAPES = ((), (1,), (1, 1), (3,), (2, 1))


@pytest.mark.parametrize("first", (False, True))
@pytest.mark.parametrize("other", SHAPES, ids=str)
@pytest.mark.parametrize("own", SHAPES, ids=str)
def test_one_number_keeps_its_digits_where_it_divides_or_multiplies(own, other, first):
    for name in ("mul", "div", "floor", "trunc"):
        found = []
        for T in (torch, jaxflow):
            pair = T.full(own, 1e-3 if name == "mul" else 60000.0, dtype=T.float16), T.full(other, 70000)
            call = functools.partial(OPS[name], T, *pair[:: -1 if first else 1])
            found.append(_outcome(call))
        assert found[1][:2] == found[0][:2]
        torch.testing.assert_close(found[1][2], found[0][2], rtol=1e-3, atol=1e-7, equal_nan=True)


_FACTORS = (70000, 1e39, -300, 2**40, 1j, float("inf"), float("nan"))
FACTORED = {
    **{f"{name}_{factor}": lambda T, m, v, x, name=name, factor=factor: getattr(T, name)(
        *{"addmm": (m, m, m), "addmv": (v, m, v), "addr": (m, v, v), "addbmm": (m, m[None], m[None]),
          "baddbmm": (m[None], m[None], m[None])}[name], **{factor: x})
       for name in ("addmm", "addmv", "addr", "addbmm", "baddbmm") for factor in ("alpha", "beta")},
    "index_add": lambda T, m, v, x: T.index_add(v, 0, T.tensor([0, 1]), v, alpha=x),
    "add": lambda T, m, v, x: T.add(v, v, alpha=x),
    "add_short": lambda T, m, v, x: T.add(v, T.ones(2, dtype=T.int8), alpha=x),
    "add_": lambda T, m, v, x: v.clone().add_(v, alpha=x),
    "add_number": lambda T, m, v, x: v.add(1, alpha=x),
    "addcmul": lambda T, m, v, x: T.addcmul(v, v, v, value=x),
    "addcdiv": lambda T, m, v, x: T.addcdiv(v, v, v, value=x),
    "foreach": lambda T, m, v, x: T._foreach_add([v], [v], alpha=x)[0],
    "rsub": lambda T, m, v, x: T.rsub(v, v, alpha=x),
    "sub_": lambda T, m, v, x: v.clone().sub_(v, alpha=x),
    "lerp": lambda T, m, v, x: T.lerp(v, v, x),
    "fill_": lambda T, m, v, x: v.clone().fill_(x),
    "pow": lambda T, m, v, x: T.pow(v, x),
}


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@pytest.mark.parametrize("dtype", "float16 bfloat16 float32 int8 int32 bool complex64".split())
@pytest.mark.parametrize("name", FACTORED)
def test_factors_that_a_dtype_cannot_hold(name, dtype):
    for x in _FACTORS:
        if dtype == "float16" and x == 1j and name in ("lerp", "pow"):
            continue  # it has no complex numbers here
        found = []
        for T in (torch, jaxflow):
            ones = T.ones(2, 2, dtype=getattr(T, dtype))
            try:
                found.append(str(FACTORED[name](T, ones, ones[0], x).dtype).rpartition(".")[2])
            except (NotImplementedError, RuntimeError) as error:
                found.append((type(error), str(error).splitlines()[0]))
        assert found[1] == found[0], x
