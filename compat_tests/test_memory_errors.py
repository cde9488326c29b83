"""Results that no memory holds: refused where PyTorch refuses them, as an error that programs catch alike."""

import re

import pytest
import torch

import jaxflow

N = 1 << 50

PROGRAMS = """
T.zeros(N)
T.empty(N)
T.ones(N, dtype=T.float64)
T.ones(1 << 20, 1 << 20)
T.full((N,), 2)
T.arange(N)
T.eye(1 << 25)
T.linspace(0, 1, N)
T.rand(N)
T.randn(N)
T.randint(3, (N,))
T.randperm(N)
T.zeros_like(x.expand(N))
x.new_zeros(N)
x.expand(N)
x.expand(N).contiguous()
x.expand(N).clone()
x.expand(N).to(T.float64)
x.expand(N) + 1
x.expand(N) == 2
x.repeat(N)
x.repeat_interleave(N)
x.tile(N)
x.resize_(N)
T.cat([x.expand(N), x])
T.nn.functional.pad(x, (0, N))
T.nn.functional.one_hot(T.tensor([N]))
T.nn.functional.interpolate(T.ones(1, 1, 1, 1), size=(1 << 25, 1 << 25))
T.ones(1 << 25, 1) @ T.ones(1, 1 << 25)
T.ones(1 << 25, 1) * T.ones(1, 1 << 25)
T.diag(T.ones(1 << 25))
T.tril_indices(1 << 25, 1 << 25)
T.triu_indices(1 << 25, 1 << 25, 3)
T.zeros(N, device="meta")
T.zeros(N, device="meta") + 1
T.zeros(1 << 62, 1 << 62)
T.zeros(1 << 62)
T.zeros(1 << 61)
T.zeros(1 << 62, dtype=T.int8)
T.zeros(1 << 62, device="meta")
T.zeros(1 << 62, 1 << 62, 0)
T.rand(1 << 40, 1 << 40)
x.expand(1 << 31, 1) * x.expand(1, 1 << 33)
x.expand(1 << 62)
x.expand(1 << 40, 1 << 40)
T.empty(1 << 63)
""".strip().splitlines()

# What a program that looks at the message looks for; the rest names lines of PyTorch's source.
_KEY = re.compile(
    r"can't allocate memory: you tried to allocate \d+ bytes|"
    r"Storage size calculation overflowed with sizes=.*|numel: integer multiplication overflow|"
    r"failed to unpack the object at pos 1 with error \"Overflow when unpacking long long"
)


def answer(program, T):
    """The shape that an expression gives; or the key of its error, and whether it is a RuntimeError."""
    x = T.ones(1)
    try:
        return tuple(eval(program, {"T": T, "N": N, "x": x}).shape), None
    except (RuntimeError, TypeError) as error:
        found = _KEY.search(str(error))
        return found[0] if found else str(error), isinstance(error, RuntimeError)


@pytest.mark.parametrize("program", PROGRAMS)
def test_refused_alike(program):
    with jaxflow.execution("deferred"):
        assert answer(program, jaxflow) == answer(program, torch)


def test_the_exception():
    assert issubclass(jaxflow.OutOfMemoryError, RuntimeError)
    assert issubclass(torch.OutOfMemoryError, RuntimeError)
    for T in (torch, jaxflow):
        assert T.cuda.OutOfMemoryError is T.OutOfMemoryError
        assert T.OutOfMemoryError.__module__ == T.__name__
