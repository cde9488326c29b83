"""Floats as integers: what does not fit, and nan, as x86-64 has it, in every executor and every function."""

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.cast import cast, cast_numpy
from jaxflow._interpreter import lower

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex")

INF, NAN = float("inf"), float("nan")
DATA = [-2.7, 300.0, 1e5, 2.0**31, -(2.0**31) - 256, 2.0**32 - 256, 5e9, 1e19, 2e19, -1e30, INF, NAN]
LOW32, LOW64 = -(2**31), -(2**63)
#: What becomes of `DATA`, as floats and as doubles.
CAST = {
    "uint8": [254, 44, 160, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    "int8": [-2, 44, -96, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    "int16": [-2, 300, -31072, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    "uint16": [65534, 300, 34464, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    "int32": [-2, 300, 100000, *[LOW32] * 9],
    "int64": [-2, 300, 100000, 2**31, -(2**31) - 256, 2**32 - 256, 5 * 10**9, *[LOW64] * 5],
    "uint32": [2**32 - 2, 300, 100000, 2**31, 2**31, 2**32 - 256, 0, 0, 0, 2**31, 0, 2**31],
    "uint64": [2**64 - 2, 300, 100000, 2**31, 2**64 - 2**31 - 256, 2**32 - 256, 5 * 10**9, None, 0, 2**63, 0,
               2**63],
}
SMALL = {"uint8": [254, 44], "int32": [-2, 300]}


def expected(source, target):
    found = list(CAST[target])
    if target == "uint64":
        found[7] = int(np.asarray(1e19, source))
    return found


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", CAST)
def test_every_executor_converts_as_x86_64_does(source, target):
    array, kind = np.array(DATA, source), np.dtype(target)
    wanted = expected(source, target)
    assert cast_numpy(array, kind).tolist() == wanted
    assert jax.jit(lambda x: cast(x, kind))(array).tolist() == wanted
    run = lower(jax.make_jaxpr(lambda x: cast(x, kind))(array))
    assert run(array)[0].tolist() == wanted and not run.fallbacks
    for each, value in zip(array, wanted):
        assert cast_numpy(each, kind) == value
    x, dtype = torch.tensor(array), getattr(torch, target)
    for mode in ("deferred", "eager"):
        with torch.execution(mode):
            assert x.to(dtype).tolist() == wanted
            assert (x + 0)[::2].to(dtype).tolist() == wanted[::2]
    assert torch.vmap(lambda t: t.to(dtype))(x).tolist() == wanted
    assert torch.compile(lambda t: t.to(dtype))(x).tolist() == wanted


def test_a_double_becomes_a_uint8_by_way_of_an_int64():
    x = torch.tensor([2.0**32 + 5, -(2.0**31) - 5], dtype=torch.float64)
    assert x.to(torch.uint8).tolist() == [5, 251]
    assert cast_numpy(x.numpy(), np.dtype(np.uint8)).tolist() == [5, 251]
    assert x.to(torch.int8).tolist() == [0, 0]


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_halves_become_integers_by_way_of_floats(source):
    x = torch.tensor([-2.5, 300.0, INF, -INF, NAN], dtype=getattr(torch, source))
    for mode in ("deferred", "eager"):
        with torch.execution(mode):
            assert x.to(torch.uint8).tolist() == [254, 44, 0, 0, 0]
            assert x.to(torch.int32).tolist() == [-2, 300, LOW32, LOW32, LOW32]
            assert x.to(torch.uint32).tolist()[2:] == ([0] * 3 if source == "float16" else [0, 2**31, 2**31])


@pytest.mark.usefixtures("compiled")
def test_compiled_programs_convert_so():
    x = torch.tensor(DATA) + 0
    for target, wanted in CAST.items():
        if target != "uint64":
            assert (x * 1).to(getattr(torch, target)).tolist() == wanted


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("convert", [
    lambda x, d: torch.zeros(2, dtype=d).copy_(x),
    lambda x, d: torch.zeros(2, dtype=d).copy_(x.to(torch.complex64)),
    lambda x, d: torch.tensor(x.numpy(), dtype=d),
    lambda x, d: torch.as_tensor(x, dtype=d),
    lambda x, d: torch.stack([torch.zeros(2, dtype=d).fill_(each)[0] for each in x]),
    lambda x, d: torch.cumsum(x[:1], 0, dtype=d).repeat(2).put_(torch.tensor([1]), x[1:].to(d)),
    lambda x, d: torch.stack([each.sum(dtype=d) for each in x]),
    lambda x, d: x.type(d),
    lambda x, d: torch.zeros(2, dtype=d).index_fill_(0, torch.tensor([0, 1]), 0).add_(x.to(d)),
])
@pytest.mark.parametrize("dtype", SMALL)
def test_every_door_converts_so(convert, dtype):
    x = torch.tensor([-2.0, 300.0])
    assert convert(x, getattr(torch, dtype)).tolist() == SMALL[dtype]


def test_what_is_converted_lets_gradients_pass_beside_it():
    x = torch.tensor([1.5, 300.0], requires_grad=True)
    (x * x.to(torch.uint8)).sum().backward()
    assert x.grad.tolist() == [1, 44]
    assert torch.func.jvp(lambda t: t * t.int(), (x.detach(),), (torch.ones(2),))[1].tolist() == [1, 300]


@pytest.mark.usefixtures("executor")
def test_a_number_that_does_not_fit_one_element_is_refused_but_by_halves():
    for value, dtype in ((300, torch.uint8), (NAN, torch.int32), (1e300, torch.float32)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
            torch.scalar_tensor(value, dtype=dtype)
    with pytest.raises(RuntimeError, match="value cannot be converted to type double without overflow"):
        torch.scalar_tensor(1 + 1j, dtype=torch.float16)
    x = torch.zeros(2, dtype=torch.float16)
    x[1] = -1e9
    assert torch.scalar_tensor(1e9, dtype=torch.float16).item() == INF and x.tolist() == [0, -INF]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("write", [
    lambda v, d: torch.full((2,), v, dtype=d), lambda v, d: torch.full_like(torch.ones(2), v, dtype=d),
    lambda v, d: torch.ones(2).new_full((2,), v, dtype=d), lambda v, d: torch.zeros(2, dtype=d).fill_(v),
])
def test_a_number_that_does_not_fit_is_refused(write):
    for value, dtype in ((300, torch.uint8), (300.0, torch.uint8), (-2.0, torch.uint8), (-300, torch.uint8),
                         (NAN, torch.int32), (2**31, torch.int32), (1e30, torch.int64), (1e9, torch.float16),
                         (1e300, torch.float32), (1 + 1j, torch.float32)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
            write(value, dtype)
    assert write(-2, torch.uint8).tolist() == [254, 254]
    assert write(2.7, torch.int32).tolist() == [2, 2]
    assert write(-INF, torch.float16).tolist() == [-INF, -INF]
    assert write(300, torch.bool).tolist() == [True, True]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_a_product_with_a_truth_value_is_a_product(dtype):
    """XLA would make a selection of it: NOTE [Truth values as floats]."""
    x = torch.tensor([NAN, INF, -2.0, 3.0], dtype=getattr(torch, dtype))
    mask = torch.tensor([False, False, False, True])

    def nans(x, mask):
        return [torch.isnan(x * m).tolist() for m in (mask, mask.to(x.dtype))]

    wanted = [[True, True, False, False]] * 2
    for mode in ("deferred", "eager"):
        with torch.execution(mode):
            assert nans(x, mask) == wanted
    found = torch.compile(lambda x, mask: (x * mask, x * mask.to(x.dtype)))(x, mask)
    assert [torch.isnan(t).tolist() for t in found] == wanted
    if not x.is_complex():
        assert torch.signbit(found[0]).tolist()[2]

        y = x.detach().requires_grad_()
        torch.compile(lambda y: (y * mask).backward(torch.full_like(y, INF)))(y)
        assert torch.isnan(y.grad).tolist() == [True, True, True, False]
