"""Tensors of PyTorch among jaxflow's: refused as operands, taken as data."""

import io

import numpy as np
import pytest
import torch

import jaxflow
import jaxflow.nn.functional as F

pytestmark = pytest.mark.usefixtures("executor")

WORDS = "torch.from_dlpack"
DTYPES = (
    "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 bool "
    "uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"
).split()


def in_place(x, y):
    x += y


def put(x, at, value):
    x[at] = value


MIXED = {
    "add": lambda j, p: j + p, "radd": lambda j, p: p + j, "eq": lambda j, p: j == p,
    "req": lambda j, p: p == j, "ne": lambda j, p: j != p, "rne": lambda j, p: p != j,
    "lt": lambda j, p: j < p, "rlt": lambda j, p: p < j, "mul": lambda j, p: j * p,
    "rtruediv": lambda j, p: p / j, "pow": lambda j, p: j**p, "rpow": lambda j, p: p**j,
    "matmul": lambda j, p: j @ p, "rmatmul": lambda j, p: p @ j, "floordiv": lambda j, p: p // j,
    "iadd": in_place, "riadd": lambda j, p: in_place(p, j), "add_": lambda j, p: j.add_(p),
    "torch.add": jaxflow.add, "its add": torch.add,
    "its add of ours alone": lambda j, p: torch.add(j, j), "its method": lambda j, p: torch.Tensor.add(p, j),
    "its sin": lambda j, p: torch.sin(j), "its relu": lambda j, p: torch.nn.functional.relu(j),
    "its layer": lambda j, p: torch.nn.Linear(3, 3)(j), "its einsum": lambda j, p: torch.einsum("ij->i", j),
    "its norm": lambda j, p: torch.linalg.norm(j), "its cat": lambda j, p: torch.cat([p, j]),
    "cat": lambda j, p: jaxflow.cat([j, p]), "stack": lambda j, p: jaxflow.stack([p, j]),
    "where": lambda j, p: jaxflow.where(j > 0, j, p), "condition": lambda j, p: jaxflow.where(p > 0, j, j),
    "sum": lambda j, p: jaxflow.sum(p), "mean": lambda j, p: jaxflow.mean(p),
    "reshape": lambda j, p: jaxflow.reshape(p, (9,)), "view_as": lambda j, p: j.view_as(p),
    "einsum": lambda j, p: jaxflow.einsum("ij,ij->", j, p), "copy_": lambda j, p: j.copy_(p),
    "equal": jaxflow.equal, "zeros_like": lambda j, p: jaxflow.zeros_like(p),
    "relu": lambda j, p: F.relu(p), "linear": lambda j, p: F.linear(p, j), "weight": F.linear,
    "layer": lambda j, p: jaxflow.nn.Linear(3, 2)(p), "norm": lambda j, p: jaxflow.nn.BatchNorm1d(3)(p),
    "lstm": lambda j, p: jaxflow.nn.LSTM(3, 2)(p), "conv": lambda j, p: jaxflow.nn.Conv1d(3, 1, 1)(p),
    "loss": F.mse_loss, "index": lambda j, p: j[torch.tensor([0, 1])],
    "mask": lambda j, p: j[p > 0], "indices": lambda j, p: j[0, torch.tensor(1)],
    "its index": lambda j, p: p[jaxflow.tensor([0])], "value": lambda j, p: put(j, 0, p[0]),
    "place": lambda j, p: put(j, torch.tensor([0]), 1.0), "its value": lambda j, p: put(p, 0, j[0]),
    "data": lambda j, p: setattr(j, "data", p), "grad": lambda j, p: setattr(j, "grad", p),
    "backward": lambda j, p: (j.requires_grad_() * 2).backward(p),
    "autograd.grad": lambda j, p: jaxflow.autograd.grad(j.requires_grad_() * 2, j, p),
    "parameter": lambda j, p: jaxflow.nn.Parameter(p), "buffer": lambda j, p: jaxflow.nn.Buffer(p),
    "register": lambda j, p: jaxflow.nn.Linear(3, 2).register_buffer("x", p),
    "assign": lambda j, p: setattr(jaxflow.nn.Linear(3, 2), "weight", torch.nn.Parameter(p)),
    "optimizer": lambda j, p: jaxflow.optim.SGD([torch.nn.Parameter(p)], lr=0.1),
    "of a parameter": lambda j, p: jaxflow.nn.Parameter(j) + p,
    "to a parameter": lambda j, p: p + jaxflow.nn.Parameter(j),
    "its function of a parameter": lambda j, p: torch.sin(jaxflow.nn.Parameter(j)),
    "its parameter": lambda j, p: j + torch.nn.Parameter(p),
    "save": lambda j, p: jaxflow.save([j, p], io.BytesIO()),
    "collate": lambda j, p: jaxflow.utils.data.default_collate([p, p]),
}


