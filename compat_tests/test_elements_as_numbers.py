"""Tensors of one element taken as numbers: those that a dtype cannot hold are refused, if need be late."""

import functools
import warnings

import pytest
import torch

import jaxflow

VALUES = (
    lambda T: T.tensor(70000.0), lambda T: T.tensor(2 + 0j), lambda T: T.tensor(2 + 1j),
    lambda T: T.tensor(300), lambda T: T.tensor(-1), lambda T: T.tensor(1e39, dtype=T.float64),
    lambda T: T.tensor(float("inf")),
    lambda T: T.tensor(float("nan")), lambda T: T.tensor(1.5), lambda T: T.tensor(7, dtype=T.uint8),
    lambda T: T.tensor([69999.0]).sum() + 1, lambda T: T.tensor([299]).sum() + 1,
)


def _set(x, place, value):
    x = x.clone()
    x[place] = value
    return x


USES = {
    "masked_fill": lambda T, x, v: x.masked_fill(T.tensor([True, False]), v),
    "masked_fill_": lambda T, x, v: x.clone().masked_fill_(T.tensor([True, False]), v),
    "nowhere": lambda T, x, v: x.masked_fill(T.tensor([False, False]), v),
    "index_fill": lambda T, x, v: x.index_fill(0, T.tensor([0]), v),
    "mask": lambda T, x, v: _set(x, T.tensor([False, True]), v),
    "full_like": lambda T, x, v: T.full_like(x, v),
    "full": lambda T, x, v: T.full((2,), v, dtype=x.dtype),
    "new_full": lambda T, x, v: x.new_full((2,), v),
    "fill_": lambda T, x, v: x.clone().fill_(v),
    "element": lambda T, x, v: _set(x, 0, v),
    "alpha": lambda T, x, v: T.add(x, x, alpha=v.item()),
}


def _outcome(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts that are dropped
        try:
            found = call()
            return str(found.dtype).rpartition(".")[2], str(found.tolist())
        except (NotImplementedError, RuntimeError) as error:
            return type(error), str(error).splitlines()[0]


@pytest.mark.parametrize("dtype", "float16 float32 int8 uint8 int64 bool complex64".split())
@pytest.mark.parametrize("name", USES)
def test_each(executor, name, dtype):
    for value in VALUES:
        want, got = (_outcome(functools.partial(
            USES[name], T, T.ones(2, dtype=getattr(T, dtype)), value(T))) for T in (torch, jaxflow))
        assert got == want, value(torch)


def test_a_compiled_function_refuses_them_too():
    fill = jaxflow.compile(lambda x, v: x.masked_fill(x > 0, v))
    x = jaxflow.ones(2, dtype=jaxflow.int8)
    assert fill(x, jaxflow.tensor(100)).tolist() == [100, 100]
    with pytest.raises(RuntimeError, match="int8_t without overflow"):
        fill(x, jaxflow.tensor(300)).tolist()
    assert fill(x, jaxflow.tensor(-3)).tolist() == [-3, -3]
