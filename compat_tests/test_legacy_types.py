"""Old constructors, tensor types, and numbers that do not fit, against PyTorch."""

import numpy as np
import pytest
import torch

import jaxflow

PROGRAMS = """
T.Tensor().shape
T.Tensor(2, 3).shape
T.Tensor(T.Size([2, 3])).shape
T.Tensor(size=(2, 3)).shape
T.Tensor([[1, 2], [3, 4]])
T.Tensor((2, 3))
T.Tensor(range(3))
T.Tensor([])
T.Tensor(np.ones(2))
T.Tensor(data=[1])
T.Tensor([1, 2], device="cpu")
T.Tensor(T.arange(2))
T.Tensor(T.tensor(2.5))
T.Tensor(T.ones(2, requires_grad=True)).requires_grad
T.Tensor(2.5)
T.Tensor("a")
T.Tensor(None)
T.Tensor(True)
T.Tensor(1, 2.5)
T.Tensor(2, 3, device="meta")
T.FloatTensor([1, 2])
T.FloatTensor(2, 3).shape
T.LongTensor([1, 2.7])
T.LongTensor(T.arange(2))
T.LongTensor(np.ones(2))
T.BoolTensor([1, 0])
T.HalfTensor([1.5])
T.BFloat16Tensor([1.5])
T.DoubleTensor([1])
T.CharTensor([1]), T.ShortTensor([1]), T.IntTensor([1]), T.ByteTensor([1])
T.cuda.FloatTensor([1])
written(a := np.ones(2, np.float32), T.Tensor(a))
written(a := np.ones(2), T.DoubleTensor(a))
written(a := np.ones(2), T.Tensor(a))
written(a := np.ones(4, np.float32)[::2], T.FloatTensor(data=a))
written(a := np.ones(2, np.float32), T.ones(1).new(a))
written(a := T.ones(2), T.ones(1).new(a))
written(a := T.ones(2), T.FloatTensor(a))
T.Tensor(np.ones(2, ">f4"))
T.FloatTensor({})
isinstance(T.ones(2), T.FloatTensor), isinstance(T.ones(2), T.LongTensor)
isinstance(T.arange(2), T.LongTensor), isinstance(T.ones(2), T.cuda.FloatTensor)
isinstance(T.nn.Parameter(T.ones(2)), T.FloatTensor), isinstance(3, T.FloatTensor)
isinstance(T.ones(2, device="meta"), T.FloatTensor)
T.FloatTensor, T.cuda.LongTensor, T.FloatTensor.dtype, T.FloatTensor.__name__
T.ones(2).type(T.LongTensor)
T.ones(2).type(), T.ones(2).type() == "torch.FloatTensor"
T.arange(2).new([1, 2]), T.arange(2).new(2).shape, T.ones(1, dtype=T.float64).new([1])
T.ones(2).as_subclass(type("Mine", (T.Tensor,), {}))
T.ones(2).as_subclass(int)
type("Mine", (T.Tensor,), {})([1.0, 2.5])
type("Mine", (T.Tensor,), {})(2).shape
T.tensor([2**63])
T.tensor(-2**63 - 1)
T.tensor([2**63], dtype=T.uint64)
T.tensor([2**64], dtype=T.uint64)
T.tensor([-1], dtype=T.uint64)
T.tensor([1.5], dtype=T.uint64)
T.tensor([2**63], dtype=T.float32)
T.tensor(2**63, dtype=T.bool)
T.tensor([2.0**63], dtype=T.int64)
T.tensor([1e19], dtype=T.int64)
T.tensor([float("nan")], dtype=T.int32)
T.tensor([float("nan")], dtype=T.bool)
T.tensor([[300]], dtype=T.uint8)
T.tensor(np.array([300, -1]), dtype=T.uint8)
T.tensor([np.int64(300)], dtype=T.uint8)
T.IntTensor([2**40])
""".strip().split("\n")

def _written(memory, t):
    """What both show after a write to either."""
    t[0] = 5
    memory[1] = 7
    return t, [float(x) for x in memory]


EDGES = [
    255,
    256,
    -1,
    -255,
    -256,
    127,
    128,
    -128,
    -129,
    2.7,
    255.5,
    -0.5,
    -128.5,
    2**31,
    2**40,
    1e10,
]


def answer(program, T):
    try:
        return repr(eval(program, {"T": T, "np": np, "written": _written}))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, executor):
    assert answer(program, jaxflow) == answer(program, torch)


@pytest.mark.parametrize("dtype", "uint8 int8 uint16 int16 uint32 int32 int64 float16 bool".split())
def test_numbers_at_the_edges(dtype):
    for value in EDGES:
        program = f"T.tensor([{value}], dtype=T.{dtype})"
        assert answer(program, jaxflow) == answer(program, torch), program


def test_data_of_another_type_is_refused():
    with pytest.raises(TypeError, match=r"expected a torch.LongTensor \(got torch.FloatTensor\)"):
        jaxflow.LongTensor(jaxflow.ones(2))