@pytest.mark.parametrize("name", MIXED)
def test_one_clear_error(name):
    j, p = jaxflow.ones(3, 3), torch.ones(3, 3)
    with pytest.raises(TypeError, match=WORDS):
        MIXED[name](j, p)
    assert (p == 1).all()
    assert j.detach().tolist() == [[1.0] * 3] * 3


class Own(jaxflow.Tensor):
    """A subclass that overrides in the default way."""


@pytest.mark.parametrize("name", ["add", "radd", "eq", "req", "its add", "its sin", "mean", "relu"])
def test_a_subclass_is_refused_alike(name):
    with pytest.raises(TypeError, match=WORDS):
        MIXED[name](jaxflow.ones(3, 3).as_subclass(Own), torch.ones(3, 3))
    test_one_clear_error(name)  # where functions ask for overrides by now


def tensors(dtype):
    x = torch.arange(12).to(dtype)
    yield x
    yield x.view(3, 4).t()
    yield x.view(3, 4)[::2, 1:3]
    yield x[3]
    yield x[:1].expand(4)
    yield x[:0]
    if dtype.is_complex:
        yield x.conj()
        yield x.mul(1j).conj().imag


@pytest.mark.parametrize("name", DTYPES)
def test_they_are_taken_as_data(name):
    for p in tensors(getattr(torch, name)):
        for make in (jaxflow.tensor, jaxflow.as_tensor, jaxflow.asarray):
            got = make(p)
            assert type(got) is jaxflow.Tensor and str(got.dtype) == str(p.dtype)
            assert got.tolist() == p.tolist() and got.shape == p.shape
            shared = make is jaxflow.asarray and p.numel() and not (p.is_conj() or p.is_neg())
            expected = p if shared else torch.empty_like(p)
            assert got.stride() == tuple(expected.stride()) and not got.requires_grad


def test_dtypes_and_devices_are_converted():
    p = torch.tensor([1.5, -2.5])
    assert jaxflow.as_tensor(p, dtype=jaxflow.int64).tolist() == [1, -2]
    assert jaxflow.tensor(p, dtype=jaxflow.bfloat16, device="cpu").dtype is jaxflow.bfloat16
    assert jaxflow.tensor(p, requires_grad=True).requires_grad
    assert jaxflow.as_tensor(torch.tensor([1 + 2j]), dtype=jaxflow.complex128).tolist() == [1 + 2j]
    assert jaxflow.FloatTensor(p).tolist() == jaxflow.Tensor(p).tolist() == [1.5, -2.5]
    assert jaxflow.ones(1).new_tensor(p).tolist() == [1.5, -2.5]


def test_the_copy_is_its_own():
    p = torch.ones(3, requires_grad=True)
    got = [jaxflow.tensor(p), jaxflow.as_tensor(p), jaxflow.as_tensor(torch.nn.Parameter(torch.ones(3)))]
    with torch.no_grad():
        p.zero_()
    assert [t.tolist() for t in got] == [[1, 1, 1]] * 3
    with pytest.raises(BufferError, match="require gradient, use tensor.detach"):
        jaxflow.from_dlpack(p)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
def test_asarray_shares_their_memory(dtype):
    p = torch.zeros(3, 4, dtype=getattr(torch, dtype))
    for q in (p, p.T, p[1:, ::2], p[0, 0]):
        t = jaxflow.asarray(q)
        assert t.data_ptr() == q.data_ptr() and t.stride() == q.stride()
        q.fill_(1)
        assert t.sum().item() == q.sum().item() == q.numel()
        t.zero_()
        assert not q.any()
    assert jaxflow.asarray(p, copy=False).data_ptr() == p.data_ptr()
    assert jaxflow.asarray(p, copy=True).data_ptr() != p.data_ptr()
    converted = jaxflow.asarray(p, dtype=jaxflow.complex128).fill_(1)
    assert converted.dtype is jaxflow.complex128 and not p.any()
    t = jaxflow.zeros(3, 4, dtype=getattr(jaxflow, dtype))
    theirs = torch.asarray(t)
    theirs[1] = 1
    t[2] = 1
    assert t.sum().item() == theirs.sum().item() == 8


def test_asarray_copies_what_is_no_memory_as_it_is():
    p = torch.tensor([1 + 2j]).conj()
    t = jaxflow.asarray(p)
    assert t.tolist() == [1 - 2j]
    with pytest.raises(ValueError, match="can't alias a tensor of PyTorch"):
        jaxflow.asarray(p, copy=False)
    w = torch.ones(2, requires_grad=True)
    t = jaxflow.asarray(w)
    assert t.data_ptr() == w.data_ptr() and not t.requires_grad


