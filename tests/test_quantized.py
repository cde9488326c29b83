"""Quantized tensors: what they hold, what moves their elements, what is refused by name."""

import copy
import io
import pickle
import subprocess
import sys

import pytest

import jaxflow as torch

X = [[-1.0, 0.0, 0.52], [1.0, 2.0, 3.01]]


def _quantized(dtype=torch.quint8):
    return torch.quantize_per_tensor(torch.tensor(X), 0.1, 10, dtype)


def _by_channel():
    return torch.quantize_per_channel(torch.tensor(X), torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0,
                                      torch.qint8)


def test_parts(executor):
    q, c = _quantized(), _by_channel()
    assert q.is_quantized and q.dtype is torch.quint8 and q.qscheme() is torch.per_tensor_affine
    assert q.int_repr().tolist() == [[0, 10, 15], [20, 30, 40]]
    assert (q.q_scale(), q.q_zero_point()) == (0.1, 10)
    assert torch.allclose(q.dequantize(), torch.tensor([[-1.0, 0.0, 0.5], [1.0, 2.0, 3.0]]))
    assert c.int_repr().tolist() == [[-10, 0, 5], [6, 11, 16]] and c.q_per_channel_axis() == 0
    assert c.q_per_channel_zero_points().tolist() == [0, 1] and c.qscheme() is torch.per_channel_affine
    assert not torch.ones(2).is_quantized and q.layout is torch.strided and q.stride() == (3, 1)


def test_views_share_memory(executor):
    q = _quantized()
    row, turned = q[1], q.t()
    row.copy_(torch.zeros(3))
    q[0, 0] = 2.0
    assert turned.dequantize()[:, 1].tolist() == [0, 0, 0] and turned[0, 0].item() == 2.0
    assert q.clone().fill_(1.0).dequantize().tolist() == [[1.0] * 3] * 2 and q[0, 1].item() == 0.0


def test_functions_of_elements(executor):
    q = _quantized()
    assert torch.nn.functional.relu(q).int_repr().tolist() == [[10, 10, 15], [20, 30, 40]]
    assert (q > 0.3).tolist() == [[False, False, True], [True, True, True]]
    assert torch.cat([q, q], 1).shape == (2, 6) and torch.equal(q.reshape(3, 2).reshape(2, 3), q)
    assert torch.sigmoid(q).q_scale() == 1 / 256 and q.max().item() == pytest.approx(3.0)
    assert q.max(1).indices.tolist() == [2, 2] and q.max(1).values.is_quantized
    torch.relu_(q)
    assert q.int_repr().min().item() == 10


def test_copies_and_files():
    for q in (_quantized(), _by_channel(), _quantized(torch.qint32)):
        file = io.BytesIO()
        torch.save({"q": q, "view": q[0:1]}, file)
        file.seek(0)
        loaded = torch.load(file)["q"]
        for other in (loaded, pickle.loads(pickle.dumps(q)), copy.deepcopy(q), q.clone(), q.to("cpu")):
            assert torch.equal(q, other) and repr(q) == repr(other)
    assert pickle.loads(pickle.dumps(torch.qint8)) is torch.qint8
    assert pickle.loads(pickle.dumps(torch.per_channel_affine)) is torch.per_channel_affine


@pytest.mark.parametrize("call, error, said", [
    (lambda q: q + q, NotImplementedError, "aten::add.*QuantizedCPU"),
    (lambda q: torch.matmul(q, q.t()), NotImplementedError, "aten::matmul.*QuantizedCPU"),
    (lambda q: q.sum(), NotImplementedError, "aten::sum.*QuantizedCPU"),
    (lambda q: torch.quantize_per_tensor(q, 1.0, 0, torch.qint8), NotImplementedError, "QuantizedCPU"),
    (lambda q: torch.ones(2).q_scale(), NotImplementedError, "aten::q_scale.*'CPU'"),
    (lambda q: q.float(), RuntimeError, "quantized dtype like torch.quint8"),
    (lambda q: q.numpy(), TypeError, "unsupported ScalarType QUInt8"),
    (lambda q: q.requires_grad_(), RuntimeError, "floating point"),
    (lambda q: torch.zeros(2, dtype=torch.qint8), RuntimeError, "torch.qint8 is a type of quantized tensors"),
    (lambda q: torch.ones(2).to(torch.qint8), RuntimeError, "torch.qint8 is a type of quantized tensors"),
    (lambda q: torch.empty(2, dtype=torch.qint8, device="meta").sum(), RuntimeError, "quantized"),
    (lambda q: torch.promote_types(torch.qint8, torch.int8), RuntimeError, "promoteTypes with quantized"),
    (lambda q: torch.finfo(torch.qint8), TypeError, "floating point input type"),
    (lambda q: _by_channel().t(), RuntimeError, "uniformly quantized"),
    (lambda q: torch.ones(2, 3).copy_(q), RuntimeError, "Copying from quantized Tensor"),
    (lambda q: torch.quantize_per_tensor(torch.ones(2), 1.0, 300, torch.quint8), RuntimeError, "above upper"),
    (lambda q: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.int8), RuntimeError, "Char is not"),
    (lambda q: torch.vmap(lambda x: torch.quantize_per_tensor(x, 1.0, 0, torch.qint8))(torch.ones(2)),
     NotImplementedError, "vmap"),
    (lambda q: setattr(torch.ones(2, 3), "data", q), RuntimeError, "incompatible tensor type"),
])
def test_what_is_not_there_is_refused_by_name(call, error, said):
    q = _quantized()
    before = q.int_repr()
    with pytest.raises(error, match=said):
        call(q)
    assert torch.equal(q.int_repr(), before)


def test_nothing_is_loaded_before_the_first_one():
    code = ("import sys, jaxflow as torch; torch.quint8, torch.ones(2).is_quantized; "
            "assert not any(name.startswith(('jaxflow._quantized', 'jaxflow.ao')) for name in sys.modules); "
            "torch.quantize_per_tensor(torch.ones(2), 1., 0, torch.quint8); "
            "assert 'jaxflow._quantized' in sys.modules; print(torch.ones(2).to_sparse().to_dense().sum())")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0 and found.stdout == "tensor(2.)\n", found.stderr