def test_they_are_numbers_in_lists():
    assert jaxflow.tensor([torch.tensor(1.5), 2, torch.ones(1)[0]]).tolist() == [1.5, 2, 1]
    assert jaxflow.tensor([torch.tensor(1), 2]).dtype is jaxflow.int64
    assert jaxflow.tensor([torch.tensor(1.0, dtype=torch.float64)]).dtype is jaxflow.float64
    assert jaxflow.tensor([torch.tensor([1.5])]).tolist() == torch.tensor([torch.tensor([1.5])]).tolist()


@pytest.mark.parametrize("p, words", [
    (torch.eye(2).to_sparse(), "to_dense"), (torch.ones(2, device="meta"), "meta"),
    (torch.empty(2, dtype=torch.float4_e2m1fn_x2), "float4"),
])
def test_what_has_no_elements_is_refused(p, words):
    with pytest.raises(TypeError, match=words):
        jaxflow.as_tensor(p)


def model(T):
    return T.nn.Sequential(
        T.nn.Embedding(7, 6), T.nn.Linear(6, 4), T.nn.LayerNorm(4),
        T.nn.TransformerEncoderLayer(4, 2, 8, 0.0), T.nn.BatchNorm1d(5), T.nn.Linear(4, 3, bias=False))


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_live_models_are_converted(assign, dtype):
    theirs, ours = model(torch).to(getattr(torch, dtype)).eval(), model(jaxflow).eval()
    ours = ours.to(getattr(jaxflow, dtype))
    assert str(ours.load_state_dict(theirs.state_dict(), assign=assign)) == "<All keys matched successfully>"
    for (name, a), b in zip(theirs.state_dict().items(), ours.state_dict().values()):
        assert type(b) is jaxflow.Tensor and str(a.dtype) == str(b.dtype), name
        assert a.tolist() == b.tolist(), name
    for a, b in zip(theirs.parameters(), ours.parameters()):
        assert isinstance(b, jaxflow.nn.Parameter) and a.requires_grad == b.requires_grad
    if dtype == "float32":
        x = np.arange(10).reshape(2, 5) % 7
        want = theirs(torch.tensor(x)).detach().numpy()
        np.testing.assert_allclose(ours(jaxflow.tensor(x)).detach().numpy(), want, rtol=1e-4, atol=1e-5)


def test_state_of_a_live_model_that_does_not_fit():
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        jaxflow.nn.Linear(3, 2).load_state_dict(torch.nn.Linear(2, 2).state_dict())


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_state_of_a_live_optimizer_is_converted(name):
    def step(T, net, optimizer):
        optimizer.zero_grad()
        (net(T.ones(2, 3)) ** 2).sum().backward()
        optimizer.step()

    options = {"SGD": {"lr": 0.1, "momentum": 0.9}, "Adam": {"lr": 0.1}}[name]
    theirs, ours = torch.nn.Linear(3, 2), jaxflow.nn.Linear(3, 2)
    their_optimizer = getattr(torch.optim, name)(theirs.parameters(), **options)
    step(torch, theirs, their_optimizer)
    our_optimizer = getattr(jaxflow.optim, name)(ours.parameters(), **options)
    ours.load_state_dict(theirs.state_dict())
    our_optimizer.load_state_dict(their_optimizer.state_dict())
    step(torch, theirs, their_optimizer)
    step(jaxflow, ours, our_optimizer)
    for a, b in zip(theirs.parameters(), ours.parameters()):
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-5)


def test_whole_modules_with_functions_of_torch_are_read():
    layer = torch.nn.TransformerEncoderLayer(4, 2, activation=torch.nn.functional.gelu)
    functions = [
        torch.tanh, torch.nn.functional.gelu, torch.nn.functional.relu, torch.einsum, torch.Tensor.add,
        torch.linalg.norm, torch.special.erf, torch.fft.fft, torch.conv2d, torch._C._LinAlgError,
    ]
    file = io.BytesIO()
    torch.save([layer, functions, torch.tensor([[1.0, 3.0, 2.0]]).max(1)], file)
    file.seek(0)
    got, found, named = jaxflow.load(file, weights_only=False)
    assert type(named) is jaxflow.return_types.max and (named.values.item(), named.indices.item()) == (3, 1)
    assert found == [jaxflow.tanh, F.gelu, F.relu, jaxflow.einsum, jaxflow.Tensor.add, jaxflow.linalg.norm,
                     jaxflow.special.erf, jaxflow.fft.fft, jaxflow.conv2d, jaxflow.linalg.LinAlgError]
    assert type(got) is jaxflow.nn.TransformerEncoderLayer and got.activation is F.gelu
